"""Fingerprints: which queries a number was computed on, as 64-bit hashes that no order of rows changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, index_dtype, read_only
from rankadapters.core.data.ids import hash_words
from rankadapters.core.kernels import dispatch
from rankadapters.core.kernels.exact import mix_all, mix_queries

_UNJUDGED, _UNRETRIEVED = np.uint64(0x7FF8_0000_0000_0001), np.uint64(0x5555_5555_5555_5555)

_NO_ORDER = read_only(np.empty(0, index_dtype(0)))


def hash_ids(query_ids: Array) -> NDArray[np.uint64]:
    """Hash each query id by its value, so that 1 is 1 in a column of any type, process and machine."""
    return _mixed(hash_words(query_ids))


def hash_queries(
    id_hashes: NDArray[np.uint64],
    labels: NDArray[np.float64],
    order: NDArray[np.signedinteger[Any]] | None,
    indptr: NDArray[np.int64],
    *,
    query_weight: NDArray[np.float64] | None,
    row_weight: NDArray[np.float64] | None,
    pairs: Any,
    judged: NDArray[np.bool_] | None,
    retrieved: NDArray[np.bool_] | None,
) -> NDArray[np.uint64]:
    """Hash each query's id, weight (1 where there is none), labels and flags, and row weights and pairs if any.

    Shape (n_queries,).
    """
    words = (labels + 0.0).view(np.uint64)  # + 0.0 makes -0.0 and 0.0 one label
    if judged is not None:
        words = np.where(judged, words, _UNJUDGED)
    if retrieved is not None:
        words = np.where(retrieved, words, words ^ _UNRETRIEVED)
    if row_weight is not None:
        words = _mixed(words) ^ (row_weight + 0.0).view(np.uint64)
    rows = np.empty(id_hashes.size, np.uint64)
    dispatch.run(mix_queries, words, _NO_ORDER if order is None else order, indptr, rows)
    if pairs is not None:
        rows += _hashed_pairs(words, pairs, id_hashes.size)
    weights = np.ones(id_hashes.size) if query_weight is None else query_weight
    return _mixed(_mixed(rows ^ id_hashes) ^ (weights + 0.0).view(np.uint64))


def _hashed_pairs(words: NDArray[np.uint64], pairs: Any, n_queries: int) -> NDArray[np.uint64]:
    """Hash the pairs of each query by what their rows hold, so that the order of the rows does not matter."""
    weight = np.ones(pairs.winner.size) if pairs.weight is None else pairs.weight
    each = _mixed(_mixed(words[pairs.winner]) - words[pairs.loser]) ^ _mixed((weight + 0.0).view(np.uint64))
    found = np.zeros(n_queries, np.uint64)
    dispatch.run(mix_queries, each, _NO_ORDER, pairs.indptr, found)
    return _mixed(found)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    out = np.empty_like(words)
    dispatch.run(mix_all, words, out)
    return out
