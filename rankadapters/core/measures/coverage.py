"""Coverage: the rank of the last relevant row; lower is better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import RankedPlan
from rankadapters.core.data.columns import Floats
from rankadapters.core.declaration.convention import Convention, Mean
from rankadapters.core.measures.ranked import TIES, Empty, Missing, Precision, Relevant, Unjudged
from rankadapters.core.ranking.ranks import Ranks


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage(Convention):
    """Coverage error: how many rows must be read until all relevant rows are found; lower is better.

    Coverage = rank of the last relevant row that is retrieved. It is at most the number of rows.

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

    def limits_of_queries(self) -> tuple[float, float]:
        """Return 0, which a query that is empty may count, and no upper limit."""
        return 0.0, math.inf

    def lower(self, binding: Binding) -> RankedPlan:
        """Return the plan with relevance by rank."""
        relevance = binding.relevance(self.relevant)
        empty = binding.judged_sums(relevance) <= 0
        return binding.plan(self, last_relevant_rank, k=binding.longest, empty=empty, relevance=relevance)


def last_relevant_rank(ranks: Ranks, relevance: Floats) -> Floats:
    """Return the rank of each query's last relevant row, 0 if there is none."""
    hits = np.flatnonzero(ranks.take(relevance) != 0)
    values = np.zeros(ranks.sizes.size)
    np.maximum.at(values, ranks.query[hits], ranks.rank[hits] + 1.0)
    return values
