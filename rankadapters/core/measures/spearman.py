"""Spearman: the correlation of the ranks by label and by score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from rankadapters.core.measures.correlation import Correlation
from rankadapters.core.measures.ranked import TIES, Precision

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Binding
    from rankadapters.core.binding.plans import WholePlan

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
        from rankadapters.core.binding.whole_queries import label_ranks, sums_by
        from rankadapters.core.data.rows import backwards
        from rankadapters.core.kernels.correlations import spearman

        retrieved = binding.retrieved(self.unjudged)
        rows = backwards(retrieved) if self.ties == "reverse" else retrieved
        ranks = rows.take(label_ranks(binding, retrieved))
        return self._plan(
            binding, spearman, rows, precision=self.precision, empty=sums_by(rows.indptr, abs(ranks)) == 0,
            options={"averaged": self.ties == "mean-rank"}, ranks=ranks,
        )  # fmt: skip
