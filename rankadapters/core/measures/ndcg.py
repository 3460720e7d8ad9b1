"""NDCG and DCG: the sum of gains discounted by rank; NDCG divides it by the DCG of the ideal list."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankadapters.core.arrays import Flags, Floats
from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan
from rankadapters.core.declaration.convention import Mean, average_of
from rankadapters.core.declaration.fields import Field, gain_table
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures.ranked import Discounted, Empty
from rankadapters.core.ranking.ordering import order_within
from rankadapters.core.ranking.ranks import Ranks

MOST_ONES = 10**6  # largest cutoff with ideal="ones", which needs that many discounts

IDEAL = Field(
    group="value",
    about="What the ideal list holds, by descending gain, and where it is cut.",
    rarity=9,
    words={
        "cutoff": "all judged rows, cut at k",
        "retrieved": "all judged rows, cut at k, or at the number of rows retrieved when that is smaller",
        "all": "all judged rows, not cut",
        "ones": "k documents of gain 1 whatever the query has; without a cutoff as many as were retrieved",
        "retrieved-only": "the retrieved rows only, with their gains in the ranking, cut at k",
        "top-only": "the rows at ranks 1..k only, with their gains in the ranking; 0 counts where their ideal DCG is "
        "not positive",
    },
    tried=("cutoff", "retrieved", "all", "retrieved-only", "top-only"),
)
Ideal = Annotated[Literal["cutoff", "retrieved", "all", "ones", "retrieved-only", "top-only"], IDEAL]


@dataclass(frozen=True, kw_only=True, slots=True)
class NDCG(Discounted):
    """Normalized discounted cumulative gain.

    NDCG@k = DCG@k / ideal DCG, DCG@k = sum over ranks i <= k of gain(label of the row at rank i) x discount(i).
    The value lies in [0, 1] unless `gain="linear"` is used with negative labels, whose gains are negative.

    Parameters
    ----------
    ideal
        `retrieved-only` and `top-only` leave the rows that the ranking missed out of the ideal list, a common mistake.
        `top-only` needs an order of tied rows, so it excludes `ties="average"`. RecTools computes `ones`.
    empty
        Under `ones` and `top-only`, a query is empty if its ideal DCG under `cutoff` is not positive.

    References
    ----------
    Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002.
    Burges et al., Learning to rank using gradient descent, ICML 2005 (for 2^label - 1).
    McSherry & Najork, Computing information retrieval performance measures efficiently in the presence of tied
    scores, ECIR 2008.

    Examples
    --------
    >>> conv = NDCG(k=10, gain="exp2", discount="log2", ideal="cutoff", ties="average", precision="float64",
    ...             short="pad", empty=0, missing="error", unjudged="error", average="uniform")
    >>> print(conv.replace(empty=1).diff(conv))
    {'empty': (1.0, 0.0)}
    """

    measure: ClassVar[str] = "ndcg"
    start: ClassVar[str] = "a preset, ra.presets.textbook(10).replace(...), or ra.parse(signature)"

    average: Mean
    ideal: Ideal
    empty: Empty

    def unify(self) -> None:
        """Write equivalent ideal lists in one way; refuse `ones` with a huge k, and `top-only` with averaged ties."""
        if self.k is None:
            self._set("ideal", {"all": "cutoff", "top-only": "retrieved-only"}.get(self.ideal, self.ideal))
        if self.ideal == "top-only" and self.ties == "average":
            msg = "ideal='top-only' needs to know which rows are at ranks 1..k, which ties='average' leaves open."
            raise ConventionError(msg, hint="ties='input', or ideal='retrieved-only'")
        if self.ideal == "ones" and (self.k or 0) > MOST_ONES:
            msg = f"k={self.k} with ideal='ones' needs as many discounts; allowed are cutoffs up to {MOST_ONES}."
            raise ConventionError(msg, hint="k=None takes as many as were retrieved")
        Discounted.unify(self)  # a bare super() fails, since slots=True makes a new class

    def limits_of_queries(self) -> tuple[float, float]:
        """Return 0 and 1, but no limits with negative gains, and none above if DCG counts what the ideal list lacks."""
        if self.gain == "linear" or min(gain_table(self.gain) or [0]) < 0:
            return -math.inf, math.inf
        return 0.0, math.inf if self.ideal == "ones" or isinstance(self.unjudged, float) else 1.0

    @property
    def for_binary_labels(self) -> bool:
        """Whether every document of the ideal list has gain 1."""
        return self.ideal == "ones"

    def all_retrieved(self) -> NDCG:
        """Return the convention with `ideal="cutoff"`, which is equivalent if all rows are retrieved and judged."""
        return self.replace(ideal="cutoff") if self.ideal in {"retrieved", "retrieved-only"} else self

    def lower(self, binding: Binding) -> Plan:
        """Return the plan that divides by the ideal DCG; a query is empty if that is not positive."""
        ideal, empty = binding.ideal_dcg(self)
        if self.ideal == "top-only":
            discounts = {"discounts": binding.discounts(self.discount, binding.cutoff(self.k))}
            gains = binding.ranking_gains(self.gain, self.unjudged)
            return binding.plan(self, ndcg_of_top, empty=empty, by_rank=discounts, gains=gains)
        ideal = binding.dcg_of_ones(self) if self.ideal == "ones" else ideal
        return _plan(self, binding, ideal, empty)


@dataclass(frozen=True, kw_only=True, slots=True)
class DCG(Discounted):
    """Discounted cumulative gain: the numerator of NDCG, in the unit of the gain.

    DCG@k = sum over ranks i <= k of gain(label of the row at rank i) x discount(i). It has no ideal list and no empty
    query, so it lacks the fields `ideal` and `empty` and `average="query-except-empty"`.

    References
    ----------
    Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002.
    """

    measure: ClassVar[str] = "dcg"
    in_unit_interval: ClassVar[bool] = False

    average: Annotated[str, average_of("uniform", "query", geometric=True)]

    def limits_of_queries(self) -> tuple[float, float]:
        """Return 0 and no upper limit; no limits with negative gains."""
        has_negative = self.gain == "linear" or min(gain_table(self.gain) or [0]) < 0
        return (-math.inf if has_negative else 0.0), math.inf

    def lower(self, binding: Binding) -> Plan:
        """Return the plan that divides by 1."""
        return _plan(self, binding, binding.query_ones, binding.no_queries)


def _plan(convention: Discounted, binding: Binding, divisor: Floats, empty: Flags) -> Plan:
    discounts = binding.discounts(convention.discount, binding.cutoff(convention.k))
    return binding.plan(
        convention, ndcg, empty=empty, by_rank={"discounts": discounts}, by_query={"ideal": divisor},
        gains=binding.ranking_gains(convention.gain, convention.unjudged), only_sums=True,
    )  # fmt: skip


def ndcg(ranks: Ranks, gains: Floats, discounts: Floats, ideal: Floats) -> Floats:
    """Return the sum of gain x discount over the ranks of each query, divided by its ideal DCG."""
    return ranks.discounted_sums(gains, discounts) / ideal


def ndcg_of_top(ranks: Ranks, gains: Floats, discounts: Floats) -> Floats:
    """Return `ndcg` with the DCG of the rows at these ranks in ideal order; 0 if that is not positive."""
    top, factors = ranks.take(gains), discounts[ranks.rank]
    ideal = ranks.sums(top[order_within(-top, ranks.outptr)] * factors)
    return np.divide(ranks.sums(top * factors), ideal, out=np.zeros(ideal.size), where=ideal > 0)
