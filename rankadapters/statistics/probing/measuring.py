"""Read gains and discounts off a function's answers to queries with one or two relevant rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import spell_number
from rankadapters.core.measures import DCG, ERR, NDCG
from rankadapters.statistics.probing.answers import Function
from rankadapters.statistics.probing.case_maker import CaseMaker
from rankadapters.statistics.probing.cases import EMPTY, IDEAL, PLAIN, Case
from rankadapters.statistics.rivals import USUAL_DISCOUNTS, WRONG_DISCOUNTS

EQUAL = 1e-7  # relative difference up to which a discount or gain is the one of a formula
ZERO = 1e-12  # a value up to this is 0
MOST_DIGITS = 15  # digits of a float64 number
PLACES = 12  # to which a measured persistence is rounded
DECIMALS = 10  # to which a measured gain is rounded, since its quotients have rounding errors

FORMULAS = USUAL_DISCOUNTS | WRONG_DISCOUNTS  # what a relevant row may count at a rank, in proportion to rank 1
GAINS: dict[str, Callable[[float], float]] = {
    "2^label - 1": lambda label: 2**label - 1,
    "label": lambda label: label,
    "1": lambda label: float(label > 0),
}


@frozen_class
@dataclass(frozen=True, slots=True)
class Measurement:
    """What one relevant row counts at each rank, and, if the function is a kind of DCG, a row of each label."""

    cutoff: int | None  # that was declared
    top: float  # the highest grade, which is the label of the relevant row
    ranks: dict[int, float]  # the value of a query with one relevant row, by the row's rank; only ranks with a number
    gains: dict[float, float]  # of each label; of NDCG in proportion to the lowest label with a gain; empty if neither
    of_empty: float | None  # the value of a query with nothing relevant; None if there is none

    @classmethod
    def of(cls, function: Function, maker: CaseMaker) -> Measurement:
        """Read the answers to the maker's cases that measure."""
        known = {case: reply.value for case, reply in function.answers.items() if not reply.problem}
        cases = {rank: maker.at_rank(rank) for rank in maker.ranks}
        ranks = {rank: known[case] for rank, case in cases.items() if case in known}
        of_empty = next(
            (value for case, value in known.items() if case.purpose == EMPTY and len(case.sizes) == 1), None
        )
        measured = cls(maker.k, maker.grades[-1], ranks, {}, of_empty)
        single = {case: value for case, value in known.items() if len(case.sizes) == 1}
        plain = {case: value for case, value in single.items() if case.purpose == PLAIN}
        if not any(plain.values()):  # of values of 0, nobody can tell whether they are normalized
            plain |= {case: value for case, value in single.items() if case.purpose == IDEAL}
        pairs = {grade: known.get(maker.pair(grade), math.nan) for grade in maker.grades[1:-1]}
        for normalized in (True, False) if plain else ():
            gains = measured._gains_of(pairs, maker.second_rank, normalized=normalized)
            if gains and all(
                abs(measured._predict(case, gains, normalized=normalized) - value) <= EQUAL * max(1.0, abs(value))
                for case, value in plain.items()
            ):
                lowest = next((gain for gain in gains.values() if gain > ZERO), 1.0) if normalized else 1 / ranks[1]
                return replace(measured, gains={label: gain / lowest for label, gain in gains.items()})
        return measured

    def _gains_of(self, pairs: Mapping[float, float], second_rank: int, *, normalized: bool) -> dict[float, float]:
        """Return the gain of each label in proportion to the highest, if the function is NDCG or DCG; empty if unknown.

        A pair with a gain of g at rank 1 and of 1 at rank i has (g d1 + di) / (d1 + g d2) if it is normalized.
        """
        first, second, other = (self.ranks.get(rank, math.nan) for rank in (1, 2, second_rank))
        gains = {}
        for grade, value in pairs.items():
            divisor = first - value * second if normalized else first
            gains[grade] = (value * (first if normalized else 1.0) - other) / divisor if divisor else math.nan
        gains[self.top] = 1.0
        usable = all(map(math.isfinite, (second, *gains.values())))
        return {grade: 0.0 if abs(gain) < ZERO else gain for grade, gain in gains.items()} if usable else {}

    def _predict(self, case: Case, gains: Mapping[float, float], *, normalized: bool) -> float:
        """Return the value of a query under such gains; NaN if not all its discounts are known."""
        by_rank: Floats = np.array([gains.get(case.labels[row], 0.0) for row in case.ranking()])
        size = min(len(by_rank), self.cutoff or len(by_rank))
        first, ranks = self.ranks.get(1, math.nan), range(1, size + 1)
        exact = dict.fromkeys(ranks, math.nan) if self.formula is None else _exact(self.formula, ranks)
        discounts = np.array([self.ranks.get(rank, first * exact[rank]) for rank in ranks])
        ideal = np.sort(by_rank)[::-1][:size] @ discounts if normalized else 1.0
        return float(by_rank[:size] @ discounts / ideal) if ideal else math.nan

    @property
    def discounts(self) -> dict[int, float]:
        """What a row counts at a rank that is not beyond the cutoff, in proportion to rank 1."""
        first = self.ranks.get(1, 0.0)
        counted = {rank: value for rank, value in self.ranks.items() if self.cutoff is None or rank <= self.cutoff}
        return {rank: value / first for rank, value in counted.items()} if first else {}

    @property
    def formula(self) -> str | None:
        """The formula of the discounts; None if it is not known."""
        return formula_of(self.discounts)

    def sentences(self) -> list[str]:
        """Return what was measured, in sentences without a full stop."""
        sentences = []
        if self.gains:
            gains = [0.0, *self.gains.values()]
            name = next((f" ({name})" for name, gain in GAINS.items()
                         if all(_is_near(self.gains[label], gain(label)) for label in self.gains)), "")  # fmt: skip
            labels = ", ".join(f"{label:g}" for label in (0.0, *self.gains))
            sentences.append(f"gains {', '.join(f'{gain:.6g}' for gain in gains)} of the labels {labels}{name}")
        if self.discounts:
            what = "discounts" if self.gains else "one relevant row counts"
            sentences.append(f"{what} {self._discounts()}")
        return sentences

    def _discounts(self) -> str:
        discounts = self.discounts
        at = f"at {len(discounts)} ranks up to {max(discounts)}"
        if self.formula is not None:
            return f"{self.formula} {at}, to {_digits(discounts, _exact(self.formula, discounts))} digits"
        ratio = discounts.get(2, 0.0)
        powers = {rank: ratio ** (rank - 1) for rank in discounts}
        if len(discounts) > 2 and 0 < ratio < 1 and _are_near(discounts, powers):  # noqa: PLR2004 - two powers always fit
            return f"{ratio:.6g}^(rank - 1) {at}, to {_digits(discounts, powers)} digits"
        values = ", ".join(f"{value:.6g}" for value in discounts.values())
        return f"{values} at the ranks {', '.join(map(str, discounts))}"

    def values(self, measure: type[Convention]) -> dict[str, tuple[Any, ...]]:
        """Return values of the measure's fields that were measured and may not be in its grid."""
        values: dict[str, tuple[Any, ...]] = {}
        if measure in {NDCG, DCG} and self.gains and list(self.gains) == [*range(1, len(self.gains) + 1)]:
            gains = [0.0, *(round(gain, DECIMALS) for gain in self.gains.values())]
            if gains == sorted(gains):
                values["gain"] = (_table(gains),)
        elif measure in {NDCG, DCG} and self.top.is_integer():  # gains of irrelevant rows cannot be measured
            values["gain"] = (_table([2.0**label for label in range(int(self.top) + 1)]),)
        if self.of_empty is not None and 0 <= self.of_empty <= 1 and "empty" in measure.declared():
            values["empty"] = (self.of_empty,)
        if measure is ERR and self.ranks.get(1):
            highest = (2**self.top - 1, self.top, 1.0)
            values["scale"] = tuple(round(gain / self.ranks[1], DECIMALS) for gain in highest)
        ratio = round(self.discounts.get(2, 0.0), PLACES)
        if 0 < ratio <= 1:
            powers = {"persistence": ratio, "discount": f"power_{spell_number(ratio)}"}
            values |= {name: (value,) for name, value in powers.items() if name in measure.declared()}
        return values

    def fault(self) -> str:
        """Return how a kind of DCG differs from every convention of NDCG or DCG; empty if that is unknown."""
        faults = []
        if self.formula is None:
            for name in USUAL_DISCOUNTS:
                wrong = [rank for rank, value in self.discounts.items() if not _is_near(value, FORMULAS[name](rank))]
                if len(wrong) == 1 and len(self.discounts) > 2:  # noqa: PLR2004 - most discounts are right
                    discount = f"{self.discounts[wrong[0]]:.6g} times that of rank 1 at rank {wrong[0]}"
                    faults.append(f"its discount is {name}, but {discount}")
        elif self.formula not in USUAL_DISCOUNTS:
            faults.append(f"its discount is {self.formula}")
        gains = list(self.gains.values())
        if gains != sorted(gains):
            faults.append(f"its gains are {', '.join(f'{gain:.6g}' for gain in gains)} for the labels from 1 on")
        return faults[0] if faults else ""


def _table(gains: list[float]) -> str:
    return "_".join(["table", *map(spell_number, gains)])


def formula_of(values: Mapping[int, float]) -> str | None:
    """Return the formula to which values by rank are proportional; None if it is not known.

    >>> formula_of({1: 3.0, 2: 1.5, 3: 1.0})
    '1/rank'
    """
    first = values.get(1, 0.0)
    if not first or len(values) < 2:  # noqa: PLR2004 - one value fits every formula
        return None
    relative = {rank: value / first for rank, value in values.items()}
    return next((name for name in FORMULAS if _are_near(relative, _exact(name, values))), None)


def _exact(formula: str, ranks: Iterable[int]) -> dict[int, float]:
    """Return what a formula gives at ranks, in proportion to rank 1."""
    return {rank: FORMULAS[formula](rank) / FORMULAS[formula](1) for rank in ranks}


def _digits(values: Mapping[int, float], exact: Mapping[int, float]) -> int:
    """Return to how many digits values equal the exact ones."""
    errors = [abs(value / exact[rank] - 1) for rank, value in values.items()]
    return min(MOST_DIGITS, int(-math.log10(max(*errors, 1e-16))))


def _are_near(values: Mapping[int, float], exact: Mapping[int, float]) -> bool:
    return all(_is_near(value, exact[rank]) for rank, value in values.items())


def _is_near(value: float, exact: float) -> bool:
    return math.isclose(value, exact, rel_tol=EQUAL, abs_tol=ZERO)
