"""Results of the readers: judged queries, and the scores of their rows where the files have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.queries import Queries
from rankadapters.io import splitting
from rankadapters.io.row_columns import docid_ranks, query_weights
from rankadapters.io.stream_rows import StreamRows


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
    """

    queries: Queries
    place: Callable[[int], str] = field(repr=False)
    note: str = ""

    def with_scores(self, scores: NDArray[Any]) -> ScoredJudgments:
        """Return the same judgments with a score for each row."""
        return ScoredJudgments(queries=self.queries, scores=scores, place=self.place, note=self.note)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ScoredJudgments(Judgments):
    """Judged queries and predicted scores, ready for `ra.evaluate(read.queries, read.scores, convention)`.

    Attributes
    ----------
    queries, place, note
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
        As in `splitting.split`.
    weight : str, optional
        Column of query weights, for messages.
    twice : str
        Hint for a document that is in a query twice.
    """
    qid = splitting.split(np.repeat(rows.ids, rows.sizes), rows.starts, split_queries, rows.place)
    queries = Queries(rows.labels, qid=qid, row_weight=rows.more.get("row_weight"))
    if "query_weight" in rows.more:
        weights = query_weights(weight, rows.more["query_weight"], queries, rows.place)
        queries = queries.with_weights(weights, row_weight=queries.row_weight)
    if "docid" in rows.more:
        queries = queries.with_docid_ranks(docid_ranks(rows.more["docid"].tolist(), queries, rows.place, hint=twice))
    judgments = Judgments(queries=queries, place=rows.place)
    return judgments.with_scores(rows.scores[0]) if rows.scores else judgments
