"""Spearman: the correlation of the ranks by label and by score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import WholePlan
from rankadapters.core.binding.whole_queries import label_ranks, sums_by
from rankadapters.core.data.columns import Floats
from rankadapters.core.data.rows import backwards
from rankadapters.core.measures.correlation import Correlation, cosine
from rankadapters.core.measures.ranked import TIES, Precision
from rankadapters.core.ranking.ranks import Ranks

RANKS = replace(TIES, words={"mean-rank": "none: each has the mean of the ranks that they share", **TIES.words})


@dataclass(frozen=True, kw_only=True, slots=True)
class Spearman(Correlation):
    """Spearman's rank correlation of labels and scores, called the information coefficient in return forecasting.

    Spearman = sum a_i b_i / sqrt(sum a_i^2 sum b_i^2) over the rows of a query: a_i is a row's rank by label and b_i
    its rank by score, each less the mean rank. Rows with equal labels share the mean of their ranks. The value lies in
    [-1, 1]. No gain is needed: a gain that grows with the label changes no rank.

    References
    ----------
    Spearman, The proof and measurement of association between two things, American Journal of Psychology 15(1), 1904.
    scipy 1.17.1, stats/_stats_py.py, `spearmanr`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Spearman(ties="mean-rank", precision="float64", empty="skip", constant=0, missing="error",
    ...                    unjudged="error", pool="queries", average="uniform")
    >>> ra.evaluate([-0.1, 0.0, 0.3], [1, 3, 2], conv, group_sizes=[3]).value  # a = -1, 0, 1 and b = -1, 1, 0
    0.5
    """

    measure: ClassVar[str] = "spearman"

    ties: Annotated[Literal["mean-rank", "input", "reverse"], RANKS]
    precision: Precision

    def lower(self, binding: Binding) -> WholePlan:
        """Return the plan with rows in the order that tied rows keep, and the rank of each row by label."""
        retrieved = binding.retrieved(self.unjudged)
        rows = backwards(retrieved) if self.ties == "reverse" else retrieved
        ranks = rows.take(label_ranks(binding, retrieved))
        return self._plan(
            binding, spearman, rows, precision=self.precision, empty=sums_by(rows.indptr, abs(ranks)) == 0,
            options={"averaged": self.ties == "mean-rank"}, label_ranks=ranks,
        )  # fmt: skip


def spearman(ranks: Ranks, label_ranks: Floats, *, averaged: bool, constant: float) -> Floats:
    """Return the correlation of the ranks by score with the ranks by label; `constant` if all scores are equal.

    All ranks are 2 x (rank - mean rank of the query), so that mean ranks of ties are whole numbers and sum to 0, and the
    sums are exact in queries of up to 200,000 rows.
    """
    ties, n = ranks.ties, ranks.sizes[ranks.query]
    tie = ranks.tie
    ends = 2 * ties.first[tie] + ties.sizes[tie] if averaged else 2 * ranks.rank + 1
    rank, label_rank = (n - ends).astype(np.float64), label_ranks[ranks.ranked]
    values = cosine(ranks.sums(rank * label_rank), ranks.sums(rank * rank), ranks.sums(label_rank * label_rank))
    values[ties.query[ties.sizes == ranks.sizes[ties.query]]] = constant
    return values
