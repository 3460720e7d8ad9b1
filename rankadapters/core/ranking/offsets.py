"""Segmented arrays: one segment after the other, such as the rows of each query; offsets say where each begins."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankadapters.core.arrays import EXACT, Array, Flags, Floats, Ints

CLASSES_PER_OCTAVE = 2  # segments of one size class share a matrix; a sixth of it is padding on average


def offsets(sizes: Array) -> Ints:
    """Return where each segment begins, and the number of all entries: running sums of the sizes, from 0.

    >>> offsets(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    indptr = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=indptr[1:])
    return indptr


def segment_numbers(indptr: Ints) -> Ints:
    """Return the segment number of each entry."""
    return np.repeat(np.arange(indptr.size - 1), indptr[1:] - indptr[:-1])


def positions_within(indptr: Ints) -> Ints:
    """Return the position of each entry in its segment, from 0."""
    return np.arange(indptr[0], indptr[-1]) - np.repeat(indptr[:-1], indptr[1:] - indptr[:-1])


def first_positions(indptr: Ints, outptr: Ints) -> Ints:
    """Return the first positions of each segment, as many as the segments of `outptr` have."""
    return np.arange(outptr[-1]) + np.repeat(indptr[:-1] - outptr[:-1], np.diff(outptr))


def blocks(indptr: Ints) -> Iterator[tuple[Ints, Flags]]:
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


def run_starts(values: Array, indptr: Ints) -> Flags:
    """Return which entries differ from the one before in their segment, or are its first.

    >>> run_starts(np.array([5, 5, 3, 3]), np.array([0, 3, 4])).tolist()
    [True, False, True, True]
    """
    starts = np.append(True, values[1:] != values[:-1])[: values.size]
    starts[indptr[:-1][np.diff(indptr) > 0]] = True
    return starts


def with_last_run(starts: Flags, indptr: Ints, counts: Ints) -> Ints:
    """Return offsets for the first entries of each segment, as many as counted, and the rest of the last one's run.

    >>> with_last_run(np.array([True, True, False, True]), np.array([0, 4]), np.array([2])).tolist()  # 1, 1 + 1, not 1
    [0, 3]
    """
    begins = np.append(np.flatnonzero(starts), starts.size)
    ends = begins[np.searchsorted(begins, indptr[:-1] + counts)]
    return offsets(np.minimum(ends, indptr[1:]) - indptr[:-1])


def shifted(values: Array, indptr: Ints, first: float) -> Floats:
    """Return the entry before each entry of a segment, and `first` at its start.

    >>> shifted(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 3]), 0).tolist()
    [0.0, 1.0, 0.0]
    """
    before = np.empty(values.size)
    before[1:] = values[:-1]
    before[indptr[:-1][np.diff(indptr) > 0]] = first
    return before


def sums(values: Array, number: Ints, n: int) -> Floats:
    """Return the sum of the values of each segment, added from left to right."""
    weights: Floats = values.astype(np.float64, copy=False)
    return np.bincount(number, weights, n)  # type: ignore[return-value]  # numpy's types forget the weights


def reduced(ufunc: np.ufunc, values: Array, indptr: Ints) -> Floats:
    """Return the maximum or minimum of each segment; 0 for an empty one.

    >>> reduced(np.maximum, np.array([1.0, 3.0, 2.0]), np.array([0, 2, 2, 3])).tolist()
    [3.0, 0.0, 2.0]
    """
    results, nonempty = np.zeros(indptr.size - 1), np.flatnonzero(np.diff(indptr))
    if nonempty.size:
        results[nonempty] = ufunc.reduceat(values, indptr[nonempty])
    return results


def running(ufunc: np.ufunc, values: Array, indptr: Ints) -> Floats:
    """Return the running sums or products of each segment, from left to right.

    >>> running(np.add, np.array([1.0, 2.0, 3.0]), np.array([0, 2, 3])).tolist()
    [1.0, 3.0, 3.0]
    """
    out = np.empty(values.size)
    for positions, inside in blocks(indptr):
        out[positions[inside]] = ufunc.accumulate(values[positions], axis=1)[inside]
    return out


def running_sums(values: Array, indptr: Ints) -> Floats:
    """Return `running(np.add, ...)`, faster if no sum is rounded."""
    if values.size and is_whole_below(values, EXACT / values.size):
        totals: Floats = np.append(0.0, np.cumsum(values))
        return totals[1:] - np.repeat(totals[indptr[:-1]], np.diff(indptr))
    return running(np.add, values, indptr)


def is_whole_below(values: Array, most: float) -> bool:
    """Return whether all values are whole numbers of at most this magnitude."""
    return bool(np.abs(values).max() <= most and (values == np.floor(values)).all())
