"""FallOut: the share of the irrelevant rows at ranks 1..k; lower is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Column, RankedPlan
from rankadapters.core.declaration.convention import Mean
from rankadapters.core.measures.linear import irrelevance, plan
from rankadapters.core.measures.ranked import Empty, Ranked, Relevant, Retrieve, Ties


@dataclass(frozen=True, kw_only=True, slots=True)
class FallOut(Ranked):
    """Fall-out: the share of the irrelevant rows that rank among the first k; lower is better.

    FallOut@k = irrelevant rows at ranks 1..k / all irrelevant rows, which are judged and not relevant. The value is in
    [0, 1].

    Parameters
    ----------
    ties
        `worst` puts irrelevant rows first, which makes the value larger.
    empty
        Here a query is empty if it has no irrelevant rows.

    References
    ----------
    torchmetrics 1.9.0, functional/retrieval/fall_out.py.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.FallOut(k=2, relevant="from_1", ties="input", precision="float64", retrieve="all", short="pad",
    ...                   empty=0, missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([1, 0, 0, 0, 0], [5, 4, 3, 2, 1], conv, group_sizes=[5]).value
    0.25
    """

    measure: ClassVar[str] = "fall-out"
    higher_is_better: ClassVar[bool] = False

    relevant: Relevant
    retrieve: Retrieve
    ties: Ties
    empty: Empty
    average: Mean

    def lower(self, binding: Binding) -> RankedPlan:
        """Return the plan with irrelevance by rank, and the number of irrelevant rows by query."""
        column = irrelevance(binding, self.relevant)
        by = Column(("minus", *column.key), -column.values)
        irrelevant = binding.judged_sums(column)
        return plan(self, binding, column, divisor=irrelevant, empty=irrelevant <= 0, by=by)
