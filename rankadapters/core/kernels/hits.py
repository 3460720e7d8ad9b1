"""Measures of each query that count the relevant rows at its ranks: to its own cutoff, or any at all."""

from __future__ import annotations

from rankadapters.core.kernels import kernel
from rankadapters.core.kernels.in_numpy import ranking as in_numpy


@kernel
def share_at_own_cutoff(ranked, outptr, k, cutoffs, values):
    """Sum over as many ranks as the query's own cutoff says, by that cutoff."""
    for q in range(len(values)):
        start = outptr[q]
        total = 0.0
        for r in range(min(k, cutoffs[q], outptr[q + 1] - start)):
            total += ranked[start + r]
        values[q] = total / cutoffs[q]


@kernel(in_numpy=in_numpy.any_relevant)
def any_relevant(ranked, outptr, k, values):
    """1 where there is a relevant row at ranks 1..k, else 0."""
    for q in range(len(values)):
        start = outptr[q]
        values[q] = 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            if ranked[start + r] > 0:
                values[q] = 1.0
                break


@kernel(tied="spans")
def chance_of_any_relevant(ranked, ends, outptr, k, values):
    """Expectation of any_relevant over all orders of tied rows; `ranked` counts the relevant rows of each tie.

    Of the first tie with r > 0 relevant rows among its n, m stand at ranks 1..k: 1 - C(n - r, m) / C(n, m), as the sum
    of the chances that the first relevant row is the 1st, ..., m-th, so that small ones keep all their digits.
    """
    for q in range(len(values)):
        start = outptr[q]
        size = min(k, outptr[q + 1] - start)
        first, total = 0, 0.0
        while first < size and ranked[start + first] == 0:
            first = ends[start + first]
        if first < size:
            n, r = ends[start + first] - first, ranked[start + first]
            m = min(n, size - first)
            chance = r / n
            for j in range(m):
                total += chance
                chance *= (n - r - j) / (n - j - 1) if j + 1 < n else 0.0
            total = 1.0 if m > n - r else min(total, 1.0)
        values[q] = total


@kernel
def last_relevant(ranked, outptr, k, values):
    """Rank of the last relevant row among the first k, 0 without one."""
    for q in range(len(values)):
        start = outptr[q]
        last = min(k, outptr[q + 1] - start)
        while last > 0 and ranked[start + last - 1] == 0:
            last -= 1
        values[q] = last


@kernel
def preferred(ranked, irrelevant_ranked, outptr, k, relevant, irrelevant, values):
    """Bpref: mean over the relevant rows of 1 - min(irrelevant rows above, R) / min(N, R)."""
    for q in range(len(values)):
        start = outptr[q]
        least = min(relevant[q], irrelevant[q])
        total, above = 0.0, 0.0
        for r in range(min(k, outptr[q + 1] - start)):
            if ranked[start + r] > 0:
                total += 1.0 - min(above, relevant[q]) / least if above > 0 else 1.0
            above += irrelevant_ranked[start + r]
        values[q] = total / relevant[q]
