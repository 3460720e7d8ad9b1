"""Evaluate many candidate scores of the same queries in few calls into machine code."""

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
from rankadapters.core.data.rows import Rows, offsets
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.members import Member, SharedRanking
from rankadapters.core.evaluation.threads import over_chunks
from rankadapters.core.kernels import COMPUTE, FIXED, Kernel, dispatch
from rankadapters.core.kernels.views import writable

# Rows per call into machine code. A call costs as much as some hundred rows, so short candidates share calls. Long ones
# are split into parts, so that scores are still in the processor's cache when they are ranked after an update.
ROWS_PER_CALL = 2**16

# Up to this many rows with a gain per query (mean over rows), counting the scores above them is faster than ranking.
MAX_GAIN_ROWS = 48


class MovedScores(NamedTuple):
    """Candidate scores `start` + step x `column`, one candidate per step; arrays are in the plan's row order."""

    start: Floats
    column: Floats
    steps: Floats

    @property
    def n(self) -> int:
        """Number of candidates."""
        return self.steps.size

    def lines(self) -> Iterator[tuple[slice, tuple[Floats, Floats, Floats]]]:
        """Yield the one line on which all candidates are: their slice, and the line's start, column and steps."""
        yield slice(0, self.n), (self.start, self.column, self.steps)

    def scores(self, candidates: slice, rows: slice) -> Array:
        """Return the scores of some candidates and rows, one candidate after the other."""
        moved = np.multiply.outer(self.steps[candidates], self.column[rows])
        moved += self.start[rows]
        return moved.ravel()


class ListedScores(NamedTuple):
    """Candidates with arbitrary scores, one per row of the table; scores are in the plan's row order."""

    table: Floats

    @property
    def n(self) -> int:
        """Number of candidates."""
        return len(self.table)

    def lines(self) -> Iterator[tuple[slice, tuple[Floats, Floats, Floats]]]:
        """Yield each candidate as a line of its own, with a column of zeros and the single step 0."""
        zero_column, zero_step = np.zeros(self.table.shape[1]), np.zeros(1)
        for index, scores in enumerate(self.table):
            yield slice(index, index + 1), (scores, zero_column, zero_step)

    def scores(self, candidates: slice, rows: slice) -> Array:
        """Return the scores of some candidates and rows, one candidate after the other."""
        return self.table[candidates, rows].ravel()


class GainRows(NamedTuple):
    """Rows with a gain: their index within the query, the offsets of each query's rows, and the gains."""

    rows: Array
    indptr: Ints
    gains: Floats


class RankedCandidates:
    """Evaluates candidates under a ranking measure: by counting if few rows have a gain, else by ranking.

    Both ways give the same per-query values as `Work`.
    """

    def __init__(self, member: Member, n_threads: int) -> None:
        self.member, self.n_threads = member, n_threads
        self.plan = cast("RankedPlan", member.plan)
        self.indptr = self.plan.rows.indptr
        self._repeated_members: dict[tuple[int, int], Member] = {}
        self._rankings: dict[tuple[int, int], SharedRanking] = {}
        self._counting_arguments: dict[int, tuple[slice, tuple[Any, ...]]] = {}

    def numerators(self, candidates: MovedScores | ListedScores) -> Floats:
        """Return each query's numerator under each candidate; if the query's column is constant, that of `start`."""
        values = np.empty((candidates.n, self.indptr.size - 1))
        gain_rows = self.gain_rows
        run = self._ranking(candidates, values) if gain_rows is None else self._counting(candidates, gain_rows, values)
        bad_rows = [row for row in over_chunks(run, self.indptr[self.part_starts], self.n_threads) if row >= 0]
        if bad_rows:
            raise InputError("the scores overflow float64.\nHint: rescale them, or take smaller steps.")
        if gain_rows is not None:
            for candidate_values in values:
                self.member.decisions.decide(candidate_values)
        return values

    @cached_property
    def part_starts(self) -> Ints:
        """First query of each part, then the number of queries. A part has about ROWS_PER_CALL rows, or one query."""
        cuts = np.searchsorted(self.indptr, np.arange(0, int(self.indptr[-1]), ROWS_PER_CALL))
        return np.unique([0, *cuts.tolist(), self.indptr.size - 1])

    @cached_property
    def gain_rows(self) -> GainRows | None:
        """The rows with a gain; None if there are too many, or if the measure has no kernel that counts."""
        plan, ranking = self.plan, self.plan.ranking
        is_plain = ranking.tied in {"rows", "means"} and ranking.retrieve == "all" and ranking.precision == "float64"
        if not (is_plain and plan.kernel.line_search):
            return None
        [column], sizes = plan.columns.values(), plan.rows.sizes
        gains = column.values
        rows = np.flatnonzero(gains)
        indptr = np.searchsorted(rows, self.indptr)
        if np.diff(indptr) @ sizes > MAX_GAIN_ROWS * gains.size:
            return None
        rows_in_query = (rows - np.repeat(self.indptr[:-1], np.diff(indptr))).astype(np.int32)
        return GainRows(rows_in_query, indptr, gains[rows].astype(np.float64))

    def _queries(self, part: int) -> slice:
        return slice(int(self.part_starts[part]), int(self.part_starts[part + 1]))

    def _counting(self, candidates: MovedScores | ListedScores, gain_rows: GainRows, out: Floats) -> Any:
        kernel = cast("Kernel", self.plan.kernel.line_search)

        def run(first: int, last: int) -> Iterator[int]:
            for part in range(first, last):
                queries, arguments = self._arguments_of(part, gain_rows)
                n_rows = int(self.indptr[queries.stop] - self.indptr[queries.start])
                for selected, line in candidates.lines():
                    values = np.empty((selected.stop - selected.start, queries.stop - queries.start))
                    yield int(dispatch.run(kernel, *line, *arguments, values.reshape(-1), rows=n_rows * len(values)))
                    out[selected, queries] = values

        return run

    def _arguments_of(self, part: int, gain_rows: GainRows) -> tuple[slice, tuple[Any, ...]]:
        """Return the queries of a part, and the kernel arguments that do not depend on scores; cached."""
        if part not in self._counting_arguments:
            queries, decisions, plan = self._queries(part), self.member.decisions, self.plan
            bounds = slice(queries.start, queries.stop + 1)
            arguments = (
                self.indptr[bounds], gain_rows.rows, gain_rows.indptr[bounds], gain_rows.gains, plan.k,
                plan.ranking.tied == "means", *plan.by_rank.values(),
                *(column[queries] for column in plan.by_query.values()), decisions.status[queries] == COMPUTE,
            )  # fmt: skip
            arrays = [writable(value) if isinstance(value, np.ndarray) else value for value in arguments]
            self._counting_arguments[part] = queries, tuple(arrays)
        return self._counting_arguments[part]

    def _ranking(self, candidates: MovedScores | ListedScores, out: Floats) -> Any:
        decisions = self.member.decisions if isinstance(candidates, ListedScores) else self._fix_constant(candidates)

        def run(first: int, last: int) -> Iterator[int]:
            for queries in map(self._queries, range(first, last)):
                rows = slice(int(self.indptr[queries.start]), int(self.indptr[queries.stop]))
                calls = _candidates_per_call(candidates.n, rows.stop - rows.start)
                for n_copies, selections in groupby(calls, lambda call: call.stop - call.start):
                    ranking = self._ranking_of(queries, n_copies, decisions)
                    for selected in selections:
                        values = ranking.values(candidates.scores(selected, rows), 1)
                        out[selected, queries] = values.reshape(n_copies, -1)
                        yield -1

        return run

    def _fix_constant(self, candidates: MovedScores) -> PolicyDecisions:
        """Return decisions in which each query with a constant column has a fixed value, its value under `start`."""
        decisions = self.member.decisions
        is_fixed = (decisions.status == COMPUTE) & is_constant(candidates.column, self.indptr)
        if not is_fixed.any():
            return decisions
        start_values = np.empty((1, self.indptr.size - 1))
        run = self._ranking(ListedScores(candidates.start[None, :]), start_values)
        over_chunks(run, self.indptr[self.part_starts], self.n_threads)
        status, fixed = decisions.status.copy(), decisions.fixed.copy()
        status[is_fixed], fixed[is_fixed] = FIXED, start_values[0, is_fixed]
        return replace(decisions, status=status, fixed=fixed)

    def _ranking_of(self, queries: slice, n_copies: int, decisions: PolicyDecisions) -> SharedRanking:
        """Return a ranking that evaluates `n_copies` candidates of some queries at once; cached if possible."""
        key = (queries.start, n_copies)
        if decisions is self.member.decisions and key in self._rankings:
            return self._rankings[key]
        if key not in self._repeated_members:
            self._repeated_members[key] = repeat_queries(self.member, queries, n_copies)
        status, fixed = np.tile(decisions.status[queries], n_copies), np.tile(decisions.fixed[queries], n_copies)
        member = replace(self._repeated_members[key], decisions=replace(decisions, status=status, fixed=fixed))
        ranking = SharedRanking([0], [member], computed_only=True)
        if decisions is self.member.decisions:
            self._rankings[key] = ranking
        return ranking


def repeat_queries(member: Member, queries: slice, n_copies: int) -> Member:
    """Return the member with `n_copies` copies of some queries in place of its queries, one copy after the other."""
    plan = cast("RankedPlan", member.plan)
    indptr = plan.rows.indptr
    rows = slice(int(indptr[queries.start]), int(indptr[queries.stop]))

    def repeat(values: Array, part: slice) -> Any:
        return np.tile(values[part], n_copies) if n_copies > 1 else values[part]

    sizes = np.tile(np.diff(indptr[queries.start : queries.stop + 1]), n_copies)
    repeated_plan = replace(
        plan, rows=Rows(None, offsets(sizes)),
        columns={name: column._replace(values=repeat(column.values, rows)) for name, column in plan.columns.items()},
        by_query={name: repeat(values, queries) for name, values in plan.by_query.items()},
    )  # fmt: skip
    return replace(member, plan=repeated_plan)


def is_constant(column: Floats, indptr: Ints) -> Flags:
    """Return for each query whether the column is constant within it; True for queries without rows."""
    constant, with_rows = np.ones(indptr.size - 1, np.bool_), np.flatnonzero(np.diff(indptr))
    if with_rows.size:
        starts = indptr[with_rows]
        constant[with_rows] = np.maximum.reduceat(column, starts) == np.minimum.reduceat(column, starts)
    return constant


def _candidates_per_call(n_candidates: int, n_rows: int) -> Iterator[slice]:
    """Divide the candidates into slices of nearly equal length, each small enough for one call."""
    most = max(ROWS_PER_CALL // max(n_rows, 1), 1)
    cuts = np.linspace(0, n_candidates, -(-n_candidates // most) + 1).round().astype(int).tolist()
    for first, last in pairwise(cuts):
        yield slice(first, last)
