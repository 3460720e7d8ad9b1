"""FilteredDCG: DCG of the rows whose scores pass a threshold, in the order of the input or by score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan
from rankadapters.core.declaration.convention import average_of
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures.ranked import PRECISION, Discounted, Retrieve, plan

COMPARED = replace(PRECISION, words={**PRECISION.words, "none": "not at all: the rows that are retrieved all tie"})


@dataclass(frozen=True, kw_only=True, slots=True)
class FilteredDCG(Discounted):
    """Discounted cumulative gain of the rows whose scores pass a threshold, ranked by score or in input order.

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

    precision: Annotated[Literal["float64", "float32", "none"], COMPARED]  # type: ignore[assignment]  # adds "none"
    retrieve: Retrieve
    average: Annotated[str, average_of("uniform", "query", geometric=True)]

    def unify(self) -> None:
        """Refuse fields that contradict each other."""
        Discounted.unify(self)
        if self.precision == "none" and self.ties == "average":
            msg = "ties='average' is a mean over rows of equal scores, but precision='none' does not compare them."
            raise ConventionError(msg, hint="another order of ties, or precision='float64'")

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with gains by rank."""
        gains = binding.ranking_gains(self.gain, self.unjudged)
        discounts = binding.discounts(self.discount, binding.cutoff(self.k))
        return plan(self, binding, gains, divisor=binding.query_ones, empty=binding.no_queries, weights=discounts)
