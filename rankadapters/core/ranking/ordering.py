"""The order of each segment's entries in numpy: of all of them, or of the largest only."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankadapters.core.ranking.offsets import Array, Ints, blocks

FEW_ROWS = 24  # up to this many rows, Python is faster than numpy
LEAST_ROWS_PER_RANK, BLOCKS_PER_RANK = 6, 3  # for the top k, `candidates` needs 6 k rows and makes 3 k blocks


def stable_order(keys: Array, indptr: Ints) -> Ints:
    """Return positions that sort each segment stably by ascending key: numbers other than NaN, or texts.

    >>> stable_order(np.array(["b", "a", "c"]), np.array([0, 2, 3])).tolist()
    [1, 0, 2]
    """
    order = np.empty(keys.size, np.intp)
    if keys.size <= FEW_ROWS:
        order[:] = _order_of_few(keys, indptr)
        return order
    for positions, inside in blocks(indptr):
        columns = np.argsort(keys[positions], axis=1, kind="stable")
        kept = columns < np.count_nonzero(
            inside, axis=1, keepdims=True
        )  # not the padding, wherever its keys were sorted
        order[positions[inside]] = (positions[:, :1] + columns)[kept]
    return order


def _order_of_few(keys: Array, indptr: Ints) -> list[int]:
    """Return positions that sort each segment stably by ascending key, without numpy."""
    values = keys.tolist()
    segments = (range(first, last) for first, last in pairwise(indptr.tolist()))
    return [position for segment in segments for position in sorted(segment, key=values.__getitem__)]


def largest_first(scores: Array, indptr: Ints, k: int) -> tuple[Ints, Ints]:
    """Return positions of each segment's largest scores in descending order, earlier ones first among equal scores.

    They are all that can be among the k largest or equal one of these. Also returned is where each segment's begin.
    """
    top = candidates(scores, indptr, k) if scores.size > FEW_ROWS else None
    if top is None:
        return stable_order(-scores, indptr), indptr
    inner = np.searchsorted(top, indptr)
    return top[stable_order(-scores[top], inner)], inner


def candidates(scores: Array, indptr: Ints, k: int) -> Ints | None:
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
