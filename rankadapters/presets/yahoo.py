"""Yahoo! Learning to Rank Challenge."""

from __future__ import annotations

from rankadapters.core.measures import ERR, NDCG
from rankadapters.presets.tool import K, Tool, preset


class Yahoo(
    Tool, name="yahoo", versions=("2010",), evidence="run", gain="exp2", discount="log2", ideal="cutoff", ties="input",
    precision="float64", short="pad", empty=1, missing="error", unjudged="error", average="uniform",
):  # fmt: skip
    """Yahoo! Learning to Rank Challenge, evaluate.py (2010). Run: equal within 1e-11, per query and in the mean.

    A query without relevant rows counts 1, which raises the mean of MQ2008 by 0.281, its share of such queries. The
    script reads ranks and never sorts; with the ranks of a stable sort by score, this is `ties="input"`.
    """

    @preset(NDCG, rf"(?i:ndcg)@{K}")
    def __call__(self, k: int | None) -> NDCG:
        """Return the script's NDCG at a cutoff."""

    @preset(ERR, "(?i:err)", k=None, scale=16, discount="reciprocal")
    def err(self) -> ERR:
        """`ERR` of all ranks, stop probability (2^label - 1) / 16. Run: equal within 1e-11."""


yahoo = Yahoo()
