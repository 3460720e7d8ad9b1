"""The library recommenders."""

from __future__ import annotations

from typing import ClassVar, Literal

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool, one_of


class Recommenders(Tool):
    """recommenders `ndcg_at_k`, evaluation/python_evaluation.py. Run with 1.2.1: equal to 1e-12.

    Users without ground truth, or of ideal DCG 0, are left out; users without predictions count 0. The default
    `score_type="binary"` counts every row of the ground truth as relevant, a rating of 0 too: give such rows label 1.
    The logarithm of `discfun_type` cancels. `relevancy_method=None`, which cuts nothing, is not this.
    """

    name: ClassVar[str] = "recommenders"

    def __call__(self, k: int | None, *, score_type: Literal["binary", "raw", "exp"] = "binary") -> NDCG:
        """Give `ndcg_at_k` at a cutoff.

        Parameters
        ----------
        k : int or None
            Its cutoff.
        score_type : {'binary', 'raw', 'exp'}
            Gain of a rating: 1 of every row, the rating, or 2^rating - 1.
        """
        found = NDCG(
            k=k, gain="linear", discount="log2", ideal="cutoff", ties="input", precision="float64", short="pad",
            empty="skip", missing="zero", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip
        gains = {"binary": "linear", "raw": "linear", "exp": "exp2"}
        return found.replace(gain=one_of("score_type", score_type, gains))


recommenders = Recommenders()
