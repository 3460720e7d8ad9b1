"""Kernels that compute four pairs at once: equal to one pair at a time, also if they skip pairs of equal gain."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.objectives.kernels.exponentials import LOWEST, exponentials
from rankadapters.objectives.pair_gradients import COMMON_SHARE, common_gain
from tests.helpers.pairwise_gradients_by_hand import query_gradients
from tests.helpers.random_loss_records import float64_gradients
from tests.helpers.tables import for_each
from tests.oracles.rows import Row

pytestmark = pytest.mark.long

EXACT = objectives.lightgbm.lambdarank().replace(sigmoid="exact")


@for_each("spread", [0.0, 1e-18, 1e-6, 1.0, 30.0, -LOWEST, 700.0, 1e4])
@for_each("sigma", [1.0, 0.3])
def test_exponentials_equal_those_of_the_c_library(spread, sigma):
    scores = np.sort(np.random.default_rng(1).random(1000) * spread)[::-1].copy()
    results = np.zeros(1000)
    exponentials(scores, 3, 1000, sigma, results)
    assert not results[:3].any()
    np.testing.assert_array_max_ulp(results[3:], np.exp(sigma * (scores[3:] - scores[3])), maxulp=1)


@for_each("n", [*range(2, 18), 40, 101])
@for_each("n_ones", [1, 2, 5, 9])
@for_each("common_label", [0, 2])
def test_gradients_equal_pairs_one_by_one_if_most_rows_have_the_same_gain(n, n_ones, common_label):
    rng = np.random.default_rng(n)
    labels = np.full(n, float(common_label))
    labels[rng.permutation(n)[:n_ones]] = 1.0
    scores = rng.normal(size=n).round(1)
    linear = ra.presets.lightgbm(None).replace(gain="linear")
    value = EXACT.replace(convention=linear, truncation=None, normalization="none")
    rows = [Row(label, score) for label, score in zip(labels, scores, strict=True)]
    derivatives = objectives.gradients(labels, scores, value, group_sizes=[n])
    np.testing.assert_allclose(derivatives, query_gradients(rows, value), rtol=1e-5, atol=1e-9)


@for_each("normalization", ["none", "lightgbm", "xgboost"])
@for_each("hessian", ["plain", "doubled"])
def test_skipping_pairs_of_equal_gain_changes_no_bit(normalization, hessian):
    """Adding a query with many different gains leaves no common gain, so the kernel computes every pair."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(2, 200, 50)
    labels, scores = (rng.random(sizes.sum()) < 1 / 20).astype(float), rng.normal(size=sizes.sum())
    value = EXACT.replace(normalization=normalization, hessian=hessian)
    n = labels.size
    all_labels = np.concatenate([labels, np.arange(n) % 5])
    all_queries = ra.Queries(all_labels, group_sizes=np.concatenate([sizes, sizes]))
    skipping = float64_gradients(value, ra.Queries(labels, group_sizes=sizes), scores)
    complete = float64_gradients(value, all_queries, np.concatenate([scores, scores]))
    assert common_gain(labels) == 0
    assert np.isnan(common_gain(all_labels))
    np.testing.assert_array_equal(skipping, [array[:n] for array in complete])


@for_each(
    ("gains", "common"),
    [([0, 0, 0, 1], 0), ([3, 1, 3, 3, 3], 3), ([0, 1], np.nan), ([0, 0, 1], np.nan), ([7], 7), ([], np.nan)],
)
def test_the_common_gain_is_the_gain_of_most_rows(gains, common):
    np.testing.assert_equal(common_gain(np.array(gains, float)), common)
    assert np.isnan(common) or np.mean(np.array(gains) == common) >= COMMON_SHARE
