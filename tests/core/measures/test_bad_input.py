"""Scores that are not finite, and weights that a convention does not count, are refused under every measure."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from tests.helpers.conventions import WITH_PRESET, convention_of, without_docids


def plain(measure):
    """Return the text of a convention of queries that needs neither pairs nor docids and allows empty queries."""
    convention = without_docids(convention_of(measure))
    of_queries = {"pool": "queries", "average": "uniform"} if convention.over == "rows" else {}
    empty = {"empty": 0} if getattr(convention, "empty", 0) == "error" else {}
    return str(convention.replace(**of_queries, **empty))


PLAIN = {name: plain(name) for name in WITH_PRESET}
MORE = ["yahoo@3", "trec_eval_9@3", "catboost.mrr@3", "lightgbm.map@3"]


@pytest.mark.parametrize("text", [*PLAIN.values(), *MORE])
def test_a_bad_score_in_a_query_without_relevant_rows_is_refused(text):
    scores = np.arange(33.0)
    scores[3] = np.nan
    for choice in (NEVER, NOW):
        with kernels(choice), pytest.raises(ra.InputError, match=r"scores\[3\] is nan"):
            ra.evaluate([0] * 30 + [1, 0, 1], scores, text, group_sizes=[30, 3], docid=[f"d{row}" for row in range(33)])


@pytest.mark.parametrize("text", PLAIN.values())
@pytest.mark.parametrize(("column", "weights"), [("query_weight", [1, 2]), ("row_weight", [1, 2, 3, 4])])
def test_weights_that_a_convention_does_not_count_are_refused(text, column, weights):
    convention = ra.parse(text).replace(average="uniform")
    with pytest.raises(ra.InputError, match=rf"{column} was given but the convention says average='uniform'.*\nHint"):
        ra.evaluate([1, 0, 1, 0], [4, 3, 2, 1], convention, group_sizes=[2, 2], **{column: weights})


def test_weights_of_pairs_that_a_convention_does_not_count_are_refused_unless_it_ignores_pairs():
    rows = {"labels": [1, 0], "scores": [2, 1], "group_sizes": [2], "pairs": ([0], [1], [2.0])}
    with pytest.raises(ra.InputError, match=r"pair_weight was given but the convention says average='uniform'.*\nHint"):
        ra.evaluate(convention=ra.presets.catboost.pair_logit().replace(average="uniform"), **rows)
    assert ra.evaluate(convention="textbook@2", **rows).value == 1
