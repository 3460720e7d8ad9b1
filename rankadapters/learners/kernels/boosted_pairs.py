"""What a distribution over the pairs of rows of different labels gives each row, without making a pair."""

from __future__ import annotations

from rankadapters.core.kernels import kernel


@kernel
def pair_potentials(up, down, level, indptr, weight, lower, higher, found):
    """Sum over the pairs of each row, up[j] x down[i] for the lower row j and the higher row i, by their total.

    It counts for the higher row and against the lower one, and `weight`, which may be empty, multiplies the pairs of a
    query. `level` numbers the labels; `lower` and `higher` have room for a number of each. All sums go row after row,
    level after level and query after query. Where the total is 0, so are all rows.
    """
    total = 0.0
    for q in range(indptr.size - 1):
        for each in range(lower.size):
            lower[each] = higher[each] = 0.0
        for i in range(indptr[q], indptr[q + 1]):
            lower[level[i]] += up[i]
            higher[level[i]] += down[i]
        below = above = 0.0
        for each in range(lower.size):
            own, lower[each] = lower[each], below
            below += own
            own, higher[-1 - each] = higher[-1 - each], above
            above += own
        for i in range(indptr[q], indptr[q + 1]):
            wins, losses = down[i] * lower[level[i]], up[i] * higher[level[i]]
            if weight.size:
                wins *= weight[q]
                losses *= weight[q]
            total += wins
            found[i] = wins - losses
    for i in range(found.size):
        found[i] = found[i] / total if total != 0 else 0.0
