"""QuerySoftMax: cross entropy of each query's softmax against its labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import WholePlan
from rankadapters.core.binding.whole_queries import loss_plan, sums_by, weights_of
from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.measures.loss import Loss, OfRows
from rankadapters.core.ranking.ranks import Ranks
from rankadapters.core.ranking.segments import reduced

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

    def lower(self, binding: Binding) -> WholePlan:
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
