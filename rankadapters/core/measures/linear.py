"""The plan of measures whose value is a sum over the ranks of degree x weight, divided by a number of the query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from rankadapters.core.binding.plans import Column, RankedPlan
from rankadapters.core.declaration.fields import Words
from rankadapters.core.measures.ranked import RELEVANT

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Bound
    from rankadapters.core.data.columns import Flags, Floats

DEGREE = Words(
    group=RELEVANT.group,
    about=RELEVANT.about,
    words={"label": "every row, as much as its label says", "judged": "every row that is judged"},
    numbered=RELEVANT.numbered,
    tried=(*RELEVANT.tried, "label"),
)
Degree = Annotated[str, DEGREE]


def degrees(bound: Bound, relevant: str) -> Column:
    """Return how relevant every row is, in the caller's order."""
    if relevant == "label":
        return Column(("label",), bound.labels)
    if relevant == "judged":
        judged = bound.queries.judged
        return (
            bound.one_each
            if judged is None
            else Column(("judged",), bound.once(("judged",), lambda: judged.astype(float)))
        )
    return bound.relevance(relevant)


def irrelevance(bound: Bound, relevant: str) -> Column:
    """Return 1 for every judged row that is not relevant, else 0, in the caller's order."""

    def make() -> Floats:
        judged = bound.queries.judged
        return (1.0 if judged is None else judged) - bound.relevance(relevant).values

    key = ("irrelevant", relevant)
    return Column(key, bound.once(key, make))


def plan(
    convention: Any, bound: Bound, column: Column, *, divisor: Floats, empty: Flags, weights: Floats | None = None,
    by: Column | None = None,
) -> RankedPlan:  # fmt: skip
    """Return the plan of sum over ranks 1..k of column x weight / divisor; without `weights` every rank weighs 1."""
    import numpy as np

    from rankadapters.core.kernels.dcg import discounted_sums

    discounts = bound.discounts("power_1", bound.cutoff(convention.k)) if weights is None else weights
    return bound.plan(
        convention, discounted_sums, empty=empty, by=by, by_rank={"discounts": discounts},
        by_query={"ideal": np.where(empty, 1.0, divisor)}, ranked=column,
    )  # fmt: skip
