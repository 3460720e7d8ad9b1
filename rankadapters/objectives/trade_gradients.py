"""The pair weights of LambdaRank: the change of a measure when two rows swap ranks."""

from __future__ import annotations

from typing import cast

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.core.measures import AP, ERR, NDCG, RR
from rankadapters.objectives.bound_gradients import row_number
from rankadapters.objectives.kernels.changes import PRECISIONS_FOUND
from rankadapters.objectives.measure_kernels import kernel_kinds
from rankadapters.objectives.pair_gradients import PairTerms, convention_terms


def trade_terms(
    queries: Queries, convention: NDCG | AP | RR | ERR, *, cut: bool, catboost: bool = False
) -> tuple[PairTerms, int]:
    """Compute the `PairTerms` of a convention; also return the delta that selects the kernel.

    With `catboost`, use CatBoost's weights: they are not divided, and stop probabilities are float32.
    """
    kernels, terms = kernel_kinds(convention), convention_terms(queries, convention, cut=cut)
    if catboost or kernels.trade == PRECISIONS_FOUND:  # the kernel divides, if needed
        terms = terms._replace(inverse_ideal=np.sign(terms.inverse_ideal))
    if kernels.kind == "chance":
        chances = _chances(queries, terms, cast("ERR", convention).scale)
        terms = terms._replace(gains=chances.astype(np.float32).astype(np.float64) if catboost else chances)
    return terms, kernels.catboost_trade if catboost else kernels.trade


def _chances(queries: Queries, terms: PairTerms, scale: float) -> Floats:
    """Return gains / scale; these must be probabilities."""
    chances: Floats = terms.gains / scale
    bad = (chances < 0) | (chances > 1)
    if bad.any():
        index = int(np.argmax(bad))
        row = row_number(terms.rows, index)
        problem = f"labels[{row}] is {queries.labels[row]:g}, whose probability to stop a reader is {chances[index]:g}"
        msg = f"{problem}; allowed is 0 to 1.\nHint: scale= the largest gain, or map your labels."
        raise InputError(msg, row=row)
    return chances
