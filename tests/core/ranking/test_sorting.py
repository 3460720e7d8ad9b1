"""The sorting kernel ranks the top rows of a query in stable descending order, however the scores are spread."""

from __future__ import annotations

import numpy as np
import pytest

from rankadapters.core.ranking.sorting import COUNTED, FEW, LANES, MOST_KEPT, ranked_rows
from tests.helpers.score_spreads import SPREADS
from tests.helpers.tables import for_each

pytest.importorskip("numba")

SIZES = [1, 2, FEW, FEW + 1, 15, LANES, 2 * LANES, COUNTED, COUNTED + 1, 100, 333, 1500]


def rank_rows(scores, k):
    """Return the rows that the kernel ranks; it leaves -1 at the ranks that it does not write."""
    ends, rows = np.array([0, scores.size]), np.full(scores.size, -1, np.int32)
    ranked_rows(scores, np.empty(0, np.int32), ends, k, False, ends, rows)
    return rows[rows >= 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@for_each("spread", SPREADS)
def test_top_rows_equal_those_of_a_stable_sort(spread, dtype):
    rng = np.random.default_rng(0)
    for n in SIZES:
        with np.errstate(over="ignore"):
            scores = np.nan_to_num(SPREADS[spread](rng, n).astype(dtype))
        expected = np.argsort(-scores, kind="stable")
        for k in {1, 5, 10, 12, 13, 30, n // 2 + 1, n, 2**31}:
            rows = rank_rows(scores, k)
            np.testing.assert_array_equal(rows, expected[: rows.size])
            assert rows.size >= min(k, n)
            # Rows that tie with the last one are ranked too.
            assert rows.size == n or scores[expected[rows.size]] < scores[rows[-1]]


DIFFERENT_SCORES = ["normal", "heavy tails", "dense at the top", "two clusters", "an outlier", "neighbors", "ascending"]


@for_each("spread", DIFFERENT_SCORES)
def test_few_rows_beyond_the_cutoff_are_sorted(spread):
    """Scores that differ are divided into buckets until few rows are left, wherever most scores are."""
    for n in (100, 333, 1500):
        scores = SPREADS[spread](np.random.default_rng(0), n)
        for k in (13, 30):
            assert rank_rows(scores, k).size <= MOST_KEPT * k, (n, k)
