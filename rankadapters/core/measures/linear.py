"""What measures share whose value is a sum over the ranks of degree x weight, by a divisor: oracle and plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from rankadapters.core.binding.plans import Column, RankedPlan
from rankadapters.core.declaration.fields import Words
from rankadapters.core.measures import definition
from rankadapters.core.measures.definition import Row
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

Worth = Callable[[Row], float]


def degree(row: Row, relevant: str) -> float:
    """How relevant a row is, 0 where it is not judged."""
    if relevant == "label":
        return row.label if row.judged else 0.0
    return float(row.judged and (relevant == "judged" or definition.is_beyond(row.label, relevant)))


def degrees(bound: Bound, relevant: str) -> Column:
    """How relevant every row is, in the caller's order."""
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
    """1 for every judged row that is not relevant, else 0, in the caller's order."""

    def make() -> Floats:
        judged = bound.queries.judged
        return (1.0 if judged is None else judged) - bound.relevance(relevant).values

    key = ("irrelevant", relevant)
    return Column(key, bound.once(key, make))


def by_rank(rows: Sequence[Row], convention: Any, worth: Worth, by: Worth | None = None) -> list[float]:
    """What stands at each rank; where ties are averaged every row has the mean of its tie."""
    ties = [[worth(row) for row in tie] for tie in definition.tied(rows, convention, by or worth)]
    if convention.ties == "average":
        ties = [[definition.mean_of(tie)] * len(tie) for tie in ties]
    return [each for tie in ties for each in tie]


def plan(
    convention: Any, bound: Bound, column: Column, *, divisor: Floats, empty: Flags, weights: Floats | None = None,
    by: Column | None = None,
) -> RankedPlan:  # fmt: skip
    """Sum up a column over the ranks 1..k, each with its weight (1 where None), by the divisor of each query."""
    import numpy as np

    from rankadapters.core.kernels.dcg import discounted_sums
    from rankadapters.core.kernels.hits import discounted_means

    # Means are taken in the ranking itself, which keeps no row out.
    keeps_out = convention.ties == "average" and getattr(convention, "retrieve", "all") != "all"
    kernel, below = (discounted_means, "divisor") if keeps_out else (discounted_sums, "ideal")
    discounts = bound.discounts("power_1", bound.cutoff(convention.k)) if weights is None else weights
    return bound.plan(
        convention, kernel, empty=empty, by=by, by_rank={"discounts": discounts},
        by_query={below: np.where(empty, 1.0, divisor)}, ranked=column,
    )  # fmt: skip
