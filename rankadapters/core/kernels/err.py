"""Expected reciprocal rank of each query, and what is made like it, from the gains at its ranks."""

from __future__ import annotations

import numpy as np

from rankadapters.core.kernels import inlined, internal, kernel, numbers


@inlined
def complement(chance, in_float32):
    """1 - chance, rounded to float32 if so."""
    rest = 1.0 - chance
    return np.float64(np.float32(rest)) if in_float32 else rest


@kernel
def cascade(ranked, outptr, k, discounts, scale, in_float32, values):
    """Sum over the ranks of discount x chance to stop there; a row stops with the chance gain / scale."""
    for q in range(len(values)):
        start = outptr[q]
        total, look = 0.0, 1.0
        for r in range(min(k, outptr[q + 1] - start)):
            chance = ranked[start + r] / scale
            total += look * chance * discounts[r]
            look *= complement(chance, in_float32)
        values[q] = total


@internal
def expect_in_tie(tied, depth, scale, in_float32, stops, looks):
    """Over all orders of a tie: the chance to stop at its rank m + 1 <= depth, and to look beyond its first m rows.

    Of the first t rows, with chances p and complements q: L[m], the mean over all sets of m rows of the product of
    their q, and S[m], the mean over all ordered choices of one row and m others of p x product of q, follow from those
    of t - 1 rows, since the t-th is the one with chance 1/t, and in the set with chance m/t:

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
def expected_cascade(ranked, ends, outptr, k, discounts, scale, in_float32, values):
    """Expectation of `cascade` over all orders of tied rows; ranks hold their own rows, of the last tie all of them."""
    stops, looks = numbers(k + 1), numbers(k + 1)
    for q in range(len(values)):
        start = outptr[q]
        size = min(k, outptr[q + 1] - start)
        total, look, first = 0.0, 1.0, 0
        while first < size:
            last = ends[start + first]
            if last == first + 1:
                chance = ranked[start + first] / scale
                total += look * chance * discounts[first]
                look *= complement(chance, in_float32)
            else:
                depth = min(last, size) - first
                expect_in_tie(ranked[start + first : start + last], depth, scale, in_float32, stops, looks)
                for m in range(depth):
                    total += look * stops[m] * discounts[first + m]
                look *= looks[depth]
            first = last
        values[q] = total
