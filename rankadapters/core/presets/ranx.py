"""The library ranx."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import AP, NDCG, RR
from rankadapters.core.presets.tool import Tool, flag, from_level, measure


class Ranx(Tool):
    """The library ranx 0.3: `ndcg@k` and `ndcg_burges@k`, metrics/ndcg.py. Run with 0.3.21: equal to 1e-9.

    Ties stand in the order of the run.
    """

    name: ClassVar[str] = "ranx"
    patterns: ClassVar[dict[str, str]] = {
        r"ndcg(?P<burges>_burges)?(@(?P<k>[1-9]\d*))?": "",
        r"map(@(?P<k>[1-9]\d*))?(-l(?P<level>\d+))?": "map",
        r"mrr(@(?P<k>[1-9]\d*))?(-l(?P<level>\d+))?": "mrr",
    }

    def __call__(self, k: int | None, *, burges: bool = False) -> NDCG:
        """Give `ndcg@k`.

        Parameters
        ----------
        k : int or None
            The cutoff; None is the metric without one.
        burges : bool
            `ndcg_burges`: gain 2^l - 1.
        """
        found = NDCG(
            k=k, gain="linear-positive", discount="log2", ideal="cutoff", ties="input", precision="float64",
            short="pad", empty=0, missing="skip", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip
        return found.replace(gain="exp2") if flag("burges", burges) else found

    @measure
    def map(self, k: int | None, *, level: int = 1) -> AP:
        """`map@k-lN`, metrics/average_precision.py. Run with 0.3.21: equal to 1e-9.

        Parameters
        ----------
        k : int or None
            The cutoff; None is the metric without one.
        level : int
            The least grade that is relevant, its `-l`.
        """
        found = AP(
            k=k, relevant="from_1", divisor="relevant", ties="input", precision="float64", retrieve="all",
            short="pad", empty=0, missing="skip", unjudged="zero", pool="queries", average="uniform",
        ).named("ranx.map")  # fmt: skip
        return found.replace(relevant=from_level("level", level))

    @measure
    def mrr(self, k: int | None, *, level: int = 1) -> RR:
        """`mrr@k-lN`, metrics/reciprocal_rank.py. Run with 0.3.21: equal to 1e-9; parameters as of `map`."""
        found = RR(
            k=k, relevant="from_1", ties="input", precision="float64", retrieve="all",
            short="pad", empty=0, missing="skip", unjudged="zero", average="uniform",
        ).named("ranx.mrr")  # fmt: skip
        return found.replace(relevant=from_level("level", level))


ranx = Ranx()
