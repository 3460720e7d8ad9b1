"""Known mistakes of implementations: each turns the value of a convention into another number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import DCG, NDCG
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.probing.cases import (
    EMPTY,
    LONG,
    NEARLY_TIED,
    NEGATIVE,
    ONE_DOCUMENT,
    PLAIN,
    SHORT,
    UNTIED,
    Case,
    value_of,
)  # fmt: skip
from rankadapters.statistics.probing.elimination import FEWEST, Elimination, Pool

MOST = {PLAIN: 3, UNTIED: 2, EMPTY: 1, SHORT: 1, ONE_DOCUMENT: 1}  # cases on which mistakes are tried, by purpose
SHARED = ("gain", "discount", "ties", "precision")  # fields of NDCG that DCG has
FEWEST_TIED = 3  # answers about tied rows without which an exception fits by chance
MOST_DECIMALS = 8  # to which a function may round

# What is done, the factor, and what is added to the value times the factor.
CHANGED_ANSWERS = (
    ("it returns percentages, 100 times the value", 100.0, 0.0),
    ("it returns a loss, 1 minus the value", -1.0, 1.0),
    ("it returns the negative of the value", -1.0, 0.0),
    ("it returns half the value", 0.5, 0.0),
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
# What each query weighs by its number of rows, and the divisor; None where that is the sum of the weights.
Bools = np.ndarray[Any, np.dtype[np.bool_]]
Weigh = Callable[[np.ndarray], tuple[np.ndarray, int | None]]
CHANGED_MEANS: dict[str, Weigh] = {
    "it adds the queries' values up and does not divide by their number": lambda sizes: (sizes > 0, 1),
    "it divides by one query too few": lambda sizes: (sizes > 0, sizes.size - 1),
    "it divides by one query too many": lambda sizes: (sizes > 0, sizes.size + 1),
    "it weighs each query by its number of rows": lambda sizes: (sizes, None),
    "it leaves out the first query": lambda sizes: (np.arange(sizes.size) > 0, None),
    "it leaves out the last query": lambda sizes: (np.arange(sizes.size) < sizes.size - 1, None),
    "it returns the value of the first query": lambda sizes: (np.arange(sizes.size) == 0, None),
    "it returns the value of the last query": lambda sizes: (np.arange(sizes.size) == sizes.size - 1, None),
    "it leaves out queries of one document": lambda sizes: (sizes > 1, None),
}


def _equally(sizes: np.ndarray) -> tuple[np.ndarray, int | None]:
    return sizes > 0, sizes.size


# A trait of data, and what to say of a function that is right on all data without it.
EXCEPTIONS = {
    LONG: "it orders tied rows by an unstable sort: beyond 16 rows their order is luck",
    EMPTY: "it treats queries with nothing relevant in a way of its own",
    ONE_DOCUMENT: "it treats queries of one document in a way of its own",
    SHORT: "it treats queries with fewer rows than the cutoff in a way of its own",
    NEGATIVE: "it treats scores of 0 and below in a way of its own",
    NEARLY_TIED: "it takes scores that nearly equal each other for tied",
}


class Evaluate(Protocol):
    """Conventions, evaluated on any cases."""

    def __call__(self, cases: Sequence[Case], *, later: bool = False) -> Pool:
        """Evaluate on cases; with `later`, at the next cutoff, and DCG where the measure is NDCG."""


class Mistake(NamedTuple):
    """What explains the answers: conventions that they do not tell apart, and what the function does otherwise."""

    conventions: list[Convention]
    what: str


def mistaken(evaluate: Evaluate, cases: Sequence[Case]) -> Iterator[tuple[str, Pool, Floats]]:
    """Yield each mistake, conventions, and what they give for the cases under it; NaN where nobody knows."""
    if not cases:
        return
    plain, several = evaluate(cases), max(len(case.sizes) for case in cases) > 1
    for what, factor, offset in CHANGED_ANSWERS:
        yield what, plain, plain.values * factor + offset
    for what, change in CHANGED_CASES.items():
        if several or "queries" not in what:
            changed = evaluate([change(case) for case in cases])
            yield what, changed, changed.values
    queries = [query for case in cases for query in case.split()]
    if several:
        pool = evaluate(queries)
        for what, weigh in CHANGED_MEANS.items():
            yield what, pool, _means(pool.values, cases, weigh)
    yield from _of_later_ranks(evaluate, cases, queries)


def _of_later_ranks(
    evaluate: Evaluate, cases: Sequence[Case], queries: list[Case]
) -> Iterator[tuple[str, Pool, Floats]]:
    """Count each rank as the next one: put an irrelevant row before all others."""
    ideals = [query.ideal() for query in queries]
    pool = evaluate([query.with_first_row() for query in (*queries, *ideals)], later=True)
    values, ideal_values = np.split(pool.values, 2, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(ideal_values == 0, math.nan, values / ideal_values)
    if any(group.measure is DCG for group in pool.groups):
        yield "its discounts begin with rank 2: log2(rank + 2)", pool, _means(ratios, cases, _equally)
    else:
        yield "its ranks begin with 2", pool, _means(values, cases, _equally)


def _means(values: Floats, cases: Sequence[Case], weigh: Weigh) -> Floats:
    """Average the values of single queries, shape (n_conventions, n_queries), by case."""
    means, ends = [], np.cumsum([len(case.sizes) for case in cases])[:-1]
    for case, of_case in zip(cases, np.split(values, ends, axis=1), strict=True):
        weights, divisor = weigh(np.asarray(case.sizes))
        counted = np.where(np.isnan(of_case) & (divisor is None), 0.0, weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = np.where(counted == 0, 0.0, of_case * counted).sum(axis=1)
            means.append(total / (counted.sum(axis=1) if divisor is None else divisor))
    stacked = np.stack(means, axis=1)
    return np.where(np.isfinite(stacked), stacked, math.nan)


def explain(elimination: Elimination) -> Mistake | None:
    """Find the mistake that explains the answers of a function that computes no convention."""
    purposes = [elimination.pool.cases[i].purpose for i in elimination.told]
    enough = [purposes[:number].count(own) < MOST.get(own, 0) for number, own in enumerate(purposes)]
    every = _Search(elimination, list(elimination.told))
    few = _Search(elimination, [i for i, take in zip(elimination.told, enough, strict=True) if take])
    return next(chain(every.exceptions(), every.by_luck(), few.mistakes()), None)


class _Search:
    """The answers of a function, and the conventions that they might be made from."""

    def __init__(self, elimination: Elimination, cases: Sequence[int]) -> None:
        self.elimination = elimination
        self.cases = [elimination.pool.cases[i] for i in cases]
        self.answers = np.array([elimination.told[i] for i in cases])
        self.pool = Pool(self.cases, elimination.pool.groups, elimination.pool.values[:, list(cases)])
        self.all = np.ones(len(self.cases), dtype=bool)
        self.plain = np.array([case.purpose in {PLAIN, UNTIED} for case in self.cases], dtype=bool)
        self.untied = np.array([case.untied for case in self.cases], dtype=bool)

    def exceptions(self) -> Iterator[Mistake]:
        """Yield conventions that give all answers but those for data with one trait."""
        for trait, what in EXCEPTIONS.items():
            others = np.array([trait not in case.traits(self.elimination.cutoff) for case in self.cases], dtype=bool)
            if np.sum(others & self.plain & ~self.untied) >= FEWEST_TIED:
                yield from self._fitting(what, self.pool, self.pool.values, others)

    def mistakes(self) -> Iterator[Mistake]:
        """Yield the mistakes that explain all answers, and then those that explain the ones about plain data."""
        yield from self._rounded()
        known = []
        for what, pool, values in mistaken(self._evaluate, self.cases):
            known.append((what, pool, values))
            yield from self._fitting(what, pool, values, self.all)
        what = "it is right on plain queries, and treats others in ways of its own"
        yield from self._fitting(what, self.pool, self.pool.values, self.plain)
        for what, pool, values in known:
            yield from self._fitting(what, pool, values, self.plain)
        yield from self._scaled()

    def by_luck(self) -> Iterator[Mistake]:
        """Yield conventions that give the answers about distinct scores, if an order of tied rows gives the others."""
        rows = self._rows(self.pool.values, self.untied, self._margin())
        possible = [row for row in rows if self._within_tie_orders(self.pool.members([row])[0])]
        if possible:
            yield Mistake(self.pool.members(possible), "it orders tied rows by no rule, as an unstable sort does")

    def _within_tie_orders(self, convention: Convention) -> bool:
        """Tell whether the answers are between those of the worst and the best order of tied rows."""
        if "ties" not in convention.fields():
            return False
        orders = [convention.replace(ties=ties) for ties in ("worst", "best")]
        bounds = np.array([[value_of(order, case) for case in self.cases] for order in orders])
        lowest, highest = bounds.min(axis=0) - self._margin(), bounds.max(axis=0) + self._margin()
        return bool(((lowest <= self.answers) & (self.answers <= highest)).all())

    def _rounded(self) -> Iterator[Mistake]:
        for decimals in range(1, MOST_DECIMALS + 1):
            if np.array_equal(np.round(self.answers, decimals), self.answers):
                half = 0.5000001 * 10.0**-decimals
                yield from self._fitting(
                    f"it rounds to {decimals} decimals", self.pool, self.pool.values, self.all, half
                )
                return

    def _scaled(self) -> Iterator[Mistake]:
        """Try every factor: the first answer that is not 0 says which one."""
        first = next(iter(np.flatnonzero(self.plain & (self.answers != 0))), None)
        if first is not None:
            with np.errstate(invalid="ignore", divide="ignore"):
                factors = self.answers[first] / self.pool.values[:, [first]]
                values = self.pool.values * factors
            for mistake in self._fitting("", self.pool, values, self.plain):
                factor = self.answers[first] / value_of(mistake.conventions[0], self.cases[first])
                yield mistake._replace(what=f"it returns {factor:.6g} times the value")

    def _fitting(
        self, what: str, pool: Pool, values: Floats, cases: Bools, margin: float | None = None
    ) -> Iterator[Mistake]:
        """Yield the conventions of a pool whose values are the answers to some cases."""
        rows = self._rows(values, cases, self._margin() if margin is None else margin)
        if rows:
            conventions = pool.members(rows)
            yield Mistake(self._as_asked(conventions), what)

    def _rows(self, values: Floats, cases: Bools, margin: Floats | float) -> list[int]:
        """Find the rows of values that are the answers to some cases, and of these the best ones on the others."""
        near = np.abs(values - self.answers) <= margin
        fits = near[:, cases].all(axis=1)
        if np.unique(self.answers[cases]).size < FEWEST or not fits.any():
            return []
        return np.flatnonzero(fits & (near.sum(axis=1) == near[fits].sum(axis=1).max())).tolist()

    def _margin(self) -> Floats:
        return np.asarray(self.elimination.tolerance * np.maximum(1.0, np.abs(self.answers)))

    def _evaluate(self, cases: Sequence[Case], *, later: bool = False) -> Pool:
        """Evaluate the grids of the measures on any cases."""
        measures, cutoff = list(dict.fromkeys(group.measure for group in self.pool.groups)), self.elimination.cutoff
        if later and NDCG in measures:
            measures = [DCG]
        return Pool.of(cases, measures, cutoff + 1 if later and cutoff is not None else cutoff)

    def _as_asked(self, conventions: list[Convention]) -> list[Convention]:
        """Return conventions at the cutoff; in place of DCGs, if DCG was only a means, the NDCGs that come nearest."""
        if type(conventions[0]) in {group.measure for group in self.pool.groups}:
            cut = has_cutoff(type(conventions[0]))
            return [c.replace(k=self.elimination.cutoff) if cut else c for c in conventions]
        wanted = [getattr(conventions[0], name) for name in SHARED]
        near = (np.abs(self.pool.values - self.answers) <= self._margin()).sum(axis=1)
        groups = (self.pool.members([row]) for row in np.argsort(-near, kind="stable").tolist())
        return next(ndcgs for ndcgs in groups if [getattr(ndcgs[0], name) for name in SHARED] == wanted)
