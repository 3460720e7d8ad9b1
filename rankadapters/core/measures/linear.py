"""The plan of measures that sum column x weight over the ranks and divide by a number per query."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Column, RankedPlan
from rankadapters.core.data.columns import Flags, Floats
from rankadapters.core.declaration.fields import Field
from rankadapters.core.measures.ranked import RELEVANT
from rankadapters.core.ranking.ranks import Ranks

DEGREE = Field(
    group=RELEVANT.group,
    about=RELEVANT.about,
    words={"label": "every row, as much as its label says", "judged": "every row that is judged"},
    numbered=RELEVANT.numbered,
    tried=(*RELEVANT.tried, "label"),
)
Degree = Annotated[str, DEGREE]


def degrees(binding: Binding, relevant: str) -> Column:
    """Return the degree of relevance of every row, in the caller's order."""
    if relevant == "label":
        return Column(("label",), binding.labels)
    if relevant == "judged":
        judged = binding.queries.judged
        return (
            binding.row_ones
            if judged is None
            else Column(("judged",), binding.once(("judged",), lambda: judged.astype(float)))
        )
    return binding.relevance(relevant)


def irrelevance(binding: Binding, relevant: str, *, least: float = -math.inf) -> Column:
    """Return 1 for every judged row of a label from `least` on that is not relevant, else 0, in the caller's order."""

    def make() -> Floats:
        judged = binding.queries.judged
        counts = (binding.labels >= least) & (True if judged is None else judged)
        irrelevant: Floats = (counts & (binding.relevance(relevant).values == 0)).astype(float)
        return irrelevant

    key = ("irrelevant", relevant, least)
    return Column(key, binding.once(key, make))


def weighted_sums(ranks: Ranks, column: Floats, weights: Floats, divisor: Floats) -> Floats:
    """Return the sum of column x weight over the ranks of each query, divided by a number of the query."""
    return ranks.discounted_sums(column, weights) / divisor


def plan(
    convention: Any, binding: Binding, column: Column, *, divisor: Floats, empty: Flags, weights: Floats | None = None,
    by: Column | None = None,
) -> RankedPlan:  # fmt: skip
    """Return the plan of sum over ranks 1..k of column x weight / divisor; without `weights` every rank weighs 1."""
    discounts = binding.discounts("power_1", binding.cutoff(convention.k)) if weights is None else weights
    return binding.plan(
        convention, weighted_sums, empty=empty, by=by, by_rank={"weights": discounts},
        by_query={"divisor": np.where(empty, 1.0, divisor)}, column=column, only_sums=True,
    )  # fmt: skip
