"""Small data sets on which conventions differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.core.evaluation.evaluator import Evaluator

PLAIN, LONG, ANY = "plain queries", "more than 16 rows", "queries of every kind"
EMPTY, SHORT = "nothing relevant", "fewer rows than the cutoff"
ONE_DOCUMENT, NEGATIVE = "one document", "scores below 0"
UNTIED, NEARLY_TIED = "no tied scores", "scores that float32 takes for tied"
FRACTIONAL, BELOW_ZERO = "fractional labels", "labels below 0"
PURPOSES = (PLAIN, NEARLY_TIED, ONE_DOCUMENT, EMPTY, SHORT, NEGATIVE, ANY, LONG)  # in the order of the calls
LONGEST_STABLE = 16  # rows up to which numpy's default sort is stable


@dataclass(frozen=True, slots=True)
class Case:
    """Labels and scores of a few queries, made for a purpose.

    Attributes
    ----------
    labels, scores : tuple of numbers
        One entry per row.
    sizes : tuple of int
        Rows of each query, one after another.
    purpose : str
        The trait that the case is made for, in a few words.
    """

    labels: tuple[float, ...]
    scores: tuple[float, ...]
    sizes: tuple[int, ...]
    purpose: str = field(default="", compare=False)

    @property
    def queries(self) -> Queries:
        """The rows as queries."""
        return Queries(np.asarray(self.labels, dtype=float), group_sizes=np.asarray(self.sizes))

    def traits(self, cutoff: int | None = None) -> frozenset[str]:
        """Return the case's traits, such as empty queries, that a function may refuse or treat by a special rule."""
        highest = np.maximum.reduceat(np.asarray(self.labels), np.append(0, np.cumsum(self.sizes)[:-1]))
        traits = {
            EMPTY: (highest <= 0).any(),
            ONE_DOCUMENT: min(self.sizes) == 1,
            SHORT: min(self.sizes) < (cutoff or 0),
            NEGATIVE: min(self.scores) <= 0,
            NEARLY_TIED: len(set(self.scores)) > np.unique(np.asarray(self.scores, np.float32)).size,
            LONG: max(self.sizes) > LONGEST_STABLE,
        }
        return frozenset(name for name, has in traits.items() if has)

    @property
    def untied(self) -> bool:
        """Whether the scores of each query are distinct even in float32."""
        return all(len(set(map(np.float32, query.scores))) == len(query.scores) for query in self.split())

    @property
    def qid(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The query of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def as_queries(self) -> list[dict[str, list[float]]]:
        """Return the labels and scores of each query in plain JSON types, with whole labels as integers."""
        return [
            {"labels": [int(label) if label.is_integer() else label for label in query.labels],
             "scores": list(query.scores)}
            for query in self.split()
        ]  # fmt: skip

    def without_row(self, row: int) -> Case | None:
        """Return the case with one row removed; None if it has no other row."""
        sizes = list(self.sizes)
        sizes[int(self.qid[row])] -= 1
        sizes = [size for size in sizes if size]
        rows = [i for i in range(len(self.labels)) if i != row]
        return self._select(rows, tuple(sizes)) if sizes else None

    def without_query(self, query: int) -> Case | None:
        """Return the case with one query removed; None if it has no other query."""
        rows = [i for i, number in enumerate(self.qid) if number != query]
        sizes = tuple(size for i, size in enumerate(self.sizes) if i != query)
        return self._select(rows, sizes) if sizes else None

    def with_columns(self, **columns: Sequence[float]) -> Case:
        """Return the case with the labels or scores replaced."""
        labels, scores = columns.get("labels", self.labels), columns.get("scores", self.scores)
        return Case(tuple(labels), tuple(scores), self.sizes, self.purpose)

    def split(self) -> list[Case]:
        """Return one case per query."""
        queries = [[row for row, number in enumerate(self.qid) if number == query] for query in range(len(self.sizes))]
        return [self._select(rows, (len(rows),)) for rows in queries]

    def as_one_query(self) -> Case:
        """Return the case with all rows in a single query."""
        return Case(self.labels, self.scores, (len(self.labels),), self.purpose)

    def ideal(self) -> Case:
        """Return the case ranked by its labels."""
        return self.with_columns(scores=self.labels)

    @property
    def is_ideal(self) -> bool:
        """Whether the rows of every query are in the order of their scores, or have equal labels."""
        return all(
            list(query.scores) == sorted(query.scores, reverse=True) or len(set(query.labels)) == 1
            for query in self.split()
        )

    def with_rows_reversed(self) -> Case:
        """Return the case with the rows of each query in reverse order."""
        ends = np.cumsum(self.sizes).tolist()
        rows = [row for end, size in zip(ends, self.sizes, strict=True) for row in range(end - 1, end - size - 1, -1)]
        return self._select(rows, self.sizes)

    def with_first_row(self) -> Case:
        """Return a single query with all rows and one more: an irrelevant row that ranks first."""
        rows = (0.0, *self.labels), (max(self.scores) + 1, *self.scores)
        return Case(*rows, (len(self.labels) + 1,), self.purpose)

    def _select(self, rows: list[int], sizes: tuple[int, ...]) -> Case:
        return Case(tuple(self.labels[i] for i in rows), tuple(self.scores[i] for i in rows), sizes, self.purpose)


def value_of(convention: Convention, case: Case) -> float:
    """Return the value of a convention on a case; NaN if it has none."""
    try:
        return Evaluator.of(case.queries, [convention]).measure(np.asarray(case.scores)).scores[convention].value
    except RankAdaptersError:
        return math.nan
