"""The library allRank."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.ranklib import ranklib
from rankadapters.core.presets.tool import Tool


class AllRank(Tool):
    """The library allRank up to 1.4.0 (2019 to March 2021): `ndcg`, models/metrics.py.

    Scores are float32, and torch's sort promises no order of ties, so they are averaged here. Run with torch 2.15 on a
    CPU, tied rows keep their order, and `replace(ties="input")` is equal to 1e-6. Rows with label -1 are padding there:
    leave them out. From 1.4.1 on it is `allrank_1_4_1`.
    """

    name: ClassVar[str] = "allrank"

    def __call__(self, k: int | None) -> NDCG:
        """Give NDCG at a cutoff."""
        return ranklib(k).replace(ties="average", precision="float32").named(self.name)


class AllRank141(Tool):
    """The library allRank from 1.4.1 on (March 2021): `ndcg`, models/metrics.py, at commit 79b5d32.

    A query without a relevant row counts 1, its `filler_value`, where it counted 0 before. Run with torch 2.15 on a
    CPU: equal to 1e-6, per query and in the mean; tied rows keep their order, which torch does not promise. Rows with
    label -1 are padding there: leave them out.
    """

    name: ClassVar[str] = "allrank_1_4_1"

    def __call__(self, k: int | None) -> NDCG:
        """Give NDCG at a cutoff."""
        return ranklib(k).replace(empty=1, precision="float32").named(self.name)


allrank, allrank_1_4_1 = AllRank(), AllRank141()
