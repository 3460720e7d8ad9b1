"""Recall: the share of the relevant rows at ranks 1..k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.declaration.convention import Mean
from rankadapters.core.measures.linear import plan
from rankadapters.core.measures.ranked import Empty, Ranked, Relevant, Retrieve, Ties


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall(Ranked):
    """Recall: the share of the relevant rows that rank among the first k.

    R@k = relevant rows at ranks 1..k / R, where R counts all judged relevant rows. The value lies in [0, 1].

    References
    ----------
    trec_eval 9.0.8, m_recall.c. CatBoost 1.2.10, libs/metrics/precision_recall_at_k.cpp.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Recall(k=2, relevant="from_1", ties="input", precision="float64", retrieve="all", short="pad",
    ...                  empty=0, missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([1, 0, 1, 1, 1], [5, 4, 3, 2, 1], conv, group_sizes=[5]).value
    0.25
    """

    measure: ClassVar[str] = "recall"

    relevant: Relevant
    retrieve: Retrieve
    ties: Ties
    empty: Empty
    average: Mean

    def lower(self, binding: Binding) -> RankedPlan:
        """Return the plan with relevance by rank, and the number of relevant rows by query."""
        column = binding.relevance(self.relevant)
        relevant = binding.judged_sums(column)
        return plan(self, binding, column, divisor=relevant, empty=relevant <= 0)
