"""Evaluators of text retrieval from three libraries: sentence-transformers, Haystack and AutoGluon."""

from __future__ import annotations

from rankadapters.core.measures import AP, NDCG, RR, Precision, Recall, Success
from rankadapters.presets.tool import K, Tool, preset

PREFIX = r"(.*_)?"  # the evaluator's name and the similarity, as in `dev_cosine_ndcg@10`


class SentenceTransformers(
    Tool, name="sentence_transformers", package="sentence-transformers", versions=("6.2.0",), evidence="run 6.2.0",
    gain="linear", discount="log2", ideal="cutoff", relevant="from_1", ties="docid-ascending", precision="float32",
    retrieve="all", short="pad", empty="skip", missing="zero", unjudged="zero", average="uniform",
):  # fmt: skip
    """sentence-transformers `InformationRetrievalEvaluator`, `ndcg@k`. Run against 6.2.0: equal within 1e-12.

    Documents are relevant or not: give relevant ones label 1. Queries without relevant documents are left out. Ties are
    ordered by ascending document id, as text, but a tie that crosses the largest cutoff has no guaranteed order.
    """

    @preset(NDCG, rf"{PREFIX}ndcg@{K}")
    def __call__(self, k: int | None) -> NDCG:
        """Return `ndcg@k`."""

    @preset(AP, rf"{PREFIX}map@{K}", divisor="cutoff", pool="queries")
    def map(self, k: int | None) -> AP:
        """`map@k`, divided by min(k, R). Run: equal within 1e-12."""

    @preset(RR, rf"{PREFIX}mrr@{K}")
    def mrr(self, k: int | None) -> RR:
        """`mrr@k`. Run: equal within 1e-12."""

    @preset(Precision, rf"{PREFIX}precision@{K}", divisor="k")
    def precision(self, k: int | None) -> Precision:
        """`precision@k`. Run: equal within 1e-12."""

    @preset(Recall, rf"{PREFIX}recall@{K}")
    def recall(self, k: int | None) -> Recall:
        """`recall@k`. Run: equal within 1e-12."""

    @preset(Success, rf"{PREFIX}accuracy@{K}")
    def accuracy(self, k: int | None) -> Success:
        """`accuracy@k`: whether a document at ranks 1..k is relevant. Run: equal within 1e-12."""


class Haystack(
    Tool, name="haystack", package="haystack-ai", versions=("3.4.0", "3.4.1"), evidence="run 3.4.0", gain="linear",
    discount="log2", ideal="all", relevant="above_0", ties="input", precision="float64", retrieve="all", short="pad",
    empty=0, missing="zero", unjudged="zero", average="uniform",
):  # fmt: skip
    """Haystack `DocumentNDCGEvaluator`, components/evaluators/document_ndcg.py. Run against 3.4.0: equal within 1e-12.

    It has no cutoff: `k` is the number of documents that the retriever returned, and the ideal list is not cut. The
    gain of a document is its `score` in the ground truth, 1 by default. Lists keep their order; here scores decide.
    """

    @preset(NDCG, "DocumentNDCGEvaluator")
    def __call__(self, k: int | None) -> NDCG:
        """Return `DocumentNDCGEvaluator` for k documents."""

    @preset(AP, "DocumentMAPEvaluator", divisor="relevant", pool="queries")
    def map(self, k: int | None) -> AP:
        """`DocumentMAPEvaluator`, divided by all relevant documents. Run: equal within 1e-12."""

    @preset(RR, "DocumentMRREvaluator")
    def mrr(self, k: int | None) -> RR:
        """`DocumentMRREvaluator`. Run: equal within 1e-12."""

    @preset(Recall)
    def recall(self, k: int | None) -> Recall:
        """`DocumentRecallEvaluator(mode="multi_hit")`. Run: equal within 1e-12."""

    @preset(Success, "DocumentRecallEvaluator")
    def hit(self, k: int | None) -> Success:
        """`DocumentRecallEvaluator()`, whose mode is `single_hit`. Run: equal within 1e-12."""


class AutoGluon(
    Tool, name="autogluon", package="autogluon.multimodal", versions=("1.6.3",), evidence="run 1.6.3", gain="linear",
    discount="log2", ideal="cutoff", relevant="above_0", ties="input", precision="float64", retrieve="all", short="pad",
    empty="error", missing="error", unjudged="zero", average="uniform",
):  # fmt: skip
    """AutoGluon multimodal `ndcg@k`, metrics/ranking_metrics.py. Run against 1.6.3, unrounded: equal within 1e-12.

    `compute_ranking_score` prints five decimals. Documents are relevant or not: give relevant ones label 1. For a query
    without relevant documents, AutoGluon divides by 0. For its `map@k`, see `inexpressible`.
    """

    @preset(NDCG, f"ndcg@{K}")
    def __call__(self, k: int | None) -> NDCG:
        """Return `ndcg@k`."""

    @preset(RR, f"mrr@{K}")
    def mrr(self, k: int | None) -> RR:
        """`mrr@k`. Run: equal within 1e-12."""

    @preset(Precision, f"precision@{K}", divisor="k")
    def precision(self, k: int | None) -> Precision:
        """`precision@k`. Run: equal within 1e-12."""

    @preset(Recall, f"recall@{K}")
    def recall(self, k: int | None) -> Recall:
        """`recall@k`. Run: equal within 1e-12."""


sentence_transformers, haystack, autogluon = SentenceTransformers(), Haystack(), AutoGluon()
