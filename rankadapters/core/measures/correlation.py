"""The base class of correlations: their fields, and policies for queries whose labels or scores are all equal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Formula, WholePlan
from rankadapters.core.data.columns import Flags, Floats
from rankadapters.core.data.rows import Rows
from rankadapters.core.declaration.convention import POOL, Convention, average_of, require_average
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.measures.ranked import EMPTY, Missing, Unjudged

UNDEFINED = replace(
    EMPTY,
    about="A query that has no correlation under any scores: its labels are all equal, or it has fewer than two rows.",
    numbers=Range(-1, 1),
    tried=(0.0, "skip"),
)
CONSTANT = Field(
    group="policy",
    about="The value of a query whose labels differ while its scores are all equal.",
    numbers=Range(-1, 1),
    tried=(0.0,),
)
AVERAGES = {"queries": ("uniform", "query", "query-except-empty"), "rows": ("uniform",)}  # by pool


@dataclass(frozen=True, kw_only=True, slots=True)
class Correlation(Convention):
    """Base class of the correlations of labels and scores.

    Labels are used as numbers, without a gain, and may be negative.
    """

    in_unit_interval: ClassVar[bool] = False

    empty: Annotated[float | Literal["skip", "error"], UNDEFINED]
    constant: Annotated[float, CONSTANT]
    missing: Missing
    unjudged: Unjudged
    pool: Annotated[Literal["queries", "rows"], POOL]
    average: Annotated[str, average_of("uniform", "query", "query-except-empty", geometric=False)]

    def unify(self) -> None:
        """Bring equivalent conventions to one form; refuse query weights if all rows are one query."""
        Convention.unify(self)
        require_average(self, AVERAGES)
        if self.pool == "rows" and self.empty == "skip":
            self._set("empty", "error")  # if the only query is skipped, nothing is left to average

    def limits_of_queries(self) -> tuple[float, float]:
        """Return -1 and 1."""
        return -1.0, 1.0

    def _plan(
        self,
        binding: Binding,
        formula: Formula,
        rows: Rows,
        *,
        empty: Flags,
        precision: str,
        options: Any,
        **columns: Any,
    ) -> WholePlan:
        return WholePlan(
            formula=formula, rows=rows, precision=precision, columns=columns, pooled=False, mass=binding.query_ones,
            options={**options, "constant": self.constant}, empty=empty,
        )  # fmt: skip


def cosine(product: Floats, squares: Floats, other_squares: Floats) -> Floats:
    """Return product / sqrt(squares x other_squares), limited to [-1, 1]; 0 if a sum of squares is 0."""
    norm = np.sqrt(squares * other_squares)
    return np.clip(np.divide(product, norm, out=np.zeros(norm.size), where=norm > 0), -1.0, 1.0)
