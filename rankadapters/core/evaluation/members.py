"""Members of an evaluator: conventions with their plans and policy decisions, and the rankings that they share."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from rankadapters.core.binding.gains import passes_threshold
from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan, RankedPlan, Ranking, WholePlan
from rankadapters.core.binding.policies import PolicyDecisions, Sizes, decide_policies, refuse_ignored
from rankadapters.core.data.columns import Array, Floats, Ints, beyond_float32
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import border
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.threads import WORK_PER_CALL, over_chunks
from rankadapters.core.evaluation.limbs import exact_sum
from rankadapters.core.ranking.ranks import NotFiniteError, Ranks

RETRIEVED = 1.0  # score of every retrieved row if scores are not compared; other rows get 0
ROWS_PER_CALL = 2**17  # so that the arrays of a formula stay in the processor's cache
WORK_PER_ROW = WORK_PER_CALL // ROWS_PER_CALL


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
    bindings: dict[str | None, Binding] = {}
    return [_member(convention, queries, bindings, _depth(conventions)) for convention in conventions]


def bind_usable(queries: Queries, conventions: list[Convention]) -> list[Member]:
    """Bind conventions as `bind` does, but skip conventions that it refuses or that would ignore weights."""
    bindings: dict[str | None, Binding] = {}
    members = []
    for convention in conventions:
        with suppress(InputError):
            refuse_ignored([convention], queries)
            members.append(_member(convention, queries, bindings, _depth(conventions)))
    return members


def _depth(conventions: list[Convention]) -> int | None:
    cutoffs = [getattr(convention, "k", 1) for convention in conventions]
    return None if None in cutoffs else max(cutoffs, default=1)


def _member(convention: Convention, queries: Queries, bindings: dict[str | None, Binding], depth: int | None) -> Member:
    """Bind a convention; bindings of the same data are kept in `bindings`: by query, or with all rows as one query."""
    over_rows = convention.over == "rows"
    key = f"rows {convention.weighting}" if over_rows else None
    if key not in bindings:
        bound = _as_one(queries, convention.weighting) if over_rows else queries
        bindings[key] = Binding(bound, depth, over_rows=over_rows)
    binding = bindings[key]
    plan: Plan = convention.lower(binding)
    mass = plan.mass if isinstance(plan, WholePlan) and plan.pooled else None
    sizes = Sizes(plan.retrieved.sizes, binding.missing, plan.empty)
    return Member(convention, plan, decide_policies(convention, binding.queries, sizes, mass))


def _as_one(queries: Queries, weighting: str | None) -> Queries:
    if weighting == "query_weight" and queries.query_weight is not None:
        return queries.as_one(row_weight=queries.per_row(queries.query_weight))
    return queries.as_one(row_weight=queries.row_weight)


class Work:
    """Computes numerators from scores; members that rank alike share one ranking."""

    def __init__(self, members: list[Member]) -> None:
        self._members = members
        groups: dict[object, list[int]] = {}
        for index, member in enumerate(members):
            plan = member.plan
            # A ranking of all rows as one query cannot be shared with a ranking by query.
            key = index if isinstance(plan, WholePlan) else (plan.ranking, member.over_rows)
            groups.setdefault(key, []).append(index)
        self._groups = list(groups.values())

    def numerators(self, scores: Array, n_threads: int) -> list[Floats]:
        """Return the numerators of each member's queries; NaN for skipped queries."""
        numerators: list[Floats] = [np.empty(0)] * len(self._members)
        for group in self._groups:
            members = [self._members[index] for index in group]
            whole = isinstance(members[0].plan, WholePlan)
            values = [whole_values(members[0], scores, n_threads)] if whole else ranked(members, scores, n_threads)
            for index, of_member in zip(group, values, strict=True):
                numerators[index] = of_member
        return numerators


def ranked(members: list[Member], scores: Array, n_threads: int) -> Floats:
    """Return the value of each query for members that rank alike, shape (n_members, n_queries)."""
    plans = [cast("RankedPlan", member.plan) for member in members]
    first, k = plans[0], max(plan.k for plan in plans)
    compared, rows = comparable_scores(first.ranking, scores), first.rows
    values = np.empty((len(plans), rows.indptr.size - 1))
    averaged, only_sums = first.ranking.averaged, all(plan.only_sums for plan in plans)

    def run(start: int, stop: int) -> list[None]:
        ranks = Ranks(
            compared, rows.order, rows.indptr[start : stop + 1], k, averaged=averaged, only_sums=only_sums,
            threshold=_threshold(first.ranking),
        )  # fmt: skip
        part = slice(int(rows.indptr[start]), int(rows.indptr[stop]))
        with np.errstate(all="ignore"):  # `exact_sum` checks for values that are not finite
            for plan, of_plan in zip(plans, values, strict=True):
                columns = {name: column.values[part] for name, column in plan.columns.items()}
                by_query = {name: array[start:stop] for name, array in plan.by_query.items()}
                arguments = {**columns, **plan.by_rank, **by_query, **plan.options}
                of_plan[start:stop] = plan.formula(ranks.cut(plan.k), **arguments)
        return []

    _run(run, rows.indptr, scores, n_threads)
    for member, of_member in zip(members, values, strict=True):
        member.decisions.decide(of_member)
    return values


def whole_values(member: Member, scores: Array, n_threads: int) -> Floats:
    """Return the numerator of each query, divided by its mass unless the measure is pooled."""
    plan = cast("WholePlan", member.plan)
    compared, rows, pairs = _rounded(scores, plan.precision), plan.rows, plan.pairs
    values = np.zeros(plan.mass.size)

    def run(start: int, stop: int) -> list[None]:
        ranks = Ranks(compared, rows.order, rows.indptr[start : stop + 1], averaged=True)
        part = slice(int(rows.indptr[start]), int(rows.indptr[stop]))
        of_queries = () if pairs is None else (pairs.of_queries(start, stop, part.start),)
        with np.errstate(all="ignore"):
            columns = {name: column[part] for name, column in plan.columns.items()}
            values[start:stop] = plan.formula(ranks, *of_queries, **columns, **plan.options)
        return []

    _run(run, rows.indptr, scores, n_threads)
    if plan.share:
        np.minimum(values, plan.mass, out=values)  # rounding can make the mass smaller, which adds in a different order
    if not plan.pooled:
        with np.errstate(over="ignore", invalid="ignore"):  # `exact_sum` raises an error for non-finite values
            np.divide(values, plan.mass, out=values, where=plan.mass > 0)
    member.decisions.decide(values)
    return values


def _run(run: Any, indptr: Ints, scores: Array, n_threads: int) -> None:
    try:
        over_chunks(run, indptr, n_threads, indptr * WORK_PER_ROW)
    except NotFiniteError as error:
        fix = "convention.replace(precision='float64')"
        raise beyond_float32(error.row, scores, "the convention", fix) from None


def comparable_scores(ranking: Ranking, scores: Array) -> Array:
    """Return the scores in the precision in which they are compared; float32 scores stay float32."""
    if ranking.precision == "none":
        values = scores.astype(np.float64)
        return np.where(np.isfinite(values), passes_threshold(values, ranking.retrieve), values)
    return _rounded(scores, ranking.precision)


def _rounded(scores: Array, precision: str) -> Array:
    """Return scores in a precision; float32 scores are only converted to float64 where they are used as numbers."""
    if precision != "none" and scores.dtype == np.float32:
        return scores
    with np.errstate(over="ignore"):  # an infinite score is refused later
        return scores.astype("float64" if precision == "none" else precision, copy=False)


def _threshold(ranking: Ranking) -> tuple[float, bool] | None:
    """Return the score threshold of retrieval, and whether a row with exactly this score is not retrieved."""
    if ranking.retrieve == "all":
        return None
    word, threshold = border(ranking.retrieve) or ("from", -np.inf)
    return (RETRIEVED, False) if ranking.precision == "none" else (threshold, word == "above")
