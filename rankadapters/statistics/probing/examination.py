"""Asking a function about cases until its convention or its mistake is known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rankadapters.core.declaration.arguments import members, number, refusal, whole_or_none
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.probing.answers import Function
from rankadapters.statistics.probing.case_maker import Maker
from rankadapters.statistics.probing.cases import ANY, PLAIN, PURPOSES, UNTIED, Case
from rankadapters.statistics.probing.elimination import Elimination, Pool

GRADES = ((0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 1.0, 2.0), (0.0, 1.0))  # tried in turn until one is accepted
CONFIRMING = {PLAIN: 3, UNTIED: 2, ANY: 2}  # answers without which a convention fits by chance, by purpose
MOST_CUTOFF = 1000  # that a case can have rows for
MOST_RANKS = 256  # a larger cutoff is taken for none


def as_grades(labels: Sequence[float] | None) -> tuple[float, ...] | None:
    """Return the grades named in `labels`, checked, or None."""
    if labels is None:
        return None
    grades = tuple(number("labels", label) for label in members(labels) or ())
    if len(set(grades)) < 2 or max(grades) <= 0:  # noqa: PLR2004 - relevant and not
        raise refusal("labels", labels, "two grades or more, one of them above 0", "labels=(0, 1)")
    return grades


def as_cutoff(k: object) -> int | None:
    """Return a cutoff of functions that are asked, checked; None for all ranks."""
    cutoff = whole_or_none("k", k, "all ranks")
    if cutoff is not None and cutoff > MOST_CUTOFF:
        raise refusal("k", k, f"whole numbers from 1 to {MOST_CUTOFF}, as queries need more rows, and None", "k=None")
    return cutoff


def grades_of(function: Function, labels: Sequence[float] | None) -> tuple[float, ...]:
    """Return the grades that a function accepts: those named in `labels`, or what it does not refuse."""
    grades = as_grades(labels)
    choices = GRADES if grades is None else (grades,)
    cases = {Maker(grades, 3, function.n_queries).every_grade(): grades for grades in choices}
    case = function.accepts(list(cases))
    return choices[0] if case is None else cases[case]


def examine(
    function: Function,
    measures: tuple[type[Convention], ...],
    cutoff: int | None,
    grades: tuple[float, ...],
    tolerance: float,
) -> Elimination:
    """Ask a function about cases until one class of equal conventions is left, or none."""
    eliminations = []
    for further in (False, True):
        pool = pool_of(grades, function.n_queries, measures, cutoff, further=further)
        eliminations.append(Elimination(function, pool, cutoff, tolerance))
        eliminations[-1].run(PURPOSES)
        for purpose, least in CONFIRMING.items():
            if eliminations[-1].left:
                eliminations[-1].ask_more(purpose, least)
        if eliminations[-1].left:
            return eliminations[-1]
    return eliminations[0]


@lru_cache(maxsize=32)
def pool_of(
    grades: tuple[float, ...],
    n_queries: int,
    measures: tuple[type[Convention], ...],
    cutoff: int | None,
    *,
    further: bool = False,
) -> Pool:
    """Make the cases for given grades and a cutoff, and evaluate the measures' grids on them."""
    return Pool.of(_cases(grades, n_queries, cutoff), measures, cutoff, further=further)


@lru_cache(maxsize=32)
def _cases(grades: tuple[float, ...], n_queries: int, cutoff: int | None) -> list[Case]:
    return Maker(grades, cutoff, n_queries).pool()


def find_cutoff(function: Function, grades: tuple[float, ...]) -> int | None:
    """Return the last rank at which a single relevant row counts; None where every rank does, or none is told apart.

    A relevant row counts the same at every rank beyond the cutoff, and otherwise at any rank up to it.
    """
    maker = Maker(grades, 3, function.n_queries)
    beyond = function.ask(maker.one_relevant(MOST_RANKS, MOST_RANKS)).value

    def counts(rank: int) -> bool:
        answer = function.ask(maker.one_relevant(MOST_RANKS, rank))
        return not answer.problem and answer.value != beyond

    if counts(MOST_RANKS - 1) or not counts(1):
        return None
    first, last = 1, MOST_RANKS - 1  # counts at the first, and not at the last
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if counts(middle) else (first, middle)
    return first
