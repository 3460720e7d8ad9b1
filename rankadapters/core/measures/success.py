"""Success: whether any relevant row is at ranks 1..k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Mean
from rankadapters.core.measures.ranked import Empty, Ranked, Relevant, Retrieve, Ties
from rankadapters.core.measures.rr import first_chances, first_hits
from rankadapters.core.ranking.ranks import Ranks
from rankadapters.core.ranking.segments import sums


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
        relevance = binding.relevance(self.relevant)
        averaged = self.ties == "average"
        formula = chance_of_success if averaged else success
        empty = binding.judged_sums(relevance) <= 0
        return binding.plan(self, formula, empty=empty, relevance=relevance)


def success(ranks: Ranks, relevance: Floats) -> Floats:
    """Return 1 for a query with a relevant row, else 0."""
    return first_hits(ranks, relevance)[1].astype(np.float64)


def chance_of_success(ranks: Ranks, relevance: Floats) -> Floats:
    """Return the expectation of `success` over all orders of tied rows; a sum of chances keeps small digits."""
    at, tie, chances = first_chances(ranks, relevance)
    query = ranks.query[at]
    values = np.minimum(sums(chances, query, ranks.sizes.size), 1.0)
    # Of the n rows of the tie, m have ranks up to k: with more than n - r of them, one is surely relevant.
    m, n, r = np.bincount(query)[query], ranks.ties.sizes[tie], ranks.tie_sums(relevance)[tie]
    values[query[m > n - r]] = 1.0
    return values
