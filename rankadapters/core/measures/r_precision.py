"""RPrecision: precision at rank R, for R relevant rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.data.columns import Floats, Ints
from rankadapters.core.declaration.convention import Convention, Mean
from rankadapters.core.measures.ranked import Empty, Missing, Precision, Relevant, Ties, Unjudged
from rankadapters.core.ranking.ranks import Ranks


@dataclass(frozen=True, kw_only=True, slots=True)
class RPrecision(Convention):
    """R-precision: the share of relevant rows among the first R, where R is the number of relevant rows.

    Rprec = relevant rows at ranks 1..R / R, where R counts all judged relevant rows. The value lies in [0, 1].

    References
    ----------
    trec_eval 9.0.8, m_Rprec.c. ranx 0.3.21, metrics/r_precision.py. torchmetrics 1.9.0, `RetrievalRPrecision`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.RPrecision(relevant="from_1", ties="input", precision="float64", empty=0, missing="error",
    ...                      unjudged="error", average="uniform")
    >>> ra.evaluate([1, 0, 1, 0], [4, 3, 2, 1], conv, group_sizes=[4]).value
    0.5
    """

    measure: ClassVar[str] = "r-precision"

    relevant: Relevant
    ties: Ties
    precision: Precision
    empty: Empty
    missing: Missing
    unjudged: Unjudged
    average: Mean

    def lower(self, binding: Binding) -> RankedPlan:
        """Return the plan with relevance by rank, and the number of relevant rows by query."""
        column = binding.relevance(self.relevant)
        relevant = binding.judged_sums(column).astype(int)
        return binding.plan(
            self, precision_at_cutoffs, k=binding.cutoff(max(1, int(relevant.max(initial=0)))), empty=relevant <= 0,
            by_query={"cutoffs": relevant.clip(min=1)}, relevance=column,
        )  # fmt: skip


def precision_at_cutoffs(ranks: Ranks, relevance: Floats, cutoffs: Ints) -> Floats:
    """Return the sum of the relevance over the ranks up to each query's own cutoff, divided by that cutoff."""
    within = ranks.rank < cutoffs[ranks.query]
    return ranks.sums(np.where(within, ranks.take(relevance), 0.0)) / cutoffs
