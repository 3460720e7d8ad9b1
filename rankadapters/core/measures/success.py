"""Success: whether any relevant row is at ranks 1..k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.declaration.convention import Mean
from rankadapters.core.measures.ranked import Empty, Ranked, Relevant, Retrieve, Ties

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Binding


@dataclass(frozen=True, kw_only=True, slots=True)
class Success(Ranked):
    """Success, or hit rate: whether there is a relevant row among the first k.

    Success@k = 1 if a relevant row is at ranks 1..k, else 0. Under averaged ties the value is a probability.

    References
    ----------
    trec_eval 9.0.8, m_success.c. ranx 0.3.21, metrics/hit_rate.py.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Success(k=1, relevant="from_1", ties="average", precision="float64", retrieve="all", short="pad",
    ...                   empty=0, missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([0, 1, 0, 0], [0.5, 0.5, 0.5, 0.5], conv, group_sizes=[4]).value  # 1 of 4 rows
    0.25
    """

    measure: ClassVar[str] = "success"

    relevant: Relevant
    retrieve: Retrieve
    ties: Ties
    empty: Empty
    average: Mean

    def lower(self, binding: Binding) -> RankedPlan:
        """Return the plan with relevance by rank."""
        from rankadapters.core.kernels.hits import any_relevant, chance_of_any_relevant

        relevance = binding.relevance(self.relevant)
        kernel = chance_of_any_relevant if self.ties == "average" else any_relevant
        return binding.plan(self, kernel, empty=binding.judged_sums(relevance) <= 0, gains_by_rank=relevance)
