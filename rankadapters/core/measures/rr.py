"""RR, Success and Coverage: the rank of the first relevant row, whether there is one, and the rank of the last one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankadapters.core.arrays import Flags, Floats, Ints
from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan
from rankadapters.core.declaration.convention import Convention, Mean
from rankadapters.core.declaration.fields import Field
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures.ranked import (
    TIES,
    Empty,
    Missing,
    Precision,
    Ranked,
    Relevant,
    Retrieve,
    Ties,
    Unjudged,
    plan,
)
from rankadapters.core.ranking.offsets import offsets, running, sums
from rankadapters.core.ranking.ranks import Ranks

FIRST: Literal["first"] = "first"
COUNT = Field(
    group="value",
    about="Which relevant rows count.",
    words={
        FIRST: "the first one",
        "all": "all: the sum of their reciprocal ranks is divided by R, the number of relevant rows",
        "found": "those at ranks 1..k: the mean of their reciprocal ranks",
    },
    tried=(FIRST, "all"),
    further=("found",),
    implied=FIRST,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RR(Ranked):
    """Reciprocal rank; its mean is MRR.

    RR@k = 1 / rank of the first relevant row at ranks 1..k, 0 where there is none. With `count="all"` or `"found"`, it
    is the mean of 1 / rank over several relevant rows, those beyond rank k counting 0. The value lies in [0, 1].

    Parameters
    ----------
    ties
        `average` has no closed form under `count="found"`.

    References
    ----------
    Voorhees, The TREC-8 question answering track report, TREC 1999.
    CatBoost 1.2.10, libs/metrics/metric.cpp, `MRR`. trec_eval 9.0.8, m_recip_rank.c. LlamaIndex 0.14.25,
    evaluation/retrieval/metrics.py, `MRR` with `use_granular_mrr` (`found`).

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
    count: Annotated[Literal["first", "all", "found"], COUNT] = FIRST
    retrieve: Retrieve
    ties: Ties
    empty: Empty
    average: Mean

    def unify(self) -> None:
        """Refuse averaged ties of the rows that were found."""
        Ranked.unify(self)
        if self.ties == "average" and self.count == "found":
            msg = "ties='average' has no closed form under count='found'."
            raise ConventionError(msg, hint="another order of ties, or count='all'")

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with relevance by rank."""
        relevance = binding.relevance(self.relevant)
        relevant = binding.judged_sums(relevance)
        reciprocals = binding.discounts("reciprocal", binding.cutoff(self.k))
        if self.count == "all":
            return plan(self, binding, relevance, divisor=relevant, empty=relevant <= 0, weights=reciprocals)
        if self.count == "found":
            by_rank = {"reciprocals": reciprocals}
            return binding.plan(self, mean_of_hits, empty=relevant <= 0, by_rank=by_rank, relevance=relevance)
        formula = expected_reciprocal_rank if self.ties == "average" else reciprocal_rank
        return binding.plan(self, formula, empty=relevant <= 0, relevance=relevance)


def mean_of_hits(ranks: Ranks, relevance: Floats, reciprocals: Floats) -> Floats:
    """Return the mean of 1 / rank over each query's relevant rows, 0 if there is none."""
    hits = ranks.take(relevance)
    return ranks.sums(hits * reciprocals[ranks.rank]) / np.maximum(ranks.sums(hits), 1.0)


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
    hits = np.flatnonzero((relevant > 0) & (ties.first < ranks.counts[ties.query]))
    is_first = np.zeros(relevant.size, np.bool_)
    is_first[hits[np.unique(ties.query[hits], return_index=True)[1]]] = True
    at = np.flatnonzero(is_first[ranks.tie])
    tie = ranks.tie[at]
    n, r, j = ties.sizes[tie], relevant[tie], ranks.rank[at] - ties.first[tie]
    factors = np.where(j == 0, r / n, (n - r - (j - 1)) / (n - j))
    counts = np.bincount(ranks.query[at], minlength=ranks.sizes.size)
    return at, tie, running(np.multiply, factors, offsets(counts))


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

    def lower(self, binding: Binding) -> Plan:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage(Convention):
    """Coverage error: how many rows must be read until all relevant rows are found; lower is better.

    Coverage = rank of the last relevant row that is retrieved. It is at most the number of rows.

    References
    ----------
    scikit-learn 1.9.1, metrics/_ranking.py, `coverage_error`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.presets.sklearn.coverage_error()
    >>> ra.evaluate([1, 0, 1, 0], [4, 3, 2, 1], conv, group_sizes=[4]).value
    3.0
    """

    measure: ClassVar[str] = "coverage"
    in_unit_interval: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = False

    relevant: Relevant
    ties: Annotated[Literal["input", "reverse", "worst", "best", "docid-descending", "docid-ascending"], TIES]
    precision: Precision
    empty: Empty
    missing: Missing
    unjudged: Unjudged
    average: Mean

    def limits_of_queries(self) -> tuple[float, float]:
        """Return 0, which a query that is empty may count, and no upper limit."""
        return 0.0, math.inf

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with relevance by rank."""
        relevance = binding.relevance(self.relevant)
        empty = binding.judged_sums(relevance) <= 0
        return binding.plan(self, last_relevant_rank, k=binding.longest, empty=empty, relevance=relevance)


def last_relevant_rank(ranks: Ranks, relevance: Floats) -> Floats:
    """Return the rank of each query's last relevant row, 0 if there is none."""
    hits = np.flatnonzero(ranks.take(relevance) != 0)
    values = np.zeros(ranks.sizes.size)
    np.maximum.at(values, ranks.query[hits], ranks.rank[hits] + 1.0)
    return values
