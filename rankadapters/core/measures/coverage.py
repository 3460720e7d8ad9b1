"""Coverage: the rank of the last relevant row; lower is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.declaration.convention import Convention, Mean
from rankadapters.core.measures.ranked import TIES, Empty, Missing, Precision, Relevant, Unjudged

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Bound


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage(Convention):
    """Coverage error: how many rows are to be read until all relevant ones are; lower is better.

    Coverage = rank of the last relevant row that is retrieved. It has no upper bound but the number of rows.

    References
    ----------
    scikit-learn 1.9.1, metrics/_ranking.py, `coverage_error`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.presets.sklearn.coverage_error()
    >>> ra.evaluate([1, 0, 1, 0], [4, 3, 2, 1], conv, group_sizes=[4]).value
    3.0
    """

    measure: ClassVar[str] = "coverage"
    in_unit_interval: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = False

    relevant: Relevant
    ties: Annotated[Literal["input", "reverse", "worst", "best", "docid-descending", "docid-ascending"], TIES]
    precision: Precision
    empty: Empty
    missing: Missing
    unjudged: Unjudged
    average: Mean

    def lower(self, bound: Bound) -> RankedPlan:
        """Return the plan: relevance by rank."""
        from rankadapters.core.kernels.hits import last_relevant

        relevance = bound.relevance(self.relevant)
        return bound.plan(
            self, last_relevant, k=bound.longest, empty=bound.judged_sums(relevance) <= 0, ranked=relevance
        )
