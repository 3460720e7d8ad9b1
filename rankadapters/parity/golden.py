"""The golden queries: small queries that every tool can rank, to check the presets with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.data.queries import Queries
from rankadapters.datasets import mq2008_like

FEATURE = 3  # column used as the scores; many of its values are tied
MAX_ROWS = 15  # rows per query; some tools sort longer queries with an unstable sort


@dataclass(frozen=True)
class Golden:
    """The rows of the golden queries: either with graded labels and tied scores, or with binary labels and no ties.

    >>> [golden(graded=graded).labels.max().item() for graded in (True, False)]
    [2.0, 1.0]
    """

    labels: Floats
    scores: Floats
    qid: list[str]
    docid: list[str]

    @cached_property
    def queries(self) -> Queries:
        """The rows as queries with document ids."""
        return Queries(self.labels, qid=self.qid, docid=self.docid)

    def by_query(self, values: Floats) -> dict[str, dict[str, float]]:
        """Return the values of a column as `{query: {document: value}}`."""
        table: dict[str, dict[str, float]] = {}
        for qid, docid, value in zip(self.qid, self.docid, values.tolist(), strict=True):
            table.setdefault(qid, {})[docid] = value
        return table

    @cached_property
    def run(self) -> dict[str, dict[str, float]]:
        """The scores as `{query: {document: score}}`."""
        return self.by_query(self.scores)

    @cached_property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The labels as `{query: {document: label}}`."""
        return {qid: {d: int(label) for d, label in rows.items()} for qid, rows in self.by_query(self.labels).items()}

    @cached_property
    def ranked(self) -> dict[str, list[str]]:
        """The documents of each query by descending score; ties keep their order."""
        return {qid: sorted(rows, key=rows.__getitem__, reverse=True) for qid, rows in self.run.items()}

    @cached_property
    def relevant(self) -> dict[str, list[str]]:
        """The documents of each query with a label above 0."""
        return {qid: [docid for docid, label in rows.items() if label] for qid, rows in self.qrels.items()}


@cache
def golden(*, graded: bool) -> Golden:
    """Return the rows of the golden queries, which are the same in every process."""
    _, data = mq2008_like(random_state=0, n_train_queries=1, n_test_queries=40)
    rows = np.flatnonzero(np.repeat(data.group_sizes, data.group_sizes) <= MAX_ROWS)
    labels, scores = data.labels[rows], data.X[rows, FEATURE]
    if not graded:
        labels, scores = np.minimum(labels, 1), 1.0 + np.argsort(np.argsort(scores, kind="stable"))
    return Golden(labels, scores, [f"q{q}" for q in data.qid[rows]], [f"d{row:04}" for row in range(rows.size)])
