"""`Ranks` equals a loop over sorted queries, and the sorting kernel a stable sort, however the scores are spread."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from rankadapters.core.ranking.ranks import Ranks
from rankadapters.core.ranking.sorting import COUNTED, FEW, LANES, MOST_KEPT, ranked_rows
from tests.helpers.depth import examples
from tests.helpers.score_spreads import SPREADS
from tests.helpers.tables import for_each

DISCOUNTS = 1 / np.arange(1.0, 40)


def gain_at_each_rank(scores, *, averaged):
    """Return a query's gains by rank, where the gain of a row is its place in the query plus 1."""
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    runs = [list(rows) for _, rows in groupby(order, key=lambda row: scores[row])]
    return [np.mean(rows) + 1 if averaged else row + 1 for rows in runs for row in rows]


@pytest.mark.parametrize("choice", [NOW, NEVER])
@given(
    queries=st.lists(st.lists(st.integers(0, 3).map(float), max_size=12), min_size=1, max_size=5),
    k=st.none() | st.integers(1, 14), averaged=st.booleans(), data=st.data(),
)  # fmt: skip
@settings(max_examples=examples(200), deadline=None)
def test_sums_over_ranks_equal_a_loop(choice, queries, k, averaged, data):
    """Draw no cutoff of a cut, one, or one for each query; some are beyond the end of a query."""
    indptr = np.cumsum([0, *map(len, queries)])
    gains = np.concatenate([np.arange(1.0, len(query) + 1) for query in queries])
    cutoffs = st.integers(1, 14 if k is None else k)
    cut = data.draw(st.none() | cutoffs | st.lists(cutoffs, min_size=len(queries), max_size=len(queries)))
    with kernels(choice):
        ranks = Ranks(np.concatenate(queries), None, indptr, k, averaged=averaged)
        if cut is not None:
            ranks = ranks.cut(np.asarray(cut) if isinstance(cut, list) else cut)
        sums = ranks.discounted_sums(gains, DISCOUNTS)
        sums_of_taken = ranks.sums(ranks.take(gains) * DISCOUNTS[ranks.rank])
    last = k if cut is None else cut
    expected = [
        np.dot(gains[:n], DISCOUNTS[: gains[:n].size])
        for query, n in zip(queries, last if isinstance(last, list) else [last] * len(queries), strict=True)
        for gains in [np.asarray(gain_at_each_rank(query, averaged=averaged))]
    ]
    np.testing.assert_allclose(sums, expected, rtol=1e-12)
    np.testing.assert_allclose(sums_of_taken, expected, rtol=1e-12)


SIZES = [1, 2, FEW, FEW + 1, 15, LANES, 2 * LANES, COUNTED, COUNTED + 1, 100, 333, 1500]


def rank_rows(scores, k):
    """Return the rows that the kernel ranks; it leaves -1 at the ranks that it does not write."""
    pytest.importorskip("numba")
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
