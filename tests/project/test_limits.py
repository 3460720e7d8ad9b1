"""Numbers that functions accept: the smallest and the largest, and the error for the next ones beyond."""

from __future__ import annotations

import re
from functools import partial

import pytest

import rankadapters as ra

pytest.importorskip("sklearn")

DATA = {"labels": [1, 0, 0, 1], "scores": [1, 2, 4, 3], "group_sizes": [2, 2]}
MODELS = DATA | {"scores": {"a": [1, 2, 4, 3], "b": [2, 1, 4, 3]}, "convention": "textbook@2"}
PAIR = DATA | {"a": "sklearn@1", "b": "catboost@2"}


def learn(validation_fraction):
    learner = ra.learners.RankBoost("textbook@2", max_iter=1, validation_fraction=validation_fraction)
    return learner.fit([[1.0], [2.0], [2.0], [0.0]], DATA["labels"], qid=[1, 1, 2, 2])


LIMITS = [  # a function and its other arguments, a parameter, numbers that it accepts, and numbers that it refuses
    (partial(ra.audit.order, **MODELS), "n_resamples", [1], [0]),
    (partial(ra.audit.order, **MODELS), "confidence", [1e-9, 0.999], [0, 1]),
    (partial(ra.audit.explain, **PAIR), "top", [0], [-1]),
    (ra.audit.explain(**PAIR).queries, "top", [0], [-1]),
    (ra.evaluate(**DATA, convention="textbook@2").to_markdown, "decimals", [0, 17], [-1, 18]),
    (partial(ra.datasets.mq2008_like, random_state=0, n_test_queries=1), "n_train_queries", [1], [0, 10**6 + 1]),
    (partial(ra.datasets.mq2008_like, random_state=0, n_train_queries=1), "n_test_queries", [1], [0, 10**6 + 1]),
    (learn, "validation_fraction", [0.01, 0.99], [0, 1]),
    (ra.sklearn.QueryKFold, "n_splits", [2], [1]),
    (partial(ra.io.read_letor, "rows.txt"), "feature", [], [-1]),
    (partial(ra.parity.crosscheck, **DATA, convention="sklearn@2", toolkits=["sklearn"]), "require", [1, 4], [0, 5]),
    (partial(ra.conformance.check, len, "sklearn@3", takes="query"), "tolerance", [], [-1e-9]),
    (partial(ra.audit.probe, len, takes="query", k=3), "tolerance", [], [-1e-9]),
]


@pytest.mark.parametrize(("function", "name", "accepted", "refused"), LIMITS)
def test_numbers_are_accepted_up_to_their_limits(function, name, accepted, refused):
    for number in accepted:
        function(**{name: number})
    for number in refused:
        with pytest.raises(ra.InputError, match=f"^{re.escape(f'{name}={number}; allowed are')}"):
            function(**{name: number})
