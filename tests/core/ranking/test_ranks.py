"""`Ranks` equals a loop over sorted queries: cut or not, with ties averaged or not, in numpy and compiled."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from rankadapters.core.ranking.ranks import Ranks
from tests.helpers.depth import examples

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
