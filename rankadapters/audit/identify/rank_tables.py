"""Values of every query at many cutoffs, before any policy: one ranking, and the measure's kernel at each cutoff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core._kernels import COMPUTE, FIXED, find_kernel
from rankadapters.core._kernels.ranking import ranked_columns, ranked_spans
from rankadapters.core.columns import Array, non_finite, read_only
from rankadapters.core.lowering import offsets
from rankadapters.core.plans import RankedPlan
from rankadapters.core.spelling import border

Floats = NDArray[np.float64]


class PlanAt(NamedTuple):
    """The plan at a cutoff, and which queries its kernel computes: those with something to find and something found."""

    plan: RankedPlan
    status: NDArray[np.uint8]
    fixed: Floats  # what the others are worth

    @classmethod
    def of(cls, plan: RankedPlan) -> PlanAt:
        """Leave out the queries whose value a policy decides."""
        status = np.where(plan.empty | (plan.retrieved.sizes == 0), FIXED, COMPUTE).astype(np.uint8)
        return cls(plan, status, np.zeros(status.size))


@dataclass(frozen=True, slots=True, eq=False)
class RankedRows:
    """What the rows bring to their ranks, and all values of the ranking's fields that rank alike here."""

    columns: tuple[Array, ...]  # and, where ties are taken together, the end of each tie
    outptr: NDArray[np.int64]
    form: object  # of the kernel that reads them
    choices: list[dict[str, Any]]

    def table(self, plans: Sequence[PlanAt | None]) -> Floats:
        """Value of each query under the plan of each cutoff, shape (n_queries, n_cutoffs); 0 where it is empty."""
        found = np.zeros((len(plans), self.outptr.size - 1))
        for at, values in zip(plans, found, strict=True):
            if at is not None:
                plan, status, fixed = at
                find_kernel(plan.kernel)(
                    *self.columns, self.outptr, plan.k, *plan.by_rank, *plan.by_query, *plan.options, status, fixed,
                    values,
                )  # fmt: skip
        return np.ascontiguousarray(found.T)


def form_of(plan: RankedPlan) -> object:
    """Name the kernel of a plan with its options: what a plan divides by is the same for every order of ties."""
    return plan.kernel, plan.options


def rank(plan: RankedPlan, scores: Array, choice: dict[str, Any]) -> RankedRows:
    """Rank all rows as a plan says.

    Raises
    ------
    InputError
        A score is not finite.
    """
    rows, ranking = plan.rows, plan.ranking
    longest = max(1, int(rows.sizes.max(initial=0)))
    columns, given = read_only(np.stack([column.values for column in plan.columns])), read_only(scores)
    outptr = offsets(rows.sizes)
    ranked = np.empty((len(columns), int(outptr[-1])))
    ends: tuple[Array, ...] = ()
    if ranking.tied == "spans" or ranking.retrieve != "all":
        word, bound = border(ranking.retrieve) or ("from", -np.inf)
        several = np.empty(ranked.shape[1], np.int64)
        sums, strict = ranking.tied == "spans", word == "above"
        bad = ranked_spans(
            given, rows.order, rows.indptr, longest, sums, bound, strict, columns, outptr, ranked, several
        )  # fmt: skip
        ends = (several,) if sums else ()
    else:
        means = ranking.tied == "means"
        bad = ranked_columns(given, rows.order, rows.indptr, longest, means, columns, outptr, ranked)
    if bad >= 0:
        raise non_finite("scores", bad, scores)
    return RankedRows((*ranked, *ends), outptr, form_of(plan), [choice])


def merged(several: Sequence[RankedRows]) -> list[RankedRows]:
    """Make those one that rank alike."""
    found: dict[object, RankedRows] = {}
    for each in several:
        key = (each.form, *(column.tobytes() for column in each.columns))
        found.setdefault(key, RankedRows(each.columns, each.outptr, each.form, [])).choices.extend(each.choices)
    return list(found.values())
