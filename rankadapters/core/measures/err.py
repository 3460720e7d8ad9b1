"""ERR: the expected reciprocal of the rank at which a reader stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.declaration.convention import average_of
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.measures.ranked import Discounted

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Binding

SCALE = Field(
    group="value",
    about="What a gain is divided by to be the probability that a reader stops at the row.",
    numbers=Range(0, above=True),
    tried=(16.0, 1.0),
    further=(2.0, 3.0, 4.0, 5.0, 8.0, 15.0, 32.0),
)
COMPLEMENT = Field(
    group="value",
    about="In which precision the complement of a probability is rounded.",
    words={"float64": "double", "float32": "single"},
    tried=("float64",),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ERR(Discounted):
    """Expected reciprocal rank, and with `discount="power_0.85"` PFound.

    ERR@k = sum over ranks i <= k of discount(i) x p_i x product over j < i of (1 - p_j), p = gain / scale. The value
    lies in [0, 1] where every p does; a p outside [0, 1] is used as it is.

    Parameters
    ----------
    scale
        Use 16 for gains 2^label - 1 of labels up to 4, and 1 where the label is a probability.
    discount
        `reciprocal` is the discount of ERR, `power_0.85` that of PFound.
    complement
        CatBoost rounds to `float32`.
    ties
        `average` takes time that grows with the square of a tie's length.

    References
    ----------
    Chapelle, Metlzer, Zhang & Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009, equation 7.
    CatBoost 1.2.10, libs/metrics/metric.cpp, `ERR`, and pfound.h.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.ERR(k=10, gain="linear", scale=1, discount="reciprocal", complement="float64", ties="input",
    ...               precision="float64", short="pad", missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([0.5, 1], [2, 1], conv, group_sizes=[2]).value  # stops at row 1 or 2, with chance 1/2 each
    0.75
    """

    measure: ClassVar[str] = "err"
    in_unit_interval: ClassVar[bool] = False

    scale: Annotated[float, SCALE]
    complement: Annotated[Literal["float64", "float32"], COMPLEMENT]
    average: Annotated[str, average_of("uniform", "query", geometric=True)]

    def doubt(self, labels: Any) -> tuple[Any, str] | None:
        """Return which labels give a stop probability outside [0, 1], and a message; None if no label does."""
        from rankadapters.core.binding.gains import gains_of

        chances = gains_of(labels, None, self.gain) / self.scale
        bad = (chances < 0) | (chances > 1)
        if not bad.any():
            return None
        chance = float(chances[bad][0])
        return bad, (
            f"a chance to stop of {chance:g}, which is not from 0 to 1: the value is the sum of the formula, but not a "
            "probability.\nHint: map the labels to chances, or convention.replace(scale=<largest gain>)."
        )

    def lower(self, binding: Binding) -> RankedPlan:
        """Return the plan with gains by rank."""
        from rankadapters.core.kernels.err import cascade, expected_cascade

        discounts = binding.discounts(self.discount, binding.cutoff(self.k))
        return binding.plan(
            self, expected_cascade if self.ties == "average" else cascade, empty=binding.no_queries,
            by_rank={"discounts": discounts}, gains_by_rank=binding.ranking_gains(self),
            options={"scale": self.scale, "in_float32": self.complement == "float32"},
        )  # fmt: skip
