"""What the pairs of LambdaRank are weighed by: the change of a convention's measure when two rows trade places."""

from __future__ import annotations

from typing import cast

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.core.measures import AP, ERR, NDCG, RR
from rankadapters.objectives.kernels.lambdas_in_turn import FIRST_TRADE
from rankadapters.objectives.kernels.trades import PRECISIONS_FOUND
from rankadapters.objectives.pair_gradients import PairTerms, convention_terms
from rankadapters.objectives.row_worth import worth_of


def trade_terms(
    queries: Queries, convention: NDCG | AP | RR | ERR, *, cut: bool, catboost: bool = False
) -> tuple[PairTerms, int]:
    """Lower a convention for trades; return also what the kernels call the change of a trade.

    With `catboost` for CatBoost's changes, which are not divided by anything, of labels in float32.
    """
    worth, terms = worth_of(convention), convention_terms(queries, convention, cut=cut)
    if catboost or worth.trade == FIRST_TRADE + PRECISIONS_FOUND:  # by which the kernel divides
        terms = terms._replace(inverse_ideal=np.sign(terms.inverse_ideal))
    if worth.kind == "chance":
        chances = _chances(queries, terms, cast("ERR", convention).scale)
        terms = terms._replace(gains=chances.astype(np.float32).astype(np.float64) if catboost else chances)
    return terms, worth.catboost_trade if catboost else worth.trade


def _chances(queries: Queries, terms: PairTerms, scale: float) -> Floats:
    """Divide gains by the scale."""
    chances: Floats = terms.gains / scale
    bad = (chances < 0) | (chances > 1)
    if bad.any():
        place = int(np.argmax(bad))
        row = int(terms.rows.order[place]) if terms.rows.order.size else place
        what = f"labels[{row}] is {queries.labels[row]:g}, whose chance to stop a reader is {chances[place]:g}"
        msg = f"{what}; chances lie from 0 to 1.\nHint: scale= the largest gain, or map your labels."
        raise InputError(msg, row=row)
    return chances
