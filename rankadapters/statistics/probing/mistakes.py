"""Known mistakes of implementations: each turns the value of a convention into a different number."""

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
from rankadapters.statistics.mistakes import LOSS, NEGATED, PERCENTAGE
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

MOST_CASES = {PLAIN: 3, UNTIED: 2, EMPTY: 1, SHORT: 1, ONE_DOCUMENT: 1}  # cases on which mistakes are tried, by purpose
SHARED = ("gain", "discount", "ties", "precision")  # fields that NDCG and DCG have in common
FEWEST_TIED = 3  # with fewer answers about tied rows, an exception may fit by chance
LEAST = 1e-6  # smallest difference of two values that certainly matters
MOST_DECIMALS = 8  # answers with more decimals do not count as rounded

# Each mistake, with the factor and the offset that it applies to the value.
CHANGED_ANSWERS = (
    ("it returns percentages, 100 times the value", *PERCENTAGE),
    ("it returns a loss, 1 minus the value", *LOSS),
    ("it returns the negative of the value", *NEGATED),
    ("it returns half the value", 0.5, 0.0),
)
CHANGED_CASES: dict[str, Callable[[Case], Case]] = {
    "it takes its first argument as the scores and its second as the labels": lambda case: case.with_columns(
        labels=case.scores, scores=case.labels
    ),
    "it ranks by ascending scores": lambda case: case.with_columns(scores=[-score for score in case.scores]),
    "it counts every label above 0 as 1": lambda case: case.with_columns(
        labels=[float(label > 0) for label in case.labels]
    ),
    "it ignores the queries and ranks all rows together": lambda case: case.as_one_query(),
}
# A rule maps the queries' sizes to their weights and the divisor of the sum; None means the sum of the weights.
Bools = np.ndarray[Any, np.dtype[np.bool_]]
WeightRule = Callable[[np.ndarray], tuple[np.ndarray, int | None]]
CHANGED_MEANS: dict[str, WeightRule] = {
    "it returns the sum of the queries' values instead of their mean": lambda sizes: (sizes > 0, 1),
    "it divides by one query too few": lambda sizes: (sizes > 0, sizes.size - 1),
    "it divides by one query too many": lambda sizes: (sizes > 0, sizes.size + 1),
    "it weighs each query by its number of rows": lambda sizes: (sizes, None),
    "it leaves out the first query": lambda sizes: (np.arange(sizes.size) > 0, None),
    "it leaves out the last query": lambda sizes: (np.arange(sizes.size) < sizes.size - 1, None),
    "it returns the value of the first query": lambda sizes: (np.arange(sizes.size) == 0, None),
    "it returns the value of the last query": lambda sizes: (np.arange(sizes.size) == sizes.size - 1, None),
    "it leaves out queries of one document": lambda sizes: (sizes > 1, None),
}


def _uniform_weights(sizes: np.ndarray) -> tuple[np.ndarray, int | None]:
    return sizes > 0, sizes.size


# For each trait, the explanation if a function is wrong only on data with that trait.
EXCEPTIONS = {
    LONG: "it orders tied rows by an unstable sort: in queries of more than 16 rows their order is random",
    EMPTY: "it has a special rule for queries with nothing relevant",
    ONE_DOCUMENT: "it has a special rule for queries of one document",
    SHORT: "it has a special rule for queries with fewer rows than the cutoff",
    NEGATIVE: "it has a special rule for scores of 0 and below",
    NEARLY_TIED: "it treats nearly equal scores as tied",
}


class Evaluate(Protocol):
    """Type of a function that evaluates a fixed set of conventions on cases."""

    def __call__(self, cases: Sequence[Case], *, shifted: bool = False) -> Pool:
        """Evaluate the conventions; if `shifted`, at the next cutoff and with DCG in place of NDCG."""


class Mistake(NamedTuple):
    """A mistake, and the conventions that give a function's answers if the mistake is made."""

    conventions: list[Convention]
    text: str


def make_mistakes(evaluate: Evaluate, cases: Sequence[Case]) -> Iterator[tuple[str, Pool, Floats]]:
    """Yield each mistake's text, a pool, and the pool's values if the mistake is made; NaN for unknown values."""
    if not cases:
        return
    pool, has_means = evaluate(cases), max(len(case.sizes) for case in cases) > 1
    for text, factor, offset in CHANGED_ANSWERS:
        yield text, pool, pool.values * factor + offset
    for text, change in CHANGED_CASES.items():
        changed_cases = [change(case) for case in cases]
        if changed_cases != list(cases):  # as of labels 0 and 1 that are counted as 0 and 1
            changed = evaluate(changed_cases)
            yield text, changed, changed.values
    queries = [query for case in cases for query in case.split()]
    if has_means:
        pool = evaluate(queries)
        for text, rule in CHANGED_MEANS.items():
            yield text, pool, _means(pool.values, cases, rule)
    yield from _shift_ranks(evaluate, cases, queries)


def _shift_ranks(evaluate: Evaluate, cases: Sequence[Case], queries: list[Case]) -> Iterator[tuple[str, Pool, Floats]]:
    """Yield the mistake of counting ranks from 2, which equals adding an irrelevant row at rank 1."""
    ideals = [query.ideal() for query in queries]
    pool = evaluate([query.with_first_row() for query in (*queries, *ideals)], shifted=True)
    values, ideal_values = np.split(pool.values, 2, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(ideal_values == 0, math.nan, values / ideal_values)
    if any(group.measure is DCG for group in pool.groups):
        yield "its discounts begin with rank 2: log2(rank + 2)", pool, _means(ratios, cases, _uniform_weights)
    else:
        yield "its ranks begin with 2", pool, _means(values, cases, _uniform_weights)


def _means(values: Floats, cases: Sequence[Case], rule: WeightRule) -> Floats:
    """Return the mean of each case, given its queries' values, shape (n_conventions, n_queries of all cases)."""
    means, ends = [], np.cumsum([len(case.sizes) for case in cases])[:-1]
    for case, query_values in zip(cases, np.split(values, ends, axis=1), strict=True):
        weights, divisor = rule(np.asarray(case.sizes))
        counted = np.where(np.isnan(query_values) & (divisor is None), 0.0, weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = np.where(counted == 0, 0.0, query_values * counted).sum(axis=1)
            means.append(total / (counted.sum(axis=1) if divisor is None else divisor))
    stacked = np.stack(means, axis=1)
    return np.where(np.isfinite(stacked), stacked, math.nan)


def explain(elimination: Elimination) -> Mistake | None:
    """Return the mistake that explains a function's answers; None if no known mistake does."""
    purposes = [elimination.pool.cases[i].purpose for i in elimination.values]
    wanted = [purposes[:i].count(purpose) < MOST_CASES.get(purpose, 0) for i, purpose in enumerate(purposes)]
    full_search = _Search(elimination, list(elimination.values))
    short_search = _Search(elimination, [i for i, use in zip(elimination.values, wanted, strict=True) if use])
    searches = (full_search.rounded(), full_search.exceptions(), full_search.row_orders(), short_search.mistakes())
    return next(chain.from_iterable(searches), None)


class _Search:
    """Search for the conventions and the mistake that explain the answers to some cases."""

    def __init__(self, elimination: Elimination, cases: Sequence[int]) -> None:
        self.elimination = elimination
        self.cases = [elimination.pool.cases[i] for i in cases]
        self.answers = np.array([elimination.values[i] for i in cases])
        self.pool = Pool(self.cases, elimination.pool.groups, elimination.pool.values[:, list(cases)])
        self.all_cases = np.ones(len(self.cases), dtype=bool)
        self.plain = np.array([case.purpose in {PLAIN, UNTIED} for case in self.cases], dtype=bool)
        self.untied = np.array([case.untied for case in self.cases], dtype=bool)

    def exceptions(self) -> Iterator[Mistake]:
        """Yield conventions that fit all answers except on cases with a certain trait."""
        for trait, text in EXCEPTIONS.items():
            without = np.array([trait not in case.traits(self.elimination.cutoff) for case in self.cases], dtype=bool)
            if np.sum(without & self.plain & ~self.untied) >= FEWEST_TIED:
                yield from self._fitting(text, self.pool, self.pool.values, without)

    def mistakes(self) -> Iterator[Mistake]:
        """Yield the mistakes that explain all answers, then those that explain only the answers on plain cases."""
        mistakes = []
        for text, pool, values in make_mistakes(self._evaluate, self.cases):
            mistakes.append((text, pool, values))
            yield from self._fitting(text, pool, values, self.all_cases)
        text = "it is right on plain queries, and has special rules for others"
        yield from self._fitting(text, self.pool, self.pool.values, self.plain)
        for text, pool, values in mistakes:
            yield from self._fitting(text, pool, values, self.plain)
        yield from self._scaled()

    def row_orders(self) -> Iterator[Mistake]:
        """Yield mistakes with the order of the rows, which a call with the rows of a case in reverse order tells."""
        ignoring = "it ignores the scores and ranks the rows in their order"
        if self._depends_on_the_order(next((case for case in self.cases if case.untied and not case.is_ideal), None)):
            pool = self._evaluate([case.with_columns(scores=range(len(case.labels), 0, -1)) for case in self.cases])
            yield from self._fitting(ignoring, pool, pool.values, self.all_cases)
            return
        rows = self._best_rows(self.pool.values, self.untied, self._margin())
        if rows and self._depends_on_the_order(self._tied_case(self.pool.members(rows)[0])) is False:
            yield Mistake(self.pool.members(rows), "its tied rows share a rank, so that their order does not matter")
            return
        possible = [row for row in rows if self._within_tie_orders(self.pool.members([row])[0])]
        if possible:
            yield Mistake(self.pool.members(possible), "it orders tied rows by no rule, as an unstable sort does")

    def _depends_on_the_order(self, case: Case | None) -> bool | None:
        """Return whether the answer to a case changes with the order of its rows; None if that is unknown."""
        if case is None:
            return None
        function = self.elimination.function
        answer, turned = function.ask(case), function.ask(case.with_rows_reversed())
        if answer.problem or turned.problem:
            return None
        return abs(answer.value - turned.value) > self.elimination.tolerance * max(1.0, abs(answer.value))

    def _tied_case(self, convention: Convention) -> Case | None:
        """Return a case on which the order of tied rows matters under a convention, if the function were to use it."""
        if "ties" not in convention.fields():
            return None
        orders = [convention.replace(ties=ties) for ties in ("input", "reverse")]
        values = ([value_of(order, case) for order in orders] for case in self.cases)
        return next((case for case, (a, b) in zip(self.cases, values, strict=True) if abs(a - b) > LEAST), None)

    def _within_tie_orders(self, convention: Convention) -> bool:
        """Return whether the answers are between the values for the worst and the best order of tied rows."""
        if "ties" not in convention.fields():
            return False
        orders = [convention.replace(ties=ties) for ties in ("worst", "best")]
        bounds = np.array([[value_of(order, case) for case in self.cases] for order in orders])
        lowest, highest = bounds.min(axis=0) - self._margin(), bounds.max(axis=0) + self._margin()
        return bool(((lowest <= self.answers) & (self.answers <= highest)).all())

    def rounded(self) -> Iterator[Mistake]:
        for decimals in range(1, MOST_DECIMALS + 1):
            if np.array_equal(np.round(self.answers, decimals), self.answers):
                half = 0.5000001 * 10.0**-decimals
                yield from self._fitting(
                    f"it rounds to {decimals} decimals", self.pool, self.pool.values, self.all_cases, half
                )
                return

    def _scaled(self) -> Iterator[Mistake]:
        """Yield conventions whose values times a constant fit; the first nonzero answer determines the constant."""
        first = next(iter(np.flatnonzero(self.plain & (self.answers != 0))), None)
        if first is not None:
            with np.errstate(invalid="ignore", divide="ignore"):
                factors = self.answers[first] / self.pool.values[:, [first]]
                values = self.pool.values * factors
            for mistake in self._fitting("", self.pool, values, self.plain):
                factor = self.answers[first] / value_of(mistake.conventions[0], self.cases[first])
                yield mistake._replace(text=f"it returns {factor:.6g} times the value")

    def _fitting(
        self, text: str, pool: Pool, values: Floats, cases: Bools, margin: float | None = None
    ) -> Iterator[Mistake]:
        """Yield the conventions of a pool whose values agree with the answers on the masked cases, if any do."""
        rows = self._best_rows(values, cases, self._margin() if margin is None else margin)
        if rows:
            yield Mistake(self._at_cutoff(pool.members(rows)), text)

    def _best_rows(self, values: Floats, cases: Bools, margin: Floats | float) -> list[int]:
        """Return the indexes of conventions that fit on all masked cases and, of these, on the most cases overall."""
        near = np.abs(values - self.answers) <= margin
        fits = near[:, cases].all(axis=1)
        if np.unique(self.answers[cases]).size < FEWEST or not fits.any():
            return []
        return np.flatnonzero(fits & (near.sum(axis=1) == near[fits].sum(axis=1).max())).tolist()

    def _margin(self) -> Floats:
        return np.asarray(self.elimination.tolerance * np.maximum(1.0, np.abs(self.answers)))

    def _evaluate(self, cases: Sequence[Case], *, shifted: bool = False) -> Pool:
        """Evaluate all conventions of the searched measures on cases; implements `Evaluate`."""
        measures, cutoff = list(dict.fromkeys(group.measure for group in self.pool.groups)), self.elimination.cutoff
        if shifted and NDCG in measures:
            measures = [DCG]
        return Pool.of(cases, measures, cutoff + 1 if shifted and cutoff is not None else cutoff)

    def _at_cutoff(self, conventions: list[Convention]) -> list[Convention]:
        """Return conventions at the original cutoff; if DCG was searched in place of NDCG, return the nearest NDCGs."""
        if type(conventions[0]) in {group.measure for group in self.pool.groups}:
            cut = has_cutoff(type(conventions[0]))
            return [c.replace(k=self.elimination.cutoff) if cut else c for c in conventions]
        shared_values = [getattr(conventions[0], name) for name in SHARED]
        near = (np.abs(self.pool.values - self.answers) <= self._margin()).sum(axis=1)
        groups = (self.pool.members([row]) for row in np.argsort(-near, kind="stable").tolist())
        return next(ndcgs for ndcgs in groups if [getattr(ndcgs[0], name) for name in SHARED] == shared_values)
