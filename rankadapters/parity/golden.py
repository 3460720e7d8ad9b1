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


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """A query: its id, and the ids, labels and scores of its rows."""

    qid: str
    docids: list[str]
    labels: list[int]
    scores: list[float]

    @property
    def ranked(self) -> list[str]:
        """Return the document ids by descending score."""
        return [docid for _, docid in sorted(zip(self.scores, self.docids, strict=True), key=lambda row: -row[0])]

    @property
    def relevant(self) -> list[str]:
        """Return the ids of the documents with a label above 0."""
        return [docid for docid, label in zip(self.docids, self.labels, strict=True) if label]


@dataclass(frozen=True)
class Golden:
    """Rows of golden queries: graded labels with tied scores, or labels of 0 and 1 without ties.

    >>> [Golden.make(graded=graded).labels.max().item() for graded in (True, False)]
    [2.0, 1.0]
    """

    labels: Floats
    scores: Floats
    qid: list[str]
    docid: list[str]

    @classmethod
    @cache
    def make(cls, *, graded: bool) -> Golden:
        """Generate the rows; they are the same in every process."""
        _, data = mq2008_like(random_state=0, n_train_queries=1, n_test_queries=40)
        qids, sizes = np.unique(data.qid, return_counts=True)
        rows = np.flatnonzero(np.isin(data.qid, qids[sizes <= MOST_ROWS]))
        labels, scores = data.labels[rows], data.X[rows, FEATURE]
        if not graded:
            labels, scores = np.minimum(labels, 1), 1.0 + np.argsort(np.argsort(scores, kind="stable"))
        return cls(labels, scores, [f"q{q}" for q in data.qid[rows]], [f"d{row:04}" for row in range(rows.size)])

    @cached_property
    def queries(self) -> Queries:
        """Return the rows as queries with document ids."""
        return Queries(self.labels, qid=self.qid, docid=self.docid)

    @cached_property
    def by_query(self) -> tuple[GoldenQuery, ...]:
        """Return the rows query by query, in plain Python types."""
        rows: dict[str, list[int]] = {}
        for row, qid in enumerate(self.qid):
            rows.setdefault(qid, []).append(row)
        return tuple(
            GoldenQuery(
                qid, [self.docid[row] for row in where], [int(self.labels[row]) for row in where],
                [float(self.scores[row]) for row in where],
            )
            for qid, where in rows.items()
        )  # fmt: skip
