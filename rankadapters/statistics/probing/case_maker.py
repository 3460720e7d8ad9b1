"""Make the small data sets on which conventions differ: first those that measure, then those that confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.core.classes import frozen_class
from rankadapters.statistics.probing import cases as kinds
from rankadapters.statistics.probing.cases import Case

MOST_RANKS = 11  # ranks of a single relevant row that are measured
DEEP_RANK = 200  # a rank that counts only without a cutoff
USUAL_ROWS = 8  # ranks that are measured if there is no cutoff
TIED_SCORES = (0.1, 0.2, 0.3, 0.4)
# Gaps between nearly equal scores, of which float32 takes the first for tied, and the order of the rows in the file.
GAPS = ((1e-9, 1), (3e-3, -1), (1e-9, -1), (1e-6, -1), (1e-6, 1), (1e-4, -1))
# Turns in which only the last rank is relevant, so that it decides the first hit: of k, of k + 1 and of fewer rows.
LAST_ALONE = {(kinds.EXACT, 0), (kinds.EXACT, 2), (kinds.SHORT, 2)}
STEP, STEPS = 0.037, {1: 1.0, 2: 37.0}  # between distinct scores: the usual one, and those of some turns


@frozen_class
@dataclass(frozen=True, slots=True)
class CaseMaker:
    """Make cases with given grades, for a function with a given cutoff; equal makers make equal cases."""

    grades: tuple[float, ...]  # labels that the function accepts, from the lowest
    k: int | None
    one_relevant: bool = False  # whether each query with a relevant row has exactly one
    distinct: bool = False  # whether all scores of a query are distinct, for a function that does not receive them
    seed: int = 0  # changes the random cases

    @property
    def n_rows(self) -> int:
        """Rows of a query that is longer than the cutoff."""
        return (USUAL_ROWS if self.k is None else self.k) + 2

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks of a single relevant row that are measured: the first ones, and those around the cutoff."""
        if self.k is None:
            return tuple(range(1, USUAL_ROWS + 1))
        around = (self.k - 1, self.k, self.k + 1)
        first = range(1, min(self.k + 2, MOST_RANKS - len(around) + 1))
        return tuple(sorted({*first, *around} - {0}))

    def at_rank(self, rank: int, n_rows: int | None = None) -> Case:
        """Make a query with a single relevant row, of the highest grade, at a rank."""
        return _by_rank(self.top(self.n_rows if n_rows is None else n_rows, rank - 1), kinds.RANK)

    @property
    def second_rank(self) -> int:
        """The rank of the second row of a pair: not 2 if possible, since some discounts of ranks 1 and 2 are equal."""
        return 3 if self.k is None or self.k > 2 else 2  # noqa: PLR2004 - as far as the cutoff allows

    def pair(self, grade: float) -> Case:
        """Make a query with a row of a grade at rank 1 and one of the highest grade at `second_rank`."""
        labels = self.top(self.n_rows, self.second_rank - 1)
        labels[0] = grade
        return _by_rank(labels, kinds.PAIR)

    def every_grade(self) -> Case:
        """Make a query that contains every grade."""
        return _by_rank(np.resize(self.grades, max(self.n_rows, len(self.grades))), kinds.PLAIN)

    def measuring(self) -> list[Case]:
        """Return the cases that show gains, discounts, the ideal list and ties, and one case for each trait."""
        cases = [self.at_rank(rank) for rank in self.ranks]
        cases += [self.pair(grade) for grade in self.grades[1:-1]]
        all_relevant = np.sort(np.resize([grade for grade in self.grades if grade > 0], self.n_rows))
        cases += [_by_rank(labels, kinds.IDEAL) for labels in (self.top(self.n_rows, 0, self.n_rows - 2), all_relevant)]
        scores = np.linspace(0.9, 0.1, self.n_rows)
        scores[1] = scores[0]  # the first or the second of the tied rows is relevant
        cases += [Case.of(self.top(self.n_rows, row), scores, kinds.TIED) for row in (0, 1)]
        once = (kinds.PLAIN, kinds.EMPTY, kinds.ONE_DOCUMENT, kinds.SHORT, kinds.EXACT)
        return self.unique([*cases, *(self._random(purpose, 0) for purpose in once)])

    def top(self, n_rows: int, *rows: int) -> Floats:
        """Return labels with the highest grade for some rows, and the lowest for all others."""
        labels = np.full(n_rows, self.grades[0])
        labels[list(rows)] = self.grades[-1]
        return labels

    def several(self) -> list[Case]:
        """Return cases of several queries, which show how a function averages."""
        mixtures = [
            (kinds.PLAIN, kinds.PLAIN, kinds.PLAIN),
            (kinds.EMPTY, kinds.PLAIN, kinds.TIED),
            (kinds.ANY, kinds.ANY, kinds.ANY),
            (kinds.SHORT, kinds.PLAIN, kinds.EMPTY),
            (kinds.ANY, kinds.ANY, kinds.ANY),
            (kinds.ONE_DOCUMENT, kinds.PLAIN, kinds.ANY),
            (kinds.EXACT, kinds.EXACT, kinds.SHORT),
            (kinds.ANY, kinds.ANY, kinds.EMPTY),
        ]
        joined = [
            Case.join([self._random(purpose, 100 + 10 * i + j) for j, purpose in enumerate(purposes)], purposes[0])
            for i, purposes in enumerate(mixtures)
        ]
        nothing_found = Case.join([self.at_rank(self.n_rows), self.at_rank(1), self.every_grade()], kinds.PLAIN)
        return self.unique([*joined, nothing_found, Case.join([self.at_rank(2), *self._alike()], kinds.TIED)])

    def confirming(self) -> list[Case]:
        """Return random cases of every kind of one query, those that tell the most first."""
        counts = {
            kinds.PLAIN: 2,
            kinds.TIED: 4,
            kinds.BOUNDARY: 3,
            kinds.EXACT: 2,
            kinds.SHORT: 2,
            kinds.NEGATIVE: 3,
            kinds.CLOSE: len(GAPS),
            kinds.LONG: 4,
            kinds.EMPTY: 1,
            kinds.ANY: 8,
        }
        if self.distinct:
            counts |= {kinds.BOUNDARY: 0, kinds.NEGATIVE: 0, kinds.CLOSE: 0, kinds.LONG: 1}
        rounds = [[self._random(purpose, turn) for purpose, n in counts.items() if turn <= n] for turn in range(1, 9)]
        cases = [case for cases in rounds for case in cases]
        cases += self._alike()
        if self.k is None:
            cases.append(self.at_rank(DEEP_RANK, DEEP_RANK + 1))
        return self.unique([*cases, Case.of([self.grades[0]], [0.3], kinds.ONE_DOCUMENT)])

    def _alike(self) -> list[Case]:
        """Return a query of equal scores and one of equal labels."""
        plain = self._random(kinds.PLAIN, len(STEPS) + 1)
        return [
            replace(plain.with_columns(scores=np.full(len(plain.scores), STEP)), purpose=kinds.TIED),
            plain.with_columns(labels=np.full(len(plain.labels), self.grades[-1])),
        ]

    def unusual_labels(self) -> list[Case]:
        """Return cases with fractional labels and one with negative labels, which many functions refuse."""
        fractional = [*(grade - 1 / 2 for grade in self.grades[1:]), self.grades[1] - 1 / 4]
        alone = np.zeros((len(fractional), self.n_rows))
        alone[:, min(1, (self.k or 2) - 1)] = fractional
        return [
            *(_by_rank(labels, kinds.FRACTIONAL) for labels in alone),
            _by_rank(self._mixed((0.0, 0.5, 1.5, 2.0)), kinds.FRACTIONAL),
            _by_rank(self._mixed((-1.0, 0.0, 1.0, 2.0)), kinds.BELOW_ZERO),
        ]

    def _mixed(self, labels: Sequence[float]) -> Floats:
        """Return four labels in turn, the highest last; the ideal DCG of gains like them is positive."""
        by_rank = np.array([labels[(3 * rank + 1) % 4] for rank in range(self.n_rows)])
        by_rank[self.n_rows - 3 :] = labels[3], labels[0], labels[2]
        return by_rank

    def unretrieved(self) -> list[Case]:
        """Return cases in which the ranking lacks some relevant rows, all relevant rows, many rows, or all rows."""
        n_rows = self.n_rows + 2
        labels = np.zeros(n_rows)
        labels[[0, 2, n_rows - 2, n_rows - 1]] = self.grades[-1]
        ranked = _by_rank(labels, kinds.UNRETRIEVED)
        retrieved = [*(np.arange(n_rows) < last for last in (n_rows - 1, n_rows - 3, 2, 0)), labels == 0]
        ranks = np.argsort(ranked.ranking())
        return [replace(ranked, retrieved=tuple(by_rank[ranks].tolist())) for by_rank in retrieved]

    def _random(self, purpose: str, turn: int) -> Case:
        """Make a random case of one query for a purpose."""
        generator = np.random.default_rng([self.seed, turn, *purpose.encode()])
        if purpose == kinds.ONE_DOCUMENT:
            return Case.of([self.grades[-1]], [0.3], kinds.ONE_DOCUMENT)
        n_rows = self._n_rows(purpose, turn, generator)
        labels = self._labels(n_rows, generator)
        if purpose == kinds.EMPTY or (purpose == kinds.ANY and generator.random() < 0.2):  # noqa: PLR2004 - a probability
            labels[:] = self.grades[0]
        scores = _scores(purpose, n_rows, turn, generator)
        if (purpose, turn) in LAST_ALONE:
            labels[:] = self.grades[0]
        if purpose in {kinds.SHORT, kinds.EXACT}:
            labels[scores.argmin()] = self.grades[-1]
        if purpose == kinds.LONG and turn == 4:  # noqa: PLR2004 - a function that reads only the first rows misses it
            labels[:], scores[-1] = self.grades[0], 2 * scores.max()
            labels[-1] = self.grades[-1]
        if purpose in {kinds.BOUNDARY, kinds.CLOSE}:
            return (self._at_cutoff if purpose == kinds.BOUNDARY else self._close)(labels, turn, generator)
        return Case.of(labels, scores, kinds.EMPTY if labels.max() <= 0 else purpose)

    def _n_rows(self, purpose: str, turn: int, generator: np.random.Generator) -> int:
        k = USUAL_ROWS if self.k is None else self.k
        if purpose == kinds.SHORT:
            return max(k - 1 - turn, 1 if k < 3 else 2)  # noqa: PLR2004 - rows of the shortest list with an order
        if purpose == kinds.EXACT:
            return k + (turn % 2 == 0 < turn)
        if purpose == kinds.ANY:
            return int(generator.integers(1, k + 4))
        return max(3 * kinds.MOST_SHORT, k + 8) if purpose == kinds.LONG else k + 2 + int(generator.integers(0, 4))

    def _labels(self, n_rows: int, generator: np.random.Generator) -> Floats:
        """Return random labels, at least one of them relevant; sometimes without the highest grades."""
        highest = int(generator.integers(1, len(self.grades))) if generator.random() < 0.3 else len(self.grades) - 1  # noqa: PLR2004 - a probability
        labels: Floats = generator.choice(np.asarray(self.grades[: highest + 1]), n_rows)
        labels[generator.random(n_rows) < generator.choice((0.0, 0.5))] = self.grades[0]
        if labels.max() <= 0:
            labels[generator.integers(n_rows)] = self.grades[highest]
        return labels

    def _at_cutoff(self, labels: Floats, turn: int, generator: np.random.Generator) -> Case:
        """Make a case in which the rows around the cutoff are tied.

        Every second of them is relevant, or in later turns only the first or the last of all rows that are tied.
        """
        n_rows = labels.size
        scores = np.linspace(0.9, 0.1, n_rows)
        k = min(self.k or 2, n_rows - 2)
        tied = np.arange(max(k - 2, 0), k + 2)
        scores[tied] = scores[k]
        rows = generator.permutation(n_rows)
        if turn == 1:
            labels[tied] = np.resize([self.grades[0], self.grades[-1]], tied.size)
        else:
            of_tied = np.flatnonzero(np.isin(rows, tied))
            labels[:] = self.grades[0]
            labels[rows[of_tied[0 if turn % 2 else -1]]] = self.grades[-1]
        return Case.of(labels[rows], scores[rows], kinds.BOUNDARY)

    def _close(self, labels: Floats, turn: int, generator: np.random.Generator) -> Case:
        """Make a case of distinct scores, each second of which is nearly equal to the one before.

        Only the rows at ranks k and k + 1, which are nearly equal, differ in relevance: either the higher of them is
        relevant and comes first, or it is irrelevant and comes last, so that no order of tied rows has the same effect
        in both.
        """
        n_rows = labels.size
        k = min(self.k or 1, n_rows - 1)
        gap, order = GAPS[turn - 1]
        scores = np.arange(n_rows, 0.0, -1)
        lower = np.arange(k % 2 or 2, n_rows, 2)
        scores[lower] = scores[lower - 1] - gap
        labels[:] = self.grades[0]
        labels[k - 1], labels[k] = (self.grades[-1], self.grades[0])[::order]
        rows = generator.permutation(n_rows)
        rows[(rows == k - 1) | (rows == k)] = (k - 1, k)[::order]
        return Case.of(labels[rows], scores[rows], kinds.CLOSE)

    def unique(self, cases: Sequence[Case]) -> list[Case]:
        """Return the cases without repetitions, with one relevant row or distinct scores if the function needs that."""
        if self.one_relevant:
            cases = [Case.join(map(_with_one_relevant, case.split()), case.purpose) for case in cases]
        if self.distinct:
            cases = [Case.join(map(_with_distinct_scores, case.split()), case.purpose) for case in cases]
        return list(dict.fromkeys(cases))


@lru_cache(maxsize=64)
def cases_of(maker: CaseMaker, *, several: bool) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    """Return the cases that measure, and the other cases; with `several`, also those of several queries."""
    first = maker.measuring()
    rest = [*(maker.several() if several else ()), *maker.confirming()]
    known = set(first)
    return tuple(first), tuple(case for case in dict.fromkeys(rest) if case not in known)


def _by_rank(labels_by_rank: Floats, purpose: str) -> Case:
    """Make a query with distinct scores, given the labels by rank; the rows are not in the order of their scores."""
    n_rows = labels_by_rank.size
    rows = np.random.default_rng(n_rows).permutation(n_rows)
    scores = np.linspace(0.9, 0.1, n_rows)
    return Case.of(labels_by_rank[rows], scores[rows], purpose)


def _scores(purpose: str, n_rows: int, turn: int, generator: np.random.Generator) -> Floats:
    """Return tied scores, or distinct ones that are nowhere nearly equal, some of them far above 1."""
    tied = {kinds.TIED: True, kinds.SHORT: turn == 1, kinds.EXACT: turn == 1, kinds.LONG: turn % 2 == 1}
    if tied.get(purpose):
        return generator.choice(np.asarray(TIED_SCORES), n_rows)
    if purpose == kinds.ANY:
        scores = generator.choice((*TIED_SCORES, 0.2 + GAPS[0][0], -1.0, 0.0), n_rows)
        return np.asarray(scores - 1.5 * (turn % 4 == 0))
    ranks: Floats = generator.permutation(np.arange(1, n_rows + 1))
    if purpose != kinds.NEGATIVE:
        return ranks * STEPS.get(turn, STEP)
    if turn < 3:  # noqa: PLR2004 - the third has ties
        return ranks * STEP - {1: 0.6 * STEP, 2: 1.0}.get(turn, 0.0) * n_rows  # those below 0 may be the largest
    return generator.choice((-0.7, 0.0, 0.1, 0.4), n_rows)


def _with_one_relevant(query: Case) -> Case:
    """Return the query with a single relevant row, of label 1, if it has any."""
    relevant = [row for row, label in enumerate(query.labels) if label > 0]
    kept = relevant[len(relevant) // 2] if relevant else -1
    return query.with_columns(labels=np.arange(len(query.labels)) == kept)


def _with_distinct_scores(query: Case) -> Case:
    """Return the query with scores that keep the ranking but have no ties."""
    scores = np.empty(len(query.scores))
    scores[query.ranking()] = np.linspace(0.9, 0.1, len(query.scores))
    return query.with_columns(scores=scores)
