"""Values of every query at many cutoffs, before any policy, from one ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.identify.running_values import DEEP, FORMS, Columns
from rankadapters.core.binding import ranks as binding
from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.binding.ranks import Ranks
from rankadapters.core.binding.running_sums import by_rank
from rankadapters.core.data.columns import Array, non_finite
from rankadapters.core.kernels import dispatch

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Plans:
    """The plan of a formula at each cutoff, None where it has no value."""

    several: list[RankedPlan | None]
    first: RankedPlan
    usable: Flags  # shape (n_cutoffs,)
    empty: Flags  # shape (n_queries, n_cutoffs)
    fixed: Flags  # what a policy decides: with nothing to find, or nothing found; shape (n_cutoffs, n_queries)
    running: dict[int, RankedPlan]  # by place, those whose values come from one pass over the ranks
    by_query: Columns  # what these have for each query, shape (n_running, n_queries)

    @classmethod
    def of(cls, several: list[RankedPlan | None]) -> Plans | None:
        """Put the plans together; None where there is none."""
        some = [plan for plan in several if plan is not None]
        if not some:
            return None
        none = np.zeros(some[0].empty.size, np.bool_)
        empty = np.stack([none if plan is None else plan.empty for plan in several])
        running = {place: plan for place, plan in enumerate(several) if plan is not None and _can_run(plan)}
        columns = zip(*(plan.by_query.values() for plan in running.values()), strict=True)
        return cls(
            several=several, first=some[0], usable=np.array([plan is not None for plan in several]),
            empty=np.ascontiguousarray(empty.T), fixed=empty | (some[0].retrieved.sizes == 0), running=running,
            by_query=tuple(np.stack(each) for each in columns),
        )  # fmt: skip


def _can_run(plan: RankedPlan) -> bool:
    return plan.kernel in FORMS and plan.k <= DEEP


@dataclass(frozen=True, slots=True, eq=False)
class RankedRows:
    """What the rows bring to their ranks, and all values of the ranking's fields that rank alike here."""

    columns: tuple[Array, ...]  # and, where ties are taken together, the end of each tie
    outptr: NDArray[np.int64]
    form: object  # of the kernel that reads them
    choices: list[dict[str, Any]]
    by_rank: dict[int, Columns] = field(default_factory=dict)  # down to some rank, for values at many cutoffs

    def table(self, plans: Plans) -> Floats:
        """Value of each query under the plan of each cutoff, shape (n_queries, n_cutoffs); 0 where it is empty."""
        found = np.zeros((len(plans.several), self.outptr.size - 1))
        if plans.running:
            found[list(plans.running)] = self._running(plans)
        for place, plan in enumerate(plans.several):
            if plan is not None and place not in plans.running:
                others = (*plan.by_rank.values(), *plan.by_query.values(), *plan.options.values())
                dispatch.run(plan.kernel, *self.columns, self.outptr, plan.k, *others, found[place])
        found[plans.fixed] = 0.0
        return np.ascontiguousarray(found.T)

    def _running(self, plans: Plans) -> Floats:
        ks = np.array([plan.k for plan in plans.running.values()])
        deepest = max(plans.running.values(), key=lambda plan: plan.k)
        if deepest.k not in self.by_rank:
            self.by_rank[deepest.k] = tuple(by_rank(column, self.outptr, deepest.k) for column in self.columns)
        columns = self.by_rank[deepest.k]
        found: Floats = FORMS[deepest.kernel](
            columns, ks, *deepest.by_rank.values(), *plans.by_query, *deepest.options.values()
        )
        return found


def form_of(plan: RankedPlan) -> object:
    """Name the kernel of a plan with its options: what a plan divides by is the same for every order of ties."""
    return plan.kernel, *plan.options.values()


def rank(plan: RankedPlan, scores: Array, choice: dict[str, Any]) -> RankedRows:
    """Rank all rows as a plan says.

    Raises
    ------
    InputError
        A score is not finite.
    """
    columns = np.stack([column.values for column in plan.columns.values()])
    ranks = Ranks.empty(plan.ranking, len(columns), plan.rows.indptr)
    bad = binding.rank(plan.ranking, scores, plan.rows, max(1, plan.rows.longest), columns=columns, ranks=ranks)
    if bad >= 0:
        raise non_finite("scores", bad, scores)
    ends = (ranks.ends,) if plan.ranking.has_ends else ()
    return RankedRows((*ranks.columns, *ends), ranks.outptr, form_of(plan), [choice])


def merged(several: Sequence[RankedRows]) -> list[RankedRows]:
    """Make those one that rank alike."""
    found: dict[object, RankedRows] = {}
    for each in several:
        key = (each.form, *(column.tobytes() for column in each.columns))
        found.setdefault(key, RankedRows(each.columns, each.outptr, each.form, [])).choices.extend(each.choices)
    return list(found.values())
