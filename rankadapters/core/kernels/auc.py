"""Weight of the concordant pairs of each query: pairs by label, by relevance, or given."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import internal, kernel, steps, zeros
from rankadapters.core.ranking.ranked_rows import ALL_FINITE, first_non_finite, longest_of, ranked_rows

COST = 16  # time per row in plain Python, relative to ranking


@internal
def prefix_sum(tree, node):
    """Return the sum of the entries 1 to `node` of a Fenwick tree."""
    total = 0.0
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total


@internal
def tie_start(ranking, last):
    """Return the first rank of the tie that ends before rank `last`; its rows after the first are stored as ~row."""
    first = last - 1
    while first > 0 and ranking[first] < 0:
        first -= 1
    return first


@internal
def row_number(ranked):
    """Decode a row number, stored as ~row if the row ties with the previous one."""
    return int(ranked if ranked >= 0 else ~ranked)


@kernel
def add_pairs_by_label(rows, indptr, grades, weights, tied, numerators):
    """Compute `pairs_by_label` from the rows by rank."""
    tree = zeros(longest_of(indptr) + 1)
    for q in range(len(indptr) - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        if n == 0:
            continue
        ranking = rows[start - indptr[0] : start - indptr[0] + n]
        for i in range(n):
            tree[i + 1] = 0.0
        total, last = 0.0, n  # from the lowest score up, one tie at a time
        while last > 0:
            first = tie_start(ranking, last)
            for i in range(first, last):
                row = start + row_number(ranking[i])
                total += weights[row] * (1.0 - tied) * prefix_sum(tree, int(grades[row]) - 1)
            for i in range(first, last):
                row = start + row_number(ranking[i])
                node = int(grades[row])
                while node <= n:
                    tree[node] += weights[row]
                    node += node & -node
            if tied > 0:
                for i in range(first, last):
                    row = start + row_number(ranking[i])
                    total += weights[row] * tied * prefix_sum(tree, int(grades[row]) - 1)
            last = first
        numerators[q] = total


@steps(cost=COST)
def pairs_by_label(scores, order, indptr, grades, weights, tied, numerators):
    """Weight of the pairs whose row of the higher grade has the higher score; a tied pair counts `tied`.

    `grades` are 1, 2, ... within each query. The weight of a pair is the product of its rows' weights.
    """
    rows = np.empty(indptr[-1] - indptr[0], np.int32)
    return [
        (ranked_rows, (scores, order, indptr, rows.size, True, indptr, rows)),
        (add_pairs_by_label, (rows, indptr, grades, weights, tied, numerators)),
    ]


@kernel
def add_pairs_by_relevance(rows, indptr, positive, negative, tied, numerators):
    """Compute `pairs_by_relevance` from the rows by rank."""
    for q in range(len(indptr) - 1):
        start, last = indptr[q], indptr[q + 1] - indptr[q]
        if last == 0:
            continue
        ranking = rows[start - indptr[0] : start - indptr[0] + last]
        total, below = 0.0, 0.0
        while last > 0:
            first = tie_start(ranking, last)
            relevant, irrelevant = 0.0, 0.0
            for i in range(first, last):
                row = start + row_number(ranking[i])
                relevant += positive[row]
                irrelevant += negative[row]
            total += relevant * (below + tied * irrelevant)
            below += irrelevant
            last = first
        numerators[q] = total


@steps(cost=COST)
def pairs_by_relevance(scores, order, indptr, positive, negative, tied, numerators):
    """Weight of the pairs with a relevant row above an irrelevant one; a partly relevant row also pairs with itself."""
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
            winner_score, loser_score = scores[winners[p]], scores[losers[p]]
            if winner_score > loser_score:
                total += weights[p]
            elif winner_score == loser_score:
                total += weights[p] * tied
        numerators[q] = total
    return ALL_FINITE
