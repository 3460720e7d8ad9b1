"""QueryRMSE: the distance of scores from labels, unchanged by a constant added to all scores of a query."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import WholePlan
from rankadapters.core.binding.whole_queries import loss_plan, sums_by, weights_of
from rankadapters.core.data.columns import Floats
from rankadapters.core.measures.loss import Loss, OfRows
from rankadapters.core.ranking.ranks import Ranks


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

    def lower(self, binding: Binding) -> WholePlan:
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
