"""Evaluate many candidate scores of the same queries in few calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.binding.policies import COMPUTE, PolicyDecisions
from rankadapters.core.data.columns import Array, Flags, Floats, Ints
from rankadapters.core.data.queries import Rows
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.evaluator import Member, ranked
from rankadapters.core.evaluation.threads import over_chunks
from rankadapters.core.measures.ndcg import ndcg
from rankadapters.core.measures.ranked import weighted_sums
from rankadapters.core.ranking import compiled
from rankadapters.core.ranking.jit import writable
from rankadapters.core.ranking.ranks import offsets
from rankadapters.learners.kernels.line_search import discounted_sums_in_steps

# Rows per call. A call costs as much as some thousand rows, so short candidates share calls. Long ones
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
    """Evaluates candidates under a ranking measure: by ranking, or by counting if few rows have a gain.

    Both ways give the same per-query values as `Work`.
    """

    def __init__(self, member: Member, n_threads: int) -> None:
        self.member, self.n_threads = member, n_threads
        self.plan = cast("RankedPlan", member.plan)
        self.indptr = self.plan.rows.indptr
        self._repeated: dict[tuple[int, int], Member] = {}
        self._counting_arguments: dict[int, tuple[slice, tuple[Any, ...]]] = {}

    def numerators(self, candidates: MovedScores | ListedScores) -> Floats:
        """Return each query's numerator under each candidate; if the query's column is constant, that of `start`."""
        counts = self.gain_rows is not None and compiled.pays(candidates.n * int(self.indptr[-1]))
        values = self._values(candidates, self._counting if counts else self._ranking)
        if isinstance(candidates, MovedScores):
            constant = is_constant(candidates.column, self.indptr)
            if constant.any():
                start = ListedScores(candidates.start[None, :])
                values[:, constant] = self._values(start, self._ranking)[:, constant]
        for candidate_values in values:
            self.member.decisions.decide(candidate_values)
        return values

    def _values(self, candidates: MovedScores | ListedScores, evaluate: Any) -> Floats:
        values = np.empty((candidates.n, self.indptr.size - 1))

        def run(first: int, last: int) -> Iterator[int]:
            for part in range(first, last):
                yield from evaluate(candidates, part, values)

        bad_rows = [row for row in over_chunks(run, self.indptr[self.part_starts], self.n_threads) if row >= 0]
        if bad_rows:
            raise InputError("the scores overflow float64.\nHint: rescale them, or take smaller steps.")
        return values

    @cached_property
    def part_starts(self) -> Ints:
        """First query of each part, then the number of queries. A part has about ROWS_PER_CALL rows, or one query."""
        cuts = np.searchsorted(self.indptr, np.arange(0, int(self.indptr[-1]), ROWS_PER_CALL))
        return np.unique([0, *cuts.tolist(), self.indptr.size - 1])

    @cached_property
    def gain_rows(self) -> GainRows | None:
        """The rows with a gain; None if there are too many, or if the measure is not a sum of discounted gains."""
        plan, ranking = self.plan, self.plan.ranking
        is_plain = ranking.retrieve == "all" and ranking.precision == "float64"
        if not (is_plain and plan.formula in {ndcg, weighted_sums}):
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

    def _counting(self, candidates: MovedScores | ListedScores, part: int, out: Floats) -> Iterator[int]:
        """Write the values of a part's queries by counting the scores above each row with a gain."""
        queries, arguments = self._arguments_of(part)
        for selected, line in candidates.lines():
            values = np.empty((selected.stop - selected.start, queries.stop - queries.start))
            yield int(discounted_sums_in_steps(*line, *arguments, values.reshape(-1)))
            out[selected, queries] = values

    def _arguments_of(self, part: int) -> tuple[slice, tuple[Any, ...]]:
        """Return the queries of a part, and the kernel's arguments that do not depend on scores; cached."""
        if part not in self._counting_arguments:
            queries, decisions, plan = self._queries(part), self.member.decisions, self.plan
            gain_rows, bounds = cast("GainRows", self.gain_rows), slice(queries.start, queries.stop + 1)
            arguments = (
                self.indptr[bounds], gain_rows.rows, gain_rows.indptr[bounds], gain_rows.gains, plan.k,
                plan.ranking.averaged, *plan.by_rank.values(),
                *(column[queries] for column in plan.by_query.values()), decisions.status[queries] == COMPUTE,
            )  # fmt: skip
            arrays = [writable(value) if isinstance(value, np.ndarray) else value for value in arguments]
            self._counting_arguments[part] = queries, tuple(arrays)
        return self._counting_arguments[part]

    def _ranking(self, candidates: MovedScores | ListedScores, part: int, out: Floats) -> Iterator[int]:
        """Write the values of a part's queries by ranking, several candidates at once."""
        queries = self._queries(part)
        rows = slice(int(self.indptr[queries.start]), int(self.indptr[queries.stop]))
        for selected in _candidates_per_call(candidates.n, rows.stop - rows.start):
            n_copies = selected.stop - selected.start
            key = (queries.start, n_copies)
            if key not in self._repeated:
                self._repeated[key] = repeat_queries(self.member, queries, n_copies)
            scores = candidates.scores(selected, rows)
            if not np.isfinite(scores).all():
                yield rows.start
                return
            [values] = ranked([self._repeated[key]], scores, 1)
            out[selected, queries] = values.reshape(n_copies, -1)
            yield -1


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
    n_queries = sizes.size
    zeros = np.zeros(n_queries)
    undecided = PolicyDecisions(np.full(n_queries, COMPUTE, np.uint8), zeros, zeros, zeros, zeros > 0, zeros > 0)
    return replace(member, plan=repeated_plan, decisions=undecided)


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
