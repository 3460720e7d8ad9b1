"""Evaluators of retrieval for language models: LlamaIndex, DeepEval, Ragas, Azure AI Evaluation and TruLens."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import AP, NDCG, RR, Precision, Recall, Success
from rankadapters.presets.tool import Options, Tool, ToolWithoutNDCG, if_true, preset


class LlamaIndex0126(
    Tool, name="llama_index_0_12_6", package="llama-index-core", versions=("0.12.6", "0.14.25"), evidence="run 0.14.25",
    gain="linear", discount="log2", ideal="all", relevant="above_0", ties="input", precision="float64", retrieve="all",
    short="pad", empty="error", missing="error", unjudged="zero", average="uniform",
):  # fmt: skip
    """LlamaIndex from 0.12.6 on, also named `llama_index`: `NDCG`, evaluation/retrieval/metrics.py.

    Run against 0.12.6 and 0.14.25: equal within 1e-12. It has no cutoff: `k` is the number of documents that the
    retriever returned, and the ideal list is not cut. Every expected document is relevant: give it label 1. A query
    without expected or without retrieved documents is an error. Lists keep their order; here scores decide.

    Parameters
    ----------
    k
        Number of documents that the retriever returned.
    use_granular_mrr
        Whether the value is the mean of 1 / rank over the relevant documents that were retrieved.
    """

    options: ClassVar[Options] = {"use_granular_mrr": if_true(count="found")}

    @preset(NDCG, "ndcg")
    def __call__(self, k: int | None) -> NDCG:
        """Return `NDCG` of k documents; its `mode` has no effect on documents of label 1."""

    @preset(Success, "hit_rate")
    def hit_rate(self, k: int | None) -> Success:
        """`HitRate`. Run: equal within 1e-12. With `use_granular_hit_rate` it is `recall`."""

    @preset(RR, "mrr")
    def mrr(self, k: int | None, *, use_granular_mrr: bool = False) -> RR:
        """`MRR`. Run: equal within 1e-12."""

    @preset(Precision, "precision", divisor="retrieved")
    def precision(self, k: int | None) -> Precision:
        """`Precision`. Run: equal within 1e-12."""

    @preset(Recall, "recall")
    def recall(self, k: int | None) -> Recall:
        """`Recall`. Run: equal within 1e-12."""

    @preset(AP, "ap", divisor="relevant", pool="queries")
    def ap(self, k: int | None) -> AP:
        """`AveragePrecision`, divided by all expected documents. Run: equal within 1e-12."""


class LlamaIndex0123(
    LlamaIndex0126, name="llama_index_0_12_3", versions=("0.12.3", "0.12.5"), evidence="run 0.12.5", ideal="retrieved"
):
    """LlamaIndex from 0.12.3 to 0.12.5: the ideal list has no more documents than were retrieved.

    Run against 0.12.5: equal within 1e-12. All but NDCG is as in `llama_index`.
    """


class LlamaIndex010(
    LlamaIndex0126, name="llama_index_0_10", versions=("0.10.48", "0.12.2"), evidence="run 0.12.2", ideal="ones"
):
    """LlamaIndex up to 0.12.2: the ideal list has as many relevant documents as were retrieved.

    Run against 0.10.48 and 0.12.2: equal within 1e-12 if every query has k retrieved documents, or with `k=None`; for
    fewer documents see `inexpressible`. All but NDCG is as in `llama_index`.
    """


class DeepEval(
    ToolWithoutNDCG, name="deepeval", package="deepeval", versions=("1.0.0", "4.3.1"), evidence="run 4.3.1",
    relevant="above_0", ties="input", precision="float64", retrieve="all", short="pad", empty=0, missing="zero",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """DeepEval, metrics/contextual_precision. Run against 4.3.1.

    A language model judges each retrieved context: give relevant ones label 1. Lists keep their order, and here scores
    decide.
    """

    @preset(AP, "ContextualPrecisionMetric", divisor="found", pool="queries")
    def contextual_precision(self, k: int | None) -> AP:
        """`ContextualPrecisionMetric` of k contexts, divided by those relevant. Run: equal within 1e-12.

        Its `strict_mode` counts values below the threshold 0.
        """


class Ragas(
    ToolWithoutNDCG, name="ragas", package="ragas", versions=("0.1.0", "0.4.3"), evidence="run 0.4.3",
    relevant="above_0", ties="input", precision="float64", retrieve="all", short="pad", empty=0, missing="zero",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """Ragas, metrics/_context_precision.py. Run against 0.4.3.

    A language model judges each retrieved context: give relevant ones label 1. Lists keep their order, and here scores
    decide.
    """

    @preset(AP, "context_precision|llm_context_precision_with(out)?_reference", divisor="found", pool="queries")
    def context_precision(self, k: int | None) -> AP:
        """`LLMContextPrecisionWithReference` of k contexts, divided by those relevant. Run: equal within 2e-10.

        The difference comes from 1e-10, which is added to the divisor. `NonLLMContextPrecisionWithReference` computes
        the same from text similarities.
        """


class AzureAIEvaluation(
    Tool, name="azure_ai_evaluation", package="azure-ai-evaluation", versions=("1.18.10",), evidence="run 1.18.10",
    gain="exp2", discount="log2", ideal="cutoff", ties="input", precision="float64", short="pad", empty=0,
    missing="zero", unjudged="zero", average="uniform",
):  # fmt: skip
    """Azure AI Evaluation `DocumentRetrievalEvaluator`, `ndcg@3`. Run against 1.18.10: equal within 1e-12.

    Its cutoff is 3. Labels are whole numbers from `ground_truth_label_min` to `ground_truth_label_max`, 0 and 4 by
    default. It refuses a query without judged documents. For its `xdcg@3` and `fidelity` see `inexpressible`.
    """

    @preset(NDCG, "ndcg@(?P<k>3)")
    def __call__(self, k: int | None) -> NDCG:
        """Return `ndcg@3`, or the same at another cutoff."""


class TruLens(
    Tool, name="trulens", package="trulens-feedback", versions=("2.14.0", "2.16.0"), evidence="run 2.16.0",
    gain="linear", discount="log2", ideal="cutoff", relevant="above_0", ties="input", precision="float64",
    retrieve="all", short="pad", empty="skip", missing="zero", unjudged="zero", average="uniform",
):  # fmt: skip
    """TruLens `GroundTruthAgreement.ndcg_at_k`, feedback/groundtruth.py, from 2.14.0 on, the mean without NaN.

    Run against 2.16.0: equal within 1e-12. The gain of an expected chunk is its `expect_score`, 1 by default. A query
    without expected chunks is NaN, and so is one without retrieved chunks if `k` is None: `missing="skip"`.
    """

    @preset(NDCG, "ndcg_at_k")
    def __call__(self, k: int | None) -> NDCG:
        """Return `ndcg_at_k`."""

    @preset(RR, "mrr", k=None)
    def mrr(self) -> RR:
        """`mrr`, without a cutoff. Run: equal within 1e-12."""

    @preset(Success, "ir_hit_rate")
    def ir_hit_rate(self, k: int | None) -> Success:
        """`ir_hit_rate`. Run: equal within 1e-12."""

    @preset(Precision, "precision_at_k", divisor="retrieved", missing="skip")
    def precision_at_k(self, k: int | None) -> Precision:
        """`precision_at_k` without `relevance_scores`. Run: equal within 1e-12.

        With scores that tie, see `inexpressible`. A query without retrieved chunks is NaN.
        """

    @preset(Recall, "recall_at_k")
    def recall_at_k(self, k: int | None) -> Recall:
        """`recall_at_k` without `relevance_scores`; otherwise as above. Run: equal within 1e-12."""


llama_index_0_10, llama_index_0_12_3, llama_index_0_12_6 = LlamaIndex010(), LlamaIndex0123(), LlamaIndex0126()
deepeval, ragas, azure_ai_evaluation, trulens = DeepEval(), Ragas(), AzureAIEvaluation(), TruLens()
