"""Average precision of each query, from the relevance at its ranks."""

from __future__ import annotations

from rankadapters.core.kernels import kernel
from rankadapters.core.kernels.in_numpy import ranking as in_numpy


@kernel(in_numpy=in_numpy.average_precision)
def average_precision(gains_by_rank, outptr, k, divisor, by_found, values):
    """Sum of the precisions at relevant ranks, divided by `divisor`, or by the number of these ranks if `by_found`."""
    for q in range(len(values)):
        start = outptr[q]
        hits, total = 0.0, 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            if gains_by_rank[start + r] > 0:
                hits += 1.0
                total += hits / (r + 1)
        denominator = hits if by_found else divisor[q]
        values[q] = total / denominator if denominator > 0 else 0.0


@kernel
def weighted_average_precision(gains_by_rank, weights, outptr, k, divisor, by_found, values):
    """`average_precision` with row `weights`; `gains_by_rank` is a relevant row's weight, 0 for an irrelevant row."""
    for q in range(len(values)):
        start = outptr[q]
        hits, weight_above, total = 0.0, 0.0, 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            weight_above += weights[start + r]
            if gains_by_rank[start + r] > 0:
                hits += gains_by_rank[start + r]
                total += gains_by_rank[start + r] * (hits / weight_above)
        denominator = hits if by_found else divisor[q]
        values[q] = total / denominator if denominator > 0 else 0.0


@kernel(tied="spans")
def expected_average_precision(gains_by_rank, ends, outptr, k, divisor, values):
    """Expected AP over all orders of tied rows (McSherry & Najork 2008); `gains_by_rank` counts a tie's relevant rows.

    A tie of n rows with r relevant ones, after a rows with t relevant ones, adds
    sum over j = 1..n with a + j <= k of r/n (t + 1 + (j - 1) (r - 1)/(n - 1)) / (a + j).
    """
    for q in range(len(values)):
        start = outptr[q]
        size = min(k, outptr[q + 1] - start)
        before, total, first = 0.0, 0.0, 0
        while first < size:
            last, r = ends[start + first], gains_by_rank[start + first]
            n = last - first
            slope = (r - 1.0) / (n - 1) if n > 1 else 0.0
            if r > 0:
                for j in range(min(last, size) - first):
                    total += r / n * (before + 1.0 + j * slope) / (first + j + 1)
            before += r
            first = last
        values[q] = total / divisor[q]


@kernel(tied="spans")
def average_precision_of_ties(gains_by_rank, weights, ends, outptr, k, divisor, by_found, values):
    """AP if all rows of a tie are retrieved together, at the tie's last rank; columns are sums over each tie."""
    for q in range(len(values)):
        start = outptr[q]
        size = min(k, outptr[q + 1] - start)
        hits, weight_above, total, first = 0.0, 0.0, 0.0, 0
        while first < size and ends[start + first] <= k:
            hits += gains_by_rank[start + first]
            weight_above += weights[start + first]
            if gains_by_rank[start + first] > 0:
                total += gains_by_rank[start + first] * (hits / weight_above)
            first = ends[start + first]
        denominator = hits if by_found else divisor[q]
        values[q] = total / denominator if denominator > 0 else 0.0
