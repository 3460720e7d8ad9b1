"""Build judged queries with weights and docids from checked rows; handle queries whose rows are not consecutive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array
from rankadapters.core.classes import frozen_class
from rankadapters.core.data.columns import text_column
from rankadapters.core.data.grouping import stretches
from rankadapters.core.data.ids import id_values
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.io.rows import Locate, first_duplicate, locating, with_docids

SPLIT_QUERIES = ("error", "merge", "separate")


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Judgments:
    """Judged queries from files, ready for `ra.evaluate(judgments.queries, judgments.scores, convention)`.

    Attributes
    ----------
    queries : Queries
        The judged rows.
    scores : float array, shape (n_docs,), or None
        Score of each row, NaN if it was not retrieved; None if no scores were read.
    place : callable
        Returns the file and line of a row as text.
    note : str
        Lines and words that were not read, and whether none of the retrieved documents is judged; else empty.
    """

    queries: Queries
    scores: NDArray[Any] | None = field(default=None, repr=False)
    place: Locate = field(repr=False)
    note: str = ""

    def with_scores(self, scores: NDArray[Any]) -> Judgments:
        """Return the same judgments with a score for each row."""
        return replace(self, scores=scores)


def judgments_of(
    labels: Array,
    qid: Array,
    *,
    scores: Array | None = None,
    docids: Sequence[str] | None = None,
    query_weight: Array | None = None,
    row_weight: Array | None = None,
    locate: Locate,
    split_queries: str = "error",
    weight_name: str = "query_weight",
    duplicate_hint: str = "drop one of the two",
    file_starts: Sequence[int] = (),
) -> Judgments:
    """Return checked rows as judged queries; `locate` returns the file and line of a row.

    `file_starts` has the first row of each file: a query that continues there counts as one that returns. `weight_name`
    is the user's name for the column of query weights.
    """
    starts = np.union1d(stretches(qid), np.asarray(file_starts, np.int64))
    names = _apply_split_queries(qid, starts, split_queries, locate)
    with locating(np.arange(labels.size), locate):
        queries = Queries(labels, qid=names, row_weight=row_weight)
        if query_weight is not None:
            weights = queries.weights_per_query(weight_name, query_weight)
            queries = queries.with_weights(weights, row_weight=queries.row_weight)
        if docids is not None:
            queries = with_docids(queries, text_column(docids), locate, duplicate_hint)
    return Judgments(queries=queries, scores=scores, place=locate)


def _apply_split_queries(qid: Array, starts: NDArray[Any], split_queries: str, locate: Locate) -> Array:
    """Return each row's query after handling queries with separated rows; `starts` has the first row of each run."""
    runs = id_values(qid[starts])
    if split_queries == "merge" or len(set(runs)) == len(runs):
        return qid
    if split_queries == "separate":
        names = text_column(_number_returns([str(name) for name in runs]))
        return np.repeat(names, np.diff(starts, append=qid.size))
    first, run = first_duplicate(runs)
    row = int(starts[run])
    raise InputError(
        f"{locate(row)}: query {runs[run]} returns after it began in {locate(int(starts[first]))}.",
        hint="--split-queries merge makes it one query, separate a new one (split_queries= in Python)",
        row=row,
    )


def _number_returns(runs: Sequence[str]) -> list[str]:
    """Return a new name for each run of a query after its first.

    >>> _number_returns(["7", "8", "7"])
    ['7', '8', '7#2']
    """
    used, counts, names = set(runs), dict.fromkeys(runs, 0), []
    for run in runs:
        counts[run] += 1
        name = run
        while counts[run] > 1 and name in used:
            name = f"{run}#{counts[run]}"
            counts[run] += name in used
        used.add(name)
        names.append(name)
    return names
