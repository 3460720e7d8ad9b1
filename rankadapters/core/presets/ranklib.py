"""RankLib and its fork."""

from __future__ import annotations

from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import AP, DCG, ERR, NDCG, RR, Precision
from rankadapters.core.presets.preset import K, preset
from rankadapters.core.presets.tool import Tool

BARE = 10  # the cutoff of a metric that is written without one


class RankLib(
    Tool, name="ranklib", versions=("2.1", "2.10.1"), evidence="run", discount="log2", relevant="above_0", ties="input",
    precision="float64", retrieve="all", short="pad", empty=0, missing="error", unjudged="error", average="uniform",
):  # fmt: skip
    """RankLib 2.1 (2012) to 2.10.1, NDCGScorer.java. Run with both: equal to 1e-11, per query and in the mean.

    It casts labels to int in silence; here fractions keep their gain, and `evaluate` warns. A qid that comes back later
    in its file is a new query there. The 2011 source sorts ties as no convention does: see `inexpressible`.
    """

    @preset(NDCG, f"NDCG@{K}", gain="exp2", ideal="cutoff")
    def __call__(self, k: int | None) -> NDCG:
        """Give NDCG@k."""

    @preset(AP, "MAP", k=None, divisor="relevant", pool="queries")
    def map(self) -> AP:
        """`MAP`, APScorer.java. Run with 2.1 and 2.10.1: equal to 1e-11."""

    @preset(RR, f"RR@{K}")
    def rr(self, k: int | None) -> RR:
        """`RR@k` of 2.10.1, ReciprocalRankScorer.java, which rounds each value to float32. Run: equal to 6e-8.

        2.1 ignores the cutoff: `rr(None)`. 2.10.1 gives 0 without one.
        """

    @preset(Precision, f"P@{K}", divisor="retrieved")
    def p(self, k: int | None) -> Precision:
        """`P@k`, PrecisionScorer.java: divided by min(k, n). Run with 2.1 and 2.10.1: equal to 1e-11."""

    @preset(ERR, f"ERR@{K}", gain="exp2-floor", scale=16, discount="reciprocal", complement="float64")
    def err(self, k: int | None) -> ERR:
        """`ERR@k`, ERRScorer.java: a grade l stops a reader with probability (2^l - 1) / 16. Run: equal to 1e-11."""

    @preset(DCG, f"DCG@{K}", gain="exp2-floor")
    def dcg(self, k: int | None) -> DCG:
        """`DCG@k`, DCGScorer.java. Run with 2.1 and 2.10.1: equal to 1e-11."""

    def read(self, text: str, **params: Any) -> Convention:
        """Read what RankLib computes under a name; `P`, `ERR` and `DCG` alone are those at 10.

        Examples
        --------
        >>> ranklib.read("ERR") == ranklib.err(10)
        True
        """
        is_bare = isinstance(text, str) and text in {"P", "ERR", "DCG"}
        return super().read(f"{text}@{BARE}" if is_bare else text, **params)


class RankLibBusaFekete(
    Tool, name="ranklib_busafekete", versions=("2011",), evidence="run", gain="exp2", discount="log2", ideal="cutoff",
    ties="input", precision="float64", short="pad", empty=0.5, missing="error", unjudged="error", average="uniform",
):  # fmt: skip
    """RankLib fork of the first author of Busa-Fekete et al. (2011). Run: equal to 1e-11 on data without ties.

    A query with nothing relevant counts 0.5. Its selection sort orders ties as no convention does.
    """


ranklib, ranklib_busafekete = RankLib(), RankLibBusaFekete()
