"""The library ranx."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.declaration.fields import is_whole
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, DCG, NDCG, RBP, RR, FMeasure, Precision, Recall, RPrecision, Success
from rankadapters.presets.tool import Fields, K, Option, Options, Tool, if_true, least_grade, preset

LEVEL = r"(-l(?P<level>\d+))?"
AT_LEVEL = f"(@{K})?{LEVEL}"
_HUNDRED = 100


def _persistence(name: str, p: object) -> Fields:
    if not is_whole(p) or not 0 < p < _HUNDRED:
        raise ConventionError(f"{name}={p!r}; allowed are whole numbers from 1 to 99, the persistence in hundredths.")
    return {"persistence": p / _HUNDRED}


class Ranx(
    Tool, name="ranx", package="ranx", versions=("0.3.21",), evidence="run 0.3.21", gain="linear-positive",
    discount="log2", relevant="from_1", ties="input", precision="float64", retrieve="all", short="pad", empty=0,
    missing="zero", unjudged="zero", average="uniform",
):  # fmt: skip
    """The library ranx 0.3: `ndcg@k` and `ndcg_burges@k`, metrics/ndcg.py. Run against 0.3.21: equal within 1e-9.

    Ties keep the order of the run. A judged query without results counts 0. ranx computes such a run only with
    `make_comparable=True`, which also drops queries without judgments; otherwise it refuses runs whose queries are not
    those of the judgments.

    Parameters
    ----------
    burges
        `ndcg_burges` and `dcg_burges`: gain 2^label - 1.
    level
        The lowest relevant grade, ranx's `-l`.
    p
        The persistence in hundredths, as in the metric's name.
    """

    options: ClassVar[Options] = {
        "burges": if_true(gain="exp2"),
        "level": least_grade("relevant"),
        "p": Option(_persistence),
    }

    @preset(NDCG, f"ndcg(?P<burges>_burges)?(@{K})?", ideal="cutoff")
    def __call__(self, k: int | None, *, burges: bool = False) -> NDCG:
        """Return `ndcg@k`."""

    @preset(DCG, f"dcg(?P<burges>_burges)?(@{K})?")
    def dcg(self, k: int | None, *, burges: bool = False) -> DCG:
        """`dcg@k` and `dcg_burges@k`, metrics/dcg.py. Run: equal within 1e-9."""

    @preset(AP, f"map{AT_LEVEL}", divisor="relevant", pool="queries")
    def map(self, k: int | None, *, level: int = 1) -> AP:
        """`map@k-lN`, metrics/average_precision.py. Run: equal within 1e-9."""

    @preset(RR, f"mrr{AT_LEVEL}")
    def mrr(self, k: int | None, *, level: int = 1) -> RR:
        """`mrr@k-lN`, metrics/reciprocal_rank.py. Run: equal within 1e-9."""

    @preset(Precision, f"precision{AT_LEVEL}", divisor="k")
    def precision(self, k: int | None, *, level: int = 1) -> Precision:
        """`precision@k-lN`, precision.py: hits / k, or hits / n without a cutoff. Run: equal within 1e-9."""

    @preset(Precision, f"hits{AT_LEVEL}", divisor="one")
    def hits(self, k: int | None, *, level: int = 1) -> Precision:
        """`hits@k-lN`, metrics/hits.py: number of hits. Run: equal within 1e-9."""

    @preset(Recall, f"recall{AT_LEVEL}")
    def recall(self, k: int | None, *, level: int = 1) -> Recall:
        """`recall@k-lN`, metrics/recall.py. Run: equal within 1e-9."""

    @preset(Success, f"hit_rate{AT_LEVEL}")
    def hit_rate(self, k: int | None, *, level: int = 1) -> Success:
        """`hit_rate@k-lN`, metrics/hit_rate.py. Run: equal within 1e-9."""

    @preset(FMeasure, f"f1{AT_LEVEL}", divisor="k", beta_squared=1)
    def f1(self, k: int | None, *, level: int = 1) -> FMeasure:
        """`f1@k-lN`, metrics/f1.py. Run: equal within 1e-9."""

    @preset(RPrecision, f"r-precision{LEVEL}")
    def r_precision(self, *, level: int = 1) -> RPrecision:
        """`r-precision-lN`, metrics/r_precision.py. Run: equal within 1e-9."""

    @preset(
        RBP, rf"rbp\.(?P<p>[1-9]\d){LEVEL}", options={"level": least_grade("gain", "linear-from_{}")}, k=None,
        gain="linear-from_1", persistence=0.8,
    )  # fmt: skip
    def rbp(self, *, p: int = 80, level: int = 1) -> RBP:
        """`rbp.p-lN`, metrics/rank_biased_precision.py; the gain is the label. Run: equal within 1e-9.

        Parameters
        ----------
        level
            The lowest grade that counts, ranx's `-l`.
        """


ranx = Ranx()
