"""Operations on array segments of different sizes: numbered, or stacked as rows of a few padded matrices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

FEW_ROWS = 24  # up to this many rows, Python is faster than numpy
LEAST_ROWS_PER_RANK, BLOCKS_PER_RANK = 6, 3  # for the top k, `candidates` needs 6 k rows and makes 3 k blocks
CLASSES_PER_OCTAVE = 2  # segments of one size class share a matrix; a sixth of it is padding on average


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


def largest_of_few(values: Any, indptr: Any, cut: Any) -> list[float]:
    """Return the `cut` largest values of each segment in descending order, without numpy."""
    numbers, cuts = values.tolist(), cut.tolist()
    parts = (numbers[first:last] for first, last in pairwise(indptr.tolist()))
    return [value for part, most in zip(parts, cuts, strict=True) for value in sorted(part, reverse=True)[:most]]


def largest_first(scores: Any, indptr: Any, k: int, outptr: Any) -> Any:
    """Return the positions of each segment's top scores, at most k, earlier ones first among equal scores."""
    if scores.size > FEW_ROWS:
        top = candidates(scores, indptr, k)
        if top is not None:
            inner = np.searchsorted(top, indptr)
            return top[stable_order(-scores[top], inner)[_first_positions(inner, outptr)]]
    return stable_order(-scores, indptr)[_first_positions(indptr, outptr)]


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


def _first_positions(indptr: Any, outptr: Any) -> Any:
    return np.arange(outptr[-1]) + np.repeat(indptr[:-1] - outptr[:-1], np.diff(outptr))


def sums(values: Any, number: Any, n: int) -> Any:
    """Return the sum of the values of each segment, added from left to right."""
    return np.bincount(number, values, n)


def starts_of(changes: Any) -> Any:
    """Return the offsets of the runs that begin where `changes` is true."""
    return np.append(np.flatnonzero(changes), changes.size)
