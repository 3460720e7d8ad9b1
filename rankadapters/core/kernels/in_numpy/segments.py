"""Many segments of different sizes at once: as rows of a few matrices, or by the number of each entry's segment."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

FEW_ROWS = 24  # up to here Python takes less time than numpy takes to start
LEAST_BLOCKS, BLOCKS = 6, 3  # rows and blocks of a segment for each rank that is looked for
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


def stable_order(keys: Any, indptr: Any) -> Any:
    """Places of each segment's entries by ascending key, all finite, then place."""
    order = np.empty(keys.size, np.intp)
    if keys.size <= FEW_ROWS:
        order[:] = _order_of_few(keys, indptr)
        return order
    for places, inside in blocks(indptr):
        several = keys[places]
        if not inside.all():
            several[~inside] = np.inf
        sorted_ = np.argsort(several, axis=1, kind="stable")
        order[places[inside]] = np.take_along_axis(places, sorted_, axis=1)[inside]
    return order


def _order_of_few(keys: Any, indptr: Any) -> list[int]:
    """Places of each segment's entries by ascending key, then place."""
    values = keys.tolist()
    segments = (range(first, last) for first, last in pairwise(indptr.tolist()))
    return [place for segment in segments for place in sorted(segment, key=values.__getitem__)]


def largest_of_few(values: Any, indptr: Any, cut: Any) -> list[float]:
    """Values of each segment in descending order, as many as `cut` says."""
    several, cuts = values.tolist(), cut.tolist()
    parts = (several[first:last] for first, last in pairwise(indptr.tolist()))
    return [value for part, most in zip(parts, cuts, strict=True) for value in sorted(part, reverse=True)[:most]]


def largest_first(scores: Any, indptr: Any, k: int, outptr: Any) -> Any:
    """Places of the largest scores of each segment, as many as `outptr` says and at most k; then of the first place."""
    if scores.size > FEW_ROWS:
        kept = candidates(scores, indptr, k)
        if kept is not None:
            inner = np.searchsorted(kept, indptr)
            return kept[stable_order(-scores[kept], inner)[_first_places(inner, outptr)]]
    return stable_order(-scores, indptr)[_first_places(indptr, outptr)]


def candidates(scores: Any, indptr: Any, k: int) -> Any:
    """Places of scores that may be among the k largest of their segment; None where most may be.

    A segment is cut into blocks. The k-th largest of their maxima bounds the k-th largest score from below.
    """
    sizes = np.diff(indptr)
    if sizes.size == 0 or sizes.min() < LEAST_BLOCKS * k or scores.size == 0:
        return None
    n_blocks = BLOCKS * k
    cuts = indptr[:-1, None] + (sizes[:, None] * np.arange(n_blocks)) // n_blocks
    maxima = np.maximum.reduceat(scores, cuts.ravel()).reshape(cuts.shape)
    bounds = np.partition(maxima, n_blocks - k, axis=1)[:, n_blocks - k]
    return np.flatnonzero(scores >= np.repeat(bounds, sizes))


def _first_places(indptr: Any, outptr: Any) -> Any:
    return np.arange(outptr[-1]) + np.repeat(indptr[:-1] - outptr[:-1], np.diff(outptr))


def sums(values: Any, number: Any, n: int) -> Any:
    """Sum of the values of each segment, from left to right."""
    return np.bincount(number, values, n)


def starts_of(changes: Any) -> Any:
    """Offsets of the runs that begin where `changes` is true."""
    return np.append(np.flatnonzero(changes), changes.size)
