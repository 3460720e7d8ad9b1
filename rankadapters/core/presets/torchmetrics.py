"""The library torchmetrics."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import AP, NDCG, RR, FallOut, Precision, Recall, RPrecision, Success
from rankadapters.core.presets.tool import Tool, flag, measure, no_others, one_of

Action = Literal["neg", "pos", "skip", "error"]
ACTIONS: dict[str, float | str] = {"neg": 0, "pos": 1, "skip": "skip", "error": "error"}
_RANKED: dict[str, Any] = {
    "relevant": "from_1", "ties": "input", "precision": "float32", "short": "pad", "empty": 0, "missing": "error",
    "unjudged": "error", "average": "uniform",
}  # fmt: skip


class TorchMetrics(Tool):
    """The library torchmetrics 1.9: `RetrievalNormalizedDCG`. Run with 1.9.0: equal to 2e-6, since it sums in float32.

    Its measures take `empty_target_action`: what a query with nothing relevant counts.
    """

    name: ClassVar[str] = "torchmetrics"
    patterns: ClassVar[dict[str, str]] = {
        "RetrievalNormalizedDCG": "",
        "RetrievalMAP": "map",
        "RetrievalMRR": "mrr",
        "RetrievalPrecision": "precision",
        "RetrievalRecall": "recall",
        "RetrievalHitRate": "hit_rate",
        "RetrievalFallOut": "fall_out",
        "RetrievalRPrecision": "r_precision",
    }

    def __call__(self, k: int | None, *, empty_target_action: Action = "neg") -> NDCG:
        """Give `RetrievalNormalizedDCG`.

        Parameters
        ----------
        k : int or None
            Its `top_k`.
        empty_target_action : {'neg', 'pos', 'skip', 'error'}
            What a query with nothing relevant counts: 0, 1, nothing, or an error.
        """
        found = NDCG(
            k=k, gain="linear", discount="log2", ideal="cutoff", ties="average", precision="float32", short="pad",
            empty=0, missing="error", unjudged="error", average="uniform",
        ).named(self.name)  # fmt: skip
        return found.replace(empty=one_of("empty_target_action", empty_target_action, ACTIONS))

    @measure
    def map(self, k: int | None, *, empty_target_action: Action = "neg") -> AP:
        """`RetrievalMAP`. Run with 1.9.0: equal to 1e-6.

        Only rows with a score above 0 count, and the divisor is what was found at ranks 1..k. Labels are 0 and 1. Its
        top-k promises no order of ties; here they stand as given.

        Parameters
        ----------
        k : int or None
            Its `top_k`.
        empty_target_action : {'neg', 'pos', 'skip', 'error'}
            What a query with nothing relevant counts: 0, 1, nothing, or an error.
        """
        found = AP(
            k=k, relevant="from_1", divisor="found", ties="input", precision="float32", retrieve="above_0",
            short="pad", empty=0, missing="error", unjudged="error", pool="queries", average="uniform",
        ).named("torchmetrics.map")  # fmt: skip
        return found.replace(empty=one_of("empty_target_action", empty_target_action, ACTIONS))

    @measure
    def mrr(self, k: int | None, *, empty_target_action: Action = "neg") -> RR:
        """`RetrievalMRR`. Run with 1.9.0: equal to 1e-6; parameters and what counts as of `map`."""
        found = RR(
            k=k, relevant="from_1", ties="input", precision="float32", retrieve="above_0",
            short="pad", empty=0, missing="error", unjudged="error", average="uniform",
        ).named("torchmetrics.mrr")  # fmt: skip
        return found.replace(empty=one_of("empty_target_action", empty_target_action, ACTIONS))

    @measure
    def precision(self, k: int | None, *, adaptive_k: bool = False, empty_target_action: Action = "neg") -> Precision:
        """`RetrievalPrecision`. Run with 1.9.0: equal to 1e-6; only rows with a score above 0 count.

        Parameters
        ----------
        k : int or None
            Its `top_k`.
        adaptive_k : bool
            Whether the divisor is min(k, n) and not k.
        empty_target_action : {'neg', 'pos', 'skip', 'error'}
            As of `map`.
        """
        found = Precision(k=k, divisor="k", retrieve="above_0", **_RANKED).named("torchmetrics.precision")
        changed = found.replace(divisor="retrieved") if flag("adaptive_k", adaptive_k) else found
        return changed.replace(empty=one_of("empty_target_action", empty_target_action, ACTIONS))

    @measure
    def recall(self, k: int | None, *, empty_target_action: Action = "neg") -> Recall:
        """`RetrievalRecall`. Run with 1.9.0: equal to 1e-6; parameters and what counts as of `map`."""
        found = Recall(k=k, retrieve="above_0", **_RANKED).named("torchmetrics.recall")
        return found.replace(empty=one_of("empty_target_action", empty_target_action, ACTIONS))

    @measure
    def hit_rate(self, k: int | None, *, empty_target_action: Action = "neg") -> Success:
        """`RetrievalHitRate`, to which every row counts. Run with 1.9.0: equal to 1e-6; parameters as of `map`."""
        found = Success(k=k, retrieve="all", **_RANKED).named("torchmetrics.hit_rate")
        return found.replace(empty=one_of("empty_target_action", empty_target_action, ACTIONS))

    @measure
    def fall_out(self, k: int | None, *, empty_target_action: Action = "pos") -> FallOut:
        """`RetrievalFallOut`, to which every row counts. Run with 1.9.0: equal to 1e-6; parameters as of `map`.

        A query without irrelevant rows counts 1 unless `empty_target_action` says something else.
        """
        found = FallOut(k=k, retrieve="all", **{**_RANKED, "empty": 1}).named("torchmetrics.fall_out")
        return found.replace(empty=one_of("empty_target_action", empty_target_action, ACTIONS))

    @measure
    def r_precision(self, *, empty_target_action: Action = "neg") -> RPrecision:
        """`RetrievalRPrecision`, to which every row counts. Run with 1.9.0: equal to 1e-6; parameters as of `map`."""
        found = RPrecision(
            relevant="from_1", ties="input", precision="float32", empty=0, missing="error", unjudged="error",
            average="uniform",
        ).named("torchmetrics.r_precision")  # fmt: skip
        return found.replace(empty=one_of("empty_target_action", empty_target_action, ACTIONS))

    def read(self, text: str, *, top_k: int | None = None, **params: Any) -> Convention:
        """Read what a class of torchmetrics.retrieval computes.

        Examples
        --------
        >>> torchmetrics.read("RetrievalMAP", top_k=5) == torchmetrics.map(5)
        True
        """
        no_others(text, params, ("top_k", "empty_target_action", "adaptive_k"))
        cut = {} if text == "RetrievalRPrecision" and top_k is None else {"k": top_k}
        return super().read(text, **cut, **params)


torchmetrics = TorchMetrics()
