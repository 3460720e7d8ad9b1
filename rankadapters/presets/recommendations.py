"""Libraries that evaluate recommendations: recommenders, RecBole, PyG, ml_metrics and Evidently."""

from __future__ import annotations

from typing import ClassVar, Literal

from rankadapters.core.measures import AP, AUC, NDCG, RR, FMeasure, Precision, Recall, Success
from rankadapters.presets.tool import K, Options, Tool, ToolWithoutNDCG, choice, if_true, preset


class Recommenders(
    Tool, name="recommenders", package="recommenders", versions=("1.2.1",), evidence="run 1.2.1", gain="linear",
    discount="log2", ideal="cutoff", relevant="above_0", ties="input", precision="float64", retrieve="all", short="pad",
    empty="skip", missing="zero", unjudged="zero", pool="queries", average="uniform",
):  # fmt: skip
    """recommenders `ndcg_at_k`, evaluation/python_evaluation.py. Run against 1.2.1: equal within 1e-12.

    Users without ground truth or with an ideal DCG of 0 are left out; users without predictions count 0, but the other
    measures leave them out. The default `score_type="binary"` and the other measures count every row of the ground
    truth as relevant, even a rating of 0: give such rows label 1. The base of the logarithm in `discfun_type` cancels.
    For `relevancy_method=None` and `r_precision_at_k` see `inexpressible`.

    Parameters
    ----------
    score_type
        Gain of a row: 1, its rating, or 2^rating - 1.
    """

    options: ClassVar[Options] = {"score_type": choice({"binary": {}, "raw": {}, "exp": {"gain": "exp2"}})}

    @preset(NDCG)
    def __call__(self, k: int | None, *, score_type: Literal["binary", "raw", "exp"] = "binary") -> NDCG:
        """Return `ndcg_at_k` at a cutoff."""

    @preset(AP, "map_at_k", missing="skip", divisor="cutoff")
    def map_at_k(self, k: int | None) -> AP:
        """`map_at_k`, divided by min(k, R). Run: equal within 1e-12."""

    @preset(AP, "map", missing="skip", divisor="relevant")
    def map(self, k: int | None) -> AP:
        """`map`, divided by R. Run: equal within 1e-12."""

    @preset(Precision, "precision_at_k", missing="skip", divisor="k")
    def precision_at_k(self, k: int | None) -> Precision:
        """`precision_at_k`, divided by k even if a user has fewer predictions. Run: equal within 1e-12."""

    @preset(Recall, "recall_at_k", missing="skip")
    def recall_at_k(self, k: int | None) -> Recall:
        """`recall_at_k`. Run: equal within 1e-12."""


class RecBole(
    Tool, name="recbole", package="recbole", versions=("1.2.1",), evidence="run 1.2.1", gain="linear", discount="log2",
    ideal="cutoff", ties="input", precision="float32", short="pad", empty=0, missing="zero", unjudged="zero",
    pool="queries", average="uniform",
):  # fmt: skip
    """The library RecBole: `NDCG`, evaluator/metrics.py. Run against 1.2.1: equal within 1e-9 before rounding.

    It prints `metric_decimal_place` decimals, 4 by default. Items are relevant or not. torch.topk does not guarantee an
    order of ties; in this preset tied rows keep their order.
    """

    @preset(AUC, "gauc", pairs="above_0", ties="average", empty="skip", missing="skip", average="query")
    def gauc(self) -> AUC:
        """`GAUC`, evaluator/metrics.py. Run: equal within 1e-6 before rounding, if `query_weight` is given.

        A user counts by the number of positive items: give it as `query_weight`, since without weights users count
        alike. Users without a positive or without a negative item are left out.
        """


class PyG(
    Tool, name="pyg", package="torch-geometric", versions=("2.8.1",), evidence="run 2.8.1", gain="from_1",
    discount="log2", ideal="cutoff", relevant="from_1", ties="input", precision="float64", retrieve="all", short="pad",
    empty="skip", missing="zero", unjudged="zero", pool="queries", average="uniform",
):  # fmt: skip
    """PyG (PyTorch Geometric) `LinkPredNDCG`, metrics/link_pred.py. Run against 2.8.1: equal within 1e-6.

    PyG takes ranked lists: here scores decide, and tied rows keep their order. Every edge is relevant: give it label 1.
    Examples without edges are left out, examples without predictions count 0. Lists of fewer than k predictions need to
    be filled up with a node that has no edge.

    Parameters
    ----------
    weighted
        Whether the gain is the edge's weight, the label; weights of at most 0 have gain 0.
    """

    options: ClassVar[Options] = {"weighted": if_true(gain="linear-positive")}

    @preset(NDCG, rf"(?P<weighted>Weighted)?LinkPredNDCG(@{K})?")
    def __call__(self, k: int | None, *, weighted: bool = False) -> NDCG:
        """Return `LinkPredNDCG` at a cutoff."""

    @preset(AP, rf"LinkPredMAP(@{K})?", divisor="cutoff")
    def map(self, k: int | None) -> AP:
        """`LinkPredMAP`, divided by min(k, R). Run: equal within 1e-6."""

    @preset(RR, rf"LinkPredMRR(@{K})?")
    def mrr(self, k: int | None) -> RR:
        """`LinkPredMRR`. Run: equal within 1e-6."""

    @preset(Precision, rf"LinkPredPrecision(@{K})?", divisor="k")
    def precision(self, k: int | None) -> Precision:
        """`LinkPredPrecision`. Run: equal within 1e-6."""

    @preset(Recall, rf"LinkPredRecall(@{K})?")
    def recall(self, k: int | None) -> Recall:
        """`LinkPredRecall` without weights. Run: equal within 1e-6; with weights see `inexpressible`."""

    @preset(FMeasure, rf"LinkPredF1(@{K})?", divisor="k", beta_squared=1)
    def f1(self, k: int | None) -> FMeasure:
        """`LinkPredF1`. Run: equal within 1e-6."""

    @preset(Success, rf"LinkPredHitRatio(@{K})?")
    def hit_ratio(self, k: int | None) -> Success:
        """`LinkPredHitRatio`. Run: equal within 1e-6."""


class MLMetrics(
    ToolWithoutNDCG, name="ml_metrics", package="ml_metrics", versions=("0.1.4",), evidence="run 0.1.4",
    relevant="above_0", ties="input", precision="float64", retrieve="all", short="pad", empty=1, missing="zero",
    unjudged="zero", pool="queries", average="uniform",
):  # fmt: skip
    """Kaggle's ml_metrics, Python/ml_metrics/average_precision.py of benhamner/Metrics. Run against 0.1.4.

    Its functions take ranked lists: here scores decide, and tied rows keep their order. An item that is predicted again
    counts once, but takes up a rank.
    """

    @preset(AP, "apk|mapk", default_k=10, divisor="cutoff")
    def mapk(self, k: int | None) -> AP:
        """`mapk`, the mean of `apk`, divided by min(k, R). Run: equal within 1e-12.

        `apk` of a user with nothing to find is 1 in the release 0.1.4, and 0 on GitHub since 2015, which is
        `replace(empty=0)` (run: commit 9a637ae). In 0.1.4 it is 1 even without predictions: see `inexpressible`.
        """


class Evidently(
    Tool, name="evidently", package="evidently", versions=("0.7.23",), evidence="run 0.7.23", gain="linear",
    discount="log2", ideal="cutoff", relevant="above_0", ties="input", precision="float64", retrieve="all", short="pad",
    empty="skip", missing="error", unjudged="error", average="uniform",
):  # fmt: skip
    """Evidently `NDCG`, legacy/metrics/recsys/ndcg_k.py. Run against 0.7.23: equal within 1e-9 without ties.

    Tied rows share a rank, and `MAP` and `FBetaTopK` have no preset: see `inexpressible`. With `no_feedback_users`,
    users without a relevant row count 0 instead of being left out, which is `replace(empty=0)`.
    """

    @preset(NDCG, "NDCG")
    def __call__(self, k: int | None) -> NDCG:
        """Return `NDCG` at a cutoff."""

    @preset(Precision, "PrecisionTopK", divisor="retrieved")
    def precision_top_k(self, k: int | None) -> Precision:
        """`PrecisionTopK`, divided by min(k, n). Run: equal within 1e-9 without ties."""

    @preset(Recall, "RecallTopK")
    def recall_top_k(self, k: int | None) -> Recall:
        """`RecallTopK`. Run: equal within 1e-9 without ties."""

    @preset(RR, "MRR")
    def mrr(self, k: int | None) -> RR:
        """`MRR`. Run: equal within 1e-9 without ties."""

    @preset(Success, "HitRate")
    def hit_rate(self, k: int | None) -> Success:
        """`HitRate`. Run: equal within 1e-9 without ties."""


recommenders, recbole, pyg, ml_metrics, evidently = Recommenders(), RecBole(), PyG(), MLMetrics(), Evidently()
