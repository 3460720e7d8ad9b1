"""What a row is worth to a measure, and which kernels know what moving or trading it changes."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import AP, DCG, ERR, NDCG, RR
from rankadapters.objectives.kernels import stochastic_rank as moves
from rankadapters.objectives.kernels import trades
from rankadapters.objectives.kernels.lambdas_in_turn import DELTA_NDCG, FIRST_TRADE


class RowWorth(NamedTuple):
    """What objectives need to know of a measure beside what it lowers to.

    Attributes
    ----------
    kind : str
        `gain`, `relevance` (0 or 1), or `chance` that a reader stops at the row: the gain by the convention's scale.
    move : int
        How `kernels.stochastic_rank` adds up what a move changes.
    trade, catboost_trade : int
        What `kernels.lambdas_in_turn` calls the change of a trade, and what CatBoost takes for it; -1 where no
        objective trades.
    """

    kind: Literal["gain", "relevance", "chance"]
    move: int
    trade: int = -1
    catboost_trade: int = -1


WORTHS: dict[type[Convention], RowWorth] = {
    DCG: RowWorth("gain", moves.DISCOUNTED),
    NDCG: RowWorth("gain", moves.DISCOUNTED, DELTA_NDCG, DELTA_NDCG),
    ERR: RowWorth("chance", moves.CASCADE, FIRST_TRADE + trades.CASCADE, FIRST_TRADE + trades.CATBOOST_CASCADE),
    RR: RowWorth("relevance", moves.CASCADE, FIRST_TRADE + trades.FIRST_RANK, FIRST_TRADE + trades.CATBOOST_FIRST_RANK),
    AP: RowWorth("relevance", moves.HITS, FIRST_TRADE + trades.PRECISIONS, FIRST_TRADE + trades.CATBOOST_PRECISIONS),
}
VARIANTS: dict[type[Convention], tuple[str, str, dict[str, Any]]] = {  # field, its value, and what differs under it
    AP: ("divisor", "found", {"move": moves.SHARE_OF_FOUND, "trade": FIRST_TRADE + trades.PRECISIONS_FOUND}),
    ERR: ("complement", "float32", {"trade": FIRST_TRADE + trades.CASCADE_IN_FLOAT32}),
}


def worth_of(convention: Convention) -> RowWorth:
    """Look up what a row is worth under a convention."""
    worth = WORTHS[type(convention)]
    field, value, changes = VARIANTS.get(type(convention), ("k", "", {}))
    return worth._replace(**changes) if getattr(convention, field) == value else worth
