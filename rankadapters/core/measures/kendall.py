"""Kendall: the number of concordant minus discordant pairs of rows, normalized to [-1, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import WholePlan
from rankadapters.core.binding.whole_queries import by_label, grades_of, sums_by
from rankadapters.core.data.columns import Floats, Ints
from rankadapters.core.declaration.fields import Field
from rankadapters.core.measures.auc import weight_of_lower
from rankadapters.core.measures.correlation import Correlation, cosine
from rankadapters.core.measures.ranked import Precision
from rankadapters.core.ranking.ranks import Ranks
from rankadapters.core.ranking.segments import sums

VARIANT = Field(
    group="value",
    about="What the surplus of concordant pairs is divided by: how ties count.",
    words={
        "b": "sqrt(pairs whose labels differ x pairs whose scores differ)",
        "c": "n^2 (m - 1) / (2 m) for n rows, m being the smaller number of different labels or scores",
    },
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Kendall(Correlation):
    """Kendall's tau of labels and scores.

    Kendall = (concordant - discordant pairs) / divisor. A pair of rows of a query is concordant if the row with the
    higher label has the higher score, discordant if it has the lower score, and neither if labels or scores are equal.
    The divisor, and so the effect of ties, depends on `variant`: tau-b or tau-c. The value lies in [-1, 1].

    References
    ----------
    Kendall, The treatment of ties in ranking problems, Biometrika 33(3), 1945.
    Stuart, The estimation and comparison of strengths of association in contingency tables, Biometrika 40, 1953.
    scipy 1.17.1, stats/_stats_py.py, `kendalltau`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Kendall(variant="b", precision="float64", empty="skip", constant=0, missing="error", unjudged="error",
    ...                   pool="queries", average="uniform")
    >>> ra.evaluate([2, 1, 0], [3, 1, 2], conv, group_sizes=[3]).value == (2 - 1) / 3
    True
    """

    measure: ClassVar[str] = "kendall"

    variant: Annotated[Literal["b", "c"], VARIANT]
    precision: Precision

    def lower(self, binding: Binding) -> WholePlan:
        """Return the plan with rows by ascending label, and for each row the number of rows with lower labels."""
        rows, lower = by_label(binding, binding.retrieved(self.unjudged))
        return self._plan(
            binding, kendall, rows, precision=self.precision, empty=sums_by(rows.indptr, lower) == 0,
            options={"by_classes": self.variant == "c"}, lower=lower, grades=grades_of(lower, rows.indptr),
        )  # fmt: skip


def kendall(ranks: Ranks, lower: Ints, grades: Ints, *, by_classes: bool, constant: float) -> Floats:
    """Return tau-b of each query, or tau-c if `by_classes`; `constant` if all scores are equal.

    `lower` has for each row the number of its query's rows with lower labels, and the rows are in the order of their
    labels. All counts of pairs are exact.
    """
    n, ties, n_queries = ranks.sizes.astype(np.float64), ranks.ties, ranks.sizes.size
    levels, label_levels = np.bincount(ties.query, minlength=n_queries), ranks.sums(lower == ranks.rank)
    untied_labels = ranks.sums(lower)
    untied = n * (n - 1) / 2 - _pairs(ties.sizes, ties.query, n_queries)
    # Rows of equal label and score follow one another, since ties keep the order of the labels.
    grade, tie = grades[ranks.ranked], ranks.tie
    new = np.ones(grade.size, np.bool_)
    new[1:] = (grade[1:] != grade[:-1]) | (tie[1:] != tie[:-1])
    firsts = np.flatnonzero(new)
    tied_twice = _pairs(np.diff(firsts, append=grade.size), ranks.query[firsts], n_queries)
    tied_labels = n * (n - 1) / 2 - untied_labels
    concordant = ranks.sums(weight_of_lower(ranks, grades, np.ones(grade.size), 0.0))
    surplus = 2 * concordant - (untied - (tied_labels - tied_twice))
    least = np.minimum(levels, label_levels)
    values = cosine(surplus, untied, untied_labels)
    if by_classes:
        np.divide(2.0 * surplus * least, n * n * (least - 1.0), out=values, where=least > 1)
    values[levels == 1] = constant
    return values


def _pairs(sizes: Ints, query: Ints, n_queries: int) -> Floats:
    """Return the number of pairs within runs of these sizes, added up by query."""
    return sums(sizes * (sizes - 1.0) / 2, query, n_queries)
