"""Elasticsearch's ranking evaluation."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.ranklib import ranklib
from rankadapters.core.presets.tool import Tool


class Elasticsearch(Tool):
    """Elasticsearch rank_eval `dcg` with `normalize`, DiscountedCumulativeGain.java. Read only, at commit 02f2048.

    The ideal list holds all rated documents and is cut at the number of hits. Unrated hits have gain 0, unless
    `unknown_doc_rating` is set; a query without hits counts 0. The hits are taken in their order: their scores decide
    here, and ties stand as given.
    """

    name: ClassVar[str] = "elasticsearch"

    def __call__(self, k: int | None) -> NDCG:
        """Give NDCG at a cutoff."""
        return ranklib(k).replace(ideal="retrieved", missing="zero", unjudged="zero").named(self.name)


elasticsearch = Elasticsearch()
