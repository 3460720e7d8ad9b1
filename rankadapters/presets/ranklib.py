"""RankLib and its fork."""

from __future__ import annotations

from rankadapters.core.measures import AP, DCG, ERR, NDCG, RR, Precision
from rankadapters.presets.tool import K, Tool, preset

DEFAULT_K = 10  # cutoff of `P`, `ERR` and `DCG`


class RankLib(
    Tool, name="ranklib", versions=("2.1", "2.10.1"), evidence="run 2.10.1", discount="log2", relevant="above_0",
    ties="input", precision="float64", retrieve="all", short="pad", empty=0, missing="error", unjudged="error",
    average="uniform",
):  # fmt: skip
    """RankLib 2.1 (2012) to 2.10.1, NDCGScorer.java. Run against both: equal within 1e-11, also per query.

    RankLib silently casts labels to int; here fractions keep their gain, and `evaluate` warns. If a qid reappears later
    in the file, RankLib starts a new query. For the order of ties in the 2011 source, see `inexpressible`.
    """

    @preset(NDCG, f"NDCG@{K}", gain="exp2", ideal="cutoff")
    def __call__(self, k: int | None) -> NDCG:
        """Return NDCG@k."""

    @preset(AP, "MAP", k=None, divisor="relevant", pool="queries")
    def map(self) -> AP:
        """`MAP`, APScorer.java. Run: equal within 1e-11."""

    @preset(RR, f"RR@{K}")
    def rr(self, k: int | None) -> RR:
        """`RR@k` of 2.10.1, ReciprocalRankScorer.java, rounded to float32. Run: equal within 6e-8.

        Version 2.1 ignores the cutoff, which is `rr(None)`; 2.10.1 returns 0 without a cutoff.
        """

    @preset(Precision, f"P(@{K})?", default_k=DEFAULT_K, divisor="retrieved")
    def p(self, k: int | None) -> Precision:
        """`P@k`, PrecisionScorer.java: divided by min(k, n). Run: equal within 1e-11."""

    @preset(ERR, f"ERR(@{K})?", default_k=DEFAULT_K, gain="exp2-floor", scale=16, discount="reciprocal")
    def err(self, k: int | None) -> ERR:
        """`ERR@k`, ERRScorer.java: stop probability (2^label - 1) / 16. Run: equal within 1e-11."""

    @preset(DCG, f"DCG(@{K})?", default_k=DEFAULT_K, gain="exp2-floor")
    def dcg(self, k: int | None) -> DCG:
        """`DCG@k`, DCGScorer.java. Run: equal within 1e-11."""


class RankLibBusaFekete(
    Tool, name="ranklib_busafekete", versions=("2011",), evidence="run 2011", gain="exp2", discount="log2",
    ideal="cutoff", ties="input", precision="float64", short="pad", empty=0.5, missing="error", unjudged="error",
    average="uniform",
):  # fmt: skip
    """RankLib fork by the first author of Busa-Fekete et al. (2011). Run: equal within 1e-11 on data without ties.

    A query without relevant rows counts 0.5. No convention has the order in which its selection sort leaves ties.
    """


ranklib, ranklib_busafekete = RankLib(), RankLibBusaFekete()
