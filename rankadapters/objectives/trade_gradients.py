"""Gradients of pairs that are weighed by what trading their places changes, of measures other than NDCG."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.core.measures import AP, ERR, RR
from rankadapters.objectives.bound_gradients import Floats32, Kernel
from rankadapters.objectives.kernels import trades
from rankadapters.objectives.kernels.lambdas import Pairing
from rankadapters.objectives.pair_gradients import PairTerms, convention_terms, portions, ranked


def trade_terms(queries: Queries, convention: AP | RR | ERR, *, cut: bool, catboost: bool = False) -> PairTerms:
    """Lower a convention for trades: relevance or the chance to stop at a row, for gains.

    Parameters
    ----------
    queries, convention, cut
        As in `convention_terms`.
    catboost : bool
        Whether for CatBoost's changes, which are not divided by anything, of labels in float32.

    Raises
    ------
    InputError
        A chance is not from 0 to 1.
    """
    terms = convention_terms(queries, convention, cut=cut)
    if catboost or (isinstance(convention, AP) and convention.divisor == "found"):  # by which the kernel divides
        terms = terms._replace(inverse_ideal=np.sign(terms.inverse_ideal))
    if not isinstance(convention, ERR):
        return terms
    chances = terms.gains / convention.scale
    bad = (chances < 0) | (chances > 1)
    if bad.any():
        place = int(np.argmax(bad))
        row = int(terms.rows.order[place]) if terms.rows.order.size else place
        found = f"labels[{row}] is {queries.labels[row]:g}, whose chance to stop a reader is {chances[place]:g}"
        msg = f"{found}; chances lie from 0 to 1.\nHint: scale= the largest gain, or map your labels."
        raise InputError(msg, row=row)
    return terms._replace(gains=chances.astype(np.float32).astype(np.float64) if catboost else chances)


def kind_of(convention: AP | RR | ERR, *, catboost: bool = False) -> int:
    """Which changes the kernel computes."""
    if isinstance(convention, AP):
        exact = trades.PRECISIONS_FOUND if convention.divisor == "found" else trades.PRECISIONS
        return trades.CATBOOST_PRECISIONS if catboost else exact
    if isinstance(convention, RR):
        return trades.CATBOOST_FIRST_RANK if catboost else trades.FIRST_RANK
    exact = trades.CASCADE_IN_FLOAT32 if convention.complement == "float32" else trades.CASCADE
    return trades.CATBOOST_CASCADE if catboost else exact


def trade_kernel(terms: PairTerms, pairs: Pairing, kind: int) -> Kernel:
    """Every pair of one of the first ranks with a later one."""

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        indptr, by_rank = ranked(terms, scores, first, last)
        given = (*by_rank, terms.inverse_ideal[first:last], terms.discounts, kind, pairs)
        memory = trades.make_memory(int(np.diff(indptr).max(initial=0)))
        for ranks in portions(indptr, pairs.limit):
            bad = int(trades.trade_gradients(*given, *ranks, memory, grad, hess))
            yield bad
            if bad >= 0:
                return

    return run
