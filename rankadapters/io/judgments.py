"""Build judged queries with weights and docids from checked rows; handle queries whose rows are not consecutive."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, text_column
from rankadapters.core.data.optional_columns import own_docids, rank_docids
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.arguments import choice
from rankadapters.core.errors import InputError
from rankadapters.io.stream_rows import StreamRows

SPLIT_QUERIES = ("error", "merge", "separate")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Judgments:
    """Judged queries from files, without scores.

    Attributes
    ----------
    queries : Queries
        The judged rows.
    place : callable
        Returns the file and line of a row as text; it reads the file again.
    note : str
        Lines and words that were not read; empty if all were.
    metadata : dict or None
        The ir_metadata header of a TREC run; None without one, or if PyYAML is not installed.
    """

    queries: Queries
    place: Callable[[int], str] = field(repr=False)
    note: str = ""
    metadata: dict[str, Any] | None = field(default=None, repr=False)

    def with_scores(self, scores: NDArray[Any]) -> ScoredJudgments:
        """Return the same judgments with a score for each row."""
        return ScoredJudgments(
            queries=self.queries, scores=scores, place=self.place, note=self.note, metadata=self.metadata
        )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ScoredJudgments(Judgments):
    """Judged queries and predicted scores, ready for `ra.evaluate(read.queries, read.scores, convention)`.

    Attributes
    ----------
    queries, place, note, metadata
        As in `Judgments`.
    scores : float array, shape (n_docs,)
        Score of each row, NaN if it was not retrieved.
    """

    scores: NDArray[Any]


def judgments_of(
    rows: StreamRows, split_queries: str, weight: object = None, *, duplicate_hint: str = "drop one of the two"
) -> Judgments:
    """Return the rows as judged queries, with scores if the rows have scores.

    Parameters
    ----------
    rows : StreamRows
        All rows.
    split_queries : str
        As in `apply_split_queries`.
    weight : str, optional
        Column of query weights, for messages.
    duplicate_hint : str
        Hint of the error for a document that is in a query twice.
    """
    qid = apply_split_queries(np.repeat(rows.ids, rows.sizes), rows.starts, split_queries, rows.locate)
    queries = Queries(rows.labels, qid=qid, row_weight=rows.columns.get("row_weight"))
    judgments = Judgments(queries=with_columns(queries, rows, weight, duplicate_hint=duplicate_hint), place=rows.locate)
    return judgments.with_scores(rows.scores[0]) if rows.scores else judgments


def with_columns(
    queries: Queries, rows: StreamRows, weight: object = None, *, duplicate_hint: str = "drop one of the two"
) -> Queries:
    """Add the rows' query weights and docids to the queries; the arguments are those of `judgments_of`."""
    if "query_weight" in rows.columns:
        weights = query_weights(weight, rows.columns["query_weight"], queries, rows.locate)
        queries = queries.with_weights(weights, row_weight=queries.row_weight)
    if "docid" in rows.columns:
        docids = rows.columns["docid"].tolist()
        ranks = _docid_ranks(docids, queries, rows.locate, duplicate_hint)
        own = own_docids(text_column(docids), queries)
        queries = queries.with_columns(docid_rank=ranks, own_docid=own)
    return queries


def query_weights(name: object, weights: Array, queries: Queries, locate: Callable[[int], str]) -> Array:
    """Return the weight of each query; raise an error if rows of one query have different weights."""
    first, varies = queries.per_query(weights)
    if varies >= 0:
        row = int(np.flatnonzero(weights != queries.per_row(first))[0])
        msg = (
            f"{locate(row)}: {name} is {weights[row]:g}, but another row of its query has a different weight.\n"
            "Hint: a weight is the query's, so its rows must agree."
        )
        raise InputError(msg, row=row)
    return first


def _docid_ranks(docids: Sequence[str], queries: Queries, locate: Callable[[int], str], hint: str) -> NDArray[np.int64]:
    ranks, duplicate = rank_docids(text_column(docids), queries)
    if duplicate >= 0:
        query = queries.query_of_row
        first, row = first_duplicate(zip(query.tolist(), docids, strict=True))
        name = str(queries.query_ids[query[row]])
        msg = f"{locate(row)}: document {docids[row]!r} of query {name!r} is also in {locate(first)}.\nHint: {hint}."
        raise InputError(msg, row=row)
    return ranks


def first_duplicate(keys: Iterable[Hashable]) -> tuple[int, int]:
    """Return the first row with a repeated key, as the pair (earlier row, this row); (-1, -1) if there is none.

    >>> first_duplicate("abcb")
    (1, 3)
    """
    first: dict[Hashable, int] = {}
    return next(((first[key], row) for row, key in enumerate(keys) if first.setdefault(key, row) != row), (-1, -1))


def apply_split_queries(qid: Array, starts: NDArray[Any], split_queries: str, locate: Callable[[int], str]) -> Array:
    """Return each row's query after handling queries with separated rows as `split_queries` says.

    Parameters
    ----------
    qid : array, shape (n_docs,)
        Query of each row.
    starts : int array
        First row of each run of rows that are surely one query.
    split_queries : str
        What to do with a query that returns after other queries: `error`, `merge` (all its rows are one query) or
        `separate` (each return is a new query, `7#2` for the second run of query 7).
    locate : callable
        Returns the file and line of a row.

    Examples
    --------
    >>> apply_split_queries(np.array(["7", "8", "7"]), np.arange(3), "separate", str).tolist()
    ['7', '8', '7#2']
    """
    stretches = qid[starts].tolist()
    if split_queries == "merge" or len(set(stretches)) == len(stretches):
        return qid
    if split_queries == "error":
        raise _returned_query_error(stretches, starts, locate)
    names = text_column(_number_returns([str(name) for name in stretches]))
    return np.repeat(names, np.diff(starts, append=qid.size))


def check_split_queries(split_queries: str) -> str:
    """Return `split_queries` if it is one of the choices."""
    return choice("split_queries", split_queries, SPLIT_QUERIES)


def _number_returns(stretches: Sequence[str]) -> list[str]:
    used, counts, names = set(stretches), dict.fromkeys(stretches, 0), []
    for stretch in stretches:
        counts[stretch] += 1
        name = stretch
        while counts[stretch] > 1 and name in used:
            name = f"{stretch}#{counts[stretch]}"
            counts[stretch] += name in used
        used.add(name)
        names.append(name)
    return names


def _returned_query_error(stretches: list[Any], starts: NDArray[Any], locate: Callable[[int], str]) -> InputError:
    first_indices: dict[Any, int] = {}
    index = next(i for i, stretch in enumerate(stretches) if first_indices.setdefault(stretch, i) != i)
    first_location = locate(int(starts[first_indices[stretches[index]]]))
    return InputError(
        f"{locate(int(starts[index]))}: query {stretches[index]} returns after it began in {first_location}.\n"
        "Hint: --split-queries merge takes it as one query, separate as a new one (split_queries= in Python).",
        row=int(starts[index]),
    )
