"""Known mistakes of implementations: each turns the value of a convention into another number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import DCG, NDCG
from rankadapters.statistics.probing.cases import LONG, PLAIN, UNTIED, Case
from rankadapters.statistics.probing.elimination import Elimination, Pool, conventions_in

FEWEST = 2  # different answers without which a mistake fits by chance
MOST_DECIMALS = 8  # to which a function may round


class Mistake(NamedTuple):
    """What explains the answers: conventions that they do not tell apart, and what the function does otherwise."""

    conventions: list[Convention]
    what: str


def mistake_of(elimination: Elimination, cutoff: int | None) -> Mistake | None:
    """Find the mistake that explains all plain answers, if there is exactly one kind."""
    asked = [(i, a.value) for i, a in elimination.answers.items() if not math.isnan(a.value)]
    short = [(i, value) for i, value in asked if elimination.pool.cases[i].purpose != LONG]
    if 0 < len(short) < len(asked):
        search = _Search(elimination, short, cutoff)
        stable = next(search.exact("it orders tied rows by an unstable sort: beyond 16 rows their order is luck"), None)
        if stable is not None:
            return stable
    if len({value for _, value in asked}) < FEWEST:
        return None
    search = _Search(elimination, short, cutoff)
    untied = [(i, value) for i, value in short if elimination.pool.cases[i].purpose == UNTIED]
    by_luck = _Search(elimination, untied, cutoff).exact("it orders tied rows by no rule, as an unstable sort does")
    return next(chain(search.mistakes(), by_luck), None)


class _Search:
    """The answers of a function, and the conventions that they might be made from."""

    def __init__(self, elimination: Elimination, asked: list[tuple[int, float]], cutoff: int | None) -> None:
        self.elimination, self.cutoff = elimination, cutoff
        self.cases = [elimination.pool.cases[i] for i, _ in asked]
        self.answers = np.array([value for _, value in asked])
        self.measures = list(dict.fromkeys(group.measure for group in elimination.pool.groups))
        self.values = elimination.pool.values[:, [i for i, _ in asked]]

    def mistakes(self) -> Iterator[Mistake]:
        """Yield the mistakes that explain the answers, the most common ones first."""
        for what, answers in self._changed_answers():
            yield from self._fitting(self.elimination.pool, self.values, answers, what)
        yield from self._rounded()
        yield from self._on_changed_cases()
        yield from self._shifted()

    def _changed_answers(self) -> Iterator[tuple[str, Floats]]:
        """Yield what a function should have returned under each mistake about its last step."""
        n_queries = np.array([len(case.sizes) for case in self.cases])
        for what, scale, offset in CHANGED_ANSWERS:
            if n_queries.max() > 1 or scale(2) == scale(1):
                yield what, (self.answers - offset) / [scale(n) for n in n_queries.tolist()]

    def _fitting(
        self, pool: Pool, values: Floats, answers: Floats, what: str, tolerance: float | None = None
    ) -> Iterator[Mistake]:
        """Yield the conventions of a pool whose values are the answers."""
        bound = (tolerance or self.elimination.tolerance) * np.maximum(1.0, np.abs(answers))
        fits = (np.abs(values - answers) <= bound).all(axis=1)
        if fits.any():
            yield Mistake(pool.members(np.flatnonzero(fits).tolist()), what)

    def _rounded(self) -> Iterator[Mistake]:
        for decimals in range(1, MOST_DECIMALS + 1):
            if np.array_equal(np.round(self.answers, decimals), self.answers):
                half = 0.5000001 * 10.0**-decimals
                yield from self._fitting(
                    self.elimination.pool, self.values, self.answers, f"it rounds to {decimals} decimals", half
                )
                return

    def _on_changed_cases(self) -> Iterator[Mistake]:
        """Evaluate all conventions on other data than the function was given: what it may have made of its input."""
        for what, change in CHANGED_CASES.items():
            changed = [change(case) for case in self.cases]
            pool = Pool.of(changed, self.measures, self.cutoff)
            yield from self._fitting(pool, pool.values, self.answers, what)

    def _shifted(self) -> Iterator[Mistake]:
        """Try discounts of the next rank, such as log2(rank + 2): an irrelevant row before all others shifts them."""
        plain = [i for i, case in enumerate(self.cases) if case.purpose in {PLAIN, UNTIED}]
        if not plain or NDCG not in self.measures:
            return
        queries = [(i, query) for i in plain for query in self.cases[i].split()]
        shifted = [query.with_first_row() for _, query in queries]
        ideal = [query.ideal() for _, query in queries]
        ideal_shifted = [query.with_first_row() for query in ideal]
        beyond = None if self.cutoff is None else self.cutoff + 1
        pool = Pool.of([*shifted, *ideal_shifted], [DCG], beyond)
        dcg, ideal_dcg = np.split(pool.values, 2, axis=1)
        of_case = np.array([[number == i for number, _ in queries] for i in plain], dtype=float)
        values = (dcg / ideal_dcg) @ (of_case / of_case.sum(axis=1, keepdims=True)).T
        for mistake in self._fitting(
            pool, values, self.answers[plain], "its discounts begin with rank 2: log2(rank + 2)"
        ):
            yield mistake._replace(conventions=[self._as_ndcg(mistake.conventions[0])])

    def _as_ndcg(self, dcg: Convention) -> Convention:
        """Return the NDCG that has the gain, discount and tie order of a DCG."""
        ndcgs = (conventions_in(group)[0] for group in self.elimination.pool.groups if group.measure is NDCG)
        shared = ("gain", "discount", "ties", "precision")
        return next(c for c in ndcgs if all(getattr(c, name) == getattr(dcg, name) for name in shared))

    def exact(self, what: str) -> Iterator[Mistake]:
        """Yield the conventions that give all answers as they are."""
        yield from self._fitting(self.elimination.pool, self.values, self.answers, what)


# What is done, the factor for a number of queries, and what is added to the value times the factor.
CHANGED_ANSWERS: tuple[tuple[str, Callable[[int], float], float], ...] = (
    ("it returns percentages, 100 times the value", lambda _: 100.0, 0.0),
    ("it returns a loss, 1 minus the value", lambda _: -1.0, 1.0),
    ("it returns the negative of the value", lambda _: -1.0, 0.0),
    ("it returns half the value", lambda _: 0.5, 0.0),
    ("it adds the queries' values up and does not divide by their number", float, 0.0),
    ("it divides by one query too few", lambda n: n / (n - 1) if n > 1 else math.inf, 0.0),
    ("it divides by one query too many", lambda n: n / (n + 1), 0.0),
)
CHANGED_CASES: dict[str, Callable[[Case], Case]] = {
    "it takes its first argument for the scores and its second for the labels": lambda case: case.replaced(
        labels=case.scores, scores=case.labels
    ),
    "it ranks by ascending scores": lambda case: case.replaced(scores=[-score for score in case.scores]),
    "it takes every label above 0 for 1": lambda case: case.replaced(
        labels=[float(label > 0) for label in case.labels]
    ),
    "it ignores the queries and ranks all rows together": lambda case: case.as_one(),
}
