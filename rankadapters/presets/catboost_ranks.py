"""CatBoost's metrics with a cutoff, other than NDCG, DCG, MAP and MRR."""

from __future__ import annotations

from typing import Literal

from rankadapters.core.measures import ERR, FilteredDCG, Precision, Recall
from rankadapters.presets.catboost_words import BORDER, GAINS
from rankadapters.presets.options import choice
from rankadapters.presets.preset import preset

Type = Literal["Base", "Exp"]
Denominator = Literal["LogPosition", "Position"]
Sort = Literal["None", "ByPrediction", "ByTarget"]


class CatBoostRanks:
    """The presets of CatBoost's metrics with a cutoff; `k` is its `top`, and None is `top=-1`, all ranks."""

    @preset(ERR, "PFound", gain="linear", scale=1, discount="power_0.85")
    def pfound(self, k: int | None, *, decay: float = 0.85, use_weights: bool = True) -> ERR:
        """`PFound:top=k`, pfound.h; the label is the stop probability. Run against 1.2.10: equal within 1e-12.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        decay : float
            The probability that a user who is not satisfied continues to the next rank.
        use_weights : bool
            Whether group weights count.
        """

    @preset(ERR, "ERR", gain="linear", scale=1, discount="reciprocal")
    def err(self, k: int | None, *, use_weights: bool = True) -> ERR:
        """`ERR:top=k`, metric.cpp. Run against 1.2.10: equal within 6e-8, since it rounds 1 - label to float32.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        use_weights : bool
            Whether group weights count.
        """

    @preset(Precision, "PrecisionAt", divisor="retrieved", average="uniform")
    def precision_at(self, k: int | None, *, border: float = BORDER) -> Precision:
        """`PrecisionAt:top=k`, precision_recall_at_k.cpp, without weights. Run against 1.2.10: equal within 1e-12.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        border : float
            Labels above it are relevant; stored as float32.
        """

    @preset(Recall, "RecallAt", empty=1, average="uniform")
    def recall_at(self, k: int | None, *, border: float = BORDER) -> Recall:
        """`RecallAt:top=k`, precision_recall_at_k.cpp; 1 if none is relevant. Run against 1.2.10: equal within 1e-12.

        Parameters as in `precision_at`.
        """

    @preset(Precision, "AverageGain", relevant="label", divisor="retrieved")
    def average_gain(self, k: int | None, *, use_weights: bool = True) -> Precision:
        """`AverageGain:top=k`, metric.cpp: mean label. Run against 1.2.10: equal within 1e-12; options as in `err`."""

    @preset(
        FilteredDCG, "FilteredDCG", options={"type": choice(GAINS)}, k=None, gain="linear", discount="reciprocal",
        ties="input", precision="none", retrieve="from_0", average="uniform",
    )  # fmt: skip
    def filtered_dcg(
        self,
        *,
        type: Type = "Base",  # noqa: A002 - CatBoost's own parameter name
        denominator: Denominator = "Position",
        sort: Sort = "None",
    ) -> FilteredDCG:
        """`FilteredDCG`, metric.cpp: rows with score >= 0, in input order. Run against 1.2.10: equal within 1e-12.

        Parameters
        ----------
        type, denominator
            As in `NDCG`.
        sort : {'None', 'ByPrediction', 'ByTarget'}
            Order of these rows: as in the input, by score, or by label.
        """
