"""Passes over scores: conventions bound to queries, of which those that rank alike share one ranking."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from rankadapters.core.arrays import Array, Floats, Ints
from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan
from rankadapters.core.binding.policies import PolicyDecisions, Sizes, decide_policies, refuse_ignored
from rankadapters.core.classes import lazy_property
from rankadapters.core.data.columns import beyond_float32
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.exact_sums import exact_sum
from rankadapters.core.ranking import compiled
from rankadapters.core.ranking.ranks import NotFiniteError, rank_queries
from rankadapters.evaluation import threads

ROWS_PER_CALL = 2**17  # so that the arrays of a formula stay in the processor's cache
WORK_PER_ROW = threads.WORK_PER_CALL // ROWS_PER_CALL


@dataclass(frozen=True, eq=False)
class Member:
    """A convention with its plan and policy decisions for some queries."""

    convention: Convention
    plan: Plan
    decisions: PolicyDecisions

    def take(self, numbers: Ints) -> Member:
        """Return the member for a subset of the queries; its plan keeps all rows, so the member cannot rank."""
        plan = self.plan if self.plan.mass is None else replace(self.plan, mass=self.plan.mass[numbers])
        return replace(self, plan=plan, decisions=self.decisions.take(numbers))

    @lazy_property
    def over_rows(self) -> bool:
        """Whether all rows are one query."""
        return self.convention.over == "rows"

    @lazy_property
    def denominator(self) -> int:
        """Exact sum of mass times weight."""
        return exact_sum(self.decisions.divisors)

    @property
    def has_value(self) -> bool:
        """Whether the value is defined: as a mean, or by `empty` if no query has a pair."""
        return bool(self.denominator) or self.convention.value_of_nothing is not None

    def values(self, numerators: Floats) -> Floats:
        """Return the value of each query, numerator / mass; NaN for a mass of 0."""
        mass = self.plan.mass if self.plan.pooled else None
        if mass is None:
            return numerators
        values: Floats = np.divide(numerators, mass, out=np.full(numerators.shape, np.nan), where=mass > 0)
        return values

    def terms(self, numerators: Floats) -> Floats:
        """Return the summand of each query in the numerator of the mean."""
        if self.convention.floor is not None:
            numerators = np.log(np.maximum(numerators, self.convention.floor))
        with np.errstate(over="ignore"):  # `exact_sum` raises an error for infinite terms
            terms = numerators * self.decisions.weights
        terms[self.decisions.skipped] = 0.0
        return terms


def bind(queries: Queries, conventions: Sequence[Convention]) -> list[Member]:
    """Bind conventions to queries, checking that the labels and columns fit; shared arrays are computed once.

    Raises
    ------
    InputError
        A label has no gain, a needed column is missing, or the policy for a query is `error`.
    """
    bindings: dict[str | None, Binding] = {}
    depth = _depth(conventions)
    return [_member(convention, queries, bindings, depth) for convention in conventions]


def bind_usable(queries: Queries, conventions: Sequence[Convention]) -> list[Member]:
    """Bind conventions as `bind` does, but skip conventions that it refuses or that would ignore weights."""
    bindings: dict[str | None, Binding] = {}
    members, depth = [], _depth(conventions)
    for convention in conventions:
        with suppress(InputError):
            refuse_ignored([convention], queries)
            members.append(_member(convention, queries, bindings, depth))
    return members


def _depth(conventions: Sequence[Convention]) -> int | None:
    cutoffs = [convention.get("k") for convention in conventions if "k" in convention.fields()]
    return None if None in cutoffs else max(cutoffs, default=1)


def _member(convention: Convention, queries: Queries, bindings: dict[str | None, Binding], depth: int | None) -> Member:
    """Bind a convention; bindings of the same data are kept in `bindings`: by query, or with all rows as one query."""
    over_rows = convention.over == "rows"
    key = f"rows {convention.weighting}" if over_rows else None
    if key not in bindings:
        bound = queries
        if over_rows:
            by_query = queries.query_weight if convention.weighting == "query_weight" else None
            bound = queries.as_one(row_weight=queries.row_weight if by_query is None else queries.per_row(by_query))
        bindings[key] = Binding(bound, depth, over_rows=over_rows)
    binding = bindings[key]
    plan: Plan = convention.lower(binding)
    sizes = Sizes(plan.retrieved.sizes, binding.missing, plan.empty)
    mass = plan.mass if plan.pooled else None
    return Member(convention, plan, decide_policies(convention, binding.queries, sizes, mass))


def numerators(members: list[Member], scores: Array, n_threads: int | None) -> list[Floats]:
    """Return the numerators of each member's queries, NaN for skipped queries; None means all CPUs."""
    if len(members) == 1:
        return list(ranked(members, scores, n_threads))
    groups: dict[object, list[int]] = {}
    for index, member in enumerate(members):
        # A plan of whole queries would make the others of its pass sort all rows.
        groups.setdefault(index if member.plan.k is None else member.plan.ranking, []).append(index)
    results: dict[int, Floats] = {}
    for group in groups.values():
        results |= zip(group, ranked([members[index] for index in group], scores, n_threads), strict=True)
    return [results[index] for index in range(len(members))]


def ranked(members: list[Member], scores: Array, n_threads: int | None) -> Floats:
    """Return the numerator of each query for members that rank alike, shape (n_members, n_queries).

    Unless a measure is pooled, its numerators are divided by the masses of the queries.
    """
    plans = [member.plan for member in members]
    ranking, k = plans[0].ranking, max([plan.k or 0 for plan in plans]) or None
    rows, comparable = ranking.rows, ranking.comparable(scores)
    values = np.empty((len(plans), rows.indptr.size - 1))

    def run(start: int, stop: int) -> list[None]:
        indptr = rows.indptr[start : stop + 1]
        ranks = rank_queries(comparable, rows.order, indptr, k, averaged=ranking.averaged, threshold=ranking.threshold)
        with np.errstate(all="ignore"):  # `exact_sum` checks for values that are not finite
            for plan, of_plan in zip(plans, values, strict=True):
                of_plan[start:stop] = plan.numerators(ranks, start, stop)
        return []

    try:
        if rows.indptr[-1] < threads.ROWS_PER_THREAD:
            run(0, rows.indptr.size - 1)
        else:
            # Such sums need no arrays of all rows: of averaged ties only in machine code.
            arrays_of_ties = ranking.averaged and not compiled.pays(0, comparable.dtype)
            few_arrays = not arrays_of_ties and all(plan.only_sums for plan in plans)
            threads.over_chunks(run, rows.indptr, n_threads, None if few_arrays else rows.indptr * WORK_PER_ROW)
    except NotFiniteError as error:
        fix = "convention.replace(precision='float64')"
        raise beyond_float32(error.row, scores, "the convention", fix) from None
    for member, of_member in zip(members, values, strict=True):
        member.decisions.decide(of_member)
    return values
