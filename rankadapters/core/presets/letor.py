"""The Perl scripts of Microsoft's data sets: LETOR 3.0, LETOR 4.0, MSLR."""

from __future__ import annotations

from typing import ClassVar, Literal

from rankadapters.core.measures import AP, NDCG, Precision
from rankadapters.core.presets.tool import Tool, measure


class Letor4(Tool):
    """LETOR 4.0, Eval-Score-4.0.pl (2009). Run: equal to 1e-11, per query and in the mean.

    Gains 0, 1, 3 by table, no discount at rank 2, and a query with fewer than k documents counts 0. The script gives
    a label above 2 gain 0 in silence; here it is an error.
    """

    name: ClassVar[str] = "letor4"
    patterns: ClassVar[dict[str, str]] = {
        r"(?i:ndcg)@(?P<k>[1-9]\d*)": "",
        "(?i:map)": "map",
        r"(?i:p(recision)?)@(?P<k>[1-9]\d*)": "p",
    }
    relevant: ClassVar[str] = "from_1"
    short: ClassVar[Literal["pad", "zero"]] = "pad"  # of P@k

    def __call__(self, k: int | None) -> NDCG:
        """Give the script's NDCG@k."""
        return NDCG(
            k=k, gain="table_0_1_3", discount="jk2", ideal="cutoff", ties="input", precision="float64",
            short="zero", empty=0, missing="error", unjudged="error", average="uniform",
        ).named(self.name)  # fmt: skip

    @measure
    def map(self) -> AP:
        """`MAP` of the script. Run: equal to 1e-11, per query and in the mean."""
        return AP(
            k=None, relevant=self.relevant, divisor="relevant", ties="input", precision="float64", retrieve="all",
            short="pad", empty=0, missing="error", unjudged="error", pool="queries", average="uniform",
        ).named(f"{self.name}.map")  # fmt: skip

    @measure
    def p(self, k: int | None) -> Precision:
        """`P@k` of the script: relevant rows at ranks 1..k by k. Run: equal to 1e-11, per query and in the mean."""
        return Precision(
            k=k, relevant=self.relevant, divisor="k", ties="input", precision="float64", retrieve="all",
            short=self.short, empty=0, missing="error", unjudged="error", average="uniform",
        ).named(f"{self.name}.p")  # fmt: skip


class Letor3(Letor4):
    """LETOR 3.0, Eval-Score-3.0.pl. Run: equal to 1e-11 in the mean, and per query where it prints one.

    As LETOR 4.0 in the mean: a query with fewer than k documents has no value of its own but adds 0, also to P@k. A
    label above 2 has gain 0 in silence; here it is an error.
    """

    name: ClassVar[str] = "letor3"
    short: ClassVar[Literal["pad", "zero"]] = "zero"


class Mslr(Letor4):
    """MSLR-WEB10K and -WEB30K, eval-score-mslr.pl (2010). Run: equal to 1e-11, per query and in the mean.

    LETOR 4.0 with gains for labels up to 4. A label above has gain 0 in silence; here it is an error. To its MAP
    and P@k a document is relevant from grade 2 on.
    """

    name: ClassVar[str] = "mslr"
    relevant: ClassVar[str] = "from_2"

    def __call__(self, k: int | None) -> NDCG:
        """Give the script's NDCG@k."""
        return letor4(k).replace(gain="table_0_1_3_7_15").named(self.name)


letor3, letor4, mslr = Letor3(), Letor4(), Mslr()
