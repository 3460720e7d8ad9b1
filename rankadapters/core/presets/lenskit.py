"""The library LensKit."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool


class LensKit(Tool):
    """The library LensKit: `NDCG`, metrics/ranking/_dcg.py, `list_summary()`. Run with 2025.8.1: equal to 1e-12.

    Users without recommendations are left out; those with an empty list count 0, which is `replace(missing="zero")`. By
    default every test item gains 1: give it label 1; with `gain="rating"` it gains its rating, a negative one too.
    `LogRankWeight(offset=1)` is `replace(discount="log2")`. `global_metrics()` is nan where a query is empty.
    """

    name: ClassVar[str] = "lenskit"

    def __call__(self, k: int | None) -> NDCG:
        """Give `NDCG` at a cutoff."""
        return NDCG(
            k=k, gain="linear", discount="jk2", ideal="cutoff", ties="input", precision="float64", short="pad",
            empty=0, missing="skip", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip


lenskit = LensKit()
