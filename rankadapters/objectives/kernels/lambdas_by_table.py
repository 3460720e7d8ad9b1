"""LightGBM's lambda gradients bit for bit, with its sigmoid table, its order of operations and its float32 sums."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels.queries import columns, sum_scale, write_gradients

BINS = 1024 * 1024
REACH = 25.0  # the table covers sigmoid arguments of +-25

# Working memory, as `lambdas.Memory`.
Memory = namedtuple("Memory", "sums total")  # noqa: PYI024 - for numba
Sums = namedtuple("Sums", "lambdas hessians")  # noqa: PYI024 - as above


def make_memory(width: int) -> Memory:
    """Allocate memory for queries of up to `width` rows."""
    return Memory(columns(Sums, width, np.float32), np.zeros(1))


@jit
def sigmoid_table(sigma, out):
    """Write 1 / (1 + exp(sigma x)) at out.size points from -25 / sigma to 25 / sigma."""
    low = -REACH / sigma
    bins_per_unit = out.size / (-low - low)
    for i in range(out.size):
        out[i] = 1.0 / (1.0 + np.exp((i / bins_per_unit + low) * sigma))


@jit
def from_table(x, table, low, bins_per_unit):
    """Return the table's value at x, or at the nearer end of the table if x is outside its range."""
    if x <= low:
        return table[0]
    if x >= -low:
        return table[table.size - 1]
    # For the largest float below -low, the bin number can round to one past the last bin.
    return table[np.uint64(min(np.int64((x - low) * bins_per_unit), table.size - 1))]


@internal
def add_pairs_by_table(queries, q, first, last, pairing, table, memory):
    """Same as `lambdas.add_pairs`, in LightGBM's arithmetic."""
    ranks = slice(queries.rowptr[q], queries.rowptr[q + 1])
    scores, gains, discounts = queries.scores[ranks], queries.gains[ranks], queries.discounts
    (lambdas, hessians), total, inverse_ideal, n = memory.sums, memory.total[0], queries.inverse[q], scores.size
    low = -REACH / pairing.sigma
    bins_per_unit = table.size / (-low - low)
    divided = pairing.slope > 0.0 and scores[0] != scores[n - 1]
    for i in range(first, last):
        for j in range(i + 1, n):
            if gains[i] == gains[j]:
                continue
            high, lower = (i, j) if gains[i] > gains[j] else (j, i)
            distance = scores[high] - scores[lower]
            delta = (gains[high] - gains[lower]) * abs(discounts[high] - discounts[lower]) * inverse_ideal
            if divided:
                delta /= pairing.offset + abs(distance)
            p = from_table(distance, table, low, bins_per_unit)
            bend = np.float32(p * (1.0 - p) * (pairing.sigma * pairing.sigma * delta))
            p *= -pairing.sigma * delta
            push = np.float32(p)
            lambdas[lower] -= push
            hessians[lower] += bend
            lambdas[high] += push
            hessians[high] += bend
            total -= 2 * p
    memory.total[0] = total
    return total


@jit
def lambda_gradients_by_table(queries, pairing, table, first, last, memory, grad, hess):
    """Same as `lambdas.lambda_gradients`, in LightGBM's arithmetic."""
    lambdas, hessians = memory.sums
    for q in range(queries.indptr.size - 1):
        n = queries.rowptr[q + 1] - queries.rowptr[q]
        if n == 0:
            continue
        if first == 0:
            for r in range(n):
                lambdas[r] = 0.0
                hessians[r] = 0.0
            memory.total[0] = 0.0
        end = min(pairing.limit, n - 1)
        total = add_pairs_by_table(queries, q, first, min(last, end), pairing, table, memory)
        if last >= end:
            scale = sum_scale(total, pairing.by_sum)
            write_gradients(queries, q, lambdas, hessians, scale, scale, grad, hess)
    return ALL_FINITE
