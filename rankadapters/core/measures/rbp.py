"""RBP: the expected gain per row read, if a reader goes on to the next rank with a fixed probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan
from rankadapters.core.declaration.convention import average_of
from rankadapters.core.declaration.fields import Field, Range, spell_number
from rankadapters.core.measures.ranked import GAIN, Ranked, Ties, plan

LEVEL_GAIN = replace(
    GAIN,
    numbered={**GAIN.numbered, "linear-from": "y for y >= B, else 0"},
    tried=("from_1", *GAIN.tried),
    further=(),
)
PERSISTENCE = Field(
    group="value", about="The probability that a reader goes on to the next rank.", numbers=Range(0, 1),
    tried=(0.5, 0.8, 0.95), further=(0.6, 0.7, 0.75, 0.85, 0.9, 0.98, 0.99),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class RBP(Ranked):
    """Rank-biased precision.

    RBP@k = (1 - p) x sum over ranks i <= k of gain(label of the row at rank i) x p^(i - 1), where p is the persistence.
    The value lies in [0, 1) if every gain lies in [0, 1].

    Parameters
    ----------
    persistence
        It is p in the formula.

    References
    ----------
    Moffat & Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27(1), 2008.
    ranx 0.3.21, metrics/rank_biased_precision.py. cwl_eval 1.0.12, through ir_measures 0.4.3.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.RBP(k=None, gain="from_1", persistence=0.5, ties="input", precision="float64", short="pad",
    ...               missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([1, 0, 3], [3, 2, 1], conv, group_sizes=[3]).value  # (1 + 1/4) / 2
    0.625
    """

    measure: ClassVar[str] = "rbp"
    in_unit_interval: ClassVar[bool] = False

    gain: Annotated[str, LEVEL_GAIN]
    persistence: Annotated[float, PERSISTENCE]
    ties: Ties
    average: Annotated[str, average_of("uniform", "query", geometric=True)]

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with gains by rank."""
        p, k = self.persistence, binding.cutoff(self.k)
        weights = (1 - p) * binding.discounts(f"power_{spell_number(p)}", k)
        gains, ones, no_queries = binding.gains(self.gain), binding.query_ones, binding.no_queries
        return plan(self, binding, gains, divisor=ones, empty=no_queries, weights=weights)
