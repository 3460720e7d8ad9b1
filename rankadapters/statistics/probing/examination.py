"""Call a function on cases until only the conventions that fit remain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rankadapters.core.declaration.arguments import members, number, refusal, whole_or_none
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.probing.answers import Function
from rankadapters.statistics.probing.case_maker import CaseMaker
from rankadapters.statistics.probing.cases import ANY, PLAIN, PURPOSES, UNTIED, Case
from rankadapters.statistics.probing.elimination import Elimination, Pool

GRADES = ((0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 1.0, 2.0), (0.0, 1.0))  # tried in this order until the function accepts one
CONFIRMING = {PLAIN: 3, UNTIED: 2, ANY: 2}  # with fewer answers of a purpose, a convention may fit by chance
MOST_CUTOFF = 1000  # larger cutoffs would need cases with too many rows
MOST_RANKS = 256  # a function with a larger cutoff is treated as one without a cutoff


def as_grades(labels: Sequence[float] | None) -> tuple[float, ...] | None:
    """Return `labels` as checked grades; None if `labels` is None."""
    if labels is None:
        return None
    grades = tuple(number("labels", label) for label in members(labels) or ())
    if len(set(grades)) < 2 or max(grades) <= 0:  # noqa: PLR2004 - relevant and irrelevant
        raise refusal("labels", labels, "two grades or more, one of them above 0", "labels=(0, 1)")
    return grades


def as_cutoff(k: object) -> int | None:
    """Return `k` as a checked cutoff, small enough to make cases for it; None for all ranks."""
    cutoff = whole_or_none("k", k, "all ranks")
    if cutoff is not None and cutoff > MOST_CUTOFF:
        raise refusal("k", k, f"whole numbers from 1 to {MOST_CUTOFF}, as queries need more rows, and None", "k=None")
    return cutoff


def grades_of(function: Function, labels: Sequence[float] | None) -> tuple[float, ...]:
    """Return the grades for the cases: those in `labels`, or the first of `GRADES` that the function accepts."""
    grades = as_grades(labels)
    choices = GRADES if grades is None else (grades,)
    cases = {CaseMaker(grades, 3, function.n_queries).every_grade(): grades for grades in choices}
    case = function.find_accepted(list(cases))
    return choices[0] if case is None else cases[case]


def examine(
    function: Function,
    measures: tuple[type[Convention], ...],
    cutoff: int | None,
    grades: tuple[float, ...],
    tolerance: float,
) -> Elimination:
    """Call a function on cases until at most one group of indistinguishable conventions remains."""
    eliminations = []
    for further in (False, True):
        pool = pool_of(grades, function.n_queries, measures, cutoff, further=further)
        eliminations.append(Elimination(function, pool, cutoff, tolerance))
        eliminations[-1].run(PURPOSES)
        for purpose, least in CONFIRMING.items():
            if eliminations[-1].remaining:
                eliminations[-1].ask_more(purpose, least)
        if eliminations[-1].remaining:
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
    """Return the cases for these grades and this cutoff, with the values of all conventions of the measures."""
    return Pool.of(_cases(grades, n_queries, cutoff), measures, cutoff, further=further)


@lru_cache(maxsize=32)
def _cases(grades: tuple[float, ...], n_queries: int, cutoff: int | None) -> list[Case]:
    return CaseMaker(grades, cutoff, n_queries).make_all()


def find_cutoff(function: Function, grades: tuple[float, ...]) -> int | None:
    """Return the last rank at which a single relevant row changes the value; None if it does at every or no rank.

    Beyond the cutoff, the function returns the same value for every rank of the relevant row.
    """
    maker = CaseMaker(grades, 3, function.n_queries)
    uncounted_value = function.ask(maker.one_relevant(MOST_RANKS, MOST_RANKS)).value

    def counts(rank: int) -> bool:
        answer = function.ask(maker.one_relevant(MOST_RANKS, rank))
        return not answer.problem and answer.value != uncounted_value

    if counts(MOST_RANKS - 1) or not counts(1):
        return None
    first, last = 1, MOST_RANKS - 1  # bisect: a relevant row matters at rank `first`, but not at `last`
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if counts(middle) else (first, middle)
    return first
