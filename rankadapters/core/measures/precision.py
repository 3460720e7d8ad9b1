"""Precision: the share of the rows at ranks 1..k that are relevant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Column, RankedPlan
from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Mean
from rankadapters.core.declaration.fields import Field
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures.linear import Degree, degrees, plan
from rankadapters.core.measures.ranked import Empty, Ranked, Retrieve, Ties

DIVISOR = Field(
    group="value",
    about="What the relevant rows at ranks 1..k are divided by.",
    words={
        "k": "k",
        "retrieved": "min(k, n), n the number of rows retrieved",
        "relevant": "min(k, R), R the number of relevant rows; without a cutoff min(n, R)",
        "one": "nothing: the value is a count",
    },
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Precision(Ranked):
    """Precision: the share of relevant rows among the first k.

    P@k = relevant rows at ranks 1..k / divisor. Under `relevant="label"` a row counts its label (average gain), under
    `"judged"` every judged row counts (Judged@k). The value lies in [0, 1], unless a label is above 1 or below 0 or
    `divisor` is `"one"`.

    Parameters
    ----------
    empty
        Under `relevant="label"` a query is empty if all its labels are 0.

    References
    ----------
    trec_eval 9.0.8, m_P.c, m_relative_P.c, m_set_P.c. CatBoost 1.2.10, libs/metrics/precision_recall_at_k.cpp, and
    metric.cpp, `AverageGain`. XGBoost 3.2.0, src/metric/rank_metric.cc, `pre`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Precision(k=2, relevant="from_1", divisor="k", ties="average", precision="float64", retrieve="all",
    ...                     short="pad", empty=0, missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([1, 1, 0], [0.9, 0.5, 0.5], conv, group_sizes=[3]).value  # rank 2 is row 2 or 3, with equal chances
    0.75
    """

    measure: ClassVar[str] = "precision"
    in_unit_interval: ClassVar[bool] = False

    relevant: Degree
    divisor: Annotated[Literal["k", "retrieved", "relevant", "one"], DIVISOR]
    retrieve: Retrieve
    ties: Ties
    empty: Empty
    average: Mean

    def unify(self) -> None:
        """Without a cutoff, change divisor="k" to "retrieved"; refuse fields that contradict each other."""
        if self.k is None and self.divisor == "k":
            self._set("divisor", "retrieved")
        Ranked.unify(self)
        if self.divisor == "relevant" and self.relevant == "label":
            msg = "divisor='relevant' counts relevant rows, but relevant='label' has only degrees."
            raise ConventionError(msg, hint="divisor='retrieved', or relevant='above_0'")

    def limits_of_queries(self) -> tuple[float, float]:
        """Return 0 and 1, but no limits if labels are counted, and none above for a count."""
        if self.relevant == "label":
            return -math.inf, math.inf
        return 0.0, math.inf if self.divisor == "one" else 1.0

    def lower(self, binding: Binding) -> RankedPlan:
        """Return the plan with degrees of relevance by rank, and the divisor by query."""
        column = degrees(binding, self.relevant)
        nonzero = column
        if self.relevant == "label":
            nonzero = Column(("nonzero",), binding.once(("nonzero",), lambda: (column.values != 0).astype(float)))
        relevant = binding.judged_sums(nonzero)
        return plan(self, binding, column, divisor=self._divisor(binding, relevant), empty=relevant <= 0)

    def _divisor(self, binding: Binding, relevant: Floats) -> Floats:
        n, k = binding.retrieved(self.unjudged).sizes.astype(float), self.k
        divisors = {
            "k": binding.query_ones * (k or 1),
            "retrieved": n if k is None else n.clip(max=k),
            "relevant": relevant.clip(max=n if k is None else k),
            "one": binding.query_ones,
        }
        return divisors[self.divisor].clip(min=1)  # if nothing is retrieved, the value is 0 / 1
