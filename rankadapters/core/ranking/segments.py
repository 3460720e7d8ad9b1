"""Operations on array segments of different sizes: numbered, or stacked as rows of a few padded matrices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

FEW_ROWS = 24  # up to this many rows, Python is faster than numpy
LEAST_ROWS_PER_RANK, BLOCKS_PER_RANK = 6, 3  # for the top k, `candidates` needs 6 k rows and makes 3 k blocks
EXACT = 2.0**53  # float64 holds every whole number up to it
CLASSES_PER_OCTAVE = 2  # segments of one size class share a matrix; a sixth of it is padding on average


def offsets(sizes: Any) -> Any:
    """Return where each segment begins, and the number of all entries: running sums of the sizes, from 0.

    >>> offsets(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    indptr = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=indptr[1:])
    return indptr


def segment_numbers(indptr: Any) -> Any:
    """Return the segment number of each entry."""
    return np.repeat(np.arange(indptr.size - 1), indptr[1:] - indptr[:-1])


def positions_within(indptr: Any) -> Any:
    """Return the position of each entry in its segment, from 0."""
    return np.arange(indptr[0], indptr[-1]) - np.repeat(indptr[:-1], indptr[1:] - indptr[:-1])


def blocks(indptr: Any) -> Iterator[tuple[Any, Any]]:
    """Yield matrices of positions, whose rows are segments of similar size, and which positions are not padding."""
    sizes = indptr[1:] - indptr[:-1]
    if sizes.size and sizes[0] > 0 and (sizes == sizes[0]).all():
        positions = indptr[:-1, None] + np.arange(sizes[0])
        yield positions, np.ones(positions.shape, np.bool_)
        return
    classes = np.where(sizes > 0, np.ceil(np.log2(np.maximum(sizes, 1)) * CLASSES_PER_OCTAVE), -1).astype(np.int16)
    for size_class in np.unique(classes[classes >= 0]):
        segments = np.flatnonzero(classes == size_class)
        columns = np.arange(sizes[segments].max())
        inside = columns < sizes[segments, None]
        yield np.minimum(indptr[segments, None] + columns, indptr[-1] - 1), inside


def stable_order(keys: Any, indptr: Any) -> Any:
    """Return positions that sort each segment stably by ascending finite key."""
    order = np.empty(keys.size, np.intp)
    if keys.size <= FEW_ROWS:
        order[:] = _order_of_few(keys, indptr)
        return order
    for positions, inside in blocks(indptr):
        key_matrix = keys[positions]
        if not inside.all():
            key_matrix[~inside] = np.inf
        columns = np.argsort(key_matrix, axis=1, kind="stable")
        order[positions[inside]] = np.take_along_axis(positions, columns, axis=1)[inside]
    return order


def _order_of_few(keys: Any, indptr: Any) -> list[int]:
    """Return positions that sort each segment stably by ascending key, without numpy."""
    values = keys.tolist()
    segments = (range(first, last) for first, last in pairwise(indptr.tolist()))
    return [position for segment in segments for position in sorted(segment, key=values.__getitem__)]


def largest_first(scores: Any, indptr: Any, k: int, outptr: Any) -> Any:
    """Return the positions of each segment's top scores, at most k, earlier ones first among equal scores."""
    if scores.size > FEW_ROWS:
        top = candidates(scores, indptr, k)
        if top is not None:
            inner = np.searchsorted(top, indptr)
            return top[stable_order(-scores[top], inner)[first_positions(inner, outptr)]]
    return stable_order(-scores, indptr)[first_positions(indptr, outptr)]


def candidates(scores: Any, indptr: Any, k: int) -> Any:
    """Return the positions of scores that can be among the k largest of their segment; None if most can.

    A segment is cut into blocks. The k-th largest block maximum is at most the k-th largest score.
    """
    sizes = np.diff(indptr)
    if sizes.size == 0 or sizes.min() < LEAST_ROWS_PER_RANK * k or scores.size == 0:
        return None
    n_blocks = BLOCKS_PER_RANK * k
    cuts = indptr[:-1, None] + (sizes[:, None] * np.arange(n_blocks)) // n_blocks
    maxima = np.maximum.reduceat(scores, cuts.ravel()).reshape(cuts.shape)
    thresholds = np.partition(maxima, n_blocks - k, axis=1)[:, n_blocks - k]
    return np.flatnonzero(scores >= np.repeat(thresholds, sizes))


def first_positions(indptr: Any, outptr: Any) -> Any:
    """Return the first positions of each segment, as many as the segments of `outptr` have."""
    return np.arange(outptr[-1]) + np.repeat(indptr[:-1] - outptr[:-1], np.diff(outptr))


def sums(values: Any, number: Any, n: int) -> Any:
    """Return the sum of the values of each segment, added from left to right."""
    return np.bincount(number, values, n)


def running(ufunc: Any, values: Any, indptr: Any) -> Any:
    """Return the running sums or products of each segment, from left to right.

    >>> running(np.add, np.array([1.0, 2.0, 3.0]), np.array([0, 2, 3])).tolist()
    [1.0, 3.0, 3.0]
    """
    out = np.empty(values.size)
    for positions, inside in blocks(indptr):
        out[positions[inside]] = ufunc.accumulate(values[positions], axis=1)[inside]
    return out


def running_sums(values: Any, indptr: Any) -> Any:
    """Return `running(np.add, ...)`, faster if no sum is rounded."""
    if values.size and np.abs(values).max() * values.size < EXACT and (values == np.floor(values)).all():
        totals = np.append(0.0, np.cumsum(values))
        return totals[1:] - np.repeat(totals[indptr[:-1]], np.diff(indptr))
    return running(np.add, values, indptr)


def reduced(ufunc: Any, values: Any, indptr: Any) -> Any:
    """Return the maximum or minimum of each segment; 0 for an empty one.

    >>> reduced(np.maximum, np.array([1.0, 3.0, 2.0]), np.array([0, 2, 2, 3])).tolist()
    [3.0, 0.0, 2.0]
    """
    results, nonempty = np.zeros(indptr.size - 1), np.flatnonzero(np.diff(indptr))
    if nonempty.size:
        results[nonempty] = ufunc.reduceat(values, indptr[nonempty])
    return results
