"""FilteredDCG: DCG of the rows whose scores pass a threshold, in the order of the input or by score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.declaration.convention import average_of
from rankadapters.core.declaration.fields import Words
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures.linear import plan
from rankadapters.core.measures.ranked import PRECISION, Discounted, Retrieve

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Bound

COMPARED = Words(
    group=PRECISION.group,
    about=PRECISION.about,
    words={**PRECISION.words, "none": "not at all: the rows that are retrieved all tie"},
    rarity=PRECISION.rarity,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FilteredDCG(Discounted):
    """Discounted cumulative gain of the rows that a score lets through, which need not be ranked by it.

    FilteredDCG@k = sum over ranks i <= k of gain(label of the row at rank i) x discount(i), over the rows retrieved.
    Under `precision="none"` their order is that of `ties`, whatever their scores.

    Parameters
    ----------
    ties
        `average` needs scores that are compared, so it excludes `precision="none"`.

    References
    ----------
    CatBoost 1.2.10, libs/metrics/metric.cpp, `FilteredDCG`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.presets.catboost.filtered_dcg()
    >>> ra.evaluate([1, 1, 1], [0.5, -1, 0.7], conv, group_sizes=[3]).value  # the first row, then the third
    1.5
    """

    measure: ClassVar[str] = "filtered-dcg"
    in_unit_interval: ClassVar[bool] = False

    precision: Annotated[Literal["float64", "float32", "none"], COMPARED]  # type: ignore[assignment]  # one more
    retrieve: Retrieve
    average: Annotated[str, average_of("uniform", "query", geometric=True)]

    def unify(self) -> None:
        """Refuse fields that do not go together."""
        Discounted.unify(self)
        if self.precision == "none" and self.ties == "average":
            msg = "ties='average' is a mean over rows of equal scores, but precision='none' does not compare them."
            raise ConventionError(msg, hint="another order of ties, or precision='float64'")

    def lower(self, bound: Bound) -> RankedPlan:
        """Return the plan: gains by rank."""
        weights = bound.discounts(self.discount, bound.cutoff(self.k))
        return plan(self, bound, bound.graded(self), divisor=bound.ones, empty=bound.none, weights=weights)
