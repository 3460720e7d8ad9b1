"""The library torchmetrics."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from rankadapters.core.convention import Convention
from rankadapters.core.measures import AP, NDCG, RR
from rankadapters.core.presets.tool import Tool, measure, no_others, one_of

Action = Literal["neg", "pos", "skip", "error"]
ACTIONS: dict[str, float | str] = {"neg": 0, "pos": 1, "skip": "skip", "error": "error"}


class TorchMetrics(Tool):
    """The library torchmetrics 1.9: `RetrievalNormalizedDCG`. Run with 1.9.0: equal to 2e-6, since it sums in float32.

    Its measures take `empty_target_action`: what a query with nothing relevant counts.
    """

    name: ClassVar[str] = "torchmetrics"
    patterns: ClassVar[dict[str, str]] = {"RetrievalNormalizedDCG": "", "RetrievalMAP": "map", "RetrievalMRR": "mrr"}

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

    def read(self, text: str, *, top_k: int | None = None, **params: Any) -> Convention:
        """Read what a class of torchmetrics.retrieval computes.

        Examples
        --------
        >>> torchmetrics.read("RetrievalMAP", top_k=5) == torchmetrics.map(5)
        True
        """
        no_others(text, params, ("top_k", "empty_target_action"))
        return super().read(text, k=top_k, **params)


torchmetrics = TorchMetrics()
