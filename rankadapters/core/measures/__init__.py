"""The measures, a file for each family: the fields, the plan that the fields make, and the formula in numpy."""

from __future__ import annotations

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures.ap import AP
from rankadapters.core.measures.auc import AUC
from rankadapters.core.measures.bpref import Bpref
from rankadapters.core.measures.correlations import Kendall, Pearson, Spearman
from rankadapters.core.measures.err import ERR
from rankadapters.core.measures.filtered_dcg import FilteredDCG
from rankadapters.core.measures.losses import QueryCrossEntropy, QueryRMSE, QuerySoftMax
from rankadapters.core.measures.ndcg import DCG, NDCG
from rankadapters.core.measures.pair_logit import PairLogit
from rankadapters.core.measures.precision import FallOut, FMeasure, Precision, Recall, RPrecision
from rankadapters.core.measures.rbp import RBP
from rankadapters.core.measures.rr import RR, Coverage, Success

__all__ = [
    "AP",
    "AUC",
    "DCG",
    "ERR",
    "NDCG",
    "RBP",
    "RR",
    "Bpref",
    "Coverage",
    "FMeasure",
    "FallOut",
    "FilteredDCG",
    "Kendall",
    "PairLogit",
    "Pearson",
    "Precision",
    "QueryCrossEntropy",
    "QueryRMSE",
    "QuerySoftMax",
    "RPrecision",
    "Recall",
    "Spearman",
    "Success",
]

MEASURES: dict[str, type[Convention]] = {
    measure.measure: measure
    for measure in (
        NDCG, DCG, AP, AUC, RR, Precision, Recall, Success, ERR, RBP, RPrecision, FMeasure, FallOut,
        FilteredDCG, Coverage, Bpref, PairLogit, QueryRMSE, QuerySoftMax, QueryCrossEntropy,
        Spearman, Kendall, Pearson,
    )
}  # fmt: skip
