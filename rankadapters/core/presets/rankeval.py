"""The library RankEval."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool
from rankadapters.core.presets.yahoo import yahoo


class RankEval(Tool):
    """RankEval `NDCG(cutoff=k)`, metrics/ndcg.py and dcg.py. Read only, at commit 6aa6d36.

    Scores are ranked by a reversed argsort, which turns ties round where the sort happens to be stable. Ideal DCGs are
    float32. `no_relevant_results` is 1 by default; `implementation="flat"` is `replace(gain="linear")`.
    """

    name: ClassVar[str] = "rankeval"

    def __call__(self, k: int | None) -> NDCG:
        """Give NDCG at a cutoff."""
        return yahoo(k).replace(ties="reverse").named(self.name)


rankeval = RankEval()
