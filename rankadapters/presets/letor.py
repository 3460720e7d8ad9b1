"""The scripts of public data sets: LETOR 3.0, LETOR 4.0, MSLR, and the Yahoo! Learning to Rank Challenge."""

from __future__ import annotations

from rankadapters.core.measures import AP, ERR, NDCG, Precision
from rankadapters.presets.tool import K, Tool, preset


class Letor4(
    Tool, name="letor4", versions=("4.0",), evidence="run 4.0", gain="table_0_1_3", discount="jk2", ideal="cutoff",
    relevant="from_1", ties="input", precision="float64", retrieve="all", short="pad", empty=0, missing="error",
    unjudged="error", average="uniform",
):  # fmt: skip
    """LETOR 4.0, Eval-Score-4.0.pl (2009). Run: equal within 1e-11, per query and in the mean.

    The gains are 0, 1 and 3, rank 2 has no discount, and a query with fewer than k documents counts 0. The script
    silently gives labels above 2 gain 0; here they are an error.
    """

    @preset(NDCG, rf"(?i:ndcg)@{K}", short="zero")
    def __call__(self, k: int | None) -> NDCG:
        """Return the script's NDCG@k."""

    @preset(AP, "(?i:map)", k=None, divisor="relevant", pool="queries")
    def map(self) -> AP:
        """`MAP` of the script. Run: equal within 1e-11, per query and in the mean."""

    @preset(Precision, rf"(?i:p(recision)?)@{K}", divisor="k")
    def p(self, k: int | None) -> Precision:
        """`P@k` of the script: relevant rows in the top k, divided by k. Run: equal within 1e-11, also per query."""


class Letor3(Letor4, name="letor3", versions=("3.0",), evidence="run 3.0", short="zero"):
    """LETOR 3.0, Eval-Score-3.0.pl. Run: equal within 1e-11, in the mean and for each printed query.

    Its means are those of LETOR 4.0: the script prints no value for a query with fewer than k documents, but counts it
    as 0, also in P@k. It silently gives labels above 2 gain 0; here they are an error.
    """


class Mslr(Letor4, name="mslr", versions=("2010",), evidence="run 2010", gain="table_0_1_3_7_15", relevant="from_2"):
    """MSLR-WEB10K and -WEB30K, eval-score-mslr.pl (2010). Run: equal within 1e-11, per query and in the mean.

    LETOR 4.0 with gains for labels up to 4. The script silently gives higher labels gain 0; here they are an error. In
    its MAP and P@k, documents of grade 2 and higher are relevant.
    """


class Yahoo(
    Tool, name="yahoo", versions=("2010",), evidence="run 2010", gain="exp2", discount="log2", ideal="cutoff",
    ties="input", precision="float64", short="pad", empty=1, missing="error", unjudged="error", average="uniform",
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


letor3, letor4, mslr, yahoo = Letor3(), Letor4(), Mslr(), Yahoo()
