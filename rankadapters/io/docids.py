"""Documents of a query by the bytes of their identifiers: which are the same, and in what order they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.docids import squeezed

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]

_WORD = 8
_FULL = (1 << 64) - 1


class _Texts(NamedTuple):
    """Strings as one buffer: string i is the bytes `starts[i]` to `starts[i] + lengths[i]`."""

    data: NDArray[np.uint8]
    starts: Ints
    lengths: Ints

    @classmethod
    def of(cls, items: Sequence[bytes]) -> _Texts:
        """Join strings, followed by one word of zeros."""
        lengths = np.fromiter(map(len, items), np.int64, len(items))
        data = np.frombuffer(b"".join([*items, bytes(_WORD)]), np.uint8)
        return cls(data, np.cumsum(lengths) - lengths, lengths)


class Ordered(NamedTuple):
    """Rows in the order of their query and then their docid's bytes."""

    rows: Ints  # shape (n,)
    same: NDArray[np.bool_]  # shape (n - 1,): whether the next row has the same query and docid

    def ranks(self) -> NDArray[np.int32]:
        """Place of each row's docid among all (query, docid), from 0; equal ones share it."""
        ranks = np.empty(self.rows.size, np.int32)
        ranks[self.rows] = np.concatenate([[0], np.cumsum(~self.same, dtype=np.int32)])
        return ranks


def order_docids(query: NDArray[Any], docids: Sequence[bytes]) -> Ordered:
    """Sort rows by query and docid.

    Parameters
    ----------
    query : int array, shape (n,)
        Query of each row, from 0.
    docids : sequence of bytes
        Docid of each row.

    Examples
    --------
    >>> order_docids(np.array([0, 0, 1, 0]), [b"d2", b"d10", b"d2", b"d2"])
    Ordered(rows=array([1, 0, 3, 2]), same=array([False,  True, False]))
    """
    texts = _Texts.of(docids)
    n_words = -(-int(texts.lengths.max()) // _WORD)
    columns = [query.astype(np.uint64), *(_word(texts, place) for place in range(n_words))]
    if (texts.data[:-_WORD] == 0).any():  # words are filled up with NUL too: the length tells such docids apart
        columns.append(texts.lengths.astype(np.uint64))
    keys = squeezed(columns)
    # Radix and merge sorts are stable: equal rows keep their order.
    rows = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    same = np.ones(rows.size - 1, np.bool_)
    for key in keys:
        ranked = key[rows]
        same &= ranked[1:] == ranked[:-1]
    return Ordered(rows, same)


def _word(texts: _Texts, place: int) -> Words:
    """Bytes 8 * place to 8 * place + 7 of each string as one big-endian number, filled up with zeros."""
    left = np.clip(texts.lengths - _WORD * place, 0, _WORD)
    at = np.where(left > 0, texts.starts + _WORD * place, 0)
    windows = np.ndarray((texts.data.size - _WORD + 1,), ">u8", texts.data, strides=(1,))
    masks = np.array([_FULL ^ (_FULL >> (8 * n)) for n in range(_WORD + 1)], np.uint64)
    return windows[at].astype(np.uint64) & masks[left]
