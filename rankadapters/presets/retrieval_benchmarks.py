"""The benchmarks of retrieval MTEB and BEIR."""

from __future__ import annotations

from rankadapters.core.measures import AP, NDCG, RR, Precision, Recall, Success
from rankadapters.presets.tool import K, Tool, preset


class MTEB(
    Tool, name="mteb", package="mteb", versions=("2.18.20", "2.26.24"), evidence="run 2.26.24", gain="linear-positive",
    discount="log2", ideal="cutoff", relevant="from_1", ties="docid-descending", precision="float32", retrieve="all",
    short="pad", empty=0, missing="skip", unjudged="zero", average="uniform",
):  # fmt: skip
    """MTEB from 2.18.20 on: `ndcg_at_k`, _evaluators/retrieval_metrics.py, before it rounds to five decimals.

    Run against 2.26.24: equal within 1e-9. NDCG, MAP, recall, precision and hit rate come from pytrec_eval; MTEB itself
    computes the rest, with scores in float64. Queries count if they are in the run. Before 2.18.20, ties of `mrr_at_k`
    kept the order of the run.
    """

    @preset(NDCG, f"ndcg_at_{K}")
    def __call__(self, k: int | None) -> NDCG:
        """Return `ndcg_at_k`."""

    @preset(AP, f"map_at_{K}", divisor="relevant", pool="queries")
    def map(self, k: int | None) -> AP:
        """`map_at_k`, divided by all relevant documents. Run: equal within 1e-9."""

    @preset(RR, f"mrr_at_{K}", relevant="above_0", precision="float64")
    def mrr(self, k: int | None) -> RR:
        """`mrr_at_k`. Run: equal within 1e-12."""

    @preset(Precision, f"precision_at_{K}", divisor="k")
    def precision(self, k: int | None) -> Precision:
        """`precision_at_k`. Run: equal within 1e-9."""

    @preset(Recall, f"recall_at_{K}")
    def recall(self, k: int | None) -> Recall:
        """`recall_at_k`. Run: equal within 1e-9."""

    @preset(Success, f"hit_rate_at_{K}")
    def hit_rate(self, k: int | None) -> Success:
        """`hit_rate_at_k`. Run: equal within 1e-9."""

    @preset(Precision, f"R_cap_at_{K}", divisor="relevant", empty="skip", relevant="above_0", precision="float64")
    def recall_cap(self, k: int | None) -> Precision:
        """`R_cap_at_k`, divided by min(k, R), as the tasks of LMEB average it. Run: equal within 1e-12."""


class BEIR(
    Tool, name="beir", package="beir", versions=("1.0.0", "2.2.0"), evidence="run 2.2.0", gain="linear-positive",
    discount="log2", ideal="cutoff", relevant="from_1", ties="docid-descending", precision="float32", retrieve="all",
    short="pad", empty=0, missing="skip", unjudged="zero", average="uniform",
):  # fmt: skip
    """BEIR `NDCG@k` of `EvaluateRetrieval.evaluate`, retrieval/evaluation.py, before it rounds to five decimals.

    Run against 2.2.0: equal within 1e-9. NDCG, MAP, recall and precision come from pytrec_eval, which leaves out
    queries that are absent from the run; `evaluate` drops documents that have the query's id. BEIR's own metrics,
    custom_metrics.py, count absent queries 0, and tied rows keep their order.
    """

    @preset(NDCG, f"NDCG@{K}")
    def __call__(self, k: int | None) -> NDCG:
        """Return `NDCG@k`."""

    @preset(AP, f"MAP@{K}", divisor="relevant", pool="queries")
    def map(self, k: int | None) -> AP:
        """`MAP@k`, divided by all relevant documents. Run: equal within 1e-9."""

    @preset(RR, f"MRR@{K}", relevant="above_0", ties="input", precision="float64", missing="zero")
    def mrr(self, k: int | None) -> RR:
        """`MRR@k` of `evaluate_custom`. Run: equal within 1e-12."""

    @preset(Precision, f"P@{K}", divisor="k")
    def precision(self, k: int | None) -> Precision:
        """`P@k`. Run: equal within 1e-9."""

    @preset(Recall, f"Recall@{K}")
    def recall(self, k: int | None) -> Recall:
        """`Recall@k`. Run: equal within 1e-9."""

    @preset(
        Precision, f"R_cap@{K}", divisor="relevant", relevant="above_0", ties="input", precision="float64",
        missing="zero", empty="error",
    )  # fmt: skip
    def recall_cap(self, k: int | None) -> Precision:
        """`R_cap@k` of `evaluate_custom`, divided by min(k, R). Run: equal within 1e-12.

        A query without relevant documents is an error if it is in the run, and counts 0 if it is not.
        """

    @preset(Success, f"Accuracy@{K}", relevant="above_0", ties="input", precision="float64", missing="zero")
    def top_k_accuracy(self, k: int | None) -> Success:
        """`Accuracy@k` of `evaluate_custom`: whether a document at ranks 1..k is relevant. Run: equal within 1e-12."""


mteb, beir = MTEB(), BEIR()
