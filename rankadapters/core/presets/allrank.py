"""The library allRank."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.ranklib import ranklib
from rankadapters.core.presets.tool import Tool


class AllRank(Tool):
    """The library allRank: `ndcg`, models/metrics.py. Read only, at commit 2d2982a.

    Scores are float32, and torch's sort promises no order of ties, so they are averaged here. Rows with label -1 are
    padding there: leave them out.
    """

    name: ClassVar[str] = "allrank"

    def __call__(self, k: int | None) -> NDCG:
        """Give NDCG at a cutoff."""
        return ranklib(k).replace(ties="average", precision="float32").named(self.name)


allrank = AllRank()
