"""The members of a panel: each convention with its plan and policies, and the work that they share."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from rankadapters.core.binding.lowering import Bound
from rankadapters.core.binding.plans import Plan, RankedPlan, WholePlan
from rankadapters.core.binding.policies import Settled, Sizes, refuse_ignored, settle
from rankadapters.core.binding.ranks import Ranks, comparable, compared_in, n_ranks, rank
from rankadapters.core.data.columns import Array, Floats, Ints, beyond_float32, offsets
from rankadapters.core.data.queries import Queries
from rankadapters.core.data.rows import Rows
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.threads import over_chunks
from rankadapters.core.kernels import COMPUTE, FEW, LIMB_BITS, LIMBS, Kernel, dispatch
from rankadapters.core.kernels.exact import add_exactly
from rankadapters.core.kernels.views import writable

FEW_TERMS = 16  # up to which Python's own integers are faster
SMALLEST_EXPONENT = 1074  # of the smallest float64, 2^-1074


@dataclass(frozen=True, eq=False)
class Member:
    """One convention, lowered."""

    convention: Convention
    plan: Plan
    settled: Settled

    def take(self, numbers: Ints) -> Member:
        """Return the convention's policies and masses of the queries of these numbers; nothing is ranked again."""
        plan = replace(self.plan, mass=self.plan.mass[numbers]) if isinstance(self.plan, WholePlan) else self.plan
        return replace(self, plan=plan, settled=self.settled.take(numbers))

    @cached_property
    def over_rows(self) -> bool:
        """Whether all rows are one query."""
        return self.convention.over == "rows"

    @cached_property
    def denominator(self) -> int:
        """Exact sum of the masses with their weights."""
        return exact_sum(self.settled.divisors)

    @property
    def has_value(self) -> bool:
        """Whether something is left to average, or no query has a pair and `empty` is the value."""
        empty = getattr(self.convention, "empty", None)
        return bool(self.denominator) or (self.convention.over == "pairs" and isinstance(empty, float))

    @property
    def mass(self) -> Floats | None:
        """What a query's numerator is divided by; None where it is 1 for each."""
        return self.plan.mass if isinstance(self.plan, WholePlan) and self.plan.pooled else None


def bind(queries: Queries, conventions: list[Convention]) -> list[Member]:
    """Lower conventions, checking that the labels and columns fit them; what several of them share is made once.

    Raises
    ------
    InputError
        A label has no gain, a column that a convention needs is missing, or a query meets a policy `error`.
    """
    bounds = _Bounds(queries, conventions)
    return [bounds.member(convention) for convention in conventions]


def bind_usable(queries: Queries, conventions: list[Convention]) -> list[Member]:
    """Lower conventions as `bind` does, without those that it refuses, or that would ignore weights."""
    bounds, members = _Bounds(queries, conventions), []
    for convention in conventions:
        with suppress(InputError):
            refuse_ignored([convention], queries)
            members.append(bounds.member(convention))
    return members


class _Bounds:
    """The queries as conventions see them: by query, or all rows as one query with either kind of weights."""

    def __init__(self, queries: Queries, conventions: list[Convention]) -> None:
        cutoffs = [getattr(convention, "k", 1) for convention in conventions]
        self._depth = None if None in cutoffs else max(cutoffs, default=1)
        self._queries = queries
        self._bounds: dict[str | None, Bound] = {}

    def member(self, convention: Convention) -> Member:
        """Lower a convention."""
        over_rows = convention.over == "rows"
        key = f"rows {convention.weighting}" if over_rows else None
        if key not in self._bounds:
            queries = self._as_one(convention.weighting) if over_rows else self._queries
            self._bounds[key] = Bound(queries, self._depth, over_rows=over_rows)
        bound = self._bounds[key]
        plan: Plan = convention.lower(bound)
        mass = plan.mass if isinstance(plan, WholePlan) and plan.pooled else None
        settled = settle(convention, bound.queries, Sizes(plan.retrieved.sizes, bound.judged.sizes, plan.empty), mass)
        return Member(convention, plan, settled)

    def _as_one(self, weighting: str | None) -> Queries:
        queries = self._queries
        if weighting == "query_weight" and queries.query_weight is not None:
            return queries.as_one(row_weight=queries.per_row(queries.query_weight))
        return queries.as_one(row_weight=queries.row_weight)


class Work:
    """What is to be computed for scores: shared rankings, and measures of whole queries."""

    def __init__(self, members: list[Member]) -> None:
        self._members = members
        self._groups: dict[np.dtype[Any], list[SharedRanking]] = {}

    def numerators(self, scores: Array, n_threads: int) -> list[Floats]:
        """Numerator of each query for each member; the value itself where its mass is 1, NaN where skipped."""
        found: list[Floats] = [np.empty(0)] * len(self._members)
        for group in self._shared(scores.dtype):
            for place, values in zip(group.numbers, group.values(scores, n_threads), strict=True):
                found[place] = values
        for place, member in enumerate(self._members):
            if isinstance(member.plan, WholePlan):
                found[place] = whole_values(member, member.plan, scores, n_threads)
        return found

    def _shared(self, dtype: np.dtype[Any]) -> list[SharedRanking]:
        if dtype not in self._groups:
            groups: dict[tuple[object, ...], list[int]] = {}
            for place, member in enumerate(self._members):
                if isinstance(member.plan, RankedPlan):
                    ranking = member.plan.ranking
                    # All rows as one query are other queries, though ranked alike.
                    key = (*ranking[:-1], compared_in(ranking.precision, dtype), member.over_rows)
                    groups.setdefault(key, []).append(place)
            self._groups[dtype] = [SharedRanking(places, self._members) for places in groups.values()]
        return self._groups[dtype]


class SharedRanking:
    """Members that rank the same rows in the same way.

    With `computed_only`, queries that no member computes may be passed over where they are ranked: nobody looks at
    their scores then, not even for a NaN.
    """

    def __init__(self, numbers: list[int], members: list[Member], *, computed_only: bool = False) -> None:
        self.numbers = numbers
        self.members = [members[number] for number in numbers]
        self.plans = [cast("RankedPlan", member.plan) for member in self.members]
        self.first = self.plans[0]
        self.k = max(plan.k for plan in self.plans)
        self.ranking = self.first.ranking
        room = n_ranks(self.ranking, self.first.rows.sizes, self.k)
        if computed_only and self.ranking.tied != "whole":  # whose kernel ranks every query
            room = np.where([member.settled.status == COMPUTE for member in self.members], room, 0).max(axis=0)
        self.outptr = offsets(room)
        columns = {column.key: column.values for plan in self.plans for column in plan.columns.values()}
        keys = list(columns)
        self.places = [[keys.index(column.key) for column in plan.columns.values()] for plan in self.plans]
        several = list(columns.values())
        self.columns = several[0][None, :] if len(several) == 1 else writable(np.stack(several))
        by_rows = self.ranking.tied == "rows" and self.ranking.retrieve == "all"
        short = len(self.plans) == 1 and by_rows and self.first.rows.longest <= FEW
        self.at_once = self.first.kernel.short_queries if short else None  # ranks and sums up in one pass

    def values(self, scores: Array, n_threads: int) -> Floats:
        """Value of each query for each member, shape (n_members, n_queries)."""
        indptr = self.first.rows.indptr
        compared, values = comparable(self.ranking, scores), np.empty((len(self.plans), indptr.size - 1))
        if self.at_once is not None and dispatch.runs_compiled():
            run = partial(self._rank_at_once, self.at_once, compared, values)
        else:
            run = partial(self._rank, Ranks.empty(self.ranking, len(self.columns), self.outptr), compared, values)
        _refuse_bad(over_chunks(run, indptr, n_threads), scores)
        for member, own in zip(self.members, values, strict=True):
            member.settled.decide(own)
        return values

    def _rank(self, ranks: Ranks, compared: Array, values: Floats, first: int, last: int) -> list[int]:
        """Rank some queries, then write their values; return the first row whose score is not finite, else -1."""
        part = ranks._replace(outptr=self.outptr[first : last + 1])
        rows = Rows(self.first.rows.order, self.first.rows.indptr[first : last + 1])
        bad = rank(self.ranking, compared, rows, self.k, columns=self.columns, ranks=part)
        if bad < 0:
            for place in range(len(self.plans)):
                self._value(place, slice(first, last), part, values[place, first:last])
        return [bad]

    def _rank_at_once(self, kernel: Kernel, compared: Array, values: Floats, first: int, last: int) -> list[int]:
        """As `_rank`, by a kernel for short queries."""
        plan, inside, indptr = self.first, slice(first, last), self.first.rows.indptr[first : last + 1]
        others = (*plan.by_rank.values(), *(array[inside] for array in plan.by_query.values()), *plan.options.values())
        given = (compared, plan.rows.order, indptr, self.columns[0], plan.k, *others, values[0, inside])
        return [int(dispatch.run(kernel, *given, rows=int(indptr[-1] - indptr[0])))]

    def _value(self, place: int, part: slice, ranks: Ranks, values: Floats) -> None:
        plan = self.plans[place]
        columns = [ranks.columns[column] for column in self.places[place]]
        ends = (ranks.ends,) if plan.ranking.has_ends else ()
        others = (*plan.by_rank.values(), *(array[part] for array in plan.by_query.values()), *plan.options.values())
        dispatch.run(plan.kernel, *columns, *ends, ranks.outptr, plan.k, *others, values)


def whole_values(member: Member, plan: WholePlan, scores: Array, n_threads: int) -> Floats:
    """Numerator of each query, by its mass where the measure is a mean."""
    settled = member.settled
    precision = compared_in(plan.precision, scores.dtype)
    with np.errstate(over="ignore"):  # the kernel refuses what overflowed
        compared = writable(scores.astype(np.float64 if precision == "none" else precision, copy=False))
    found = np.zeros(plan.mass.size)

    def run(first: int, last: int) -> list[int]:
        indptr = plan.rows.indptr[first : last + 1]
        parts = (offset[first : last + 1] for offset in plan.offsets.values())
        others = (*plan.columns.values(), *parts, *plan.options.values(), found[first:last])
        rows = int(indptr[-1] - indptr[0])
        return [int(dispatch.run(plan.kernel, compared, plan.rows.order, indptr, *others, rows=rows))]

    _refuse_bad(over_chunks(run, plan.rows.indptr, n_threads), scores)
    if plan.share:
        np.minimum(found, plan.mass, out=found)  # where all is right, weights may have been added in another order
    if not plan.pooled:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused where it is summed
            np.divide(found, plan.mass, out=found, where=plan.mass > 0)
    settled.decide(found)
    return found


def _refuse_bad(rows: list[int], scores: Array) -> None:
    bad = [row for row in rows if row >= 0]
    if bad:
        raise beyond_float32(bad[0], scores, "the convention", "convention.replace(precision='float64')")


def exact_sum(terms: Floats) -> int:
    """Sum without rounding, in units of 2^-1074."""
    if terms.size <= FEW_TERMS and np.isfinite(terms).all():
        ratios = map(float.as_integer_ratio, terms.tolist())  # over powers of two, at most 2^1074
        return sum((numerator << SMALLEST_EXPONENT) // denominator for numerator, denominator in ratios)
    limbs = np.zeros(LIMBS + 1, np.int64)
    if not dispatch.run(add_exactly, np.ascontiguousarray(terms).view(np.int64), limbs):
        raise InputError("a query's value times its weight overflows float64.", hint="smaller labels or weights")
    return sum(int(limb) << (LIMB_BITS * place) for place, limb in enumerate(limbs) if limb)
