"""Fingerprints: which queries a number was computed on, as 64-bit hashes that no order of rows changes."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core._kernels.exact import mix_all, mix_queries
from rankadapters.core.columns import Array, index_dtype

_UNJUDGED, _UNRETRIEVED = np.uint64(0x7FF8_0000_0000_0001), np.uint64(0x5555_5555_5555_5555)


def hash_ids(query_ids: Array) -> NDArray[np.uint64]:
    """Hash each query id by its value; the same in every process and on every machine."""
    if query_ids.dtype.kind in "iu":
        words = query_ids.astype(np.uint64)
    else:
        digests = (hashlib.blake2b(repr(i).encode(), digest_size=8).digest() for i in query_ids.tolist())
        words = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
    return _mixed(words)


def hash_queries(
    id_hashes: NDArray[np.uint64],
    labels: NDArray[np.float64],
    order: NDArray[np.signedinteger[Any]] | None,
    indptr: NDArray[np.int64],
    *,
    query_weight: NDArray[np.float64] | None,
    judged: NDArray[np.bool_] | None,
    retrieved: NDArray[np.bool_] | None,
) -> NDArray[np.uint64]:
    """Hash each query's id, weight (1 where there is none), labels and flags; shape (n_queries,)."""
    words = (labels + 0.0).view(np.uint64)  # + 0.0 makes -0.0 and 0.0 one label
    if judged is not None:
        words = np.where(judged, words, _UNJUDGED)
    if retrieved is not None:
        words = np.where(retrieved, words, words ^ _UNRETRIEVED)
    rows = np.empty(id_hashes.size, np.uint64)
    mix_queries(words, np.empty(0, index_dtype(0)) if order is None else order, indptr, rows)
    weights = np.ones(id_hashes.size) if query_weight is None else query_weight
    return _mixed(_mixed(rows ^ id_hashes) ^ (weights + 0.0).view(np.uint64))


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    out = np.empty_like(words)
    mix_all(words, out)
    return out
