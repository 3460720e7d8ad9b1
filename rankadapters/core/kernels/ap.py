"""Average precision of each query, from the relevance at its ranks."""

from __future__ import annotations

from rankadapters.core.kernels import kernel
from rankadapters.core.kernels.in_numpy import ranking as in_numpy


@kernel(in_numpy=in_numpy.average_precision)
def average_precision(ranked, outptr, k, divisor, by_found, values):
    """Sum of the precisions at relevant ranks, by the divisor or, where `by_found`, by the relevant rows found."""
    for q in range(len(values)):
        start = outptr[q]
        hits, total = 0.0, 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            if ranked[start + r] > 0:
                hits += 1.0
                total += hits / (r + 1)
        below = hits if by_found else divisor[q]
        values[q] = total / below if below > 0 else 0.0


@kernel
def weighted_average_precision(ranked, weights, outptr, k, divisor, by_found, values):
    """As average_precision, where `ranked` holds the weights of relevant rows and `weights` those of all rows."""
    for q in range(len(values)):
        start = outptr[q]
        hits, seen, total = 0.0, 0.0, 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            seen += weights[start + r]
            if ranked[start + r] > 0:
                hits += ranked[start + r]
                total += ranked[start + r] * (hits / seen)
        below = hits if by_found else divisor[q]
        values[q] = total / below if below > 0 else 0.0


@kernel(tied="spans")
def expected_average_precision(ranked, ends, outptr, k, divisor, values):
    """Expectation over all orders of tied rows (McSherry and Najork 2008); `ranked` counts the relevant of each tie.

    A tie of n rows, r of them relevant, behind a rows with t relevant ones adds
    sum over j = 1..n with a + j <= k of r/n (t + 1 + (j - 1) (r - 1)/(n - 1)) / (a + j).
    """
    for q in range(len(values)):
        start = outptr[q]
        size = min(k, outptr[q + 1] - start)
        before, total, first = 0.0, 0.0, 0
        while first < size:
            last, r = ends[start + first], ranked[start + first]
            n = last - first
            slope = (r - 1.0) / (n - 1) if n > 1 else 0.0
            if r > 0:
                for j in range(min(last, size) - first):
                    total += r / n * (before + 1.0 + j * slope) / (first + j + 1)
            before += r
            first = last
        values[q] = total / divisor[q]


@kernel(tied="spans")
def average_precision_of_ties(ranked, weights, ends, outptr, k, divisor, by_found, values):
    """A tie is retrieved at once, at its last rank; the columns weigh each tie's relevant rows, and all its rows."""
    for q in range(len(values)):
        start = outptr[q]
        size = min(k, outptr[q + 1] - start)
        hits, seen, total, first = 0.0, 0.0, 0.0, 0
        while first < size and ends[start + first] <= k:
            hits += ranked[start + first]
            seen += weights[start + first]
            if ranked[start + first] > 0:
                total += ranked[start + first] * (hits / seen)
            first = ends[start + first]
        below = hits if by_found else divisor[q]
        values[q] = total / below if below > 0 else 0.0
