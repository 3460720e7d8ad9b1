"""Concordant pairs of each query: by labels, by relevance, or as given."""

from __future__ import annotations

import numpy as np

from rankadapters.core._kernels import internal, kernel
from rankadapters.core._kernels.ranking import ALL_FINITE, all_finite, first_non_finite
from rankadapters.core._kernels.sorting import new_sorting, rank


@internal
def prefix_sum(tree, place):
    """Sum of the first `place` entries of a Fenwick tree."""
    total = 0.0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@kernel
def pairs_by_label(scores, order, indptr, grades, weights, tied, numerators):
    """Weight of the pairs whose row of the higher grade has the higher score; a tied pair counts `tied`.

    `grades` are 1, 2, ... within each query; each row of a pair brings its weight, and a pair their product.
    """
    width = 0
    for q in range(indptr.size - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    query_scores, space, tree = np.empty(width, scores.dtype), new_sorting(width, scores), np.empty(width + 1)
    ranking = space.order
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        if n == 0:
            continue
        for i in range(n):
            query_scores[i] = scores[order[start + i] if order.size else start + i]
            tree[i + 1] = 0.0
        if not all_finite(query_scores[:n]):
            return first_non_finite(scores, order, start, start + n)
        rank(query_scores[:n], n, space)
        total, last = 0.0, n  # from the lowest score up, a tie at a time
        while last > 0:
            first = last - 1
            while first > 0 and query_scores[ranking[first - 1]] == query_scores[ranking[last - 1]]:
                first -= 1
            for i in range(first, last):
                row = start + ranking[i]
                total += weights[row] * (1.0 - tied) * prefix_sum(tree, np.int64(grades[row]) - 1)
            for i in range(first, last):
                place = np.int64(grades[start + ranking[i]])
                while place <= n:
                    tree[place] += weights[start + ranking[i]]
                    place += place & -place
            if tied > 0:
                for i in range(first, last):
                    row = start + ranking[i]
                    total += weights[row] * tied * prefix_sum(tree, np.int64(grades[row]) - 1)
            last = first
        numerators[q] = total
    return ALL_FINITE


@kernel
def pairs_by_relevance(scores, order, indptr, positive, negative, tied, numerators):
    """Weight of the pairs of a relevant row above an irrelevant one; a row that is both in part meets itself."""
    width = 0
    for q in range(indptr.size - 1):
        width = max(width, indptr[q + 1] - indptr[q])
    query_scores, space = np.empty(width, scores.dtype), new_sorting(width, scores)
    ranking = space.order
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        if n == 0:
            continue
        for i in range(n):
            query_scores[i] = scores[order[start + i] if order.size else start + i]
        if not all_finite(query_scores[:n]):
            return first_non_finite(scores, order, start, start + n)
        rank(query_scores[:n], n, space)
        total, below, last = 0.0, 0.0, n
        while last > 0:
            first = last - 1
            while first > 0 and query_scores[ranking[first - 1]] == query_scores[ranking[last - 1]]:
                first -= 1
            relevant, irrelevant = 0.0, 0.0
            for i in range(first, last):
                relevant += positive[start + ranking[i]]
                irrelevant += negative[start + ranking[i]]
            total += relevant * (below + tied * irrelevant)
            below += irrelevant
            last = first
        numerators[q] = total
    return ALL_FINITE


@kernel
def given_pairs(scores, order, indptr, winners, losers, weights, pairptr, tied, numerators):
    """Weight of the given pairs whose winner has the higher score."""
    for q in range(indptr.size - 1):
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
