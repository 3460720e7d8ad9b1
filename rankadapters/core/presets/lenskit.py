"""The library LensKit."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool


class LensKit(Tool):
    """LensKit up to 2025.8.1: `NDCG`, metrics/ranking/_dcg.py, `list_summary()`. Run with 2025.8.1: equal to 1e-12.

    Users without recommendations are left out; those with an empty list count 0, which is `replace(missing="zero")`. By
    default every test item gains 1: give it label 1; with `gain="rating"` it gains its rating, a negative one too.
    `LogRankWeight(offset=1)` is `replace(discount="log2")`. `global_metrics()` is nan where a query is empty. From
    2026.1 on it is `lenskit_2026`.
    """

    name: ClassVar[str] = "lenskit"

    def __call__(self, k: int | None) -> NDCG:
        """Give `NDCG` at a cutoff."""
        return NDCG(
            k=k, gain="linear", discount="jk2", ideal="cutoff", ties="input", precision="float64", short="pad",
            empty=0, missing="skip", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip


class LensKit2026(Tool):
    """LensKit from 2026.1 to 2026.3: `NDCG`, metrics/ranking/_dcg.py, `summary_metrics()`. Read only, at v2026.3.0.

    Users without test items are left out, as are users without recommendations; those with an empty list count 0, which
    is `replace(missing="zero")`. By default every test item gains 1: give it label 1. With `gain="rating"` it gains its
    rating, a negative one 0, and a user whose test items all gain 0 counts 0, which is `replace(empty=0)` where each
    user has test items; see `inexpressible`. `LogRankWeight(offset=1)` is `replace(discount="log2")`.
    """

    name: ClassVar[str] = "lenskit_2026"

    def __call__(self, k: int | None) -> NDCG:
        """Give `NDCG` at a cutoff."""
        return lenskit(k).replace(gain="linear-positive", empty="skip").named(self.name)


lenskit, lenskit_2026 = LensKit(), LensKit2026()
