"""Generate small data sets on which conventions differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.statistics.probing.cases import (
    ANY,
    BELOW_ZERO,
    EMPTY,
    FRACTIONAL,
    LONG,
    LONGEST_STABLE,
    NEARLY_TIED,
    NEGATIVE,
    ONE_DOCUMENT,
    PLAIN,
    PURPOSES,
    SHORT,
    UNTIED,
    Case,
)  # fmt: skip

CLOSE = 1e-9  # a score plus this is a different number in float64, but not in float32
SCORES = (0.1, 0.2, 0.2 + CLOSE, 0.3, 0.4)
SHORTEST = 2  # rows of the shortest query of a `SHORT` case


class CaseMaker:
    """Generate cases with given grades, for a function with a given cutoff; the same seed gives the same cases.

    Parameters
    ----------
    grades : sequence of float
        Labels that the function accepts.
    k : int or None
        The cutoff. Queries have more rows than this, except in cases that test short queries.
    n_queries : int
        Number of queries per case.
    """

    def __init__(self, grades: Sequence[float], k: int | None, n_queries: int, *, seed: int = 0) -> None:
        self._grades = np.asarray(grades, dtype=float)
        self._k = k or 3
        self._n_queries = n_queries
        self._generator = np.random.default_rng(seed)

    def make_all(self) -> list[Case]:
        """Return cases of every purpose."""
        makers = {PLAIN: (self.plain, 8), ONE_DOCUMENT: (self.one_document, 1), EMPTY: (self.empty, 2)}
        makers |= {ANY: (self.any, 12)}
        makers |= {SHORT: (self.short, 2 * (self._k > SHORTEST)), NEGATIVE: (self.negative, 6), LONG: (self.long, 2)}
        makers |= {UNTIED: (self.untied, 3), NEARLY_TIED: (self.nearly_tied, 6)}
        cases = [make() for purpose in (*PURPOSES, UNTIED) for make, times in [makers[purpose]] for _ in range(times)]
        return [*cases, *map(self.nearly_tied_pair, (0, 1)), self.long_tie()]

    def plain(self) -> Case:
        """Make queries with more rows than the cutoff, at least one relevant row, and positive scores."""
        return self._case([self._query(self._more_than_cutoff()) for _ in self._numbers()], PLAIN)

    def untied(self) -> Case:
        """Make plain queries with distinct scores."""
        queries = [self._query(self._more_than_cutoff()) for _ in self._numbers()]
        return self._case(
            [(labels, self._generator.permutation(np.arange(1.0, labels.size + 1))) for labels, _ in queries], UNTIED
        )

    def nearly_tied(self) -> Case:
        """Make queries with two scores that are equal in float32, and a single relevant row."""
        queries = []
        for _ in self._numbers():
            _, scores = self._query(self._more_than_cutoff() + self._k, (0.2, 0.2 + CLOSE))
            labels = np.full(scores.size, self._grades.min())
            labels[self._generator.integers(scores.size)] = self._grades.max()
            queries.append((labels, scores))
        return self._case(queries, NEARLY_TIED)

    def nearly_tied_pair(self, turn: int) -> Case:
        """Make queries with distinct scores, of which the two highest are equal in float32.

        No score occurs in two queries, so all rows taken as one query have such a pair, too.
        """
        queries: list[tuple[Floats, Floats]] = []
        for number in self._numbers():
            size = self._more_than_cutoff()
            scores = np.linspace(number + 1.0, number + 1.5, size)
            scores[0] = scores[-1] + CLOSE
            labels = np.full(size, self._grades.min())
            labels[-((number + turn) % 2)] = self._grades.max()
            order = self._generator.permutation(size)
            queries.append((labels[order], scores[order]))
        return self._case(queries, NEARLY_TIED)

    def one_document(self) -> Case:
        """Make queries, the first of them with a single row, which is relevant."""
        single = (np.array([self._grades.max()]), np.array([SCORES[0]]))
        return self._case([single, *(self._query(self._more_than_cutoff()) for _ in self._numbers()[1:])], ONE_DOCUMENT)

    def empty(self) -> Case:
        """Make queries, the first of them without a relevant row."""
        n_rows = self._more_than_cutoff()
        irrelevant = np.full(n_rows, self._grades.min())
        queries = [(irrelevant, self._query(n_rows)[1]), *(self._query(n_rows) for _ in self._numbers()[1:])]
        return self._case(queries, EMPTY)

    def short(self) -> Case:
        """Make queries with fewer rows than the cutoff."""
        sizes = (int(self._generator.integers(SHORTEST, self._k)) for _ in self._numbers())
        return self._case([self._query(size) for size in sizes], SHORT)

    def negative(self) -> Case:
        """Make queries in which some or all scores are 0 or below."""
        scores = (*SCORES, -1.0, 0.0) if self._generator.random() < 0.5 else (-2.0, -1.0, 0.0)  # noqa: PLR2004 - a probability
        return self._case([self._query(self._more_than_cutoff(), scores) for _ in self._numbers()], NEGATIVE)

    def long(self) -> Case:
        """Make queries too long for numpy's default sort to be stable, with mostly tied rows."""
        n_rows = max(3 * LONGEST_STABLE, self._k + 8)
        return self._case([self._query(n_rows, SCORES[:2]) for _ in self._numbers()], LONG)

    def long_tie(self) -> Case:
        """Make long queries whose top tie is relevant except for its first and its last row."""
        queries = []
        for _ in self._numbers():
            labels, scores = self._query(max(3 * LONGEST_STABLE, self._k + 8), SCORES[:2])
            tied = np.flatnonzero(scores == scores.max())
            labels[tied] = self._grades.max()
            labels[tied[[0, -1]]] = self._grades.min()
            queries.append((labels, scores))
        return self._case(queries, LONG)

    def any(self) -> Case:
        """Make queries of random length, some without a relevant row and some without a positive score."""
        queries = []
        for number in self._numbers():
            size = int(self._generator.integers(1, max(self._k + 3, 5)))
            labels, scores = self._query(size, (*SCORES, -1.0, 0.0))
            if self._generator.random() < 0.3 or (number == 0 and self._n_queries > 1):  # noqa: PLR2004 - a probability
                labels = np.full(size, self._grades.min())
            if self._generator.random() < 0.2:  # noqa: PLR2004 - a probability
                scores = -np.abs(scores) - 0.5
            queries.append((labels, scores))
        return self._case(queries, ANY)

    def every_grade(self) -> Case:
        """Make queries that contain every grade and have more rows than the cutoff."""
        queries = [self._query(self._more_than_cutoff()) for _ in self._numbers()]
        scores = np.linspace(0.1, 0.9, self._grades.size)
        return self._case([(np.append(q, self._grades), np.append(s, scores)) for q, s in queries], "every grade")

    def one_relevant(self, n_rows: int, rank: int) -> Case:
        """Make identical queries with distinct scores and a single relevant row at the given rank."""
        labels = np.full(n_rows, self._grades.min())
        labels[rank - 1] = self._grades.max()
        return self._case([(labels, np.linspace(1.0, 0.1, n_rows))] * self._n_queries, "one relevant row")

    def _more_than_cutoff(self) -> int:
        return self._k + int(self._generator.integers(2, 6))

    def _numbers(self) -> range:
        return range(self._n_queries)

    def _query(self, n_rows: int, scores: Sequence[float] = SCORES) -> tuple[Floats, Floats]:
        # The number of grades varies, since a function may use the highest grade in the data.
        n_grades = self._generator.integers(2, self._grades.size + 1)
        labels = self._generator.choice(np.sort(self._grades)[:n_grades], n_rows)
        labels[self._generator.random(n_rows) < self._generator.choice((0.0, 0.6))] = self._grades.min()
        if labels.max() <= 0:
            labels[self._generator.integers(n_rows)] = self._generator.choice(self._grades[self._grades > 0])
        return labels, self._generator.choice(np.asarray(scores), n_rows)

    @staticmethod
    def _case(queries: list[tuple[Floats, Floats]], purpose: str) -> Case:
        labels, scores = (np.concatenate(column) for column in zip(*queries, strict=True))
        sizes = tuple(len(query) for query, _ in queries)
        return Case(tuple(labels.tolist()), tuple(scores.tolist()), sizes, purpose)


def unusual_label_cases(k: int | None, n_queries: int) -> list[Case]:
    """Make a case with fractional and a case with negative labels, which many functions refuse."""
    kinds = {FRACTIONAL: (0.0, 0.5, 1.5, 2.0), BELOW_ZERO: (-1.0, 0.0, 1.0, 2.0)}
    return [replace(CaseMaker(grades, k, n_queries).plain(), purpose=purpose) for purpose, grades in kinds.items()]
