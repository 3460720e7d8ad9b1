"""The library RecTools."""

from __future__ import annotations

from typing import Any, ClassVar

from rankadapters.core.measures import AP, NDCG, RR, FMeasure, Precision, Recall, Success
from rankadapters.core.presets.tool import Tool, flag, measure

_RANKED: dict[str, Any] = {
    "relevant": "from_1", "ties": "input", "precision": "float64", "retrieve": "all", "short": "pad", "empty": "skip",
    "missing": "zero", "unjudged": "zero", "average": "uniform",
}  # fmt: skip


class RecTools(Tool):
    """RecTools `NDCG`, metrics/ranking.py. Run with 0.19.0: equal to 1e-12.

    The ideal list is k relevant items, however few a user has. Every interaction is relevant: give it label 1. Users
    without interactions are left out, users without recommendations count 0. Lists keep their order, which scores say
    here. `debias_config`, which drops interactions at random, is not this.
    """

    name: ClassVar[str] = "rectools"
    patterns: ClassVar[dict[str, str]] = {
        "NDCG": "",
        "MAP": "map",
        "MRR": "mrr",
        "Precision": "precision",
        "Recall": "recall",
        "HitRate": "hit_rate",
        "F1Beta": "f1_beta",
    }

    def __call__(self, k: int | None, *, log_base: float = 2, divide_by_achievable: bool = False) -> NDCG:
        """Give `NDCG`.

        Parameters
        ----------
        k : int or None
            Its cutoff.
        log_base : float
            Base of the logarithm of the discount, above 1. It cancels but for rounding.
        divide_by_achievable : bool
            Whether the ideal list holds the user's own items only.
        """
        found = NDCG(
            k=k, gain="linear", discount="log2", ideal="ones", ties="input", precision="float64", short="pad",
            empty="skip", missing="zero", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip
        ideal = "cutoff" if flag("divide_by_achievable", divide_by_achievable) else "ones"
        return found.replace(discount=f"log_{log_base}", ideal=ideal)

    @measure
    def map(self, k: int | None) -> AP:
        """`MAP`, divided by the user's items. Run with 0.19.0: equal to 1e-12; `divide_by_k` is inexpressible."""
        return AP(k=k, divisor="relevant", pool="queries", **_RANKED).named("rectools.map")

    @measure
    def mrr(self, k: int | None) -> RR:
        """`MRR`. Run with 0.19.0: equal to 1e-12."""
        return RR(k=k, **_RANKED).named("rectools.mrr")

    @measure
    def precision(self, k: int | None, *, r_precision: bool = False) -> Precision:
        """`Precision`, metrics/classification.py. Run with 0.19.0: equal to 1e-12.

        Parameters
        ----------
        k : int or None
            Its cutoff.
        r_precision : bool
            Whether the divisor is min(k, the user's items) and not k.
        """
        found = Precision(k=k, divisor="k", **_RANKED).named("rectools.precision")
        return found.replace(divisor="relevant") if flag("r_precision", r_precision) else found

    @measure
    def recall(self, k: int | None) -> Recall:
        """`Recall`, metrics/classification.py. Run with 0.19.0: equal to 1e-12."""
        return Recall(k=k, **_RANKED).named("rectools.recall")

    @measure
    def hit_rate(self, k: int | None) -> Success:
        """`HitRate`, metrics/classification.py. Run with 0.19.0: equal to 1e-12."""
        return Success(k=k, **_RANKED).named("rectools.hit_rate")

    @measure
    def f1_beta(self, k: int | None, *, beta: float = 1) -> FMeasure:
        """`F1Beta`, metrics/classification.py. Run with 0.19.0: equal to 1e-12.

        Parameters
        ----------
        k : int or None
            Its cutoff.
        beta : float
            How much more recall weighs than precision.
        """
        found = FMeasure(k=k, divisor="k", beta_squared=1, **_RANKED).named("rectools.f1_beta")
        return found.replace(beta_squared=beta**2)


rectools = RecTools()
