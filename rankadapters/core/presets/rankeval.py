"""The library RankEval."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool
from rankadapters.core.presets.yahoo import yahoo


class RankEval(Tool):
    """RankEval `NDCG(cutoff=k)`, metrics/ndcg.py and dcg.py. Run with 0.8.2: the same in each of 614 queries.

    Scores are ranked by a reversed argsort, which turns ties round where the sort happens to be stable: in queries of
    up to 16 rows; see `inexpressible` for longer ones. Ideal DCGs are float32. `no_relevant_results` is 1 by default;
    `implementation="flat"` is `replace(gain="linear")`.
    """

    name: ClassVar[str] = "rankeval"

    def __call__(self, k: int | None) -> NDCG:
        """Give NDCG at a cutoff."""
        return yahoo(k).replace(ties="reverse").named(self.name)


rankeval = RankEval()
