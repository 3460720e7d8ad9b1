"""QueryCrossEntropy: log loss, mixed with the log loss after the best shift of each query's scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.measures.loss import Loss, OfRows

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Binding
    from rankadapters.core.binding.plans import WholePlan

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

    def lower(self, binding: Binding) -> WholePlan:
        """Return the plan with labels and weights."""
        from rankadapters.core.binding.whole_queries import loss_plan, probabilities, sums_by, weights_of
        from rankadapters.core.kernels.losses import shifted_cross_entropy

        rows = binding.retrieved(self.unjudged)
        labels = rows.take(probabilities(binding, "QueryCrossEntropy"))
        weights = weights_of(binding, rows, self.average)
        options = {"alpha": self.alpha, "farthest": FARTHEST_SHIFT, "halvings": HALVINGS}
        mass = sums_by(rows.indptr, weights)
        return loss_plan(shifted_cross_entropy, rows, mass, options=options, labels=labels, weights=weights)
