"""What losses share as measures: their fields, and the sums that they are the ratio of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures.ranked import MISSING, Unjudged


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss(Convention):
    """A loss as a measure: the ratio of two sums over all queries, of losses and of weights; lower is better.

    Only retrieved rows count, and a query without weight adds nothing.

    Parameters
    ----------
    missing : str
        A judged query of which nothing was retrieved: `skip` (it adds nothing) or `error`.
    unjudged : str
        A retrieved row without judgment: `zero` (label 0), `drop` (as if it had not been retrieved), `error`.
    average
        As in `Convention`.
    """

    higher_is_better: ClassVar[bool] = False
    in_unit_interval: ClassVar[bool] = False

    missing: Annotated[Literal["skip", "error"], MISSING]
    unjudged: Unjudged

    @property
    def pooled(self) -> bool:
        """Losses and weights are summed over the queries before they are divided."""
        return True
