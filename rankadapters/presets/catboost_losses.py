"""CatBoost's losses as metrics."""

from __future__ import annotations

from typing import Literal

from rankadapters.core.measures import PairLogit, QueryCrossEntropy, QueryRMSE, QuerySoftMax
from rankadapters.presets.catboost_words import ALPHA
from rankadapters.presets.preset import preset

Weights = Literal["query", "row"] | None


class Losses:
    """The presets of CatBoost's losses."""

    @preset(PairLogit, "PairLogit", pairs="given", average="pair")
    def pair_logit(self, *, pairs: Literal["given", "label"] = "given", use_weights: bool = True) -> PairLogit:
        """`PairLogit`, metric.cpp. Run against 1.2.10: equal within 1e-12.

        Parameters
        ----------
        pairs : {'given', 'label'}
            The Pool's pairs, or the pairs that CatBoost derives from labels if the Pool has none.
        use_weights : bool
            Whether the weights of the Pool's pairs count; for derived pairs, whether the weights of queries count.
        """

    @preset(QueryRMSE, "QueryRMSE")
    def query_rmse(self, *, weights: Weights = "query") -> QueryRMSE:
        """`QueryRMSE`, metric.cpp. Run against 1.2.10: equal within 1e-12.

        Parameters
        ----------
        weights : {'query', 'row', None}
            The weights of the data; None is `use_weights=false`.
        """

    @preset(QuerySoftMax, "QuerySoftMax", beta=1)
    def query_soft_max(self, *, beta: float = 1.0, weights: Weights = "query") -> QuerySoftMax:
        """`QuerySoftMax`, metric.cpp. Run against 1.2.10: equal within 1e-12.

        Parameters
        ----------
        beta : float
            The factor of the scores.
        weights : {'query', 'row', None}
            The weights of the data; None is `use_weights=false`.
        """

    @preset(QueryCrossEntropy, "QueryCrossEntropy", alpha=ALPHA)
    def query_cross_entropy(self, *, alpha: float | None = None, weights: Weights = "query") -> QueryCrossEntropy:
        """`QueryCrossEntropy`, metric.cpp. Run against 1.2.10: equal within 1e-12.

        Parameters
        ----------
        alpha : float or None
            Share of the shifted part, stored as float32; None is CatBoost's default, 0.95 in double precision.
        weights : {'query', 'row', None}
            The weights of the data; None is `use_weights=false`.
        """
