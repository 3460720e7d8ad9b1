"""The order of each segment's entries in numpy: of all of them, or of the largest only."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankadapters.core.arrays import Array, Ints
from rankadapters.core.ranking.offsets import blocks

FEW_ROWS = 24  # up to this many rows, Python is faster than numpy
LEAST_ROWS_PER_RANK, BLOCKS_PER_RANK = 6, 3  # for the top k, `candidates` needs 6 k rows and makes 3 k blocks
LEAST_SHARE = 0.3  # of all rows, that must be in segments of so many rows
SHORTEST, LONGEST = 13, 2**15  # for float numbers of segments in between, `_order_by_merged_keys` pays


def order_within(keys: Array, indptr: Ints) -> Ints:
    """Return positions that sort each segment stably by ascending key: numbers other than NaN, or texts.

    >>> order_within(np.array(["b", "a", "c"]), np.array([0, 2, 3])).tolist()
    [1, 0, 2]
    """
    order = np.empty(keys.size, np.intp)
    if keys.size <= FEW_ROWS:
        order[:] = _order_of_few(keys, indptr)
        return order
    is_float = keys.dtype.kind == "f"
    if is_float:
        keys = whole_numbers(keys)
    for positions, inside in blocks(indptr):
        matrix = keys[positions]
        is_sorted = (matrix[0, 1:] >= matrix[0, :-1]).all()  # a stable sort takes the least time for sorted rows
        merges = is_float and SHORTEST <= matrix.shape[1] <= LONGEST and not is_sorted
        columns = _order_by_merged_keys(matrix) if merges else np.argsort(matrix, axis=1, kind="stable")
        kept = columns < np.count_nonzero(inside, axis=1, keepdims=True)  # not the padding, wherever it was sorted
        order[positions[inside]] = (positions[:, :1] + columns)[kept]
    return order


def _order_of_few(keys: Array, indptr: Ints) -> list[int]:
    """Return positions that sort each segment stably by ascending key, without numpy."""
    values = keys.tolist()
    segments = (range(first, last) for first, last in pairwise(indptr.tolist()))
    return [position for segment in segments for position in sorted(segment, key=values.__getitem__)]


def whole_numbers(values: Array) -> Ints:
    """Return whole numbers in the same order as float numbers; equal for equal ones, such as 0.0 and -0.0.

    >>> np.argsort(whole_numbers(np.array([0.5, -2.0, 3.0, -1.0]))).tolist()
    [1, 3, 0, 2]
    """
    numbers: Ints = np.add(values, 0.0, dtype=np.float64).view(np.int64)  # -0.0 + 0.0 is 0.0
    numbers ^= (numbers >> 63) & np.int64(2**63 - 1)
    return numbers


def _order_by_merged_keys(matrix: Ints) -> Ints:
    """Return the columns that sort each row stably, by a sort of numbers whose last bits are replaced by the column.

    numpy sorts whole numbers several times as fast as it finds a stable order. Different numbers that are equal without
    the replaced bits can be in the wrong order. A row with such numbers is sorted again.
    """
    last = np.int64((1 << (matrix.shape[1] - 1).bit_length()) - 1)
    keys = matrix & ~last
    keys |= np.arange(matrix.shape[1])
    keys.sort(axis=1)
    columns = keys & last
    keys |= last
    are_equal = keys[:, 1:] == keys[:, :-1]
    if are_equal.any():
        rows = np.flatnonzero(are_equal.any(axis=1))
        values = matrix.ravel()[columns[rows] + rows[:, None] * matrix.shape[1]]
        wrong = rows[(values[:, 1:] < values[:, :-1]).any(axis=1)]
        columns[wrong] = np.argsort(matrix[wrong], axis=1, kind="stable")
    return columns


def largest_first(scores: Array, indptr: Ints, k: int) -> tuple[Ints, Ints]:
    """Return positions of each segment's largest scores in descending order, earlier ones first among equal scores.

    They are all that can be among the k largest or equal one of these. Also returned is where each segment's begin.
    """
    top = candidates(scores, indptr, k) if scores.size > FEW_ROWS else None
    if top is None:
        return order_within(-scores, indptr), indptr
    inner = np.searchsorted(top, indptr)
    return top[order_within(-scores[top], inner)], inner


def candidates(scores: Array, indptr: Ints, k: int) -> Ints | None:
    """Return the positions of scores that can be among the k largest of their segment; None if most can.

    A long segment is cut into blocks. The k-th largest block maximum is at most the k-th largest score. All scores of a
    short segment are candidates.
    """
    sizes = np.diff(indptr)
    is_long = sizes >= max(LEAST_ROWS_PER_RANK * k, 1)
    long = sizes[is_long]
    if long.sum() <= LEAST_SHARE * scores.size:
        return None
    n_blocks = BLOCKS_PER_RANK * k
    # A block ends where the next one begins, the last one of a segment at the segment's end.
    cuts = indptr[:-1][is_long, None] + (long[:, None] * np.arange(n_blocks + 1)) // n_blocks
    begins = cuts.ravel()[:-1] if cuts[-1, -1] == scores.size else cuts.ravel()
    maxima = np.append(np.maximum.reduceat(scores, begins), 0)[: cuts.size].reshape(cuts.shape)[:, :-1]
    thresholds = np.full(sizes.size, -np.inf, scores.dtype)
    thresholds[is_long] = np.partition(maxima, n_blocks - k, axis=1)[:, n_blocks - k]
    return np.flatnonzero(scores >= np.repeat(thresholds, sizes))
