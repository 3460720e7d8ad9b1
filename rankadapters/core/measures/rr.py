"""RR: the reciprocal rank of the first relevant row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.declaration.convention import Mean
from rankadapters.core.measures.ranked import Empty, Ranked, Relevant, Retrieve, Ties

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Binding


@dataclass(frozen=True, kw_only=True, slots=True)
class RR(Ranked):
    """Reciprocal rank; its mean is MRR.

    RR@k = 1 / rank of the first relevant row at ranks 1..k, 0 where there is none. The value lies in [0, 1].

    References
    ----------
    Voorhees, The TREC-8 question answering track report, TREC 1999.
    CatBoost 1.2.10, libs/metrics/metric.cpp, `MRR`. trec_eval 9.0.8, m_recip_rank.c.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.RR(k=10, relevant="from_1", ties="average", precision="float64", retrieve="all", short="pad", empty=0,
    ...              missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([0, 1], [0.5, 0.5], conv, group_sizes=[2]).value  # rank 1 or 2, with equal chances
    0.75
    """

    measure: ClassVar[str] = "rr"

    relevant: Relevant
    retrieve: Retrieve
    ties: Ties
    empty: Empty
    average: Mean

    def lower(self, binding: Binding) -> RankedPlan:
        """Return the plan with relevance by rank."""
        from rankadapters.core.kernels.rr import expected_reciprocal_rank, reciprocal_rank

        relevance = binding.relevance(self.relevant)
        kernel = expected_reciprocal_rank if self.ties == "average" else reciprocal_rank
        return binding.plan(self, kernel, empty=binding.judged_sums(relevance) <= 0, gains_by_rank=relevance)
