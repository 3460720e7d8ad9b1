"""Asking a function about cases until its convention or its mistake is known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rankadapters.core.declaration.arguments import number, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.probing.answers import Function
from rankadapters.statistics.probing.bugs import Mistake, mistake_of
from rankadapters.statistics.probing.cases import LONG, PLAIN, PURPOSES, UNTIED, Maker
from rankadapters.statistics.probing.elimination import Elimination, Pool

GRADES = ((0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 1.0, 2.0), (0.0, 1.0))  # tried in turn until one is accepted


def grades_of(function: Function, labels: Sequence[float] | None) -> tuple[float, ...]:
    """Return the grades that a function accepts: those named in `labels`, or what it does not refuse."""
    if labels is not None:
        grades = tuple(number("labels", label) for label in labels)
        if len(set(grades)) < 2 or max(grades) <= 0:  # noqa: PLR2004 - relevant and not
            raise refusal("labels", labels, "two grades or more, one of them above 0", "labels=(0, 1)")
        return grades
    accepted = (g for g in GRADES if not function.answer(Maker(g, 3, function.n_queries).every_grade()).problem)
    return next(accepted, GRADES[0])


def examine(
    function: Function,
    measures: tuple[type[Convention], ...],
    cutoff: int | None,
    grades: tuple[float, ...],
    tolerance: float,
) -> Elimination:
    """Ask a function about cases until one class of equal conventions is left, or none."""
    elimination = Elimination(function, pool_of(grades, function.n_queries, measures, cutoff), tolerance)
    elimination.run(PURPOSES)
    return elimination


@lru_cache(maxsize=32)
def pool_of(
    grades: tuple[float, ...], n_queries: int, measures: tuple[type[Convention], ...], cutoff: int | None
) -> Pool:
    """Make the cases for given grades and a cutoff, and evaluate the measures' grids on them."""
    return Pool.of(Maker(grades, cutoff, n_queries).pool(), measures, cutoff)


def diagnose(elimination: Elimination, cutoff: int | None) -> Mistake | None:
    """Ask a function that fits nothing about further cases, and find the mistake that explains its answers."""
    for purpose, least in ((PLAIN, 4), (UNTIED, 3), (LONG, 1)):
        elimination.ask_more(purpose, least)
    function = elimination.function
    function.repeat(*function.answers[0])  # by now, a function that keeps a state may answer otherwise
    return None if function.faults else mistake_of(elimination, cutoff)
