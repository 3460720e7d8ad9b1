"""Kendall: the number of concordant minus discordant pairs of rows, normalized to [-1, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from rankadapters.core.declaration.fields import Field
from rankadapters.core.measures.correlation import Correlation
from rankadapters.core.measures.ranked import Precision

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Binding
    from rankadapters.core.binding.plans import WholePlan

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
        from rankadapters.core.binding.whole_queries import by_label, sums_by
        from rankadapters.core.kernels.correlations import kendall

        rows, lower = by_label(binding, binding.retrieved(self.unjudged))
        return self._plan(
            binding, kendall, rows, precision=self.precision, empty=sums_by(rows.indptr, lower) == 0,
            options={"by_classes": self.variant == "c"}, lower=lower,
        )  # fmt: skip
