"""The library RecBole."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool


class RecBole(Tool):
    """The library RecBole: `NDCG`, evaluator/metrics.py. Run with 1.2.1: equal to 1e-9 before it rounds.

    It prints `metric_decimal_place` decimals, 4 by default. Items are relevant or not. torch.topk promises no order of
    ties; here they stand as given.
    """

    name: ClassVar[str] = "recbole"

    def __call__(self, k: int | None) -> NDCG:
        """Give `NDCG@k` at a cutoff."""
        return NDCG(
            k=k, gain="linear", discount="log2", ideal="cutoff", ties="input", precision="float32", short="pad",
            empty=0, missing="zero", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip


recbole = RecBole()
