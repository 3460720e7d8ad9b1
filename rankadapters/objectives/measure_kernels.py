"""The kernels that compute how a measure changes when a row moves or two rows swap."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import AP, DCG, ERR, NDCG, RR
from rankadapters.objectives.kernels import changes as trades
from rankadapters.objectives.kernels import stochastic_rank as moves


class Kernels(NamedTuple):
    """How kernels handle a measure: what its gains mean, and the codes that select how its changes are computed.

    Attributes
    ----------
    kind : str
        Meaning of a row's gain: `gain`, `relevance` (0 or 1), or `chance` that a reader stops: gain / scale.
    move : int
        The kind of `kernels.stochastic_rank` that computes the change when a row moves.
    trade, catboost_trade : int
        The delta of `kernels.changes` that computes the change when two rows swap, and the delta of CatBoost's
        weights in its place; -1 if no objective swaps rows under the measure.
    """

    kind: Literal["gain", "relevance", "chance"]
    move: int
    trade: int = -1
    catboost_trade: int = -1


KERNELS: dict[type[Convention], Kernels] = {
    DCG: Kernels("gain", moves.DISCOUNTED),
    NDCG: Kernels("gain", moves.DISCOUNTED, trades.DCG, trades.DCG),
    ERR: Kernels("chance", moves.CASCADE, trades.CASCADE, trades.CATBOOST_CASCADE),
    RR: Kernels("relevance", moves.CASCADE, trades.FIRST_RANK, trades.CATBOOST_FIRST_RANK),
    AP: Kernels("relevance", moves.HITS, trades.PRECISIONS, trades.CATBOOST_PRECISIONS),
}


def kernel_kinds(convention: Convention) -> Kernels:
    """Return the kernels for a convention."""
    kernels = KERNELS[type(convention)]
    if isinstance(convention, AP) and convention.divisor == "found":
        return kernels._replace(move=moves.SHARE_OF_FOUND, trade=trades.PRECISIONS_FOUND)
    return kernels
