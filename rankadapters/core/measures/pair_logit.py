"""PairLogit: the logistic loss of pairs of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, cast

import numpy as np

from rankadapters.core.arrays import Floats, Ints
from rankadapters.core.binding.lowering import Binding, by_label, given_pairs, loss_plan, sums_by
from rankadapters.core.binding.plans import Plan
from rankadapters.core.data.optional_columns import Pairs
from rankadapters.core.measures.auc import PAIRS
from rankadapters.core.measures.losses import Loss, OfPairs
from rankadapters.core.ranking.offsets import blocks, reduced, sums
from rankadapters.core.ranking.ranks import Ranks

LEAST = 1e-38  # CatBoost adds it to exp(s - largest s of the query)
PAIRS_PER_LOG = 8  # pairs per logarithm: each factor is below 1e38 + 1, so that the product stays finite


@dataclass(frozen=True, kw_only=True, slots=True)
class PairLogit(Loss):
    """Logistic loss of pairs in which one row should rank above the other.

    PairLogit = sum w log(1 + e_j / e_i) / sum w over the pairs (i above j) of all queries, with
    e = exp(s - largest s of the query) + 1e-38: log(1 + exp(s_j - s_i)), but no pair costs more than 87.5. Lower is
    better.

    References
    ----------
    Burges et al., Learning to rank using gradient descent, ICML 2005.
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp, `PairLogit`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.PairLogit(pairs="label", missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([1, 0, 0], [5, 5, 5], conv, group_sizes=[3]).value  # log(2)
    0.6931471805599453
    """

    measure: ClassVar[str] = "pair-logit"

    pairs: Annotated[Literal["label", "given"], replace(PAIRS, numbered={}, tried=("label",))]
    average: OfPairs

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with given pairs, or rows by ascending label with counts of rows of lower label."""
        rows = binding.retrieved(self.unjudged)
        if self.pairs == "given":
            pairs = given_pairs(binding, rows, weighed=self.average == "pair")
            return loss_plan(logistic_of_pairs, rows, sums_by(pairs.indptr, cast("Floats", pairs.weight)), pairs=pairs)
        rows, lower = by_label(binding, rows)
        return loss_plan(logistic_of_labels, rows, sums_by(rows.indptr, lower), lower=lower)


def exponentials(ranks: Ranks) -> Floats:
    """Return exp(s - largest s of the query) + LEAST for each row."""
    best = reduced(np.maximum, ranks.scores, ranks.indptr)
    return np.exp(ranks.scores - best[ranks.query]) + LEAST


def logistic_of_pairs(ranks: Ranks, pairs: Pairs) -> Floats:
    """Return the weighted sum of log(1 + e_loser / e_winner) over the given pairs of each query."""
    powers = exponentials(ranks)
    losses = np.log1p(powers[pairs.loser] / powers[pairs.winner])
    return sums(pairs.weight * losses, pairs.query, pairs.indptr.size - 1)


def logistic_of_labels(ranks: Ranks, lower: Ints) -> Floats:
    """Return the sum of log(1 + e_j / e_i) over pairs of different labels.

    The rows are in the order of their labels: row i should rank above the first `lower[i]` rows.
    """
    powers, losses = exponentials(ranks), np.zeros(lower.size)
    for positions, inside in blocks(ranks.indptr):
        power, n_lower = powers[positions], np.where(inside, lower[positions], 0)
        start = int(np.argmax((n_lower > 0).any(axis=0)))  # no row before it has a row of a lower label
        inverse, n_lower = 1.0 / power[:, start:], n_lower[:, start:]
        total = np.zeros(inverse.shape)
        for first in range(0, int(n_lower.max(initial=0)), PAIRS_PER_LOG):
            growth = np.zeros(inverse.shape)  # (1 + a)(1 + b) ... - 1, which loses no digits if all ratios are small
            for j in range(first, min(first + PAIRS_PER_LOG, power.shape[1])):
                ratio = np.where(j < n_lower, power[:, j, None] * inverse, 0.0)
                growth += ratio + ratio * growth
            total += np.log1p(growth)
        losses[positions[:, start:][inside[:, start:]]] = total[inside[:, start:]]
    return ranks.sums(losses)
