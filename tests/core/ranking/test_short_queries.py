"""Machine code for queries of up to FEW rows, which reads and writes rows beyond a query."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from rankadapters.core.ranking.offsets import offsets
from rankadapters.core.ranking.ranks import NotFiniteError, rank_queries
from rankadapters.core.ranking.sorting import ALL_FINITE, FEW, ranked_rows
from tests.helpers.parameters import examples

pytest.importorskip("numba")

LOWEST = np.finfo(np.float64).min
SCORES = st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, LOWEST, -LOWEST, 5e-324])
QUERIES = st.lists(st.lists(SCORES, max_size=FEW + 2), min_size=1, max_size=8)


def expected_rows(scores, k, *, ties):
    """Return a query's rows by rank: the first k, or with `ties` all of them, as ~row after an equal score."""
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    if not ties:
        return order[:k]
    return [~row if r and scores[row] == scores[order[r - 1]] else row for r, row in enumerate(order)]


@given(QUERIES, st.integers(1, FEW + 2), st.booleans(), st.booleans(), st.sampled_from([np.float64, np.float32]))
@settings(max_examples=examples(300), deadline=None)
def test_short_queries_beside_each_other_are_ranked(queries, k, ties, shuffled, dtype):
    sizes = np.array([len(query) for query in queries])
    with np.errstate(over="ignore"):
        flat = np.nan_to_num(np.array([score for query in queries for score in query], dtype))
    indptr, order = offsets(sizes), np.empty(0, np.int32)
    ordered, scores = flat, flat
    if shuffled:
        order = np.random.default_rng(0).permutation(flat.size).astype(np.int32)
        scores = np.empty_like(flat)
        scores[order] = flat
    rowptr = indptr if ties else offsets(np.minimum(sizes, k))
    rows = np.full(rowptr[-1], -99, np.int32)
    assert ranked_rows(scores, order, indptr, FEW + 2 if ties else k, ties, rowptr, rows) == ALL_FINITE
    for q in range(len(queries)):
        expected = expected_rows(ordered[indptr[q] : indptr[q + 1]].tolist(), k, ties=ties)
        assert rows[rowptr[q] : rowptr[q + 1]].tolist() == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 3, 20, 39])
def test_the_first_score_that_is_not_finite_is_found(row, bad):
    scores = np.arange(40.0)
    scores[row] = bad
    for choice in (NOW, NEVER):
        for order in (None, np.arange(40, dtype=np.int32)[::-1].copy()):
            with kernels(choice), pytest.raises(NotFiniteError) as error:
                rank_queries(scores, order, np.arange(0, 41, 2), 5)
            assert error.value.row == row


def test_a_bad_score_of_a_skipped_query_is_no_error():
    """A query without room is skipped; its neighbors, whose ranking reads its scores, are ranked all the same."""
    scores = np.array([1.0, 2.0, np.nan, np.inf, 5.0, 6.0, *range(20)])
    indptr, rowptr = np.array([0, 2, 4, 6, 26]), np.array([0, 2, 2, 4, 24])
    rows = np.empty(24, np.int32)
    assert ranked_rows(scores, np.empty(0, np.int32), indptr, 30, False, rowptr, rows) == ALL_FINITE
    assert rows.tolist() == [1, 0, 1, 0, *range(19, -1, -1)]
