"""Fingerprints of queries: 64-bit hashes that identify the data of a result and do not depend on the order of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, read_only
from rankadapters.core.data.ids import hash_words

if TYPE_CHECKING:
    from rankadapters.core.data.pairs import Pairs
    from rankadapters.core.data.queries import Queries

Words = NDArray[np.uint64]

_UNJUDGED, _UNRETRIEVED = np.uint64(0x7FF8_0000_0000_0001), np.uint64(0x5555_5555_5555_5555)
_NO_ORDER = read_only(np.empty(0, np.int32))


def hash_ids(query_ids: Array) -> Words:
    """Hash each query id by its value: the same id has the same hash in any column type, process and machine."""
    return _mixed(hash_words(query_ids))


def hash_queries(queries: Queries) -> Words:
    """Hash each query: its id, weight (1 by default), labels, flags, row weights and pairs; shape (n_queries,)."""
    words = (queries.labels + 0.0).view(np.uint64)  # + 0.0 makes -0.0 and 0.0 one label
    if queries.judged is not None:
        words = np.where(queries.judged, words, _UNJUDGED)
    if queries.retrieved is not None:
        words = np.where(queries.retrieved, words, words ^ _UNRETRIEVED)
    if queries.row_weight is not None:
        words = _mixed(words) ^ (queries.row_weight + 0.0).view(np.uint64)
    n_queries = queries.query_ids.size
    pairs = np.zeros(n_queries, np.uint64) if queries.pairs is None else _hashed_pairs(words, queries.pairs)
    weights = np.ones(n_queries) if queries.query_weight is None else queries.query_weight + 0.0
    mixed, sums = _mixed(words), np.zeros(words.size + 1, np.uint64)
    np.cumsum(mixed if queries.order is None else mixed[queries.order], out=sums[1:])
    totals = sums[queries.indptr[1:]] - sums[queries.indptr[:-1]] + pairs
    return _mixed(_mixed(totals ^ queries.id_hashes) ^ weights.view(np.uint64))


def _hashed_pairs(words: Words, pairs: Pairs) -> Words:
    """Hash the pairs of each query by the data of their rows, so that the order of the rows does not matter."""
    weight = np.ones(pairs.winner.size) if pairs.weight is None else pairs.weight
    hashes = _mixed(_mixed(_mixed(words[pairs.winner]) - words[pairs.loser]) ^ _mixed((weight + 0.0).view(np.uint64)))
    sums = np.append(np.uint64(0), np.cumsum(hashes))
    return _mixed(sums[pairs.indptr[1:]] - sums[pairs.indptr[:-1]])


def _mixed(words: Words) -> Words:
    """Hash each word with the finalizer of splitmix64 (Steele, Lea & Flood 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
