"""RankLib and what computes as it does."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import AP, NDCG, RR
from rankadapters.core.presets.tool import Tool, measure


class RankLib(Tool):
    """RankLib 2.1 (2012) to 2.10.1, NDCGScorer.java. Run with both: equal to 1e-11, per query and in the mean.

    It casts labels to int in silence; here fractions keep their gain. A qid that comes back later in its file is a new
    query there. The 2011 source sorts ties as no convention does: see `inexpressible`.
    """

    name: ClassVar[str] = "ranklib"
    patterns: ClassVar[dict[str, str]] = {r"NDCG@(?P<k>[1-9]\d*)": "", "MAP": "map", r"RR@(?P<k>[1-9]\d*)": "rr"}

    def __call__(self, k: int | None) -> NDCG:
        """Give NDCG@k."""
        return NDCG(
            k=k, gain="exp2", discount="log2", ideal="cutoff", ties="input", precision="float64",
            short="pad", empty=0, missing="error", unjudged="error", average="uniform",
        ).named(self.name)  # fmt: skip

    @measure
    def map(self) -> AP:
        """`MAP`, APScorer.java. Run with 2.1 and 2.10.1: equal to 1e-11."""
        return AP(
            k=None, relevant="above_0", divisor="relevant", ties="input", precision="float64", retrieve="all",
            short="pad", empty=0, missing="error", unjudged="error", pool="queries", average="uniform",
        ).named("ranklib.map")  # fmt: skip

    @measure
    def rr(self, k: int | None) -> RR:
        """`RR@k` of 2.10.1, ReciprocalRankScorer.java, which rounds each value to float32. Run: equal to 6e-8.

        2.1 ignores the cutoff: `rr(None)`. 2.10.1 gives 0 without one.
        """
        return RR(
            k=k, relevant="above_0", ties="input", precision="float64", retrieve="all",
            short="pad", empty=0, missing="error", unjudged="error", average="uniform",
        ).named("ranklib.rr")  # fmt: skip


class RankLibBusaFekete(Tool):
    """RankLib fork of the first author of Busa-Fekete et al. (2011). Run: equal to 1e-11 on data without ties.

    A query with nothing relevant counts 0.5. Its selection sort orders ties as no convention does.
    """

    name: ClassVar[str] = "ranklib_busafekete"

    def __call__(self, k: int | None) -> NDCG:
        """Give NDCG@k."""
        return ranklib(k).replace(empty=0.5).named(self.name)


ranklib, ranklib_busafekete = RankLib(), RankLibBusaFekete()
