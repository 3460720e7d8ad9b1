"""The library RecTools."""

from __future__ import annotations

import math
from typing import ClassVar

from rankadapters.core.declaration.fields import as_float
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, NDCG, RR, FMeasure, Precision, Recall, Success
from rankadapters.presets.tool import Fields, Option, Options, Tool, if_true, preset


def _beta_squared(name: str, beta: float) -> Fields:
    """Return the changed field for a beta: its square."""
    factor = as_float(beta)
    if not math.isfinite(factor * factor):
        raise ConventionError(f"{name}={beta!r:.80}; allowed are finite numbers.", hint=f"{name}=1")
    return {"beta_squared": factor * factor}


class RecTools(
    Tool, name="rectools", package="rectools", versions=("0.19.0",), evidence="run 0.19.0", relevant="from_1",
    ties="input", precision="float64", retrieve="all", short="pad", empty="skip", missing="zero", unjudged="zero",
    average="uniform",
):  # fmt: skip
    """RecTools `NDCG`, metrics/ranking.py. Run against 0.19.0: equal within 1e-12.

    The ideal list has k relevant items, even if a user has fewer. Every interaction is relevant: give it label 1. Users
    without interactions are left out, users without recommendations count 0. RecTools evaluates lists in their order;
    here scores decide. This preset does not describe `debias_config`, which drops interactions at random.

    Parameters
    ----------
    log_base
        Base of the logarithm in the discount, above 1. It cancels, except for rounding.
    divide_by_achievable
        Whether the ideal list has no more items than the user.
    r_precision
        Whether the divisor is min(k, number of the user's items) instead of k.
    beta
        How much more recall weighs than precision.
    """

    options: ClassVar[Options] = {
        "log_base": Option(lambda _, base: {"discount": f"log_{base}"}),
        "divide_by_achievable": if_true(ideal="cutoff"),
        "r_precision": if_true(divisor="relevant"),
        "beta": Option(_beta_squared),
    }

    @preset(NDCG, "NDCG", gain="linear", discount="log2", ideal="ones")
    def __call__(self, k: int | None, *, log_base: float = 2, divide_by_achievable: bool = False) -> NDCG:
        """Return `NDCG`."""

    @preset(AP, "MAP", divisor="relevant", pool="queries")
    def map(self, k: int | None) -> AP:
        """`MAP` without `divide_by_k`: divided by the user's item count. Run: equal within 1e-12."""

    @preset(RR, "MRR")
    def mrr(self, k: int | None) -> RR:
        """`MRR`. Run: equal within 1e-12."""

    @preset(Precision, "Precision", divisor="k")
    def precision(self, k: int | None, *, r_precision: bool = False) -> Precision:
        """`Precision`, metrics/classification.py. Run: equal within 1e-12."""

    @preset(Recall, "Recall")
    def recall(self, k: int | None) -> Recall:
        """`Recall`, metrics/classification.py. Run: equal within 1e-12."""

    @preset(Success, "HitRate")
    def hit_rate(self, k: int | None) -> Success:
        """`HitRate`, metrics/classification.py. Run: equal within 1e-12."""

    @preset(FMeasure, "F1Beta", divisor="k", beta_squared=1)
    def f1_beta(self, k: int | None, *, beta: float = 1) -> FMeasure:
        """`F1Beta`, metrics/classification.py. Run: equal within 1e-12."""


rectools = RecTools()
