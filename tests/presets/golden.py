"""The golden queries: small queries that every tool can rank, to check the presets with, whole and incomplete."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from rankadapters.core.data.columns import Flags, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.datasets import mq2008_like

FEATURE = 3  # column used as the scores; many of its values are tied
MAX_ROWS = 15  # rows per query; some tools sort longer queries with an unstable sort
OUTSIDE = {"outside": {"d9999": 1.0}}  # a query of the run without judgments


@dataclass(frozen=True)
class Golden:
    """The rows of the golden queries: either with graded labels and tied scores, or with binary labels and no ties.

    Where `judged` and `retrieved` are not True for every row, the judgments lack rows of the run and the other way
    round, and the run has a query without judgments.

    >>> [golden(graded=graded).labels.max().item() for graded in (True, False)]
    [2.0, 1.0]
    """

    labels: Floats
    scores: Floats
    qid: list[str]
    docid: list[str]
    judged: Flags
    retrieved: Flags

    @property
    def is_whole(self) -> bool:
        """Whether every row is judged and retrieved."""
        return bool((self.judged & self.retrieved).all())

    @cached_property
    def queries(self) -> Queries:
        """The rows as queries with document ids."""
        judged, retrieved = (None, None) if self.is_whole else (self.judged, self.retrieved)
        return Queries(self.labels, qid=self.qid, docid=self.docid, judged=judged, retrieved=retrieved)

    def by_query(self, values: Floats, included: Flags) -> dict[str, dict[str, float]]:
        """Return the values of a column in the included rows as `{query: {document: value}}`."""
        table: dict[str, dict[str, float]] = {}
        for row in np.flatnonzero(included).tolist():
            table.setdefault(self.qid[row], {})[self.docid[row]] = float(values[row])
        return table

    @cached_property
    def run(self) -> dict[str, dict[str, float]]:
        """The scores of the retrieved rows as `{query: {document: score}}`."""
        return self.by_query(self.scores, self.retrieved) | ({} if self.is_whole else OUTSIDE)

    @cached_property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The labels of the judged rows as `{query: {document: label}}`."""
        labels = self.by_query(self.labels, self.judged)
        return {qid: {docid: int(label) for docid, label in rows.items()} for qid, rows in labels.items()}

    @cached_property
    def ranked(self) -> dict[str, list[str]]:
        """The documents of each query by descending score; ties keep their order."""
        return {qid: sorted(rows, key=rows.__getitem__, reverse=True) for qid, rows in self.run.items()}

    @cached_property
    def relevant(self) -> dict[str, list[str]]:
        """The documents of each judged query with a label above 0."""
        return {qid: [docid for docid, label in rows.items() if label > 0] for qid, rows in self.qrels.items()}


@cache
def golden(*, graded: bool) -> Golden:
    """Return the rows of the golden queries, which are the same in every process."""
    _, data = mq2008_like(random_state=0, n_train_queries=1, n_test_queries=40)
    rows = np.flatnonzero(np.repeat(data.group_sizes, data.group_sizes) <= MAX_ROWS)
    labels, scores = data.labels[rows], data.X[rows, FEATURE]
    if not graded:
        labels, scores = np.minimum(labels, 1), 1.0 + np.argsort(np.argsort(scores, kind="stable"))
    every = np.ones(rows.size, np.bool_)
    qid, docid = [f"q{q}" for q in data.qid[rows]], [f"d{row:04}" for row in range(rows.size)]
    return Golden(labels, scores, qid, docid, judged=every, retrieved=every)


@cache
def incomplete(*, graded: bool, negative: bool) -> Golden:
    """Return the golden queries without some results and some judgments.

    Of the queries with a relevant row, the first has no results, and all results of the second are unjudged. In every
    other query one row in four is not retrieved and one in four is not judged. If a query has several relevant rows,
    the last of them is not retrieved. If `negative`, the first row of a query has a label below 0 unless it is
    relevant.

    >>> rows = incomplete(graded=True, negative=True)
    >>> len(rows.qrels.keys() - rows.run), len(rows.run.keys() - rows.qrels), rows.labels.min().item()
    (1, 1, -1.0)
    """
    whole = golden(graded=graded)
    queries = whole.queries
    in_query = np.arange(queries.n_docs) - queries.indptr[queries.query_of_row]
    with_relevant, n_relevant = np.unique(queries.query_of_row[whole.labels > 0], return_counts=True)
    unanswered, unknown = (queries.query_of_row == number for number in with_relevant[:2])
    relevant_rows = np.flatnonzero(whole.labels > 0)
    last_relevant = relevant_rows[np.cumsum(n_relevant) - 1][n_relevant > 1]
    retrieved = ~unanswered & np.where(unknown, in_query < unknown.sum() // 2, in_query % 4 != 1)
    retrieved[last_relevant] = False
    judged = ~retrieved | unanswered | (~unknown & (in_query % 4 != 2))
    labels = whole.labels.copy()
    if negative:
        labels[(labels == 0) & judged & (in_query == 0)] = -1.0
    return replace(
        whole, labels=labels, scores=np.where(retrieved, whole.scores, np.nan), judged=judged, retrieved=retrieved
    )
