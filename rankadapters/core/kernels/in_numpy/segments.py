"""Many segments of different sizes at once: as rows of a few matrices, or by the number of each entry's segment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankadapters.core.kernels.in_numpy import few_rows

CLASSES_PER_OCTAVE = 2  # of sizes that share a matrix: a sixth of it is padding on average


def numbers(indptr: Any) -> Any:
    """Segment of each entry."""
    return np.repeat(np.arange(indptr.size - 1), indptr[1:] - indptr[:-1])


def places_within(indptr: Any) -> Any:
    """Place of each entry in its segment, from 0."""
    return np.arange(indptr[0], indptr[-1]) - np.repeat(indptr[:-1], indptr[1:] - indptr[:-1])


def blocks(indptr: Any) -> Iterator[tuple[Any, Any]]:
    """Yield segments of like size as a matrix of places, one segment a row, and which of them are not padding."""
    sizes = indptr[1:] - indptr[:-1]
    if sizes.size and sizes[0] > 0 and (sizes == sizes[0]).all():
        places = indptr[:-1, None] + np.arange(sizes[0])
        yield places, np.ones(places.shape, np.bool_)
        return
    classes = np.where(sizes > 0, np.ceil(np.log2(np.maximum(sizes, 1)) * CLASSES_PER_OCTAVE), -1).astype(np.int16)
    for each in np.unique(classes[classes >= 0]):
        several = np.flatnonzero(classes == each)
        columns = np.arange(sizes[several].max())
        inside = columns < sizes[several, None]
        yield np.minimum(indptr[several, None] + columns, indptr[-1] - 1), inside


def stable_order(keys: Any, indptr: Any, padding: Any) -> Any:
    """Places of each segment's entries by ascending key, then place; no key is above `padding`."""
    order = np.empty(keys.size, np.intp)
    if keys.size <= few_rows.FEW_ROWS:
        order[:] = few_rows.stable_order(keys, indptr)
        return order
    for places, inside in blocks(indptr):
        several = keys[places]
        if not inside.all():
            several[~inside] = padding
        sorted_ = np.argsort(several, axis=1, kind="stable")
        order[places[inside]] = np.take_along_axis(places, sorted_, axis=1)[inside]
    return order


def descending(scores: Any, indptr: Any) -> Any:
    """Places of each segment's entries by descending score, all finite, then place."""
    return stable_order(-scores, indptr, np.inf)


def running(ufunc: Any, values: Any, indptr: Any) -> Any:
    """Running sum or product from the begin of each segment."""
    found = np.empty_like(values)
    for places, inside in blocks(indptr):
        found[places[inside]] = ufunc.accumulate(values[places], axis=1)[inside]
    return found


def sums(values: Any, number: Any, n: int) -> Any:
    """Sum of the values of each segment, from left to right."""
    return np.bincount(number, values, n)


def starts_of(changes: Any) -> Any:
    """Offsets of the runs that begin where `changes` is true."""
    return np.append(np.flatnonzero(changes), changes.size)


def begins(query: Any, n: int) -> Any:
    """Offsets of the entries of each query."""
    return np.searchsorted(query, np.arange(n + 1))


def ties_of(query: Any, rank: Any, ends: Any) -> Any:
    """Offsets of the ties, of ranks that know the end of theirs."""
    changes = np.ones(query.size, np.bool_)
    changes[1:] = (rank[1:] == ends[:-1]) | (query[1:] != query[:-1])
    return starts_of(changes)
