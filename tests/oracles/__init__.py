"""What one query adds to the value of each measure, in plain Python: the kernels are compared with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.oracles import ap, auc, correlations, discounted, err, hits, losses
from tests.oracles.rows import Row

Sums = tuple[float, float]  # numerator and mass; a mean has mass 1

ORACLES: dict[str, Callable[[Sequence[Row], Any], Sums | None]] = {
    "ap": ap.ap,
    "auc": auc.auc,
    "bpref": hits.bpref,
    "coverage": hits.coverage,
    "dcg": discounted.dcg,
    "err": err.err,
    "f-measure": hits.f_measure,
    "fall-out": hits.fall_out,
    "filtered-dcg": discounted.filtered_dcg,
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
    """Return what one query adds, numerator and mass; None where the query has nothing to find.

    Rows that `unjudged="drop"` leaves out are passed as not retrieved.
    """
    return ORACLES[convention.measure](rows, convention)
