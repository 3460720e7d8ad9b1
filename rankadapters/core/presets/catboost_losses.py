"""CatBoost's losses as metrics."""

from __future__ import annotations

import struct
from typing import Any, Literal

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.spelling import number
from rankadapters.core.measures import PairLogit, QueryCrossEntropy, QueryRMSE, QuerySoftMax
from rankadapters.core.measures.loss import Loss
from rankadapters.core.presets.tool import flag, measure, one_of

Weights = Literal["query", "row"] | None
NAMES = {
    "pair-logit": "PairLogit", "query-rmse": "QueryRMSE", "query-soft-max": "QuerySoftMax",
    "query-cross-entropy": "QueryCrossEntropy",
}  # fmt: skip

ALPHA = 0.95  # CatBoost's default, which alone it holds in double precision


class Losses:
    """The part of CatBoost's vocabulary that holds its losses."""

    @measure
    def pair_logit(self, *, pairs: Literal["given", "label"] = "given", use_weights: bool = True) -> PairLogit:
        """`PairLogit`, metric.cpp. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        pairs : {'given', 'label'}
            The Pool's pairs, or those that CatBoost makes of labels where a Pool has none.
        use_weights : bool
            Whether the weights of the pairs count, or of the queries where pairs are made of labels.
        """
        found = PairLogit(pairs="given", missing="error", unjudged="error", average="pair").named("catboost.pair_logit")
        average = one_of("pairs", pairs, {"given": "pair", "label": "query"})
        return found.replace(pairs=pairs, average=average if flag("use_weights", use_weights) else "uniform")

    @measure
    def query_rmse(self, *, weights: Weights = "query") -> QueryRMSE:
        """`QueryRMSE`, metric.cpp. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        weights : {'query', 'row', None}
            Which weights the data have; None is `use_weights=false`.
        """
        found = QueryRMSE(missing="error", unjudged="error", average="query").named("catboost.query_rmse")
        return found.replace(average=_average(weights))

    @measure
    def query_soft_max(self, *, beta: float = 1.0, weights: Weights = "query") -> QuerySoftMax:
        """`QuerySoftMax`, metric.cpp. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        beta : float
            What scores are multiplied by.
        weights : {'query', 'row', None}
            Which weights the data have; None is `use_weights=false`.
        """
        found = QuerySoftMax(beta=1, missing="error", unjudged="error", average="query")
        return found.named("catboost.query_soft_max").replace(beta=beta, average=_average(weights))

    @measure
    def query_cross_entropy(self, *, alpha: float | None = None, weights: Weights = "query") -> QueryCrossEntropy:
        """`QueryCrossEntropy`, metric.cpp. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        alpha : float or None
            Share of the shifted part, held as float32; None is CatBoost's default, 0.95 in double precision.
        weights : {'query', 'row', None}
            Which weights the data have; None is `use_weights=false`.
        """
        found = QueryCrossEntropy(alpha=ALPHA, missing="error", unjudged="error", average="query")
        named = found.named("catboost.query_cross_entropy").replace(average=_average(weights))
        return named if alpha is None else named.replace(alpha=_float32(named.replace(alpha=alpha).alpha))


def nearest_loss(convention: Loss) -> Convention:
    """Give the nearest loss that CatBoost computes: it holds alpha as float32."""
    alpha = {}
    if isinstance(convention, QueryCrossEntropy) and convention.alpha != ALPHA:
        alpha["alpha"] = _float32(convention.alpha)
    by_query = isinstance(convention, PairLogit) and (convention.pairs, convention.average) == ("given", "query")
    return convention.replace(**alpha, **({"average": "pair"} if by_query else {}))  # given pairs have own weights


def spelled_loss(convention: Loss, *, group_weights: bool) -> str:
    """Write the metric string of a loss."""
    options = {"beta": getattr(convention, "beta", None), "alpha": getattr(convention, "alpha", None)}
    if options["alpha"] == ALPHA:  # as a text it would become a float32
        options["alpha"] = None
    parts = [f"{name}={number(value)}" for name, value in options.items() if value is not None]
    if convention.weighting is None and group_weights:
        parts.append("use_weights=false")
    return ":".join(filter(None, [NAMES[convention.measure], ";".join(parts)]))


def _average(weights: object) -> str:
    return str(one_of("weights", weights, {"query": "query", "row": "row", None: "uniform"}))


def _float32(value: Any) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])
