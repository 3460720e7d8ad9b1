"""FMeasure: precision and recall at k in one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.declaration.convention import Mean
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.measures.linear import plan
from rankadapters.core.measures.precision import DIVISOR
from rankadapters.core.measures.ranked import Empty, Ranked, Relevant, Retrieve, Ties

BETA_SQUARED = Field(
    group="value", about="How much recall weighs in comparison with precision, squared.", numbers=Range(0), tried=(1.0,),
    further=(0.25, 4.0),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class FMeasure(Ranked):
    """F: the harmonic mean of precision and recall at k.

    F@k = (x + 1) P R / (x P + R), x = beta^2, P = relevant rows at ranks 1..k / divisor, R = these / all relevant rows.
    The value lies in [0, 1].

    Parameters
    ----------
    divisor
        It is the divisor of the precision.
    beta_squared
        It is x in the formula: 1 weighs precision and recall alike, 0 gives the precision.

    References
    ----------
    van Rijsbergen, Information Retrieval, 2nd ed., 1979, chapter 7. trec_eval 9.0.8, m_set_F.c, whose parameter is x.
    ranx 0.3.21, metrics/f1.py.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.FMeasure(k=2, relevant="from_1", divisor="k", beta_squared=1, ties="input", precision="float64",
    ...                    retrieve="all", short="pad", empty=0, missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([1, 0, 1, 0], [4, 3, 2, 1], conv, group_sizes=[4]).value  # precision and recall are 1/2
    0.5
    """

    measure: ClassVar[str] = "f-measure"

    relevant: Relevant
    divisor: Annotated[Literal["k", "retrieved"], DIVISOR]
    beta_squared: Annotated[float, BETA_SQUARED]
    retrieve: Retrieve
    ties: Ties
    empty: Empty
    average: Mean

    def unify(self) -> None:
        """Without a cutoff, change divisor="k" to "retrieved"."""
        if self.k is None:
            self._set("divisor", "retrieved")
        Ranked.unify(self)

    def lower(self, binding: Binding) -> RankedPlan:
        """Return the plan with relevance by rank: F = (x + 1) hits / (x R + divisor of the precision), x = beta^2."""
        column, n, x = binding.relevance(self.relevant), binding.retrieved(self.unjudged).sizes, self.beta_squared
        relevant = binding.judged_sums(column)
        n_top = n if self.k is None else n.clip(max=self.k)
        precision_divisor = binding.query_ones * (self.k or 1) if self.divisor == "k" else n_top
        divisor = (x * relevant + precision_divisor) / (x + 1)
        return plan(self, binding, column, divisor=divisor.clip(min=1 / (x + 1)), empty=relevant <= 0)
