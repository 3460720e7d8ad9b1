"""Expected reciprocal rank and PFound of each query, from its gains by rank."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import inlined, internal, kernel, zeros


@inlined
def complement(chance, in_float32):
    """Return 1 - chance, rounded to float32 if `in_float32`."""
    rest = 1.0 - chance
    return np.float64(np.float32(rest)) if in_float32 else rest


@kernel
def cascade(gains_by_rank, outptr, k, discounts, scale, in_float32, values):
    """Sum of discount x chance that a reader stops at the rank; who sees a row stops there with chance gain / scale."""
    for q in range(len(values)):
        start = outptr[q]
        total, look = 0.0, 1.0
        for r in range(min(k, outptr[q + 1] - start)):
            chance = gains_by_rank[start + r] / scale
            total += look * chance * discounts[r]
            look *= complement(chance, in_float32)
        values[q] = total


@internal
def expect_in_tie(tied, depth, scale, in_float32, stops, looks):
    """Write the chances to stop at row m + 1 of a tie and to pass its first m rows, as means over all orders.

    A row has chance p to stop and q = 1 - p to go on. For the first t rows, L[m] is the mean of the product of q over
    all sets of m rows. S[m] is the mean of p x product of q over all choices of one row and a set of m different rows.
    Both follow from those of t - 1 rows: the t-th row is the one row with chance 1/t, and in the set with chance m/t.

    S[m] = (p L[m] + m q S[m - 1] + (t - 1 - m) S[m]) / t;  L[m] = (m q L[m - 1] + (t - m) L[m]) / t.
    """
    for m in range(depth + 1):
        stops[m], looks[m] = 0.0, 0.0
    looks[0] = 1.0
    for t in range(1, len(tied) + 1):
        chance = tied[t - 1] / scale
        rest = complement(chance, in_float32)
        for m in range(min(t, depth), 0, -1):
            stops[m] = (chance * looks[m] + m * rest * stops[m - 1] + (t - 1 - m) * stops[m]) / t
            looks[m] = (m * rest * looks[m - 1] + (t - m) * looks[m]) / t
        stops[0] = (chance + (t - 1) * stops[0]) / t


@kernel(tied="whole")
def expected_cascade(gains_by_rank, ends, outptr, k, discounts, scale, in_float32, values):
    """Expectation of `cascade` over all orders of tied rows; columns hold every row of a tie, also beyond rank k."""
    stops, looks = zeros(k + 1), zeros(k + 1)
    for q in range(len(values)):
        start = outptr[q]
        size = min(k, outptr[q + 1] - start)
        total, look, first = 0.0, 1.0, 0
        while first < size:
            last = ends[start + first]
            if last == first + 1:
                chance = gains_by_rank[start + first] / scale
                total += look * chance * discounts[first]
                look *= complement(chance, in_float32)
            else:
                depth = min(last, size) - first
                expect_in_tie(gains_by_rank[start + first : start + last], depth, scale, in_float32, stops, looks)
                for m in range(depth):
                    total += look * stops[m] * discounts[first + m]
                look *= looks[depth]
            first = last
        values[q] = total
