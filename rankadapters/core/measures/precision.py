"""Precision, Recall, R-precision, F and fall-out: shares of relevant or irrelevant rows at the top."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankadapters.core.arrays import Floats, Ints
from rankadapters.core.binding.lowering import Binding, kept
from rankadapters.core.binding.plans import Plan
from rankadapters.core.declaration.convention import POOL, Convention, Mean
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures.ranked import (
    PRECISION,
    Degree,
    Empty,
    Missing,
    Ranked,
    Relevant,
    Retrieve,
    Ties,
    Unjudged,
    degrees,
    irrelevance,
    plan,
)
from rankadapters.core.ranking.ranks import Ranks

DIVISOR = Field(
    group="value",
    about="What the relevant rows at ranks 1..k are divided by.",
    words={
        "k": "k",
        "retrieved": "min(k, n), n the number of rows retrieved",
        "relevant": "min(k, R), R the number of relevant rows; without a cutoff min(n, R)",
        "one": "nothing: the value is a count",
    },
)
QUERIES: Literal["queries"] = "queries"
Pool = Annotated[Literal["queries", "sums"], replace(POOL, implied=QUERIES, tried=(QUERIES,), further=("sums",))]


@dataclass(frozen=True, kw_only=True, slots=True)
class Share(Ranked):
    """Base class of the shares of rows at ranks 1..k: the mean over the queries, or a ratio of sums."""

    pool: Pool = QUERIES
    average: Mean


@dataclass(frozen=True, kw_only=True, slots=True)
class Precision(Share):
    """Precision: the share of relevant rows among the first k.

    P@k = relevant rows at ranks 1..k / divisor. Under `relevant="label"` a row counts its label (average gain), under
    `"judged"` every judged row counts (Judged@k). The value lies in [0, 1], unless a label is above 1 or below 0 or
    `divisor` is `"one"`.

    Parameters
    ----------
    empty
        Under `relevant="label"` a query is empty if all its labels are 0.
    pool
        Under `sums` every query adds its hits and its divisor, also a query without relevant rows. With the divisors
        `k` and `one` this is `queries` with `empty=0`.

    References
    ----------
    trec_eval 9.0.8, m_P.c, m_relative_P.c, m_set_P.c. CatBoost 1.2.10, libs/metrics/precision_recall_at_k.cpp, and
    metric.cpp, `AverageGain`. XGBoost 3.2.0, src/metric/rank_metric.cc, `pre`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Precision(k=2, relevant="from_1", divisor="k", ties="average", precision="float64", retrieve="all",
    ...                     short="pad", empty=0, missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([1, 1, 0], [0.9, 0.5, 0.5], conv, group_sizes=[3]).value  # rank 2 is row 2 or 3, with equal chances
    0.75
    """

    measure: ClassVar[str] = "precision"
    in_unit_interval: ClassVar[bool] = False

    relevant: Degree
    divisor: Annotated[Literal["k", "retrieved", "relevant", "one"], DIVISOR]
    retrieve: Retrieve
    ties: Ties
    empty: Empty

    def unify(self) -> None:
        """Bring equivalent conventions to one form; refuse fields that contradict each other."""
        if self.k is None and self.divisor == "k":
            self._set("divisor", "retrieved")
        Share.unify(self)
        if self.pool == "sums" and self.divisor in {"k", "one"}:  # all queries have the same divisor
            self._set("pool", "queries")
            self._set("empty", 0.0)
        if self.divisor == "relevant" and self.relevant == "label":
            msg = "divisor='relevant' counts relevant rows, but relevant='label' has only degrees."
            raise ConventionError(msg, hint="divisor='retrieved', or relevant='above_0'")

    def limits_of_queries(self) -> tuple[float, float]:
        """Return 0 and 1, but no limits if labels are counted, and none above for a count."""
        if self.relevant == "label":
            return -math.inf, math.inf
        return 0.0, math.inf if self.divisor == "one" else 1.0

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with degrees of relevance by rank, and the divisor by query."""
        column = degrees(binding, self.relevant)
        relevant = binding.judged_sums(nonzero_labels(binding) if self.relevant == "label" else column)
        return plan(self, binding, column, divisor=self._divisor(binding, relevant), empty=relevant <= 0)

    def _divisor(self, binding: Binding, relevant: Floats) -> Floats:
        n, k = binding.retrieved(self.unjudged).sizes.astype(float), self.k
        divisors = {
            "k": binding.query_ones * (k or 1),
            "retrieved": n if k is None else n.clip(max=k),
            "relevant": relevant.clip(max=n if k is None else k),
            "one": binding.query_ones,
        }
        return divisors[self.divisor]


@kept
def nonzero_labels(binding: Binding) -> Floats:
    """Return 1 for every row of another label than 0, else 0, in the caller's order."""
    nonzero: Floats = (binding.labels != 0).astype(float)
    return nonzero


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall(Share):
    """Recall: the share of the relevant rows that rank among the first k.

    R@k = relevant rows at ranks 1..k / R, where R counts all judged relevant rows. The value lies in [0, 1].

    Parameters
    ----------
    pool
        `sums` divides the relevant rows at ranks 1..k of all queries by all their relevant rows.

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

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with relevance by rank, and the number of relevant rows by query."""
        column = binding.relevance(self.relevant)
        relevant = binding.judged_sums(column)
        return plan(self, binding, column, divisor=relevant, empty=relevant <= 0)


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
    precision: Annotated[Literal["float64", "float32"], PRECISION]
    empty: Empty
    missing: Missing
    unjudged: Unjudged
    average: Mean

    def lower(self, binding: Binding) -> Plan:
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


BETA_SQUARED = Field(
    group="value", about="How much recall weighs in comparison with precision, squared.", numbers=Range(0),
    tried=(1.0,), further=(0.25, 4.0),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class FMeasure(Share):
    """F: the harmonic mean of precision and recall at k.

    F@k = (x + 1) P R / (x P + R), x = beta^2, P = relevant rows at ranks 1..k / divisor, R = these / all relevant rows.
    The value lies in [0, 1].

    Parameters
    ----------
    divisor
        It is the divisor of the precision.
    beta_squared
        It is x in the formula: 1 weighs precision and recall alike, 0 gives the precision.
    pool
        Under `sums`, P and R are those of all queries (`pool="sums"` of the precision and of the recall).

    References
    ----------
    van Rijsbergen, Information Retrieval, 2nd ed., 1979, chapter 7. trec_eval 9.0.8, m_set_F.c, whose parameter is x.
    ranx 0.3.21, metrics/f1.py.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.FMeasure(k=2, relevant="from_1", divisor="k", beta_squared=1, ties="input", precision="float64",
    ...                    retrieve="all", short="pad", empty=0, missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([1, 0, 1, 0], [4, 3, 2, 1], conv, group_sizes=[4]).value  # precision and recall are 1/2
    0.5
    """

    measure: ClassVar[str] = "f-measure"

    relevant: Relevant
    divisor: Annotated[Literal["k", "retrieved"], DIVISOR]
    beta_squared: Annotated[float, BETA_SQUARED]
    retrieve: Retrieve
    ties: Ties
    empty: Empty

    def unify(self) -> None:
        """Without a cutoff, change divisor="k" to "retrieved"."""
        if self.k is None:
            self._set("divisor", "retrieved")
        Share.unify(self)

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with relevance by rank: F = (x + 1) hits / (x R + divisor of the precision), x = beta^2."""
        column, n, x = binding.relevance(self.relevant), binding.retrieved(self.unjudged).sizes, self.beta_squared
        relevant = binding.judged_sums(column)
        n_top = n if self.k is None else n.clip(max=self.k)
        precision_divisor = binding.query_ones * (self.k or 1) if self.divisor == "k" else n_top
        divisor = (x * relevant + precision_divisor) / (x + 1)
        return plan(self, binding, column, divisor=divisor, empty=relevant <= 0)


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

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with irrelevance by rank, and the number of irrelevant rows by query."""
        column = irrelevance(binding, self.relevant, -math.inf)
        irrelevant, by = binding.judged_sums(column), minus(binding, column)
        return plan(self, binding, column, divisor=irrelevant, empty=irrelevant <= 0, by=by)


@kept
def minus(_: Binding, column: Floats) -> Floats:
    """Return a column with the opposite sign."""
    return -column
