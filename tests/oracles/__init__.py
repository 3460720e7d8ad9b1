"""Numerator and mass that one query adds to each measure, in plain Python; tests compare the kernels with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.oracles import ap, auc, correlations, discounted, hits, losses
from tests.oracles.rows import Row

Sums = tuple[float, float]  # numerator and mass; a mean has mass 1

ORACLES: dict[str, Callable[[Sequence[Row], Any], Sums | None]] = {
    "ap": ap.ap,
    "auc": auc.auc,
    "bpref": hits.bpref,
    "coverage": hits.coverage,
    "dcg": discounted.dcg,
    "err": discounted.err,
    "f-measure": hits.f_measure,
    "fall-out": hits.fall_out,
    "filtered-dcg": discounted.dcg,  # the scores that it leaves out are those that `retrieve` does
    "kendall": correlations.kendall,
    "ndcg": discounted.ndcg,
    "pair-logit": losses.pair_logit,
    "pearson": correlations.pearson,
    "precision": hits.precision,
    "query-cross-entropy": losses.query_cross_entropy,
    "query-rmse": losses.query_rmse,
    "query-soft-max": losses.query_soft_max,
    "r-precision": hits.r_precision,
    "rbp": discounted.rbp,
    "recall": hits.recall,
    "rr": hits.rr,
    "spearman": correlations.spearman,
    "success": hits.success,
}


def oracle(rows: Sequence[Row], convention: Any) -> Sums | None:
    """Return the numerator and the mass of one query; None if the query has nothing to find.

    Callers pass the rows that `unjudged="drop"` removes as not retrieved.
    """
    return ORACLES[convention.measure](rows, convention)
