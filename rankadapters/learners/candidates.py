"""Many candidate scores of the same queries, ranked in few calls into machine code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.binding.policies import PolicyDecisions
from rankadapters.core.data.columns import Array, Flags, Floats, Ints
from rankadapters.core.data.rows import NO_ORDER, Rows, offsets
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.members import Member, SharedRanking
from rankadapters.core.evaluation.threads import over_chunks
from rankadapters.core.kernels import COMPUTE, FIXED, Kernel, dispatch
from rankadapters.core.kernels.views import writable

# Rows of a call into machine code: candidates of few rows share a call, whose cost is that of some hundred rows, and
# many rows are cut into parts whose scores stay in the processor's cache from their update to their ranking.
ROWS_PER_CALL = 2**16

# Rows with a gain, in the query of a row on average, up to which counting the scores above each is faster than ranking.
MOST_FOUND = 48


class MovedScores(NamedTuple):
    """Scores in the order of a plan: those of `start` + step x `column`, a candidate each step."""

    start: Floats
    column: Floats
    steps: Floats

    @property
    def n(self) -> int:
        """How many there are."""
        return self.steps.size

    def lines(self) -> Iterator[tuple[slice, tuple[Floats, Floats, Floats]]]:
        """Yield the candidates on a line together: which they are, where it starts, its column and its steps."""
        yield slice(0, self.n), (self.start, self.column, self.steps)

    def scores(self, several: slice, rows: slice) -> Array:
        """Scores of some candidates and rows, one candidate after the other."""
        moved = np.multiply.outer(self.steps[several], self.column[rows])
        moved += self.start[rows]
        return moved.ravel()


class Listed(NamedTuple):
    """Scores in the order of a plan, a row for each candidate."""

    several: Floats

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.several)

    def lines(self) -> Iterator[tuple[slice, tuple[Floats, Floats, Floats]]]:
        """Yield each candidate as a line that stays where it starts."""
        still, here = np.zeros(self.several.shape[1]), np.zeros(1)
        for place, scores in enumerate(self.several):
            yield slice(place, place + 1), (scores, still, here)

    def scores(self, several: slice, rows: slice) -> Array:
        """Scores of some candidates and rows, one candidate after the other."""
        return self.several[several, rows].ravel()


class Found(NamedTuple):
    """Rows whose number is not 0, counted from the first of their query, where each query's begin, and the numbers."""

    rows: Array
    indptr: Ints
    gains: Floats


class RankedCandidates:
    """A member whose plan ranks, bound for many candidates: by counting where few rows have a gain, else by ranking.

    Both give each query the value that `Work` gives it.
    """

    def __init__(self, member: Member, n_threads: int) -> None:
        self.member, self.n_threads = member, n_threads
        self.plan = cast("RankedPlan", member.plan)
        self.indptr = self.plan.rows.indptr
        self._tiles: dict[tuple[int, int], Member] = {}
        self._rankings: dict[tuple[int, int], SharedRanking] = {}
        self._parts_counted: dict[int, tuple[slice, tuple[Any, ...]]] = {}

    def numerators(self, given: MovedScores | Listed) -> Floats:
        """Numerator of each query of each candidate; of a query in which nothing moves, that of `start`."""
        found = np.empty((given.n, self.indptr.size - 1))
        run = self._by_ranking(given, found) if self.found is None else self._by_counting(given, self.found, found)
        bad = [row for row in over_chunks(run, self.indptr[self.parts], self.n_threads) if row >= 0]
        if bad:
            raise InputError("the scores overflow float64.\nHint: rescale them, or take smaller steps.")
        if self.found is not None:
            for values in found:
                self.member.decisions.decide(values)
        return found

    @cached_property
    def parts(self) -> Ints:
        """First query of each part, of about ROWS_PER_CALL rows or one query, and the number of queries."""
        cuts = np.searchsorted(self.indptr, np.arange(0, int(self.indptr[-1]), ROWS_PER_CALL))
        return np.unique([0, *cuts.tolist(), self.indptr.size - 1])

    @cached_property
    def found(self) -> Found | None:
        """The rows that have a gain; None where there are many, or this measure has no kernel that counts."""
        plan, ranking = self.plan, self.plan.ranking
        plain = ranking.tied in {"rows", "means"} and ranking.retrieve == "all" and ranking.precision == "float64"
        if not (plain and plan.kernel.line_search):
            return None
        [column], sizes = plan.columns.values(), plan.rows.sizes
        gains = column.values
        places = np.flatnonzero(gains)
        indptr = np.searchsorted(places, self.indptr)
        if np.diff(indptr) @ sizes > MOST_FOUND * gains.size:
            return None
        rows = (places - np.repeat(self.indptr[:-1], np.diff(indptr))).astype(np.int32)
        return Found(rows, indptr, gains[places].astype(np.float64))

    def _queries(self, part: int) -> slice:
        return slice(int(self.parts[part]), int(self.parts[part + 1]))

    def _by_counting(self, given: MovedScores | Listed, listed: Found, found: Floats) -> Any:
        kernel = cast("Kernel", self.plan.kernel.line_search)

        def run(first: int, last: int) -> Iterator[int]:
            for part in range(first, last):
                queries, same = self._counted(part, listed)
                n = int(self.indptr[queries.stop] - self.indptr[queries.start])
                for several, line in given.lines():
                    values = np.empty((several.stop - several.start, queries.stop - queries.start))
                    yield int(dispatch.run(kernel, *line, *same, values.reshape(-1), rows=n * len(values)))
                    found[several, queries] = values

        return run

    def _counted(self, part: int, listed: Found) -> tuple[slice, tuple[Any, ...]]:
        """Queries of a part, and what its kernel is told of them whatever the scores are; made once."""
        if part not in self._parts_counted:
            queries, decisions, plan = self._queries(part), self.member.decisions, self.plan
            inside = slice(queries.start, queries.stop + 1)
            same = (
                self.indptr[inside], listed.rows, listed.indptr[inside], listed.gains, plan.k,
                plan.ranking.tied == "means", *plan.by_rank.values(),
                *(each[queries] for each in plan.by_query.values()), decisions.status[queries] == COMPUTE,
            )  # fmt: skip
            several = [writable(each) if isinstance(each, np.ndarray) else each for each in same]
            self._parts_counted[part] = queries, tuple(several)
        return self._parts_counted[part]

    def _by_ranking(self, given: MovedScores | Listed, found: Floats) -> Any:
        decisions = self.member.decisions if isinstance(given, Listed) else self._still(given)

        def run(first: int, last: int) -> Iterator[int]:
            for queries in map(self._queries, range(first, last)):
                rows = slice(int(self.indptr[queries.start]), int(self.indptr[queries.stop]))
                for copies, runs in groupby(_runs(given.n, rows.stop - rows.start), lambda run: run.stop - run.start):
                    shared = self._shared(queries, copies, decisions)
                    for several in runs:
                        values = shared.values(given.scores(several, rows), 1)
                        found[several, queries] = values.reshape(copies, -1)
                        yield -1

        return run

    def _still(self, given: MovedScores) -> PolicyDecisions:
        """Fix the queries in which nothing moves at their value at the start."""
        decisions = self.member.decisions
        still = (decisions.status == COMPUTE) & constant(given.column, self.indptr)
        if not still.any():
            return decisions
        before = np.empty((1, self.indptr.size - 1))
        run = self._by_ranking(Listed(given.start[None, :]), before)
        over_chunks(run, self.indptr[self.parts], self.n_threads)
        status, fixed = decisions.status.copy(), decisions.fixed.copy()
        status[still], fixed[still] = FIXED, before[0, still]
        return replace(decisions, status=status, fixed=fixed)

    def _shared(self, queries: slice, copies: int, decisions: PolicyDecisions) -> SharedRanking:
        """Take some queries several times; what no candidate fixes is made once."""
        key = (queries.start, copies)
        if decisions is self.member.decisions and key in self._rankings:
            return self._rankings[key]
        if key not in self._tiles:
            self._tiles[key] = tiled(self.member, queries, copies)
        tile, status, fixed = self._tiles[key], decisions.status[queries], decisions.fixed[queries]
        several = replace(decisions, status=np.tile(status, copies), fixed=np.tile(fixed, copies))
        made = SharedRanking([0], [replace(tile, decisions=several)], computed_only=True)
        if decisions is self.member.decisions:
            self._rankings[key] = made
        return made


def tiled(member: Member, queries: slice, copies: int) -> Member:
    """Take some queries of a member several times, one after the other."""
    plan = cast("RankedPlan", member.plan)
    indptr = plan.rows.indptr
    rows = slice(int(indptr[queries.start]), int(indptr[queries.stop]))

    def repeated(column: Array, part: slice) -> Any:
        return np.tile(column[part], copies) if copies > 1 else column[part]

    sizes = np.tile(np.diff(indptr[queries.start : queries.stop + 1]), copies)
    tile = replace(
        plan, rows=Rows(NO_ORDER, offsets(sizes)),
        columns={name: each._replace(values=repeated(each.values, rows)) for name, each in plan.columns.items()},
        by_query={name: repeated(each, queries) for name, each in plan.by_query.items()},
    )  # fmt: skip
    return replace(member, plan=tile)


def constant(column: Floats, indptr: Ints) -> Flags:
    """Tell the queries in which a column has one value, or no row."""
    same, some = np.ones(indptr.size - 1, np.bool_), np.flatnonzero(np.diff(indptr))
    if some.size:
        starts = indptr[some]
        same[some] = np.maximum.reduceat(column, starts) == np.minimum.reduceat(column, starts)
    return same


def _runs(n: int, rows: int) -> Iterator[slice]:
    """Cut n candidates into runs of nearly equal length that fit a call."""
    at_once = max(ROWS_PER_CALL // max(rows, 1), 1)
    cuts = np.linspace(0, n, -(-n // at_once) + 1).round().astype(int).tolist()
    for first, last in pairwise(cuts):
        yield slice(first, last)
