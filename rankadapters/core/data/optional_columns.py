"""Optional columns of queries, checked: weights, document identifiers, and pairs of rows."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array, Flags, Floats, Ints
from rankadapters.core.data.columns import (
    as_column,
    as_weights,
    frozen,
    pandas_index,
    refused_entry,
    same_length,
    shared_index,
    text_column,
)
from rankadapters.core.data.ids import hash_sums, id_value, id_values, mixed
from rankadapters.core.errors import InputError
from rankadapters.core.ranking.offsets import offsets, positions_within, segment_numbers
from rankadapters.core.ranking.ordering import order_within

Queries = Any  # of queries.py, which imports this module


def as_query_weights(query_weight: object, query_ids: Array) -> Floats:
    """Check one weight for each query."""
    weights = as_weights("query_weight", query_weight, query_ids.size, "query")
    if (index := pandas_index(query_weight)) is not None:
        indexed, ids = list(map(id_value, index)), id_values(query_ids)
        if indexed != ids and set(indexed) == set(ids):
            raise InputError(
                "query_weight is indexed by query id, in an order other than that of the first appearance of queries.",
                hint="query_weight.loc[ra.Queries(labels, qid=qid).query_ids], or .to_numpy() if the order is right",
            )
    return weights


def as_docids(docid: object, queries: Queries) -> tuple[Ints, Flags | None]:
    """Return the rank of each row's docid, and what `own_docids` returns; docids are unique within a query."""
    ids = as_column("docid", docid)
    same_length("docid", ids, queries.n_docs)
    texts = docid_texts(ids)
    ranks, row = rank_docids(texts, queries)
    if row >= 0:
        msg = f"docid[{row}] = {str(ids[row])!r} occurs twice in its query."
        hint = "drop duplicate documents first; ra.io.from_qrels(qrels, run, duplicates='best') keeps the best score"
        raise InputError(msg, hint=hint, row=row)
    return ranks, own_docids(texts, queries)


def rank_docids(ids: Array, queries: Queries) -> tuple[Ints, int]:
    """Rank the rows by query, then by identifier: by code points, which is the order of their UTF-8 bytes.

    Parameters
    ----------
    ids : str or object array, shape (n_docs,)
        Identifiers; an object array holds strings too, some of which end with NUL.
    queries : Queries
        The queries of the rows.

    Returns
    -------
    ranks : int64 array, shape (n_docs,)
        Rank of each row, from 0.
    duplicate : int
        A row that repeats an identifier of its query; -1 if there is none.

    Examples
    --------
    >>> import rankadapters as ra
    >>> rank_docids(np.array(["b", "é", "a"]), ra.Queries([0, 0, 0], qid=[7, 7, 7]))
    (array([1, 2, 0]), -1)
    """
    order = order_within(queries.take(ids), queries.indptr)
    rows = queries.rows[order]
    ranks = np.empty(rows.size, np.int64)
    ranks[rows] = np.arange(rows.size)
    sorted_ids = ids[rows]
    same = sorted_ids[1:] == sorted_ids[:-1]
    same[queries.indptr[1:-1] - 1] = False  # of two queries
    return ranks, int(rows[int(np.argmax(same)) + 1]) if same.any() else -1


def own_docids(docids: Array, queries: Queries) -> Flags | None:
    """Return the rows whose docid is the id of their query; None if there are none.

    >>> import rankadapters as ra
    >>> own_docids(np.array(["7", "a", "7"]), ra.Queries([0, 0, 0], qid=[7, 7, 8])).tolist()
    [True, False, False]
    """
    own: Flags = docids == queries.per_row(text_column(list(map(str, queries.query_ids.tolist()))))
    return own if own.any() else None


def docid_texts(ids: Array) -> Array:
    """Return identifiers as a column of texts; raise InputError if one is not a string."""
    if ids.dtype.kind != "U":
        for row, item in enumerate(ids):
            if not isinstance(item, str):
                msg = f"docid[{row}] is {item!r}, but docids are strings."
                raise InputError(msg, hint="docid=[str(d) for d in docid]", row=row)
    return text_column(ids.tolist()) if ids.dtype == object else ids


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

    winner: Ints
    loser: Ints
    weight: Floats | None
    indptr: Ints

    @property
    def query(self) -> Ints:
        """Number of each pair's query."""
        numbers: Ints = segment_numbers(self.indptr)
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


def as_pairs(pairs: object, queries: Queries) -> Pairs:
    """Check pairs of rows, and sort them by query.

    Raises
    ------
    InputError
        There are not two or three columns of the same length, a row number does not exist, a pair joins rows of
        different queries or a row with itself, or a weight is negative.
    """
    # Only a tuple is accepted, because a list of two pairs looks like two columns.
    if not isinstance(pairs, tuple) or len(pairs) not in {2, 3}:
        msg = f"pairs is {pairs!r:.60}; allowed are (winner, loser) and (winner, loser, weight), tuples of arrays."
        raise InputError(msg, hint="tuple(zip(*pairs)) turns a list of pairs into these columns")
    columns = {f"pairs {name}": column for name, column in zip(("winner", "loser", "weight"), pairs, strict=False)}
    shared_index(columns)
    winner, loser = (_as_rows(name, columns[name], queries.n_docs) for name in ("pairs winner", "pairs loser"))
    if winner.size != loser.size:
        raise InputError(f"pairs has {winner.size} winners but {loser.size} losers.", hint="one of each per pair")
    weight = columns.get("pairs weight") if winner.size else None
    weights = None if weight is None else as_weights("pairs weight", weight, winner.size, "pair")
    query, loser_query = queries.query_of_row[winner], queries.query_of_row[loser]
    if (query != loser_query).any():
        pair = int(np.argmax(query != loser_query))
        ids = queries.query_ids[[query[pair], loser_query[pair]]]
        raise InputError(
            f"pair {pair} joins rows {winner[pair]} and {loser[pair]}, of queries {ids[0]} and {ids[1]}.",
            hint="both rows of a pair belong to one query; row numbers count from 0 in the order of labels",
        )
    if (winner == loser).any():
        pair = int(np.argmax(winner == loser))
        raise InputError(f"pair {pair} joins row {winner[pair]} with itself.", hint="a pair is two different rows")
    order = np.argsort(query, kind="stable")
    indptr = offsets(np.bincount(query, minlength=queries.n_queries))
    return Pairs(
        frozen(winner[order]), frozen(loser[order]), None if weights is None else frozen(weights[order]), indptr
    )


def _as_rows(name: str, column: object, n_docs: int) -> Ints:
    if isinstance(column, Sized) and not len(column):  # an empty list of pairs is allowed
        return np.empty(0, np.int64)
    rows = as_column(name, column)
    if rows.dtype.kind not in "iu":
        raise InputError(f"{name} has dtype {rows.dtype}, but row numbers are needed.", hint="whole numbers from 0 on")
    outside = (rows < 0) | (rows >= n_docs)
    if outside.any():
        why = f", but the rows are 0 to {n_docs - 1}"
        raise refused_entry(name, rows, outside, why, "row numbers in the order of labels", unit="pair")
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
