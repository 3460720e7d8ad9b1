"""Concordant pairs of each query: by labels, by relevance, or as given."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import internal, kernel, numbers, steps
from rankadapters.core.kernels.ranked_rows import ALL_FINITE, first_non_finite, longest_of, ranked_rows

COST = 16  # of a row in plain Python, times that of ranking it


@internal
def prefix_sum(tree, place):
    """Sum of the first `place` entries of a Fenwick tree."""
    total = 0.0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@internal
def begin_of_tie(ranking, last):
    """Rank at which the tie begins that ends before rank `last`; each row behind its first is ~row there."""
    first = last - 1
    while first > 0 and ranking[first] < 0:
        first -= 1
    return first


@internal
def row_of(ranked):
    """Row that is ranked, tied or not."""
    return int(ranked if ranked >= 0 else ~ranked)


@kernel
def add_pairs_by_label(rows, indptr, grades, weights, tied, numerators):
    """Weight of the pairs of ranked rows, as pairs_by_label says."""
    tree = numbers(longest_of(indptr) + 1)
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        if n == 0:
            continue
        ranking = rows[start - indptr[0] : start - indptr[0] + n]
        for i in range(n):
            tree[i + 1] = 0.0
        total, last = 0.0, n  # from the lowest score up, a tie at a time
        while last > 0:
            first = begin_of_tie(ranking, last)
            for i in range(first, last):
                row = start + row_of(ranking[i])
                total += weights[row] * (1.0 - tied) * prefix_sum(tree, int(grades[row]) - 1)
            for i in range(first, last):
                row = start + row_of(ranking[i])
                place = int(grades[row])
                while place <= n:
                    tree[place] += weights[row]
                    place += place & -place
            if tied > 0:
                for i in range(first, last):
                    row = start + row_of(ranking[i])
                    total += weights[row] * tied * prefix_sum(tree, int(grades[row]) - 1)
            last = first
        numerators[q] = total


@steps(cost=COST)
def pairs_by_label(scores, order, indptr, grades, weights, tied, numerators):
    """Weight of the pairs whose row of the higher grade has the higher score; a tied pair counts `tied`.

    `grades` are 1, 2, ... within each query; each row of a pair brings its weight, and a pair their product.
    """
    rows = np.empty(indptr[-1] - indptr[0], np.int32)
    return [
        (ranked_rows, (scores, order, indptr, rows.size, True, indptr, rows)),
        (add_pairs_by_label, (rows, indptr, grades, weights, tied, numerators)),
    ]


@kernel
def add_pairs_by_relevance(rows, indptr, positive, negative, tied, numerators):
    """Weight of the pairs of ranked rows, as pairs_by_relevance says."""
    for q in range(len(indptr) - 1):
        start, last = indptr[q], indptr[q + 1] - indptr[q]
        if last == 0:
            continue
        ranking = rows[start - indptr[0] : start - indptr[0] + last]
        total, below = 0.0, 0.0
        while last > 0:
            first = begin_of_tie(ranking, last)
            relevant, irrelevant = 0.0, 0.0
            for i in range(first, last):
                row = start + row_of(ranking[i])
                relevant += positive[row]
                irrelevant += negative[row]
            total += relevant * (below + tied * irrelevant)
            below += irrelevant
            last = first
        numerators[q] = total


@steps(cost=COST)
def pairs_by_relevance(scores, order, indptr, positive, negative, tied, numerators):
    """Weight of the pairs of a relevant row above an irrelevant one; a row that is both in part meets itself."""
    rows = np.empty(indptr[-1] - indptr[0], np.int32)
    return [
        (ranked_rows, (scores, order, indptr, rows.size, True, indptr, rows)),
        (add_pairs_by_relevance, (rows, indptr, positive, negative, tied, numerators)),
    ]


@kernel(cost=COST)
def given_pairs(scores, order, indptr, winners, losers, weights, pairptr, tied, numerators):
    """Weight of the given pairs whose winner has the higher score."""
    for q in range(len(indptr) - 1):
        bad = first_non_finite(scores, order, indptr[q], indptr[q + 1])
        if bad >= 0:
            return bad
        total = 0.0
        for p in range(pairptr[q], pairptr[q + 1]):
            ahead, behind = scores[winners[p]], scores[losers[p]]
            if ahead > behind:
                total += weights[p]
            elif ahead == behind:
                total += weights[p] * tied
        numerators[q] = total
    return ALL_FINITE
