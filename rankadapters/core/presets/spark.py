"""Apache Spark's RankingMetrics."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool


class Spark(Tool):
    """Spark MLlib `RankingMetrics.ndcgAt` of relevant ids, RankingMetrics.scala. Run with 4.3.0: equal to 1e-12.

    Every id of the ground truth is relevant; a user without ground truth or without predictions counts 0. From Python
    its relevance values do nothing (run: 4.3.0); from Scala they take the ideal list as given: see `inexpressible`.
    """

    name: ClassVar[str] = "spark"

    def __call__(self, k: int | None) -> NDCG:
        """Give `ndcgAt` at a cutoff."""
        return NDCG(
            k=k, gain="exp2", discount="log2", ideal="cutoff", ties="input", precision="float64", short="pad",
            empty=0, missing="zero", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip


spark = Spark()
