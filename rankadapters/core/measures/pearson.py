"""Pearson: the linear correlation of labels and scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rankadapters.core.measures.correlation import Correlation

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Binding
    from rankadapters.core.binding.plans import WholePlan


@dataclass(frozen=True, kw_only=True, slots=True)
class Pearson(Correlation):
    """Pearson's linear correlation of labels and scores.

    Pearson = sum a_i b_i / sqrt(sum a_i^2 sum b_i^2) over the rows of a query: a_i is a row's label and b_i its score,
    each less its mean in the query. The value lies in [-1, 1]. Scores count as float64 numbers, whatever their order.
    To correlate scores with gains, pass the gains as labels.

    References
    ----------
    Pearson, Note on regression and inheritance in the case of two parents, Proceedings of the Royal Society of London
    58, 1895.
    scipy 1.17.1, stats/_stats_py.py, `pearsonr`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Pearson(empty="skip", constant=0, missing="error", unjudged="error", pool="queries",
    ...                   average="uniform")
    >>> ra.evaluate([-1, 0, 1], [0, 2, 1], conv, group_sizes=[3]).value  # a = -1, 0, 1 and b = -1, 1, 0
    0.5
    """

    measure: ClassVar[str] = "pearson"

    def lower(self, binding: Binding) -> WholePlan:
        """Return the plan with rows by ascending label, and their standardized labels."""
        import numpy as np

        from rankadapters.core.binding.whole_queries import by_label, sums_by
        from rankadapters.core.kernels import dispatch
        from rankadapters.core.kernels.correlations import pearson, standardized

        rows, lower = by_label(binding, binding.retrieved(self.unjudged))
        labels = np.empty(lower.size)
        dispatch.run(standardized, rows.take(binding.labels), rows.indptr, labels, rows=labels.size)
        empty = sums_by(rows.indptr, lower) == 0
        return self._plan(binding, pearson, rows, precision="none", empty=empty, options={}, labels=labels)
