"""QueryCrossEntropy: log loss of probabilities, mixed with the log loss after each query's best shift."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, fsum, log1p
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from rankadapters.core.declaration.convention import average_of
from rankadapters.core.declaration.number_fields import FloatField
from rankadapters.core.measures.definition import Row, weighed
from rankadapters.core.measures.loss import Loss

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Bound
    from rankadapters.core.binding.plans import WholePlan

ALPHA = FloatField(group="value", about="Share of the shifted part.", least=0, most=1, tried=(0.0, 0.5, 1.0))
FARTHEST_SHIFT, HALVINGS = 20.0, 30  # CatBoost's


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryCrossEntropy(Loss):
    """Log loss, mixed with the log loss after the shift of each query that fits best.

    QueryCrossEntropy = sum w_i ((1 - alpha) c(l_i, s_i) + alpha c(l_i, s_i + d)) / sum w_i over the rows of all
    queries, with c(l, s) = log(1 + e^s) - l s, the log loss of the probability 1 / (1 + e^-s) against the probability
    l. The shift d of a query is where sum w (l - 1 / (1 + e^-(s + d))) changes its sign in [-20, 20], as found by
    halving that interval 30 times. A query whose labels are all equal has no second part. Lower is better.

    Parameters
    ----------
    alpha : float
        Share of the shifted part, in [0, 1].
    missing, unjudged
        As in `Loss`.
    average : str
        What a row weighs: `uniform` 1, `query` its query's weight, `row` its own.

    Raises
    ------
    ConventionError
        A field is left out, unknown, or has a value outside its choices.
    InputError
        When bound: a label is outside [0, 1].

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
    average: Annotated[Literal["uniform", "query", "row"], average_of("uniform", "query", "row", geometric=False)]

    def oracle(self, rows: Sequence[Row]) -> tuple[float, float] | None:
        """Weighted losses, and the weights."""
        several = weighed(rows, self.average)
        mass = fsum(weight for _, _, weight in several)
        if not mass:
            return None
        loss = (1 - self.alpha) * fsum(weight * _cost(label, score) for label, score, weight in several)
        if len({label for label, _, _ in several}) > 1:
            excess = lambda shift: fsum(w * (label - _logistic(s + shift)) for label, s, w in several)  # noqa: E731
            shift = halved(excess)
            loss += self.alpha * fsum(weight * _cost(label, score + shift) for label, score, weight in several)
        return loss, mass

    def lower(self, bound: Bound) -> WholePlan:
        """Labels and weights."""
        from rankadapters.core.binding.whole_queries import loss_plan, probabilities, sums_by, weights_of
        from rankadapters.core.kernels.losses import shifted_cross_entropy

        rows = bound.retrieved(self.unjudged)
        labels = rows.take(probabilities(bound, "QueryCrossEntropy"))
        weights = weights_of(bound, rows, self.average)
        options = {"alpha": self.alpha, "farthest": FARTHEST_SHIFT, "halvings": HALVINGS}
        mass = sums_by(rows.indptr, weights)
        return loss_plan(shifted_cross_entropy, rows, mass, options=options, labels=labels, weights=weights)


def halved(excess: Callable[[float], float]) -> float:
    """Halve the interval of shifts as often as CatBoost: up where labels exceed probabilities, else down."""
    low, high, middle = -FARTHEST_SHIFT, FARTHEST_SHIFT, 0.0
    for _ in range(HALVINGS):
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        middle = (low + high) / 2
    return middle


def _logistic(score: float) -> float:
    small = exp(-abs(score))
    return (1.0 if score >= 0 else small) / (1 + small)


def _cost(label: float, score: float) -> float:
    """log(1 + e^s) - l s, without overflow."""
    return max(score, 0.0) + log1p(exp(-abs(score))) - label * score
