"""Sorting of document identifiers by their UTF-8 bytes, which gives the same order as by their code points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array

Words = NDArray[np.uint64]

_ASCII = 128
_BITS = 64
_PER_WORD = {"ascii": 8, "any": 2}  # characters in a word of 64 bits


def rank_docids(ids: Array, query: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Rank the rows by query, then by identifier, ascending.

    Parameters
    ----------
    ids : str or object array, shape (n_docs,)
        Identifiers; an object array holds strings too, some of which end with NUL.
    query : int array, shape (n_docs,)
        Query of each row.

    Returns
    -------
    ranks : int64 array, shape (n_docs,)
        Rank of each row, from 0.
    duplicate : int
        A row that repeats an identifier of its query; -1 if there is none.

    Examples
    --------
    >>> rank_docids(np.array(["b", "é", "a"]), np.array([0, 0, 0]))
    (array([1, 2, 0]), -1)
    """
    words = [query.astype(np.uint64), *_as_words(ids.astype(str, copy=False)).T]
    if ids.dtype == object:  # the conversion drops a final NUL, so compare lengths too
        words.append(np.fromiter(map(len, ids), np.uint64, ids.size))
    keys = squeezed(words)
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size)
    same = np.ones(order.size - 1, np.bool_)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    return ranks, int(order[int(np.argmax(same)) + 1]) if same.any() else -1


def _as_words(ids: Array) -> NDArray[np.uint64]:
    """Pack strings into 64-bit words that sort in the same order; numpy sorts integers faster than text."""
    width = max(1, ids.dtype.itemsize // 4)
    points = np.ascontiguousarray(ids).astype(f"<U{width}").view("<u4").reshape(ids.size, width)
    ascii_only = points.max() < _ASCII
    per_word = _PER_WORD["ascii" if ascii_only else "any"]
    padded = np.zeros((ids.size, -(-width // per_word) * per_word), ">u1" if ascii_only else ">u4")
    padded[:, :width] = points
    return padded.view(">u8").astype(np.uint64)


def squeezed(columns: Iterable[Words]) -> list[Words]:
    """Drop the bits that are the same in all rows and pack the remaining ones, which keeps order and equality.

    Identifiers such as clueweb12-0512wb-00532 differ in few bits. Mostly they and the query then fit into a single
    number, which sorts several times as fast.

    >>> [key] = squeezed([np.array([7, 5], np.uint64), np.array([8, 0], np.uint64)])
    >>> [f"{int(row):064b}"[:4] for row in key]
    ['1100', '0000']
    """
    keys: list[Words] = []
    columns, free = list(columns), 0
    for column in columns:
        for shift, width in _runs(int(np.bitwise_or.reduce(column ^ column[0]))):
            n_packed = 0
            while n_packed < width:
                if not free:
                    keys.append(np.zeros(column.size, np.uint64))
                    free = _BITS
                n = min(free, width - n_packed)
                n_packed, free = n_packed + n, free - n
                bits = (column >> np.uint64(shift + width - n_packed)) & np.uint64((1 << n) - 1)
                keys[-1] |= bits << np.uint64(free)
    return keys or [np.zeros(columns[0].size, np.uint64)]


def _runs(mask: int) -> list[tuple[int, int]]:
    """Return the runs of 1-bits in a number, highest first, as (lowest bit, length)."""
    runs, shift = [], 0
    while mask >> shift:
        rest = mask >> shift
        if rest & 1:
            width = (~rest & (rest + 1)).bit_length() - 1
            runs.append((shift, width))
            shift += width
        else:
            shift += 1
    return runs[::-1]
