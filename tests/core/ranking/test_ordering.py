"""Orders in numpy equal a stable sort of each query, and the top k contains all rows that can rank there."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rankadapters.core.ranking.offsets import offsets
from rankadapters.core.ranking.ordering import LONGEST, SHORTEST, candidates, largest_first, order_within
from tests.helpers.rankings import SPREADS

MIXED = [1, 700, 2, SHORTEST - 1, 0, SHORTEST, 64, 65, 3, 1200, 0, 5]
SIZES = {"mixed": MIXED, "short and long": [400, 3] * 5, "a last long one": [1, 900], "equal": [70] * 9, "one": [3000]}


def stable(keys, indptr):
    return [i for a, b in pairwise(indptr) for i in sorted(range(a, b), key=keys.__getitem__)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("spread", SPREADS)
def test_order_equals_a_stable_sort_of_each_query(spread, dtype):
    for sizes in SIZES.values():
        indptr = offsets(np.array(sizes))
        with np.errstate(over="ignore"):
            keys = SPREADS[spread](np.random.default_rng(0), int(indptr[-1])).astype(dtype)
        assert order_within(keys, indptr).tolist() == stable(keys.tolist(), indptr.tolist())


def test_numbers_that_differ_in_the_last_bits_only_are_sorted():
    """The last bits give way to the column, which must not change the order of such numbers."""
    keys = np.tile(np.nextafter(0.75, [1.0, 0.0]), 20)
    indptr = np.array([0, keys.size])
    assert order_within(keys, indptr).tolist() == [*range(1, 40, 2), *range(0, 40, 2)]


@pytest.mark.long
def test_a_query_too_long_for_merged_keys_is_sorted():
    keys = np.random.default_rng(0).integers(0, 9, LONGEST + 1) / 8
    assert (order_within(keys, np.array([0, keys.size])) == np.argsort(keys, kind="stable")).all()


def test_infinite_keys_are_sorted():
    keys = np.array([np.inf, -np.inf, 1.7e308, -1.7e308] * 8)
    assert order_within(keys, np.array([0, 32])).tolist() == np.argsort(keys, kind="stable").tolist()


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("spread", SPREADS)
def test_the_top_rows_are_those_of_a_stable_sort(spread, sizes):
    indptr = offsets(np.array(SIZES[sizes]))
    scores = SPREADS[spread](np.random.default_rng(1), int(indptr[-1]))
    expected = stable((-scores).tolist(), indptr.tolist())
    for k in (1, 2, 10):
        top, topptr = largest_first(scores, indptr, k)
        for q, first in enumerate(indptr[:-1]):
            rows = top[topptr[q] : topptr[q + 1]].tolist()
            n = int(indptr[q + 1] - first)
            assert rows == expected[first : first + len(rows)]
            assert len(rows) >= min(k, n)
            # Rows that tie with the last one are there too.
            assert len(rows) == n or scores[expected[first + len(rows)]] < scores[rows[-1]]


def test_long_queries_are_selected_from_beside_short_ones():
    """All rows of a short query are candidates; without long queries, selecting does not pay."""
    scores, indptr = np.random.default_rng(0).random(1003), np.array([0, 3, 1003])
    top = candidates(scores, indptr, 10)
    assert top[:3].tolist() == [0, 1, 2]
    assert 13 <= top.size < 100
    assert candidates(scores, np.append(np.arange(0, 1003, 50), 1003), 10) is None
