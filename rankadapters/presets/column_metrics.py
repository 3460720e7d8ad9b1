"""Libraries with metrics of tensors or columns: Ignite, TorchRec, PyTorch Metric Learning, metrax and polars-ds."""

from __future__ import annotations

from typing import ClassVar, Literal

from rankadapters.core.measures import AP, AUC, DCG, NDCG, RR, Precision, Recall, RPrecision, Success
from rankadapters.presets.tool import Options, Tool, ToolWithoutNDCG, choice, if_true, preset


class Ignite(
    Tool, name="ignite", package="pytorch-ignite", versions=("0.5.5",), evidence="run 0.5.5", gain="exp2",
    discount="log2", ideal="cutoff", relevant="above_0", ties="input", precision="float32", retrieve="all", short="pad",
    empty="skip", missing="error", unjudged="error", average="uniform",
):  # fmt: skip
    """PyTorch-Ignite `NDCG`, metrics/rec_sys/ndcg.py. Run against 0.5.5: equal within 1e-6, since it sums in float32.

    Labels are whole numbers from 0 on. In Ignite, labels below `relevance_threshold`, 1 by default, have gain 0. Ignite
    compares scores in their own precision, this preset in float32. Users without a relevant item are left out.

    Parameters
    ----------
    k
        One of the tool's `top_k`.
    gain_function
        Gain of a label: 2^label - 1, or the label.
    ignore_zero_hits
        Whether users without a relevant item are left out; they count 0 otherwise.
    """

    options: ClassVar[Options] = {
        "gain_function": choice({"exp_rank": {}, "linear_rank": {"gain": "linear"}}),
        "ignore_zero_hits": choice({True: {}, False: {"empty": 0}}),
    }

    @preset(NDCG, "NDCG")
    def __call__(
        self, k: int | None, *, gain_function: Literal["exp_rank", "linear_rank"] = "exp_rank",
        ignore_zero_hits: bool = True,
    ) -> NDCG:  # fmt: skip
        """Return `NDCG`."""

    @preset(Success, "HitRate")
    def hit_rate(self, k: int | None, *, ignore_zero_hits: bool = True) -> Success:
        """`HitRate`, metrics/rec_sys/hitrate.py, with ties in undefined order. Run: equal within 1e-6."""


class TorchRec(
    Tool, name="torchrec", package="torchrec", versions=("1.9.2",), evidence="run 1.9.2", gain="linear",
    discount="log2", ideal="cutoff", ties="input", precision="float64", short="pad", empty=0, missing="error",
    unjudged="error", pool="queries", average="uniform",
):  # fmt: skip
    """TorchRec `NDCGMetric`, metrics/ndcg.py, with `report_ndcg_as_decreasing_curve=False` and without weights.

    Run against 1.9.2: equal within 1e-7, since its discounts are float32. By default TorchRec reports 1 - NDCG, so that
    lower is better; for that and for weights see `inexpressible`. torch's sort does not guarantee an order of ties; in
    this preset tied rows keep their order.

    Parameters
    ----------
    k
        The tool's `k`; its default -1 is None.
    exponential_gain
        Whether the gain is 2^label - 1 instead of the label.
    """

    options: ClassVar[Options] = {"exponential_gain": if_true(gain="exp2")}

    @preset(NDCG, "ndcg")
    def __call__(self, k: int | None, *, exponential_gain: bool = False) -> NDCG:
        """Return `NDCGMetric`."""

    @preset(AUC, "gauc", pairs="above_0", ties="average", empty="skip", average="row")
    def gauc(self) -> AUC:
        """`GAUCMetric`, metrics/gauc.py, of labels 0 and 1. Run: equal within 1e-8 without ties.

        Its weights are `row_weight`. Sessions whose labels are all equal are left out. torch's argsort does not
        guarantee an order of ties, so this preset averages them; for sessions of equal predictions see `inexpressible`.
        """


class PyTorchMetricLearning(
    ToolWithoutNDCG, name="pytorch_metric_learning", package="pytorch-metric-learning", versions=("2.9.0",),
    evidence="run 2.9.0", relevant="above_0", ties="input", precision="float32", retrieve="all", short="pad",
    empty="skip", missing="error", unjudged="error", average="uniform",
):  # fmt: skip
    """PyTorch Metric Learning `AccuracyCalculator`, utils/accuracy_calculator.py. Run against 2.9.0.

    A query's rows are all references; a reference of the query's class is relevant: give it label 1, and its negative
    distance as score. Queries without such a reference are left out. The order of ties is that of `knn_func`. For
    `mean_average_precision_at_r` see `inexpressible`.
    """

    @preset(RPrecision, "r_precision")
    def r_precision(self) -> RPrecision:
        """`r_precision`, if `k` is at least the largest R. Run: equal within 1e-12."""

    @preset(AP, "mean_average_precision", divisor="relevant", pool="queries")
    def mean_average_precision(self, k: int | None) -> AP:
        """`mean_average_precision`, divided by R. Run: equal within 1e-12."""

    @preset(RR, "mean_reciprocal_rank")
    def mean_reciprocal_rank(self, k: int | None) -> RR:
        """`mean_reciprocal_rank`, in float32. Run: equal within 1e-6."""

    @preset(Precision, "precision_at_(?P<k>1)", divisor="k")
    def precision_at_k(self, k: int | None) -> Precision:
        """`precision_at_1`, for k = 1. Run: equal within 1e-12."""


class Metrax(
    Tool, name="metrax", package="google-metrax", versions=("0.2.4",), evidence="run 0.2.4", gain="exp2",
    discount="log2", ideal="cutoff", relevant="from_1", ties="input", precision="float32", retrieve="all", short="pad",
    empty=0, missing="error", unjudged="error", average="uniform",
):  # fmt: skip
    """metrax `NDCGAtK`, ranking_metrics.py. Run against 0.2.4: equal within 1e-6, since it computes in float32.

    Each row of its matrices is a query; all queries have the same length. `DCGAtK` and `NDCGAtK` accept grades, the
    remaining metrics only 0 and 1.
    """

    @preset(NDCG, "NDCGAtK")
    def __call__(self, k: int | None) -> NDCG:
        """Return `NDCGAtK` at a cutoff, one of its `ks`."""

    @preset(DCG, "DCGAtK")
    def dcg(self, k: int | None) -> DCG:
        """`DCGAtK`. Run: equal within 1e-6."""

    @preset(AP, "AveragePrecisionAtK", divisor="relevant", pool="queries")
    def average_precision(self, k: int | None) -> AP:
        """`AveragePrecisionAtK`, divided by all relevant rows. Run: equal within 1e-6."""

    @preset(RR, "MRR")
    def mrr(self, k: int | None) -> RR:
        """`MRR`. Run: equal within 1e-6. With grades, it looks for the first row of the highest grade."""

    @preset(Precision, "PrecisionAtK", divisor="retrieved")
    def precision(self, k: int | None) -> Precision:
        """`PrecisionAtK`, divided by min(k, n). Run: equal within 1e-6."""

    @preset(Recall, "RecallAtK")
    def recall(self, k: int | None) -> Recall:
        """`RecallAtK`. Run: equal within 1e-6."""


class PolarsDS(
    Tool, name="polars_ds", package="polars-ds", versions=("0.13.0",), evidence="run 0.13.0", gain="linear",
    discount="log2", ideal="cutoff", ties="average", precision="float64", short="pad", empty=0, missing="error",
    unjudged="error", average="uniform",
):  # fmt: skip
    """polars-ds `query_ndcg_score`, exprs/metrics.py, the mean over queries. Run against 0.13.0: equal within 1e-12.

    Ties are averaged, despite its documentation: only `ignore_ties=True` ranks tied rows one by one, in reverse order.

    Parameters
    ----------
    ignore_ties
        Whether tied rows are ranked in reverse order instead of averaged.
    """

    options: ClassVar[Options] = {"ignore_ties": if_true(ties="reverse")}

    @preset(NDCG, "query_ndcg_score")
    def __call__(self, k: int | None, *, ignore_ties: bool = False) -> NDCG:
        """Return `query_ndcg_score`."""

    @preset(DCG, "query_dcg_score")
    def dcg(self, k: int | None, *, ignore_ties: bool = False) -> DCG:
        """`query_dcg_score` with `log_base=2`. Run: equal within 1e-12."""


ignite, metrax, polars_ds = Ignite(), Metrax(), PolarsDS()
torchrec, pytorch_metric_learning = TorchRec(), PyTorchMetricLearning()
