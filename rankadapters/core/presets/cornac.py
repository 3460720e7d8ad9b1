"""The library Cornac."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool


class Cornac(Tool):
    """The library Cornac: `NDCG` of `ranking_eval`, metrics/ranking.py. Run with 3.0.1: equal to 1e-12.

    Ratings from `rating_threshold` on are relevant: labels here are 0 and 1. Users without one are left out. Equal
    scores stand by descending item index; where they tie across the cut no order is promised.
    """

    name: ClassVar[str] = "cornac"

    def __call__(self, k: int | None) -> NDCG:
        """Give `NDCG@k` at a cutoff."""
        return NDCG(
            k=k, gain="exp2", discount="log2", ideal="cutoff", ties="docid-descending", precision="float64",
            short="pad", empty="skip", missing="zero", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip


cornac = Cornac()
