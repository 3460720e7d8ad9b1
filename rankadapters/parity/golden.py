"""The inputs on which presets are checked: small queries that every tool can rank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.data.queries import Queries
from rankadapters.datasets import mq2008_like

FEATURE = 3  # whose values are the scores; it ties many rows
MOST_ROWS = 15  # of a query: some tools sort longer ones by an order that is not stable


@dataclass(frozen=True)
class Golden:
    """Rows of golden queries: graded labels with tied scores, or labels of 0 and 1 without ties.

    >>> [golden(graded=graded).labels.max().item() for graded in (True, False)]
    [2.0, 1.0]
    """

    labels: Floats
    scores: Floats
    qid: list[str]
    docid: list[str]

    @cached_property
    def queries(self) -> Queries:
        """Return the rows as queries with document ids."""
        return Queries(self.labels, qid=self.qid, docid=self.docid)

    def by_query(self, values: Floats) -> dict[str, dict[str, float]]:
        """Return a column's values by query and document."""
        table: dict[str, dict[str, float]] = {}
        for qid, docid, value in zip(self.qid, self.docid, values.tolist(), strict=True):
            table.setdefault(qid, {})[docid] = value
        return table

    @cached_property
    def run(self) -> dict[str, dict[str, float]]:
        """Return the scores by query and document."""
        return self.by_query(self.scores)

    @cached_property
    def qrels(self) -> dict[str, dict[str, int]]:
        """Return the labels by query and document."""
        return {qid: {d: int(label) for d, label in rows.items()} for qid, rows in self.by_query(self.labels).items()}

    @cached_property
    def ranked(self) -> dict[str, list[str]]:
        """Return the documents of each query by descending score; ties keep their order."""
        return {qid: sorted(rows, key=rows.__getitem__, reverse=True) for qid, rows in self.run.items()}

    @cached_property
    def relevant(self) -> dict[str, list[str]]:
        """Return the documents of each query that have a label above 0."""
        return {qid: [docid for docid, label in rows.items() if label] for qid, rows in self.qrels.items()}


@cache
def golden(*, graded: bool) -> Golden:
    """Generate the rows; they are the same in every process."""
    _, data = mq2008_like(random_state=0, n_train_queries=1, n_test_queries=40)
    qids, sizes = np.unique(data.qid, return_counts=True)
    rows = np.flatnonzero(np.isin(data.qid, qids[sizes <= MOST_ROWS]))
    labels, scores = data.labels[rows], data.X[rows, FEATURE]
    if not graded:
        labels, scores = np.minimum(labels, 1), 1.0 + np.argsort(np.argsort(scores, kind="stable"))
    return Golden(labels, scores, [f"q{q}" for q in data.qid[rows]], [f"d{row:04}" for row in range(rows.size)])
