"""Members of an evaluator: conventions with their plans and policy decisions, and the rankings that they share."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan, RankedPlan, WholePlan
from rankadapters.core.binding.policies import PolicyDecisions, Sizes, decide_policies, refuse_ignored
from rankadapters.core.binding.ranks import Ranks, comparable_scores, comparison_dtype, n_ranks, rank
from rankadapters.core.data.columns import Array, Floats, Ints, beyond_float32, offsets
from rankadapters.core.data.queries import Queries
from rankadapters.core.data.rows import Rows
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.limbs import exact_sum
from rankadapters.core.evaluation.threads import over_chunks
from rankadapters.core.kernels import COMPUTE, FEW, Kernel, dispatch
from rankadapters.core.kernels.views import writable


@dataclass(frozen=True, eq=False)
class Member:
    """A convention with its plan and policy decisions for some queries."""

    convention: Convention
    plan: Plan
    decisions: PolicyDecisions

    def take(self, numbers: Ints) -> Member:
        """Return the member for a subset of the queries; its plan keeps all rows, so the member cannot rank."""
        plan = replace(self.plan, mass=self.plan.mass[numbers]) if isinstance(self.plan, WholePlan) else self.plan
        return replace(self, plan=plan, decisions=self.decisions.take(numbers))

    @cached_property
    def over_rows(self) -> bool:
        """Whether all rows are one query."""
        return self.convention.over == "rows"

    @cached_property
    def denominator(self) -> int:
        """Exact sum of mass times weight."""
        return exact_sum(self.decisions.divisors)

    @property
    def has_value(self) -> bool:
        """Whether the value is defined: as a mean, or by `empty` if no query has a pair."""
        empty = getattr(self.convention, "empty", None)
        return bool(self.denominator) or (self.convention.over == "pairs" and isinstance(empty, float))

    @property
    def mass(self) -> Floats | None:
        """Divisor of each query's numerator; None if it is 1 for all."""
        return self.plan.mass if isinstance(self.plan, WholePlan) and self.plan.pooled else None


def bind(queries: Queries, conventions: list[Convention]) -> list[Member]:
    """Bind conventions to queries, checking that the labels and columns fit; shared arrays are computed once.

    Raises
    ------
    InputError
        A label has no gain, a needed column is missing, or the policy for a query is `error`.
    """
    bindings = _Bindings(queries, conventions)
    return [bindings.member(convention) for convention in conventions]


def bind_usable(queries: Queries, conventions: list[Convention]) -> list[Member]:
    """Bind conventions as `bind` does, but skip conventions that it refuses or that would ignore weights."""
    bindings, members = _Bindings(queries, conventions), []
    for convention in conventions:
        with suppress(InputError):
            refuse_ignored([convention], queries)
            members.append(bindings.member(convention))
    return members


class _Bindings:
    """Makes and caches bindings of the same data: by query, or with all rows as one query."""

    def __init__(self, queries: Queries, conventions: list[Convention]) -> None:
        cutoffs = [getattr(convention, "k", 1) for convention in conventions]
        self._depth = None if None in cutoffs else max(cutoffs, default=1)
        self._queries = queries
        self._bindings: dict[str | None, Binding] = {}

    def member(self, convention: Convention) -> Member:
        """Bind a convention."""
        over_rows = convention.over == "rows"
        key = f"rows {convention.weighting}" if over_rows else None
        if key not in self._bindings:
            queries = self._as_one(convention.weighting) if over_rows else self._queries
            self._bindings[key] = Binding(queries, self._depth, over_rows=over_rows)
        binding = self._bindings[key]
        plan: Plan = convention.lower(binding)
        mass = plan.mass if isinstance(plan, WholePlan) and plan.pooled else None
        sizes = Sizes(plan.retrieved.sizes, binding.missing, plan.empty)
        return Member(convention, plan, decide_policies(convention, binding.queries, sizes, mass))

    def _as_one(self, weighting: str | None) -> Queries:
        queries = self._queries
        if weighting == "query_weight" and queries.query_weight is not None:
            return queries.as_one(row_weight=queries.per_row(queries.query_weight))
        return queries.as_one(row_weight=queries.row_weight)


class Work:
    """Computes numerators from scores; members that rank alike share one ranking."""

    def __init__(self, members: list[Member]) -> None:
        self._members = members
        self._groups: dict[np.dtype[Any], list[SharedRanking]] = {}

    def numerators(self, scores: Array, n_threads: int) -> list[Floats]:
        """Return the numerators of each member's queries; NaN for skipped queries."""
        numerators: list[Floats] = [np.empty(0)] * len(self._members)
        for group in self._shared(scores.dtype):
            for index, values in zip(group.indices, group.values(scores, n_threads), strict=True):
                numerators[index] = values
        for index, member in enumerate(self._members):
            if isinstance(member.plan, WholePlan):
                numerators[index] = whole_values(member, member.plan, scores, n_threads)
        return numerators

    def _shared(self, dtype: np.dtype[Any]) -> list[SharedRanking]:
        if dtype not in self._groups:
            groups: dict[tuple[object, ...], list[int]] = {}
            for index, member in enumerate(self._members):
                if isinstance(member.plan, RankedPlan):
                    ranking = member.plan.ranking
                    # Rankings of all rows as one query cannot be shared with rankings by query.
                    key = (*ranking[:-1], comparison_dtype(ranking.precision, dtype), member.over_rows)
                    groups.setdefault(key, []).append(index)
            self._groups[dtype] = [SharedRanking(indices, self._members) for indices in groups.values()]
        return self._groups[dtype]


class SharedRanking:
    """Members that rank the same rows in the same way.

    With `computed_only`, queries that no member computes may be skipped; their scores are then not checked for NaN.
    """

    def __init__(self, indices: list[int], members: list[Member], *, computed_only: bool = False) -> None:
        self.indices = indices
        self.members = [members[index] for index in indices]
        self.plans = [cast("RankedPlan", member.plan) for member in self.members]
        self.first = self.plans[0]
        self.k = max(plan.k for plan in self.plans)
        self.ranking = self.first.ranking
        rank_counts = n_ranks(self.ranking, self.first.rows.sizes, self.k)
        if computed_only and self.ranking.tied != "whole":  # for whole ties, every query is ranked
            computed = np.any([member.decisions.status == COMPUTE for member in self.members], axis=0)
            rank_counts = np.where(computed, rank_counts, 0)
        self.outptr = offsets(rank_counts)
        columns = {column.key: column.values for plan in self.plans for column in plan.columns.values()}
        keys = list(columns)
        self.column_indices = [[keys.index(column.key) for column in plan.columns.values()] for plan in self.plans]
        arrays = list(columns.values())
        self.columns = arrays[0][None, :] if len(arrays) == 1 else writable(np.stack(arrays))
        by_rows = self.ranking.tied == "rows" and self.ranking.retrieve == "all"
        short = len(self.plans) == 1 and by_rows and self.first.rows.longest <= FEW
        self.one_pass_kernel = self.first.kernel.short_queries if short else None  # ranks and sums in one pass

    def values(self, scores: Array, n_threads: int) -> Floats:
        """Return the value of each query for each member, shape (n_members, n_queries)."""
        indptr = self.first.rows.indptr
        compared, values = comparable_scores(self.ranking, scores), np.empty((len(self.plans), indptr.size - 1))
        if self.one_pass_kernel is not None and dispatch.runs_compiled():
            run = partial(self._rank_in_one_pass, self.one_pass_kernel, compared, values)
        else:
            run = partial(self._rank, Ranks.empty(self.ranking, len(self.columns), self.outptr), compared, values)
        _refuse_bad(over_chunks(run, indptr, n_threads), scores)
        for member, member_values in zip(self.members, values, strict=True):
            member.decisions.decide(member_values)
        return values

    def _rank(self, ranks: Ranks, compared: Array, values: Floats, first: int, last: int) -> list[int]:
        """Rank queries `first` to `last` and write their values; return a row whose score is not finite, else -1."""
        part = ranks._replace(outptr=self.outptr[first : last + 1])
        rows = Rows(self.first.rows.order, self.first.rows.indptr[first : last + 1])
        bad = rank(self.ranking, compared, rows, self.k, columns=self.columns, ranks=part)
        if bad < 0:
            for index in range(len(self.plans)):
                self._evaluate(index, slice(first, last), part, values[index, first:last])
        return [bad]

    def _rank_in_one_pass(self, kernel: Kernel, compared: Array, values: Floats, first: int, last: int) -> list[int]:
        """Rank and evaluate as `_rank` does, with a kernel for short queries."""
        plan, queries, indptr = self.first, slice(first, last), self.first.rows.indptr[first : last + 1]
        by_query = (array[queries] for array in plan.by_query.values())
        further = (*plan.by_rank.values(), *by_query, *plan.options.values())
        arguments = (compared, plan.rows.order, indptr, self.columns[0], plan.k, *further, values[0, queries])
        return [int(dispatch.run(kernel, *arguments, rows=int(indptr[-1] - indptr[0])))]

    def _evaluate(self, index: int, queries: slice, ranks: Ranks, values: Floats) -> None:
        plan = self.plans[index]
        columns = [ranks.columns[column] for column in self.column_indices[index]]
        ends = (ranks.ends,) if plan.ranking.has_ends else ()
        by_query = (array[queries] for array in plan.by_query.values())
        further = (*plan.by_rank.values(), *by_query, *plan.options.values())
        dispatch.run(plan.kernel, *columns, *ends, ranks.outptr, plan.k, *further, values)


def whole_values(member: Member, plan: WholePlan, scores: Array, n_threads: int) -> Floats:
    """Return the numerator of each query, divided by its mass unless the measure is pooled."""
    decisions = member.decisions
    precision = comparison_dtype(plan.precision, scores.dtype)
    with np.errstate(over="ignore"):  # the kernel refuses infinite scores
        compared = writable(scores.astype(np.float64 if precision == "none" else precision, copy=False))
    values = np.zeros(plan.mass.size)

    def run(first: int, last: int) -> list[int]:
        indptr = plan.rows.indptr[first : last + 1]
        parts = (offset[first : last + 1] for offset in plan.offsets.values())
        further = (*plan.columns.values(), *parts, *plan.options.values(), values[first:last])
        rows = int(indptr[-1] - indptr[0])
        return [int(dispatch.run(plan.kernel, compared, plan.rows.order, indptr, *further, rows=rows))]

    _refuse_bad(over_chunks(run, plan.rows.indptr, n_threads), scores)
    if plan.share:
        np.minimum(values, plan.mass, out=values)  # rounding can make the mass smaller, which adds in a different order
    if not plan.pooled:
        with np.errstate(over="ignore", invalid="ignore"):  # `exact_sum` raises an error for non-finite values
            np.divide(values, plan.mass, out=values, where=plan.mass > 0)
    decisions.decide(values)
    return values


def _refuse_bad(rows: list[int], scores: Array) -> None:
    bad = [row for row in rows if row >= 0]
    if bad:
        raise beyond_float32(bad[0], scores, "the convention", "convention.replace(precision='float64')")
