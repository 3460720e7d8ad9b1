"""Order of document identifiers by their UTF-8 bytes, which is the order of their code points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.columns import Array

_ASCII = 128
_PER_WORD = {"ascii": 8, "any": 2}  # characters in a word of 64 bits


def rank_docids(ids: Array, query: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Rank identifiers by query, then by identifier, ascending.

    Parameters
    ----------
    ids : str array, shape (n_docs,)
        Identifiers.
    query : int array, shape (n_docs,)
        Query of each.

    Returns
    -------
    ranks : int64 array, shape (n_docs,)
        Place of each row in that order.
    twice : int
        A row whose identifier stands a second time in its query; -1 where there is none.

    Examples
    --------
    >>> rank_docids(np.array(["b", "é", "a"]), np.array([0, 0, 0]))
    (array([1, 2, 0]), -1)
    """
    words = _as_words(ids)
    order = np.lexsort((*words.T[::-1], query))
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size)
    in_order, of_query = words[order], query[order]
    same = (in_order[1:] == in_order[:-1]).all(axis=1) & (of_query[1:] == of_query[:-1])
    return ranks, int(order[int(np.argmax(same)) + 1]) if same.any() else -1


def _as_words(ids: Array) -> NDArray[np.uint64]:
    """Pack characters into words that compare like the strings: sorting a few of these is faster than sorting text."""
    width = max(1, ids.dtype.itemsize // 4)
    points = np.ascontiguousarray(ids).astype(f"<U{width}").view("<u4").reshape(ids.size, width)
    ascii_only = points.max() < _ASCII
    per_word = _PER_WORD["ascii" if ascii_only else "any"]
    padded = np.zeros((ids.size, -(-width // per_word) * per_word), ">u1" if ascii_only else ">u4")
    padded[:, :width] = points
    return padded.view(">u8").astype(np.uint64)
