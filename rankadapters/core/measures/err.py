"""ERR: the expected reciprocal of the rank at which a reader stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.core.binding.gains import gains_of
from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan
from rankadapters.core.declaration.convention import average_of
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.measures.ranked import Discounted
from rankadapters.core.ranking.offsets import offsets, running, shifted
from rankadapters.core.ranking.ranks import Ranks

SCALE = Field(
    group="value",
    about="What a gain is divided by to be the probability that a reader stops at the row.",
    numbers=Range(0, above=True),
    tried=(16.0, 1.0),
    further=(2.0, 3.0, 4.0, 5.0, 8.0, 15.0, 32.0),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ERR(Discounted):
    """Expected reciprocal rank, and with `discount="power_0.85"` PFound.

    ERR@k = sum over ranks i <= k of discount(i) x p_i x product over j < i of (1 - p_j), p = gain / scale. The value
    lies in [0, 1] where every p does; a p outside [0, 1] is used as it is.

    Parameters
    ----------
    scale
        Use 16 for gains 2^label - 1 of labels up to 4, and 1 where the label is a probability.
    discount
        `reciprocal` is the discount of ERR, `power_0.85` that of PFound.
    ties
        `average` takes time that grows with the square of a tie's length.

    References
    ----------
    Chapelle, Metlzer, Zhang & Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009, equation 7.
    CatBoost 1.2.10, libs/metrics/metric.cpp, `ERR`, and pfound.h.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.ERR(k=10, gain="linear", scale=1, discount="reciprocal", ties="input",
    ...               precision="float64", short="pad", missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([0.5, 1], [2, 1], conv, group_sizes=[2]).value  # stops at row 1 or 2, with chance 1/2 each
    0.75
    """

    measure: ClassVar[str] = "err"
    in_unit_interval: ClassVar[bool] = False

    scale: Annotated[float, SCALE]
    average: Annotated[str, average_of("uniform", "query", geometric=True)]

    def doubt(self, labels: Any) -> tuple[Any, str] | None:
        """Return which labels give a stop probability outside [0, 1], and a message; None if no label does."""
        chances = gains_of(labels, None, self.gain) / self.scale
        bad = (chances < 0) | (chances > 1)
        if not bad.any():
            return None
        chance = float(chances[bad][0])
        return bad, (
            f"a chance to stop of {chance:g}, which is not from 0 to 1: the value is the sum of the formula, but not a "
            "probability.\nHint: map the labels to chances, or convention.replace(scale=<largest gain>)."
        )

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with gains by rank."""
        discounts, averaged = binding.discounts(self.discount, binding.cutoff(self.k)), self.ties == "average"
        return binding.plan(
            self, expected_cascade if averaged else cascade, empty=binding.no_queries,
            by_rank={"discounts": discounts}, options={"scale": self.scale}, in_order=averaged,
            gains=binding.ranking_gains(self.gain, self.unjudged),
        )  # fmt: skip


def cascade(ranks: Ranks, gains: Floats, discounts: Floats, scale: float) -> Floats:
    """Return the sum of discount x chance that a reader, who looks at one row after the other, stops at the rank."""
    chances = ranks.take(gains) / scale
    looks = running(np.multiply, shifted(1.0 - chances, ranks.outptr, 1.0), ranks.outptr)
    return ranks.sums(looks * chances * discounts[ranks.rank])


def expected_cascade(ranks: Ranks, gains: Floats, discounts: Floats, scale: float) -> Floats:
    """Return the expectation of `cascade` over all orders of tied rows."""
    ties, chances = ranks.ties, gains[ranks.ranked] / scale
    depth = np.minimum(ties.sizes, np.maximum(ranks.counts[ties.query] - ties.first, 0))  # ranks of each tie up to k
    stops, goes_on = np.empty(ranks.rank.size), np.empty(depth.size)
    starts = offsets(depth)[:-1]  # where each tie's ranks begin
    for n in np.unique(ties.sizes[depth > 0]).tolist():
        of_size = np.flatnonzero((ties.sizes == n) & (depth > 0))
        tied = chances[ties.indptr[of_size, None] + np.arange(n)]
        most = int(depth[of_size].max())
        stop, look = _expected_in_ties(tied, most)
        inside = np.arange(most) < depth[of_size, None]
        stops[(starts[of_size, None] + np.arange(most))[inside]] = stop[:, :most][inside]
        goes_on[of_size] = look[np.arange(of_size.size), depth[of_size]]
    goes_on[depth == 0] = 0.0  # such ties have no rank
    tieptr = offsets(np.bincount(ties.query, minlength=ranks.sizes.size))
    looks = running(np.multiply, shifted(goes_on, tieptr, 1.0), tieptr)
    return ranks.sums(looks[ranks.tie] * stops * discounts[ranks.rank])


def _expected_in_ties(tied: Floats, depth: int) -> tuple[Floats, Floats]:
    """Return the chances to stop at row m + 1 of ties of one size and to pass their first m rows, over all orders.

    A row has chance p to stop and q = 1 - p to go on. For the first t rows, L[m] is the mean of the product of q over
    all sets of m rows. S[m] is the mean of p x product of q over all choices of one row and a set of m different rows.
    Both follow from those of t - 1 rows: the t-th row is the one row with chance 1/t, and in the set with chance m/t.

    S[m] = (p L[m] + m q S[m - 1] + (t - 1 - m) S[m]) / t;  L[m] = (m q L[m - 1] + (t - m) L[m]) / t.
    """
    if tied.shape[1] == 1:
        return tied, np.stack([np.ones(len(tied)), 1.0 - tied[:, 0]], axis=1)
    stops, looks = np.zeros((len(tied), depth + 1)), np.zeros((len(tied), depth + 1))
    looks[:, 0] = 1.0
    for t in range(1, tied.shape[1] + 1):
        p, m = tied[:, t - 1, None], np.arange(1, min(t, depth) + 1)
        q, upto = 1.0 - p, slice(1, m.size + 1)
        stops[:, upto] = (p * looks[:, upto] + m * q * stops[:, m - 1] + (t - 1 - m) * stops[:, upto]) / t
        looks[:, upto] = (m * q * looks[:, m - 1] + (t - m) * looks[:, upto]) / t
        stops[:, 0] = (p[:, 0] + (t - 1) * stops[:, 0]) / t
    return stops, looks
