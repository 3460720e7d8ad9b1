"""Libraries that evaluate recommendations: recommenders and RecBole."""

from __future__ import annotations

from typing import ClassVar, Literal

from rankadapters.core.measures import NDCG
from rankadapters.presets.tool import Options, Tool, choice, preset


class Recommenders(
    Tool, name="recommenders", package="recommenders", versions=("1.2.1",), evidence="run 1.2.1", gain="linear",
    discount="log2", ideal="cutoff", ties="input", precision="float64", short="pad", empty="skip", missing="zero",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """recommenders `ndcg_at_k`, evaluation/python_evaluation.py. Run against 1.2.1: equal within 1e-12.

    Users without ground truth or with an ideal DCG of 0 are left out; users without predictions count 0. The default
    `score_type="binary"` counts every row of the ground truth as relevant, even a rating of 0: give such rows label 1.
    The base of the logarithm in `discfun_type` cancels. For `relevancy_method=None` see `inexpressible`.

    Parameters
    ----------
    score_type
        Gain of a row: 1, its rating, or 2^rating - 1.
    """

    options: ClassVar[Options] = {"score_type": choice({"binary": {}, "raw": {}, "exp": {"gain": "exp2"}})}

    @preset(NDCG)
    def __call__(self, k: int | None, *, score_type: Literal["binary", "raw", "exp"] = "binary") -> NDCG:
        """Return `ndcg_at_k` at a cutoff."""


class RecBole(
    Tool, name="recbole", package="recbole", versions=("1.2.1",), evidence="run 1.2.1", gain="linear", discount="log2",
    ideal="cutoff", ties="input", precision="float32", short="pad", empty=0, missing="zero", unjudged="zero",
    average="uniform",
):  # fmt: skip
    """The library RecBole: `NDCG`, evaluator/metrics.py. Run against 1.2.1: equal within 1e-9 before rounding.

    It prints `metric_decimal_place` decimals, 4 by default. Items are relevant or not. torch.topk does not guarantee an
    order of ties; in this preset tied rows keep their order.
    """


recommenders, recbole = Recommenders(), RecBole()
