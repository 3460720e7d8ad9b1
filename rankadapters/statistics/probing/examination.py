"""Call a function on cases, and keep the conventions that agree with all its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rankadapters.core.declaration.arguments import members, number, refusal, whole_or_none
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.probing.answers import OF_QUERIES, OF_RANKINGS, Function
from rankadapters.statistics.probing.case_maker import CaseMaker, cases_of
from rankadapters.statistics.probing.elimination import Elimination, Pool
from rankadapters.statistics.probing.measuring import Measurement

GRADES = ((0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 1.0, 2.0), (0.0, 1.0))  # tried in this order until the function accepts one
BINARY = GRADES[-1]
MOST_CUTOFF = 1000  # larger cutoffs would need cases with too many rows
MOST_RANKS = 256  # a function with a larger cutoff is treated as one without a cutoff
FEWEST = 7  # with fewer answers, a convention may fit by chance

Measures = tuple[type[Convention], ...]
cached_pool = lru_cache(maxsize=32)(Pool.of)


@dataclass(frozen=True, slots=True)
class Examination:
    """The answers of a function to the cases of a maker, and what they show.

    Attributes
    ----------
    function : Function
        The function.
    maker : CaseMaker
        The maker of the cases.
    measures : tuple of type
        The measures that it may compute.
    elimination : Elimination
        The conventions that agree with the answers.
    measured : Measurement
        The gains and discounts that the answers show.
    """

    function: Function
    maker: CaseMaker
    measures: Measures
    elimination: Elimination
    measured: Measurement

    @property
    def enough(self) -> bool:
        """Whether there are enough answers that no convention fits them by chance."""
        return len(self.elimination.numbers) >= FEWEST

    @property
    def fits(self) -> bool:
        """Whether a convention agrees with all answers, and there are enough of them."""
        return self.enough and bool(self.elimination.remaining)


def as_grades(labels: Sequence[float] | None) -> tuple[float, ...] | None:
    """Return `labels` as checked grades in ascending order; None if `labels` is None."""
    if labels is None:
        return None
    grades = tuple(sorted({number("labels", label) for label in members(labels) or ()}))
    if len(grades) < 2 or grades[-1] <= 0 or grades[0] > 0:  # noqa: PLR2004 - relevant and irrelevant
        raise refusal("labels", labels, "two grades or more, one of them above 0 and one not", "labels=(0, 1)")
    return grades


def as_cutoff(k: object) -> int | None:
    """Return `k` as a checked cutoff, small enough to make cases for it; None for all ranks."""
    cutoff = whole_or_none("k", k, "all ranks")
    if cutoff is not None and cutoff > MOST_CUTOFF:
        raise refusal("k", k, f"whole numbers from 1 to {MOST_CUTOFF}, as queries need more rows, and None", "k=None")
    return cutoff


def maker_for(function: Function, labels: Sequence[float] | None, k: int | None = 3) -> CaseMaker:
    """Return the maker of cases with grades that the function accepts: those in `labels`, or the first of `GRADES`."""
    grades = as_grades(labels)
    distinct = function.takes in OF_RANKINGS
    choices = (BINARY,) if function.takes == "items" else GRADES if grades is None else (grades,)
    makers = [CaseMaker(grades, k, distinct=distinct) for grades in choices]
    cases = {maker.every_grade(): maker for maker in makers}
    if grades is None or grades == BINARY:
        alone = CaseMaker(BINARY, k, one_relevant=True, distinct=distinct)
        cases.setdefault(alone.at_rank(1), alone)
    case = function.find_accepted(list(cases))
    return makers[0] if case is None else cases[case]


def examine(function: Function, measures: Measures, maker: CaseMaker, tolerance: float) -> Examination:
    """Ask a function the cases that measure, then all other cases as long as a convention agrees with the answers.

    The grid of conventions is extended if none of it fits: by rare values of fields, then by measured ones.
    """
    first, rest = cases_of(maker, several=function.takes in OF_QUERIES)
    for case in first:
        function.ask(case)
    function.repeat(first[0])
    if all(reply.problem for reply in function.answers.values()):
        rest = ()
    measured = Measurement.of(function, maker)
    extra = tuple((measure, name, values) for measure in measures for name, values in measured.values(measure).items())
    grids: list[dict[str, Any]] = [{}, {"further": True}, *([{"further": True, "extra": extra}] if extra else [])]
    examinations = []
    for grid in grids:
        pool = cached_pool((*first, *rest), measures, maker.k, ranked=maker.distinct, **grid)
        elimination = Elimination(function, pool, maker.k, tolerance)
        elimination.ask(rest)
        examinations.append(Examination(function, maker, measures, elimination, measured))
        if elimination.remaining:
            return examinations[-1]
    return examinations[0]


def find_cutoff(function: Function, maker: CaseMaker) -> int | None:
    """Return the last rank at which a single relevant row changes the value; None if it does at every or no rank.

    Beyond the cutoff, the function returns the same value for every rank of the relevant row.
    """
    uncounted_value = function.ask(maker.at_rank(MOST_RANKS, MOST_RANKS)).value

    def counts(rank: int) -> bool:
        answer = function.ask(maker.at_rank(rank, MOST_RANKS))
        return not answer.problem and answer.value != uncounted_value

    if counts(MOST_RANKS - 1) or not counts(1):
        return None
    first, last = 1, MOST_RANKS - 1  # bisect: a relevant row matters at rank `first`, but not at `last`
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if counts(middle) else (first, middle)
    return first


def at_cutoff(examination: Examination, cutoff: int | None) -> Elimination:
    """Return the conventions at a different cutoff that agree with the answers so far."""
    elimination = examination.elimination
    pool = Pool.of(elimination.pool.cases, examination.measures, cutoff, ranked=examination.maker.distinct)
    return Elimination(examination.function, pool, cutoff, elimination.tolerance)


def with_one_relevant(maker: CaseMaker) -> CaseMaker:
    """Return the maker of cases with labels 0 and 1 and exactly one relevant row."""
    return replace(maker, grades=BINARY, one_relevant=True)
