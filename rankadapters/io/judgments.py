"""Judged queries, made of checked rows: their weights, their documents, and queries that return after another one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, text_column
from rankadapters.core.data.docids import rank_docids
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
        File and line of a row, as text; it reads the file once more.
    note : str
        Lines and words that were not read, empty where all were.
    metadata : dict or None
        What the ir_metadata header of a TREC run says; None without one, or without PyYAML to read it.
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
        Score of each row, NaN where it was not retrieved.
    """

    scores: NDArray[Any]


def judgments_of(
    rows: StreamRows, split_queries: str, weight: object = None, *, twice: str = "drop one of the two"
) -> Judgments:
    """Return the judgments that rows hold, with scores where there are any.

    Parameters
    ----------
    rows : StreamRows
        All rows.
    split_queries : str
        As in `split`.
    weight : str, optional
        Column of query weights, for messages.
    twice : str
        Hint for a document that is in a query twice.
    """
    qid = split(np.repeat(rows.ids, rows.sizes), rows.starts, split_queries, rows.place)
    queries = Queries(rows.labels, qid=qid, row_weight=rows.more.get("row_weight"))
    judgments = Judgments(queries=with_columns(queries, rows, weight, twice=twice), place=rows.place)
    return judgments.with_scores(rows.scores[0]) if rows.scores else judgments


def with_columns(
    queries: Queries, rows: StreamRows, weight: object = None, *, twice: str = "drop one of the two"
) -> Queries:
    """Return queries with the weights and the documents of their rows; the arguments are those of `judgments_of`."""
    if "query_weight" in rows.more:
        weights = query_weights(weight, rows.more["query_weight"], queries, rows.place)
        queries = queries.with_weights(weights, row_weight=queries.row_weight)
    if "docid" in rows.more:
        docids = rows.more["docid"].tolist()
        queries = queries.with_docid_ranks(_docid_ranks(docids, queries, rows.place, twice))
    return queries


def query_weights(name: object, weights: Array, queries: Queries, place: Callable[[int], str]) -> Array:
    """Return the weight of each query; refuse rows that disagree."""
    first, varies = queries.per_query(weights)
    if varies >= 0:
        row = int(np.flatnonzero(weights != queries.per_row(first))[0])
        msg = (
            f"{place(row)}: {name} is {weights[row]:g}, but another row of its query has another weight.\n"
            "Hint: a weight is the query's, so its rows must agree."
        )
        raise InputError(msg, row=row)
    return first


def _docid_ranks(docids: Sequence[str], queries: Queries, place: Callable[[int], str], hint: str) -> NDArray[np.int64]:
    """Return the position of each row in the order of query and docid; refuse a document that is in its query twice."""
    query = queries.query_of_row
    ranks, twice = rank_docids(text_column(docids), query)
    if twice >= 0:
        first, row = repeated(zip(query.tolist(), docids, strict=True))
        name = str(queries.query_ids[query[row]])
        msg = f"{place(row)}: document {docids[row]!r} of query {name!r} stands in {place(first)} too.\nHint: {hint}."
        raise InputError(msg, row=row)
    return ranks


def repeated(keys: Iterable[Hashable]) -> tuple[int, int]:
    """Return the rows of the first key that comes a second time; (-1, -1) where there is none.

    >>> repeated("abcb")
    (1, 3)
    """
    first: dict[Hashable, int] = {}
    return next(((first[key], row) for row, key in enumerate(keys) if first.setdefault(key, row) != row), (-1, -1))


def split(qid: Array, starts: NDArray[Any], split_queries: str, place: Callable[[int], str]) -> Array:
    """Apply `split_queries`.

    Parameters
    ----------
    qid : array, shape (n_docs,)
        Query of each row.
    starts : int array
        First row of each stretch of rows that are surely one query.
    split_queries : str
        `error`, `merge` (all its rows are one query) or `separate` (each return is a query of its own, `7#2` for the
        second stretch of query 7).
    place : callable
        File and line of a row.

    Examples
    --------
    >>> split(np.array(["7", "8", "7"]), np.arange(3), "separate", str).tolist()
    ['7', '8', '7#2']
    """
    stretches = qid[starts].tolist()
    if split_queries == "merge" or len(set(stretches)) == len(stretches):
        return qid
    if split_queries == "error":
        raise _returns(stretches, starts, place)
    names = text_column(_separate([str(name) for name in stretches]))
    return np.repeat(names, np.diff(starts, append=qid.size))


def split_choice(split_queries: str) -> str:
    """Return what a query is that returns after another one, where it is one of the choices."""
    return choice("split_queries", split_queries, SPLIT_QUERIES)


def _separate(stretches: Sequence[str]) -> list[str]:
    taken, count, names = set(stretches), dict.fromkeys(stretches, 0), []
    for stretch in stretches:
        count[stretch] += 1
        name = stretch
        while count[stretch] > 1 and name in taken:
            name = f"{stretch}#{count[stretch]}"
            count[stretch] += name in taken
        taken.add(name)
        names.append(name)
    return names


def _returns(stretches: list[Any], starts: NDArray[Any], place: Callable[[int], str]) -> InputError:
    seen: dict[Any, int] = {}
    again = next(i for i, stretch in enumerate(stretches) if seen.setdefault(stretch, i) != i)
    first = place(int(starts[seen[stretches[again]]]))
    return InputError(
        f"{place(int(starts[again]))}: query {stretches[again]} returns after it began in {first}.\n"
        "Hint: --split-queries merge takes it as one query, separate as a new one (split_queries= in Python).",
        row=int(starts[again]),
    )
