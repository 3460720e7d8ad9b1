"""Measures of each query that count or look for relevant rows by rank."""

from __future__ import annotations

from rankadapters.core.kernels import kernel
from rankadapters.core.kernels.in_numpy import ranking as in_numpy


@kernel
def share_at_query_cutoff(gains_by_rank, outptr, k, cutoffs, values):
    """Sum of the gains up to each query's own cutoff, divided by that cutoff."""
    for q in range(len(values)):
        start = outptr[q]
        total = 0.0
        for r in range(min(k, cutoffs[q], outptr[q + 1] - start)):
            total += gains_by_rank[start + r]
        values[q] = total / cutoffs[q]


@kernel(in_numpy=in_numpy.any_relevant)
def any_relevant(gains_by_rank, outptr, k, values):
    """1 if there is a relevant row at ranks 1..k, else 0."""
    for q in range(len(values)):
        start = outptr[q]
        values[q] = 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            if gains_by_rank[start + r] > 0:
                values[q] = 1.0
                break


@kernel(tied="spans")
def chance_of_any_relevant(gains_by_rank, ends, outptr, k, values):
    """Expectation of any_relevant over all orders of tied rows; `gains_by_rank` counts the relevant rows of each tie.

    The first tie with relevant rows has n rows, r of them relevant, and m of its ranks are at most k. The chance is
    1 - C(n - r, m) / C(n, m), computed as a sum over the position of the first relevant row to keep small digits.
    """
    for q in range(len(values)):
        start = outptr[q]
        size = min(k, outptr[q + 1] - start)
        first, total = 0, 0.0
        while first < size and gains_by_rank[start + first] == 0:
            first = ends[start + first]
        if first < size:
            n, r = ends[start + first] - first, gains_by_rank[start + first]
            m = min(n, size - first)
            chance = r / n
            for j in range(m):
                total += chance
                chance *= (n - r - j) / (n - j - 1) if j + 1 < n else 0.0
            total = 1.0 if m > n - r else min(total, 1.0)
        values[q] = total


@kernel
def last_relevant(gains_by_rank, outptr, k, values):
    """Rank of the last relevant row among the first k, 0 if there is none."""
    for q in range(len(values)):
        start = outptr[q]
        last = min(k, outptr[q + 1] - start)
        while last > 0 and gains_by_rank[start + last - 1] == 0:
            last -= 1
        values[q] = last


@kernel
def preferred(gains_by_rank, irrelevance_by_rank, outptr, k, relevant, irrelevant, values):
    """Bpref: mean over the R relevant rows of 1 - min(irrelevant rows above, R) / min(N, R), for N irrelevant rows."""
    for q in range(len(values)):
        start = outptr[q]
        least = min(relevant[q], irrelevant[q])
        total, above = 0.0, 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            if gains_by_rank[start + r] > 0:
                total += 1.0 - min(above, relevant[q]) / least if above > 0 else 1.0
            above += irrelevance_by_rank[start + r]
        values[q] = total / relevant[q]
