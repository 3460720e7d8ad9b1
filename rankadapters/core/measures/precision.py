"""Precision: the share of the rows at ranks 1..k that are relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from rankadapters.core.binding.plans import Column, RankedPlan
from rankadapters.core.declaration.convention import Mean
from rankadapters.core.declaration.fields import Words
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures.linear import Degree, degrees, plan
from rankadapters.core.measures.ranked import Empty, Ranked, Retrieve, Ties

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Bound
    from rankadapters.core.data.columns import Floats

DIVISOR = Words(
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
    `"judged"` every judged row counts (Judged@k). The value lies in [0, 1], but for labels above 1 or below 0, and for
    `divisor="one"`.

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
    >>> ra.evaluate([1, 1, 0], [0.9, 0.5, 0.5], conv, group_sizes=[3]).value  # the second or the third row, by chance
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
        """Without a cutoff k is the number of rows retrieved; refuse fields that do not go together."""
        if self.k is None and self.divisor == "k":
            self._set("divisor", "retrieved")
        Ranked.unify(self)
        if self.divisor == "relevant" and self.relevant == "label":
            msg = "divisor='relevant' counts relevant rows, but relevant='label' has only degrees."
            raise ConventionError(msg, hint="divisor='retrieved', or relevant='above_0'")

    def lower(self, bound: Bound) -> RankedPlan:
        """Return the plan: degrees by rank, and the divisor by query."""
        column = degrees(bound, self.relevant)
        counted = column
        if self.relevant == "label":
            counted = Column(("labelled",), bound.once(("labelled",), lambda: (column.values != 0).astype(float)))
        relevant = bound.judged_sums(counted)
        return plan(self, bound, column, divisor=self._divisor(bound, relevant), empty=relevant <= 0)

    def _divisor(self, bound: Bound, relevant: Floats) -> Floats:
        n, k = bound.retrieved(self.unjudged).sizes.astype(float), self.k
        divisors = {
            "k": bound.ones * (k or 1),
            "retrieved": n if k is None else n.clip(max=k),
            "relevant": relevant.clip(max=n if k is None else k),
            "one": bound.ones,
        }
        return divisors[self.divisor].clip(min=1)  # where nothing is retrieved, 0 of 1
