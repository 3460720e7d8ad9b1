"""Losses of queries: QueryRMSE, QuerySoftMax and QueryCrossEntropy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankadapters.core.arrays import Floats, Ints
from rankadapters.core.binding.lowering import Binding, loss_plan, probabilities, sums_by, weights_of
from rankadapters.core.binding.plans import Plan
from rankadapters.core.declaration.convention import AVERAGE, Convention
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.measures.ranked import MISSING, Unjudged
from rankadapters.core.ranking.offsets import offsets, reduced, segment_numbers, sums
from rankadapters.core.ranking.ranks import Ranks

WEIGHING = replace(
    AVERAGE,
    about="How the losses of all queries become one: what a row or a pair weighs in the sums.",
    words={
        "uniform": "each weighs 1; giving weights is an error, a toolkit's own weights are ignored",
        "query": "by the `query_weight` of its query, 1 each when absent",
        "row": "by `row_weight`, 1 each when absent",
        "pair": "by its weight in `pairs`, 1 each when absent",
    },
    numbered={},
    tried=("uniform", "query"),
)
OfRows = Annotated[Literal["uniform", "query", "row"], WEIGHING]
OfPairs = Annotated[Literal["uniform", "query", "pair"], WEIGHING]


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss(Convention):
    """A loss as a measure: sum of losses / sum of weights over all queries; lower is better.

    Only retrieved rows count, and a query with weight 0 adds nothing.
    """

    higher_is_better: ClassVar[bool] = False
    in_unit_interval: ClassVar[bool] = False

    missing: Annotated[Literal["skip", "error"], MISSING]
    unjudged: Unjudged

    def limits_of_queries(self) -> tuple[float, float]:
        """Return 0, the loss of perfect scores, and no upper limit."""
        return 0.0, math.inf

    @property
    def pooled(self) -> bool:
        """Whether losses and weights are summed over the queries before the division: yes."""
        return True


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryRMSE(Loss):
    """Root mean squared error after shifting each query's scores to fit best.

    QueryRMSE = sqrt(sum w_i (l_i - s_i - m)^2 / sum w_i) over the rows of all queries, m being the w-weighted mean of
    l - s in the row's query. Lower is better, 0 at best. A query's own value is its mean squared error; the root is
    taken only of the overall mean.

    References
    ----------
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp, `QueryRMSE`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.QueryRMSE(missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([2, 0, 1, 1], [7, 6, 0, 0], conv, group_sizes=[2, 2]).value  # residuals 0.5, -0.5, 0, 0
    0.3535533905932738
    """

    measure: ClassVar[str] = "query-rmse"

    average: OfRows

    @property
    def is_sum(self) -> bool:
        """Whether the value is a sum over queries: no, it is the root of one."""
        return False

    def link(self, mean: float) -> float:
        """Return the square root."""
        return math.sqrt(mean)

    def link_slope(self, value: float) -> float:
        """Return the derivative of sqrt(x) at x = value^2."""
        return 1 / (2 * value) if value else math.nan

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with labels and weights."""
        rows = binding.retrieved(self.unjudged)
        weights = weights_of(binding, rows, self.average)
        labels, mass = rows.take(binding.labels), sums_by(rows.indptr, weights)
        return loss_plan(squared_error, rows, mass, labels=labels, weights=weights)


def squared_error(ranks: Ranks, labels: Floats, weights: Floats) -> Floats:
    """Return the sum of weight x (label - score - shift)^2 of each query, with the shift that minimizes it."""
    residuals, mass = labels - ranks.scores, ranks.sums(weights)
    shifts = np.divide(ranks.sums(weights * residuals), mass, out=np.zeros(mass.size), where=mass > 0)
    rest = residuals - shifts[ranks.query]
    return ranks.sums(weights * (rest * rest))


BETA = Field(group="value", about="What scores are multiplied by.", numbers=Range(0, above=True), tried=(1.0,))


@dataclass(frozen=True, kw_only=True, slots=True)
class QuerySoftMax(Loss):
    """Cross entropy of softmax(beta s) of each query against its labels.

    QuerySoftMax = -sum w_i l_i log p_i / sum w_i l_i over the rows of all queries with l_i > 0, where
    p_i = w_i exp(beta s_i) / sum_j w_j exp(beta s_j) over the rows j of the query. A query without positive labels adds
    nothing. Lower is better, 0 at best.

    References
    ----------
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp, `QuerySoftMax`, which overflows if a query's scores differ by
    some 700; this implementation does not.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.QuerySoftMax(beta=1, missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([1, 0, 0, 0], [3, 3, 3, 3], conv, group_sizes=[4]).value  # log(4)
    1.3862943611198906
    """

    measure: ClassVar[str] = "query-soft-max"

    beta: Annotated[float, BETA]
    average: OfRows

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with labels x weights, the weights, and the logarithms of the weights."""
        rows = binding.retrieved(self.unjudged)
        weights = weights_of(binding, rows, self.average)
        shares = np.maximum(rows.take(binding.labels), 0.0) * weights
        logs = np.log(weights, out=np.zeros(weights.size), where=weights > 0)
        return loss_plan(
            softmax_cross_entropy, rows, sums_by(rows.indptr, shares), options={"beta": self.beta}, shares=shares,
            weights=weights, logs=logs,
        )  # fmt: skip


def softmax_cross_entropy(ranks: Ranks, shares: Floats, weights: Floats, logs: Floats, beta: float) -> Floats:
    """Return the cross entropy of `shares` against the weighted softmax of beta x scores; `logs` = log(weights)."""
    best = reduced(np.maximum, np.where(weights > 0, ranks.scores, -np.inf), ranks.indptr)
    exponents = beta * (ranks.scores - best[ranks.query])
    levels = np.log(ranks.sums(np.where(weights > 0, weights * np.exp(exponents), 0.0)))
    return ranks.sums(np.where(shares > 0, shares * (levels[ranks.query] - exponents - logs), 0.0))


ALPHA = Field(group="value", about="Share of the shifted part.", numbers=Range(0, 1), tried=(0.0, 0.5, 1.0))
FARTHEST_SHIFT, HALVINGS = 20.0, 30  # CatBoost's


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryCrossEntropy(Loss):
    """Log loss, mixed with the log loss after shifting each query's scores to fit best.

    QueryCrossEntropy = sum w_i ((1 - alpha) c(l_i, s_i) + alpha c(l_i, s_i + d)) / sum w_i over the rows of all
    queries, with c(l, s) = log(1 + e^s) - l s, the log loss of the probability 1 / (1 + e^-s) against the probability
    l. The shift d of a query is where sum w (l - 1 / (1 + e^-(s + d))) changes its sign in [-20, 20], found by
    halving that interval 30 times. A query whose labels are all equal has no second part. Lower is better.

    Raises
    ------
    InputError
        When bound to queries: a label is outside [0, 1].

    References
    ----------
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp, `QueryCrossEntropy`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.QueryCrossEntropy(alpha=1, missing="error", unjudged="error", average="uniform")
    >>> round(ra.evaluate([1, 0], [7, 7], conv, group_sizes=[2]).value, 12)  # log(2): the best shift is -7
    0.69314718056
    """

    measure: ClassVar[str] = "query-cross-entropy"

    alpha: Annotated[float, ALPHA]
    average: OfRows

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with labels and weights."""
        rows = binding.retrieved(self.unjudged)
        labels = rows.take(probabilities(binding, "QueryCrossEntropy"))
        weights = weights_of(binding, rows, self.average)
        mass = sums_by(rows.indptr, weights)
        return loss_plan(
            shifted_cross_entropy, rows, mass, options={"alpha": self.alpha}, labels=labels, weights=weights
        )


def shifted_cross_entropy(ranks: Ranks, labels: Floats, weights: Floats, alpha: float) -> Floats:
    """Return the log loss of the scores, mixed by alpha with that of the scores after each query's best shift."""
    plain, shifted = ranks.sums(weights * log_loss(labels, ranks.scores)), np.zeros(ranks.sizes.size)
    differ = reduced(np.maximum, labels, ranks.indptr) > reduced(np.minimum, labels, ranks.indptr)
    if alpha > 0 and differ.any():
        rows = differ[ranks.query]
        indptr = offsets(ranks.sizes[differ])
        scores, labels, weights = ranks.scores[rows], labels[rows], weights[rows]
        shifts = np.repeat(best_shifts(scores, labels, weights, indptr), np.diff(indptr))
        losses = weights * log_loss(labels, scores + shifts)
        shifted[differ] = sums(losses, segment_numbers(indptr), indptr.size - 1)
    return (1.0 - alpha) * plain + alpha * shifted


def log_loss(labels: Floats, scores: Floats) -> Floats:
    """Return log(1 + exp(score)) - label x score, without overflow."""
    return np.maximum(scores, 0.0) + np.log1p(np.exp(-np.abs(scores))) - labels * scores


def best_shifts(scores: Floats, labels: Floats, weights: Floats, indptr: Ints) -> Floats:
    """Return the shifts by bisection of [-20, 20]: up if a query's labels exceed its probabilities, else down."""
    query, n = segment_numbers(indptr), indptr.size - 1
    inverse = np.exp(np.minimum(-scores, 700.0))  # for lower scores, the probability is 0 after any shift
    low, high, middle = np.full(n, -FARTHEST_SHIFT), np.full(n, FARTHEST_SHIFT), np.zeros(n)
    for _ in range(HALVINGS):
        chances = 1.0 / (1.0 + inverse * np.exp(-middle)[query])
        up = sums(weights * (labels - chances), query, n) > 0
        low, high = np.where(up, middle, low), np.where(up, high, middle)
        middle = (low + high) / 2
    return middle
