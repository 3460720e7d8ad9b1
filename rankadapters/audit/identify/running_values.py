"""Values at many cutoffs from one pass over the ranks: to the last bit what a kernel gives at each of them.

A measure without a form here is computed by its kernel at each cutoff.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.binding.running_sums import running_sums
from rankadapters.core.kernels import Kernel
from rankadapters.core.kernels.ap import average_precision, weighted_average_precision
from rankadapters.core.kernels.dcg import discounted_sums
from rankadapters.core.kernels.rr import reciprocal_rank

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Columns = tuple[Floats, ...]  # what stands at each rank, shape (n_ranks, n_queries), 0 beyond a query's rows

DEEP = 128  # ranks: beyond, where few queries have rows, there would be more zeros than rows


def _discounted_sums(columns: Columns, ks: Ints, discounts: Floats, ideal: Floats) -> Floats:
    return _at(running_sums(columns[0] * discounts[: len(columns[0]), None]), ks) / ideal


def _average_precision(columns: Columns, ks: Ints, divisor: Floats, by_found: bool) -> Floats:  # noqa: FBT001 - an option of the plan
    relevant = columns[0] > 0
    hits = running_sums(relevant.astype(np.float64))
    precision = hits / np.arange(1.0, len(hits) + 1)[:, None]
    total = running_sums(np.where(relevant, precision, 0.0))
    return _divided(_at(total, ks), _at(hits, ks) if by_found else divisor)


def _weighted_average_precision(columns: Columns, ks: Ints, divisor: Floats, by_found: bool) -> Floats:  # noqa: FBT001 - an option of the plan
    weights, every = columns
    hits, seen = running_sums(weights.copy()), running_sums(every.copy())
    terms = np.divide(hits, seen, out=np.zeros_like(hits), where=weights > 0)
    return _divided(_at(running_sums(weights * terms), ks), _at(hits, ks) if by_found else divisor)


def _reciprocal_rank(columns: Columns, ks: Ints) -> Floats:
    relevant = columns[0] > 0
    first = relevant.argmax(axis=0)
    found: Floats = np.where(relevant.any(axis=0) & (first < ks[:, None]), 1.0 / (first + 1), 0.0)
    return found


def _at(sums: Floats, ks: Ints) -> Floats:
    return sums[ks - 1]


def _divided(total: Floats, below: Floats) -> Floats:
    return np.divide(total, below, out=np.zeros_like(total), where=below > 0)


FORMS: dict[Kernel, Callable[..., Any]] = {
    discounted_sums: _discounted_sums,
    average_precision: _average_precision,
    weighted_average_precision: _weighted_average_precision,
    reciprocal_rank: _reciprocal_rank,
}
