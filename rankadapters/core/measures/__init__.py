"""The measures: one file each, or one a family: declaration, oracle, lowering, the name of the kernel in both forms."""

from __future__ import annotations

from rankadapters.core.convention import Convention
from rankadapters.core.measures.ap import AP
from rankadapters.core.measures.auc import AUC
from rankadapters.core.measures.ndcg import DCG, NDCG
from rankadapters.core.measures.pair_logit import PairLogit
from rankadapters.core.measures.query_cross_entropy import QueryCrossEntropy
from rankadapters.core.measures.query_rmse import QueryRMSE
from rankadapters.core.measures.query_soft_max import QuerySoftMax
from rankadapters.core.measures.rr import RR

__all__ = ["AP", "AUC", "DCG", "NDCG", "RR"]
__all__ += ["PairLogit", "QueryCrossEntropy", "QueryRMSE", "QuerySoftMax"]

_LOSSES = (PairLogit, QueryRMSE, QuerySoftMax, QueryCrossEntropy)
MEASURES: dict[str, type[Convention]] = {measure.measure: measure for measure in (NDCG, DCG, AP, AUC, RR, *_LOSSES)}
