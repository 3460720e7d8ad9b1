"""RR: the reciprocal rank of the first relevant row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.data.columns import Flags, Floats, Ints
from rankadapters.core.declaration.convention import Mean
from rankadapters.core.measures.ranked import Empty, Ranked, Relevant, Retrieve, Ties
from rankadapters.core.ranking.ranks import Ranks
from rankadapters.core.ranking.segments import offsets, running, sums


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
        relevance = binding.relevance(self.relevant)
        averaged = self.ties == "average"
        formula = expected_reciprocal_rank if averaged else reciprocal_rank
        empty = binding.judged_sums(relevance) <= 0
        return binding.plan(self, formula, empty=empty, relevance=relevance)


def reciprocal_rank(ranks: Ranks, relevance: Floats) -> Floats:
    """Return 1 / rank of each query's first relevant row, 0 if there is none."""
    rank, is_found = first_hits(ranks, relevance)
    return np.where(is_found, 1.0 / (rank + 1), 0.0)


def first_hits(ranks: Ranks, relevance: Floats) -> tuple[Ints, Flags]:
    """Return the rank of each query's first relevant row, from 0, and whether there is one at the ranks 1..k."""
    hits = np.append(np.flatnonzero(ranks.take(relevance) > 0), ranks.outptr[-1])
    rank = hits[np.searchsorted(hits, ranks.outptr[:-1])] - ranks.outptr[:-1]
    return rank, rank < np.diff(ranks.outptr)


def expected_reciprocal_rank(ranks: Ranks, relevance: Floats) -> Floats:
    """Return the expectation of `reciprocal_rank` over all orders of tied rows."""
    at, _, chances = first_chances(ranks, relevance)
    return sums(chances / (ranks.rank[at] + 1), ranks.query[at], ranks.sizes.size)


def first_chances(ranks: Ranks, relevance: Floats) -> tuple[Ints, Ints, Floats]:
    """Return the ranks of each query's first tie with relevant rows, that tie, and the ranks' chances.

    The tie has n rows, of which r are relevant. The chance that its j-th row is the first relevant one is
    r / n x (n - r) / (n - 1) x (n - r - 1) / (n - 2) x ..., with j factors.
    """
    ties, relevant = ranks.ties, ranks.tie_sums(relevance)
    hits = np.flatnonzero((relevant > 0) & (ties.first < ranks.k))
    is_first = np.zeros(relevant.size, np.bool_)
    is_first[hits[np.unique(ties.query[hits], return_index=True)[1]]] = True
    at = np.flatnonzero(is_first[ranks.tie])
    tie = ranks.tie[at]
    n, r, j = ties.sizes[tie], relevant[tie], ranks.rank[at] - ties.first[tie]
    factors = np.where(j == 0, r / n, (n - r - (j - 1)) / (n - j))
    counts = np.bincount(ranks.query[at], minlength=ranks.sizes.size)
    return at, tie, running(np.multiply, factors, offsets(counts))
