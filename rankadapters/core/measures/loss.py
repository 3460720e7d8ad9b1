"""The base class of losses: their fields, and a value that is the ratio of two sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from rankadapters.core.declaration.convention import AVERAGE, Convention
from rankadapters.core.declaration.fields import Field
from rankadapters.core.measures.ranked import MISSING, Unjudged

WEIGHING = Field(
    group=AVERAGE.group,
    about="How the losses of all queries become one: what a row or a pair weighs in the sums.",
    rarity=AVERAGE.rarity,
    words={
        "uniform": "each weighs 1; giving weights is an error, a toolkit's own weights are ignored",
        "query": "by the `query_weight` of its query, 1 each when absent",
        "row": "by `row_weight`, 1 each when absent",
        "pair": "by its weight in `pairs`, 1 each when absent",
    },
    tried=("uniform", "query"),
    ignores=AVERAGE.ignores,
)
OfRows = Annotated[Literal["uniform", "query", "row"], WEIGHING]
OfPairs = Annotated[Literal["uniform", "query", "pair"], WEIGHING]


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss(Convention):
    """A loss as a measure: sum of losses / sum of weights over all queries; lower is better.

    Only retrieved rows count, and a query with weight 0 adds nothing.
    """

    higher_is_better: ClassVar[bool] = False
    in_unit_interval: ClassVar[bool] = False

    missing: Annotated[Literal["skip", "error"], MISSING]
    unjudged: Unjudged

    def limits_of_queries(self) -> tuple[float, float]:
        """Return 0, the loss of perfect scores, and no upper limit."""
        return 0.0, math.inf

    @property
    def pooled(self) -> bool:
        """Whether losses and weights are summed over the queries before the division: yes."""
        return True
