"""QueryCrossEntropy: log loss, mixed with the log loss after the best shift of each query's scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import WholePlan
from rankadapters.core.binding.whole_queries import loss_plan, probabilities, sums_by, weights_of
from rankadapters.core.data.columns import Floats, Ints
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.measures.loss import Loss, OfRows
from rankadapters.core.ranking.ranks import Ranks
from rankadapters.core.ranking.segments import offsets, positions_within, reduced, segment_numbers, sums

ALPHA = Field(group="value", about="Share of the shifted part.", numbers=Range(0, 1), tried=(0.0, 0.5, 1.0))
FARTHEST_SHIFT, HALVINGS = 20.0, 30  # CatBoost's
EPSILON = 2.0**-53
NEAR = 2.0**-26  # about half the last step of the bisection; a bracket this narrow decides almost all steps
MOST_STEPS = 12


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
        rows = binding.retrieved(self.unjudged)
        labels = rows.take(probabilities(binding, "QueryCrossEntropy"))
        weights = weights_of(binding, rows, self.average)
        mass = sums_by(rows.indptr, weights)
        return loss_plan(
            shifted_cross_entropy, rows, mass, options={"alpha": self.alpha}, labels=labels, weights=weights
        )


def shifted_cross_entropy(ranks: Ranks, labels: Floats, weights: Floats, alpha: float) -> Floats:
    """Return the log loss of the scores, mixed by alpha with the log loss after the best shift of each query's scores."""
    plain, shifted = ranks.sums(weights * log_loss(labels, ranks.scores)), np.zeros(ranks.sizes.size)
    differ = reduced(np.maximum, labels, ranks.indptr) > reduced(np.minimum, labels, ranks.indptr)
    if alpha > 0 and differ.any():
        rows = differ[ranks.query]
        indptr = offsets(ranks.sizes[differ])
        scores, labels, weights = ranks.scores[rows], labels[rows], weights[rows]
        shifts = np.repeat(Shift(scores, labels, weights, indptr).halved(), np.diff(indptr))
        losses = weights * log_loss(labels, scores + shifts)
        shifted[differ] = sums(losses, segment_numbers(indptr), indptr.size - 1)
    return (1.0 - alpha) * plain + alpha * shifted


def log_loss(labels: Floats, scores: Floats) -> Floats:
    """Return log(1 + exp(score)) - label x score, without overflow."""
    return np.maximum(scores, 0.0) + np.log1p(np.exp(-np.abs(scores))) - labels * scores


class Shift:
    """The shift of each query's scores at which the labels no longer exceed the probabilities."""

    def __init__(self, scores: Floats, labels: Floats, weights: Floats, indptr: Ints) -> None:
        self.labels, self.weights, self.indptr = labels, weights, indptr
        # A probability after a shift then needs one exponential per query; for lower scores it is 0 after any shift.
        self.inverse = np.exp(np.minimum(-scores, 700.0))

    def of(self, queries: Ints) -> Shift:
        """Return the same for some of the queries."""
        part, sizes = object.__new__(Shift), np.diff(self.indptr)[queries]
        part.indptr = offsets(sizes)
        rows = positions_within(part.indptr) + np.repeat(self.indptr[queries], sizes)
        part.labels, part.weights, part.inverse = self.labels[rows], self.weights[rows], self.inverse[rows]
        return part

    def halved(self) -> Floats:
        """Return the shift by bisection of [-20, 20]: up if the labels exceed the probabilities, else down."""
        positive, negative = self.bracket()
        n = positive.size
        low, high, middle = np.full(n, -FARTHEST_SHIFT), np.full(n, FARTHEST_SHIFT), np.zeros(n)
        for _ in range(HALVINGS):
            up = middle <= positive
            unsure = np.flatnonzero((positive < middle) & (middle < negative))
            if unsure.size:
                part = self.of(unsure)
                terms = part.weights * (part.labels - part.chances(middle[unsure]))
                up[unsure] = sums(terms, segment_numbers(part.indptr), unsure.size) > 0
            low, high = np.where(up, middle, low), np.where(up, high, middle)
            middle = (low + high) / 2
        return middle

    def chances(self, shifts: Floats) -> Floats:
        """Return the probability of each row after a shift of its query."""
        factors = np.repeat(np.exp(-shifts), np.diff(self.indptr))
        chances: Floats = 1.0 / (1.0 + self.inverse * factors)
        return chances

    def bracket(self) -> tuple[Floats, Floats]:
        """Return shifts low < high: the labels surely exceed the probabilities up to low, and surely not from high on.

        The excess falls as the shift grows. Rounding cannot change its sign if it is further from 0 than `doubt`.
        """
        sizes = np.diff(self.indptr)
        doubt = np.add.reduceat(self.weights, self.indptr[:-1]) * 4.0 * (sizes + 8.0) * EPSILON
        low, high, shift = np.full(sizes.size, -np.inf), np.full(sizes.size, np.inf), np.zeros(sizes.size)
        part, queries = self, np.arange(sizes.size)
        for _ in range(MOST_STEPS):
            at = shift[queries]
            excess, slope = part._excess(at)
            low[queries] = np.where(excess > doubt[queries], np.maximum(low[queries], at), low[queries])
            high[queries] = np.where(excess < -doubt[queries], np.minimum(high[queries], at), high[queries])
            wide = high[queries] - low[queries] >= 4.0 * NEAR
            if not wide.any():
                break
            lows, highs = low[queries], high[queries]
            target = np.where(slope > 0, at + excess / slope, np.nan)
            beside = np.where(lows >= target - 2.0 * NEAR, target + NEAR, target - NEAR)
            target = np.where(np.abs(target - at) < NEAR, beside, target)  # near the root: try both sides of it
            lows, highs = np.maximum(lows, -FARTHEST_SHIFT), np.minimum(highs, FARTHEST_SHIFT)
            shift[queries] = np.where((lows < target) & (target < highs), target, (lows + highs) / 2.0)
            if np.count_nonzero(wide) < wide.size / 2:
                part, queries = part.of(np.flatnonzero(wide)), queries[wide]
        return low, high

    def _excess(self, shifts: Floats) -> tuple[Floats, Floats]:
        """Return the sum of weight x (label - probability) of each query, and its slope."""
        chances = self.chances(shifts)
        excess = np.add.reduceat(self.weights * (self.labels - chances), self.indptr[:-1])
        return excess, np.add.reduceat(self.weights * (chances * (1.0 - chances)), self.indptr[:-1])
