"""The library ranx."""

from __future__ import annotations

from typing import Any, ClassVar

from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, DCG, NDCG, RBP, RR, FMeasure, Precision, Recall, RPrecision, Success
from rankadapters.core.presets.tool import Tool, flag, from_level, measure

_RANKED: dict[str, Any] = {
    "relevant": "from_1", "ties": "input", "precision": "float64", "retrieve": "all", "short": "pad", "empty": 0,
    "missing": "skip", "unjudged": "zero", "average": "uniform",
}  # fmt: skip
_HUNDRED = 100


class Ranx(Tool):
    """The library ranx 0.3: `ndcg@k` and `ndcg_burges@k`, metrics/ndcg.py. Run with 0.3.21: equal to 1e-9.

    Ties stand in the order of the run.
    """

    name: ClassVar[str] = "ranx"
    patterns: ClassVar[dict[str, str]] = {
        r"ndcg(?P<burges>_burges)?(@(?P<k>[1-9]\d*))?": "",
        r"dcg(?P<burges>_burges)?(@(?P<k>[1-9]\d*))?": "dcg",
        r"map(@(?P<k>[1-9]\d*))?(-l(?P<level>\d+))?": "map",
        r"mrr(@(?P<k>[1-9]\d*))?(-l(?P<level>\d+))?": "mrr",
        r"precision(@(?P<k>[1-9]\d*))?(-l(?P<level>\d+))?": "precision",
        r"hits(@(?P<k>[1-9]\d*))?(-l(?P<level>\d+))?": "hits",
        r"recall(@(?P<k>[1-9]\d*))?(-l(?P<level>\d+))?": "recall",
        r"hit_rate(@(?P<k>[1-9]\d*))?(-l(?P<level>\d+))?": "hit_rate",
        r"f1(@(?P<k>[1-9]\d*))?(-l(?P<level>\d+))?": "f1",
        r"r-precision(-l(?P<level>\d+))?": "r_precision",
        r"rbp\.(?P<p>[1-9]\d)(-l(?P<level>\d+))?": "rbp",
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
    def dcg(self, k: int | None, *, burges: bool = False) -> DCG:
        """`dcg@k` and `dcg_burges@k`, metrics/dcg.py. Run with 0.3.21: equal to 1e-9; parameters as of `ndcg@k`."""
        found = DCG(
            k=k, gain="linear-positive", discount="log2", ties="input", precision="float64", short="pad",
            missing="skip", unjudged="zero", average="uniform",
        ).named("ranx.dcg")  # fmt: skip
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

    @measure
    def precision(self, k: int | None, *, level: int = 1) -> Precision:
        """`precision@k-lN`, metrics/precision.py: h/k, or h/n without a cutoff. Run: equal to 1e-9; as `map`."""
        found = Precision(k=k, divisor="k", **_RANKED).named("ranx.precision")
        return found.replace(relevant=from_level("level", level))

    @measure
    def hits(self, k: int | None, *, level: int = 1) -> Precision:
        """`hits@k-lN`, metrics/hits.py: the number of relevant rows. Run: equal to 1e-9; parameters as of `map`."""
        found = Precision(k=k, divisor="one", **_RANKED).named("ranx.hits")
        return found.replace(relevant=from_level("level", level))

    @measure
    def recall(self, k: int | None, *, level: int = 1) -> Recall:
        """`recall@k-lN`, metrics/recall.py. Run with 0.3.21: equal to 1e-9; parameters as of `map`."""
        return Recall(k=k, **_RANKED).named("ranx.recall").replace(relevant=from_level("level", level))

    @measure
    def hit_rate(self, k: int | None, *, level: int = 1) -> Success:
        """`hit_rate@k-lN`, metrics/hit_rate.py. Run with 0.3.21: equal to 1e-9; parameters as of `map`."""
        return Success(k=k, **_RANKED).named("ranx.hit_rate").replace(relevant=from_level("level", level))

    @measure
    def f1(self, k: int | None, *, level: int = 1) -> FMeasure:
        """`f1@k-lN`, metrics/f1.py. Run with 0.3.21: equal to 1e-9; parameters as of `map`."""
        found = FMeasure(k=k, divisor="k", beta_squared=1, **_RANKED).named("ranx.f1")
        return found.replace(relevant=from_level("level", level))

    @measure
    def r_precision(self, *, level: int = 1) -> RPrecision:
        """`r-precision-lN`, metrics/r_precision.py. Run with 0.3.21: equal to 1e-9; parameters as of `map`."""
        found = RPrecision(
            relevant="from_1", ties="input", precision="float64", empty=0, missing="skip", unjudged="zero",
            average="uniform",
        ).named("ranx.r_precision")  # fmt: skip
        return found.replace(relevant=from_level("level", level))

    @measure
    def rbp(self, *, p: int = 80, level: int = 1) -> RBP:
        """`rbp.p-lN`, metrics/rank_biased_precision.py, where a row counts its label. Run with 0.3.21: equal to 1e-9.

        Parameters
        ----------
        p : int
            The persistence in hundredths, as in the metric's name.
        level : int
            The least grade that counts, its `-l`.
        """
        if not is_whole(p) or not 0 < p < _HUNDRED:
            msg = f"p={p!r}; allowed are whole numbers from 1 to 99, the persistence in hundredths."
            raise ConventionError(msg)
        found = RBP(
            k=None, gain="linear-from_1", persistence=0.8, ties="input", precision="float64", short="pad",
            missing="skip", unjudged="zero", average="uniform",
        ).named("ranx.rbp")  # fmt: skip
        return found.replace(gain=f"linear-{from_level('level', level)}", persistence=p / _HUNDRED)


ranx = Ranx()
