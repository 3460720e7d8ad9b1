"""Optional columns of queries, checked: weights, document identifiers, and pairs of rows."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import (
    Array,
    as_column,
    as_numbers,
    as_weights,
    frozen,
    offsets,
    pandas_index,
    refused_entry,
    same_length,
    shared_index,
    text_column,
)
from rankadapters.core.data.ids import hash_sums, id_value, id_values, mixed
from rankadapters.core.errors import InputError
from rankadapters.core.ranking.ranks import positions_within, segment_numbers


def as_query_weights(query_weight: object, query_ids: Array, n_docs: int) -> NDArray[np.float64]:
    """Check one weight for each query."""
    weights, n_queries = as_numbers("query_weight", query_weight).astype(np.float64, copy=False), query_ids.size
    if weights.size != n_queries:
        per_row = " (one per row)" if weights.size == n_docs else ""
        raise InputError(
            f"query_weight has {weights.size} entries{per_row} but there are {n_queries} queries.",
            hint="one weight per query, in order of first appearance",
        )
    if (index := pandas_index(query_weight)) is not None:
        indexed, ids = list(map(id_value, index)), id_values(query_ids)
        if indexed != ids and set(indexed) == set(ids):
            raise InputError(
                "query_weight is indexed by query id, in an order other than that of the first appearance of queries.",
                hint="query_weight.loc[ra.Queries(labels, qid=qid).query_ids], or .to_numpy() if the order is right",
            )
    return as_weights("query_weight", weights, "fix or drop the query", by_row=False)


def as_row_weights(row_weight: object, n_docs: int) -> NDArray[np.float64]:
    """Check one weight for each row."""
    weights = as_numbers("row_weight", row_weight).astype(np.float64, copy=False)
    same_length("row_weight", weights, n_docs)
    return as_weights("row_weight", weights, "fix or drop the row", by_row=True)


def as_docids(
    docid: object, query_of_row: NDArray[np.intp], query_ids: Array | None
) -> tuple[Array, NDArray[np.bool_] | None]:
    """Check that docids are unique within a query; return the rank of each row's docid, and what `own_docids` returns.

    `query_ids` is None if the caller gave none.
    """
    ids = as_column("docid", docid)
    same_length("docid", ids, query_of_row.size)
    texts = docid_texts(ids)
    ranks, row = rank_docids(texts, query_of_row)
    if row >= 0:
        raise InputError(
            f"docid[{row}] = {str(ids[row])!r} occurs twice in its query.",
            hint="drop duplicate documents first",
            row=row,
        )
    return ranks, None if query_ids is None else own_docids(texts, query_ids, query_of_row)


def rank_docids(ids: Array, query: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Rank the rows by query, then by identifier: by code points, which is the order of their UTF-8 bytes.

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
    keys = [ids.astype(str, copy=False), query]
    if ids.dtype == object:  # the conversion drops a final NUL, so compare lengths too
        keys.insert(0, np.fromiter(map(len, ids), np.int64, ids.size))
    order = np.lexsort(keys)
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size)
    same = np.all([key[order[1:]] == key[order[:-1]] for key in keys], axis=0)
    return ranks, int(order[int(np.argmax(same)) + 1]) if same.any() else -1


def own_docids(docids: Array, query_ids: Array, query_of_row: NDArray[np.intp]) -> NDArray[np.bool_] | None:
    """Return the rows whose docid is the id of their query; None if there are none.

    >>> own_docids(np.array(["7", "a", "7"]), np.array([7, 8]), np.array([0, 0, 1])).tolist()
    [True, False, False]
    """
    own: NDArray[np.bool_] = docids == text_column(list(map(str, query_ids.tolist())))[query_of_row]
    return own if own.any() else None


def docid_texts(ids: Array) -> Array:
    """Return identifiers as a column of texts; raise InputError if one is not a string."""
    if ids.dtype.kind != "U":
        for row, item in enumerate(ids):
            if not isinstance(item, str):
                raise InputError(
                    f"docid[{row}] is {item!r}, but docids are strings.", hint="docid=[str(d) for d in docid]", row=row
                )
    return text_column(ids.tolist()) if ids.dtype == object else ids


_PAIR = ("winner", "loser")


class Pairs(NamedTuple):
    """Preference pairs: two rows of one query, where the winner should rank above the loser.

    Attributes
    ----------
    winner, loser : int array, shape (n_pairs,)
        Row numbers in the caller's order, sorted by query.
    weight : float64 array, shape (n_pairs,), or None
        Weights; None means 1 for each pair.
    indptr : int64 array, shape (n_queries + 1,)
        The pairs of query i are `indptr[i]:indptr[i + 1]`.
    """

    winner: NDArray[np.int64]
    loser: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    indptr: NDArray[np.int64]

    @property
    def query(self) -> NDArray[np.int64]:
        """Number of each pair's query."""
        numbers: NDArray[np.int64] = segment_numbers(self.indptr)
        return numbers

    def hashes(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Hash the pairs of each query, given the hash of each row's data."""
        weight = np.ones(self.winner.size) if self.weight is None else self.weight
        hashes = mixed(mixed(mixed(words[self.winner]) - words[self.loser]) ^ mixed((weight + 0.0).view(np.uint64)))
        return mixed(hash_sums(hashes, self.indptr))

    def of_queries(self, first: int, last: int, row: int) -> Pairs:
        """Return the pairs of the queries `first` to `last` - 1, with rows numbered from `row` on."""
        part = slice(int(self.indptr[first]), int(self.indptr[last]))
        weight = None if self.weight is None else self.weight[part]
        indptr = self.indptr[first : last + 1] - part.start
        return Pairs(self.winner[part] - row, self.loser[part] - row, weight, indptr)


def as_pairs(pairs: object, query_of_row: NDArray[np.intp], query_ids: Array) -> Pairs:
    """Check pairs of rows, and sort them by query.

    Raises
    ------
    InputError
        There are not two or three columns of the same length, a row number does not exist, a pair joins rows of
        different queries or a row with itself, or a weight is negative.
    """
    # Only a tuple is accepted, because a list of two pairs looks like two columns.
    if not isinstance(pairs, tuple) or len(pairs) not in {2, 3}:
        raise InputError(
            f"pairs is {pairs!r:.60}; allowed are (winner, loser) and (winner, loser, weight), tuples of arrays.",
            hint="tuple(zip(*pairs)) turns a list of pairs into these columns",
        )
    shared_index({f"pairs {name}": column for name, column in zip((*_PAIR, "weight"), pairs, strict=False)})
    winner, loser = (_as_rows(name, column, query_of_row.size) for name, column in zip(_PAIR, pairs, strict=False))
    weight = None
    if winner.size != loser.size:
        raise InputError(f"pairs has {winner.size} winners but {loser.size} losers.", hint="one of each per pair")
    if len(pairs) == 3 and pairs[2] is not None and winner.size:  # noqa: PLR2004 - with weights
        weight = as_numbers("pairs weight", pairs[2]).astype(np.float64, copy=False)
        if weight.size != winner.size:
            raise InputError(f"pairs has {winner.size} winners but {weight.size} weights.", hint="one weight per pair")
        weight = as_weights("pairs weight", weight, "fix or drop the pair", by_row=False)
    query, loser_query = query_of_row[winner], query_of_row[loser]
    if (query != loser_query).any():
        pair = int(np.argmax(query != loser_query))
        ids = query_ids[query[pair]], query_ids[loser_query[pair]]
        raise InputError(
            f"pair {pair} joins rows {winner[pair]} and {loser[pair]}, of queries {ids[0]} and {ids[1]}.",
            hint="both rows of a pair belong to one query; row numbers count from 0 in the order of labels",
        )
    if (winner == loser).any():
        pair = int(np.argmax(winner == loser))
        raise InputError(f"pair {pair} joins row {winner[pair]} with itself.", hint="a pair is two different rows")
    order = np.argsort(query, kind="stable")
    indptr = offsets(np.bincount(query, minlength=query_ids.size))
    return Pairs(frozen(winner[order]), frozen(loser[order]), None if weight is None else frozen(weight[order]), indptr)


def _as_rows(name: str, column: object, n_docs: int) -> NDArray[np.int64]:
    if isinstance(column, Sized) and not len(column):  # an empty list of pairs is allowed
        return np.empty(0, np.int64)
    rows = as_column(f"pairs {name}", column)
    if rows.dtype.kind not in "iu":
        raise InputError(
            f"pairs {name} has dtype {rows.dtype}, but row numbers are needed.", hint="whole numbers from 0 on"
        )
    outside = (rows < 0) | (rows >= n_docs)
    if outside.any():
        why = f", but the rows are 0 to {n_docs - 1}"
        raise refused_entry(f"pairs {name}", rows, outside, why, "row numbers in the order of labels", by_row=False)
    return rows.astype(np.int64)


def pairs_of_queries(pairs: Pairs, rows: NDArray[np.intp], numbers: NDArray[np.integer[Any]]) -> Pairs:
    """Return the pairs of the queries with these indexes; their row numbers become indexes into `rows`."""
    new_row = np.zeros(int(rows.max(initial=-1)) + 1, np.int64)
    new_row[rows] = np.arange(rows.size)
    sizes = np.diff(pairs.indptr)[numbers]
    indptr = offsets(sizes)
    selected = positions_within(indptr) + np.repeat(pairs.indptr[numbers], sizes)
    weight = None if pairs.weight is None else pairs.weight[selected]
    return Pairs(new_row[pairs.winner[selected]], new_row[pairs.loser[selected]], weight, indptr)
