"""Small data sets on which conventions differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankadapters.core.classes import frozen_class
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.evaluation.evaluator import Evaluator

# The traits of data that a function may refuse or treat by a rule of its own.
EMPTY, ONE_DOCUMENT = "nothing relevant", "one document"
NOT_FOUND = "nothing relevant up to the cutoff"
SHORT, EXACT = "fewer rows than the cutoff", "as many rows as the cutoff"
ONE_MORE = "one row more than the cutoff"
NEGATIVE, FRACTIONAL, BELOW_ZERO = "scores of 0 and below", "fractional labels", "labels below 0"
SEVERAL, TIED, CLOSE = "several relevant rows", "tied scores", "nearly equal scores"
LONG, UNRETRIEVED = "more than 16 rows", "relevant items that are not recommended"
SAME_SCORES = "equal scores"
MOST_SHORT = 16  # rows up to which many sorting algorithms are stable

NEAR = 0.005  # different scores that are nearer than this are nearly equal

# What a case is made for, if it is not a trait.
RANK, PAIR, IDEAL = "one relevant row", "two relevant rows", "relevant rows beyond the cutoff"
PLAIN, BOUNDARY, ANY = "distinct scores", "ties at the cutoff", "any length"


@frozen_class
@dataclass(frozen=True, slots=True)
class Case:
    """Labels and scores of a few queries, made for a purpose; a column has one entry per row."""

    labels: tuple[float, ...]
    scores: tuple[float, ...]
    sizes: tuple[int, ...]  # rows of each query, one after another
    purpose: str = field(default="", compare=False)
    retrieved: tuple[bool, ...] | None = None  # whether each row is in the ranking; None if all are

    @classmethod
    def of(cls, labels: Any, scores: Any, purpose: str = "", sizes: Any = None) -> Case:
        """Make a case from arrays or sequences; of a single query if there are no sizes."""
        labels, scores = (np.asarray(column, float).tolist() for column in (labels, scores))
        return cls(tuple(labels), tuple(scores), tuple([len(labels)] if sizes is None else map(int, sizes)), purpose)

    @classmethod
    def join(cls, cases: Iterable[Case], purpose: str) -> Case:
        """Return the queries of several cases as one case."""
        labels, scores, sizes = zip(*((case.labels, case.scores, case.sizes) for case in cases), strict=True)
        return cls(sum(labels, ()), sum(scores, ()), sum(sizes, ()), purpose)

    @property
    def queries(self) -> Queries:
        """The rows as queries."""
        labels, sizes = np.asarray(self.labels, dtype=float), np.asarray(self.sizes)
        return Queries(labels, group_sizes=sizes, retrieved=None if self.retrieved is None else list(self.retrieved))

    @property
    def qid(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The query of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def traits(self, cutoff: int | None = None) -> frozenset[str]:
        """Return the traits of the case, each if at least one query has it."""
        return frozenset(trait for query in self.split() for trait, has in TRAITS.items() if has(query, cutoff or 0))

    def split(self) -> Iterator[Case]:
        """Yield each query as a case."""
        ends = np.cumsum(self.sizes).tolist()
        for end, size in zip(ends, self.sizes, strict=True):
            rows = slice(end - size, end)
            yield Case(self.labels[rows], self.scores[rows], (size,), self.purpose)

    def select(self, rows: Sequence[int]) -> Case:
        """Return the case with only these rows, in this order; queries without a row disappear."""
        sizes = np.bincount(self.qid[list(rows)], minlength=len(self.sizes))
        labels, scores = ([column[row] for row in rows] for column in (self.labels, self.scores))
        return replace(self.with_columns(labels=labels, scores=scores), sizes=tuple(sizes[sizes > 0].tolist()))

    def with_columns(self, **columns: Any) -> Case:
        """Return the case with the labels or scores replaced."""
        lists: dict[str, Any] = {name: tuple(np.asarray(column, float).tolist()) for name, column in columns.items()}
        return replace(self, **lists)

    def reordered(self, order: Callable[[int], Sequence[int]]) -> Case:
        """Return the case with the rows of each query in another order, a function of their number."""
        return Case.join((query.select(order(len(query.labels))) for query in self.split()), self.purpose)

    def ranking(self) -> list[int]:
        """Return the retrieved rows of a single query in the order of their scores, tied rows in their order."""
        rows = [row for row in range(len(self.scores)) if self.retrieved is None or self.retrieved[row]]
        return sorted(rows, key=lambda row: -self.scores[row])

    def as_queries(self) -> list[dict[str, list[float]]]:
        """Return the labels and scores of each query in plain JSON types, with whole labels as integers."""
        return [
            {"labels": [int(label) if label.is_integer() else label for label in query.labels],
             "scores": list(query.scores)}
            for query in self.split()
        ]  # fmt: skip


TRAITS: dict[str, Callable[[Case, int], bool]] = {  # whether a query has the trait, given the cutoff or 0
    EMPTY: lambda query, _: max(query.labels) <= 0,
    NOT_FOUND: lambda query, cutoff: (
        max(query.labels) > 0 >= max((query.labels[row] for row in query.ranking()[: cutoff or None]), default=0.0)
    ),
    ONE_DOCUMENT: lambda query, _: len(query.labels) == 1,
    SHORT: lambda query, cutoff: len(query.labels) < cutoff,
    EXACT: lambda query, cutoff: len(query.labels) == cutoff,
    ONE_MORE: lambda query, cutoff: len(query.labels) == cutoff + 1 > 1,
    NEGATIVE: lambda query, _: min(query.scores) <= 0,
    BELOW_ZERO: lambda query, _: min(query.labels) < 0,
    FRACTIONAL: lambda query, _: not all(label.is_integer() for label in query.labels),
    CLOSE: lambda query, _: bool((np.diff(np.unique(query.scores)) < NEAR).any()),
    SAME_SCORES: lambda query, _: len(query.scores) > 1 == len(set(query.scores)),
    TIED: lambda query, _: len(set(query.scores)) < len(query.scores),
    LONG: lambda query, _: len(query.labels) > MOST_SHORT,
    SEVERAL: lambda query, _: sum(label > 0 for label in query.labels) > 1,
}


def value_of(convention: Convention, case: Case) -> float:
    """Return the value of a convention on a case; NaN if it has none."""
    try:
        return Evaluator.of(case.queries, [convention]).measure(np.asarray(case.scores)).scores[convention].value
    except RankAdaptersError:
        return math.nan


def shrink(case: Case, differs: Callable[[Case], bool], budget: int) -> Case:
    """Return a case that still differs and cannot be simplified, or the smallest one found in `budget` trials."""
    while True:
        for candidate in _simpler(case):
            budget -= 1
            if budget < 0:
                return case
            if differs(candidate):
                case = candidate
                break
        else:
            return case


def _simpler(case: Case) -> Iterator[Case]:
    """Yield cases that are smaller or simpler than a case: first without many rows, then without one, then plainer."""
    n_rows = len(case.labels)
    if len(case.sizes) > 1:
        yield from (case.select(np.flatnonzero(case.qid != query).tolist()) for query in range(len(case.sizes)))
    part = n_rows // 2
    while part:
        for first in range(0, n_rows, part):
            if rows := [row for row in range(n_rows) if not first <= row < first + part]:
                yield case.select(rows)
        part //= 2
    scores = np.asarray(case.scores)
    ranks = np.unique(scores, return_inverse=True)[1] + 1.0
    if (ranks != scores).any():
        yield case.with_columns(scores=ranks)
    for row, label in enumerate(case.labels):
        for lower in (0.0, 1.0):
            if 0 <= lower < label:
                yield case.with_columns(labels=(*case.labels[:row], lower, *case.labels[row + 1 :]))
