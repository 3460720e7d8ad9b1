"""One objective of each family of kernels against plain Python; the long tests of this folder compare all of them."""

from itertools import pairwise

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.objectives.examples import EXACT
from tests.objectives.gradients_by_hand import query_gradients, stochastic_filter
from tests.oracles.rows import Row

SIZES = [1, 5, 9]
RNG = np.random.default_rng(0)
LABELS, SCORES = RNG.integers(0, 4, sum(SIZES)).astype(float), RNG.normal(size=sum(SIZES)).round(1)
STARTS = np.cumsum([0, *SIZES])
ROWS = [[Row(*row) for row in zip(LABELS[a:b], SCORES[a:b], strict=True)] for a, b in pairwise(STARTS)]


def gradients(value):
    return objectives.gradients(LABELS, SCORES, value, group_sizes=SIZES)


def assert_gradients(value, expected):
    """Compare with a gradient and a hessian per query."""
    for part, by_query in zip(gradients(value), zip(*expected, strict=True), strict=True):
        np.testing.assert_allclose(part, np.concatenate(by_query), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("value", [EXACT, objectives.catboost.pair_logit()], ids=lambda value: value.kind)
def test_a_pair_is_weighed_by_the_change_of_the_measure_or_by_1(value):
    assert_gradients(value, [query_gradients(query, value) for query in ROWS])


def test_the_gradient_of_softmax_is_the_predicted_less_the_labels_share():
    expected = []
    for query in ROWS:
        labels, powers = np.array([row.label for row in query]), np.exp([row.score for row in query])
        shares = powers / powers.sum()
        expected.append((labels.sum() * shares - labels, labels.sum() * shares * (1 - shares)))
    assert_gradients(objectives.QuerySoftMax(beta=1, ridge=0), expected)


def test_a_filter_keeps_rows_at_random():
    value = objectives.catboost.stochastic_filter(num_estimations=2)
    grad, hess = gradients(value)
    np.testing.assert_allclose(grad, np.concatenate(stochastic_filter(ROWS, value, value.seed)), rtol=1e-6, atol=1e-9)
    assert (hess == 1).all()


def test_a_row_without_another_has_no_gradient_and_scores_must_be_finite():
    for part in gradients(EXACT):
        assert part[0] == 0
        assert part[1:].any()
    with pytest.raises(ra.InputError, match=r"scores\[3\] is nan"):
        objectives.gradients(LABELS, np.where(np.arange(15) == 3, np.nan, SCORES), EXACT, group_sizes=SIZES)
