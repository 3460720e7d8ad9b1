"""The library torchmetrics."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import AP, NDCG, RR, FallOut, Precision, Recall, RPrecision, Success
from rankadapters.presets.tool import Options, Tool, choice, if_true, preset, refuse_unknown

Action = Literal["neg", "pos", "skip", "error"]


class TorchMetrics(
    Tool, name="torchmetrics", package="torchmetrics", versions=("1.9.0",), evidence="run 1.9.0", relevant="from_1",
    ties="input", precision="float32", retrieve="above_0", short="pad", empty=0, missing="error", unjudged="error",
    average="uniform",
):  # fmt: skip
    """torchmetrics 1.9 `RetrievalNormalizedDCG`, summed in float32. Run against 1.9.0: equal within 2e-6.

    The parameter `empty_target_action` of its metrics decides what a query without relevant rows counts.

    Parameters
    ----------
    k
        The tool's `top_k`.
    empty_target_action
        Value of a query without relevant rows: 0, 1, none (it is left out), or an error.
    adaptive_k
        Whether the divisor is min(k, n) instead of k.
    """

    options: ClassVar[Options] = {
        "empty_target_action": choice(
            {"neg": {"empty": 0}, "pos": {"empty": 1}, "skip": {"empty": "skip"}, "error": {"empty": "error"}}
        ),
        "adaptive_k": if_true(divisor="retrieved"),
    }

    @preset(NDCG, "RetrievalNormalizedDCG", gain="linear", discount="log2", ideal="cutoff", ties="average")
    def __call__(self, k: int | None, *, empty_target_action: Action = "neg") -> NDCG:
        """Return `RetrievalNormalizedDCG`."""

    @preset(AP, "RetrievalMAP", divisor="found", pool="queries")
    def map(self, k: int | None, *, empty_target_action: Action = "neg") -> AP:
        """`RetrievalMAP`. Run: equal within 1e-6.

        Only rows with a score above 0 count, and the divisor is the number of relevant rows at ranks 1..k. Labels are 0
        and 1. torchmetrics does not guarantee an order of ties; in this preset tied rows keep their order.
        """

    @preset(RR, "RetrievalMRR")
    def mrr(self, k: int | None, *, empty_target_action: Action = "neg") -> RR:
        """`RetrievalMRR`. Run: equal within 1e-6; otherwise as `map`."""

    @preset(Precision, "RetrievalPrecision", divisor="k")
    def precision(self, k: int | None, *, adaptive_k: bool = False, empty_target_action: Action = "neg") -> Precision:
        """`RetrievalPrecision`. Run: equal within 1e-6; only rows with a score above 0 count."""

    @preset(Recall, "RetrievalRecall")
    def recall(self, k: int | None, *, empty_target_action: Action = "neg") -> Recall:
        """`RetrievalRecall`. Run: equal within 1e-6; otherwise as `map`."""

    @preset(Success, "RetrievalHitRate", retrieve="all")
    def hit_rate(self, k: int | None, *, empty_target_action: Action = "neg") -> Success:
        """`RetrievalHitRate`, of all rows. Run: equal within 1e-6."""

    @preset(FallOut, "RetrievalFallOut", retrieve="all", empty=1)
    def fall_out(self, k: int | None, *, empty_target_action: Action = "pos") -> FallOut:
        """`RetrievalFallOut`, of all rows. Run: equal within 1e-6.

        By default, a query without irrelevant rows counts 1.
        """

    @preset(RPrecision, "RetrievalRPrecision")
    def r_precision(self, *, empty_target_action: Action = "neg") -> RPrecision:
        """`RetrievalRPrecision`, of all rows. Run: equal within 1e-6."""

    def read(self, text: str, *, top_k: int | None = None, **params: Any) -> Convention:
        """Return the convention of a class of torchmetrics.retrieval.

        Examples
        --------
        >>> torchmetrics.read("RetrievalMAP", top_k=5) == torchmetrics.map(5)
        True
        """
        refuse_unknown(text, params, ("top_k", "empty_target_action", "adaptive_k"))
        k = {} if top_k is None and isinstance(text, str) and text == "RetrievalRPrecision" else {"k": top_k}
        return super().read(text, **k, **params)


torchmetrics = TorchMetrics()
