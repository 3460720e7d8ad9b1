"""LightGBM's built-in objectives and position bias, with its parameter names and defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rankadapters import presets
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.declaration.guesses import list_public
from rankadapters.objectives.base import PRESETS, Objective
from rankadapters.objectives.built_in import BuiltIns
from rankadapters.objectives.lambda_rank import LambdaRank
from rankadapters.objectives.listwise import XENDCG
from rankadapters.objectives.position_bias import AdditiveBias, PositionBias
from rankadapters.presets.lightgbm import MOST_ROWS, label_gain_of
from rankadapters.presets.tool import as_bool

__all__ = ["lambdarank", "native_objective", "position_bias", "read_objective", "xendcg"]

list_public(__name__)


def lambdarank(
    *,
    lambdarank_truncation_level: int = 30,
    lambdarank_norm: bool = True,
    sigmoid: float = 1.0,
    label_gain: Sequence[float] | None = None,
) -> LambdaRank:
    """Return LightGBM's `lambdarank`, bit for bit. If the Dataset has positions, LightGBM adds `position_bias`.

    Parameters
    ----------
    lambdarank_truncation_level : int
        A pair needs a row among this many top ranks, which also cut the ideal DCG.
    lambdarank_norm : bool
        Whether each pair is divided by its score distance and each query scaled by its sum of lambdas.
    sigmoid : float
        Steepness of the sigmoid, `sigma`.
    label_gain : sequence of float, optional
        Gain of each label; 2^label - 1 by default.

    References
    ----------
    LightGBM 4.7.0, src/objective/rank_objective.hpp, `LambdarankNDCG`. Run: predictions equal after 50 rounds.

    Examples
    --------
    >>> lambdarank().convention.k, lambdarank().normalization
    (30, 'lightgbm')
    """
    Field(group="value", about="", numbers=Range(1, whole=True)).check(
        "lambdarank_truncation_level", lambdarank_truncation_level
    )
    norm = as_bool("lambdarank_norm", lambdarank_norm)
    return LambdaRank(
        convention=presets.lightgbm(lambdarank_truncation_level, label_gain=label_gain),
        truncation=lambdarank_truncation_level, samples=None, beyond_k="keep", sigma=sigmoid,
        normalization="lightgbm" if norm else "none", hessian="plain", sigmoid="table",
    )  # fmt: skip


def xendcg(*, objective_seed: int = 5) -> XENDCG:
    """Return LightGBM's `rank_xendcg`, bit for bit, except that LightGBM divides by 0 if a probability rounds to 1.

    References
    ----------
    LightGBM 4.7.0, src/objective/rank_objective.hpp, `RankXENDCG`. Run: predictions equal after 50 rounds.

    Examples
    --------
    >>> xendcg()
    XENDCG(seed=5)
    """
    return XENDCG(seed=objective_seed)


def position_bias(*, lambdarank_position_bias_regularization: float = 0.0, learning_rate: float = 0.1) -> AdditiveBias:
    """Return LightGBM's position bias for a Dataset with positions, bit for bit if LightGBM runs in one thread.

    With several threads, LightGBM's sums depend on the order of the threads.

    Parameters
    ----------
    lambdarank_position_bias_regularization : float
        Regularization of the biases.
    learning_rate : float
        The learning rate of the training at its start.

    References
    ----------
    LightGBM 4.7.0, src/objective/rank_objective.hpp. Run: predictions equal after 20 rounds, also under a schedule.

    Examples
    --------
    >>> position_bias()
    AdditiveBias(positions='given', regularization=0.0, learning_rate=0.1)
    """
    return AdditiveBias(
        positions="given", regularization=lambdarank_position_bias_regularization, learning_rate=learning_rate
    )


class LightGBMObjectives(BuiltIns):
    """LightGBM's `lambdarank` and `rank_xendcg`."""

    toolkit = "LightGBM"
    presets: ClassVar[Mapping[str, Any]] = {"lambdarank": lambdarank, "rank_xendcg": xendcg}

    def _write(self, value: Objective) -> dict[str, Any]:
        if isinstance(value, XENDCG):
            return {"objective": "rank_xendcg", "objective_seed": value.seed}
        if not isinstance(value, LambdaRank):
            raise self._no_native(value)
        convention = self._require_ndcg(value)
        built_in = value.replace(convention=convention.at(min(convention.k or MOST_ROWS, MOST_ROWS)))
        if value.samples is None:
            built_in = built_in.replace(truncation=min(value.truncation or MOST_ROWS, MOST_ROWS))
        gains = label_gain_of(convention.gain)
        params: dict[str, Any] = {
            "lambdarank_truncation_level": built_in.truncation or MOST_ROWS,
            "lambdarank_norm": value.normalization != "none",
            "sigmoid": value.sigma,
        }
        nearest = lambdarank(**params)
        # LightGBM accepts only whole labels from 0 on. On these, gain functions with different names can be equal.
        self._require_native(built_in, nearest.replace(convention=nearest.convention.replace(gain=convention.gain)))
        label_gain = {} if gains is None else {"label_gain": list(gains)}
        return {"objective": "lambdarank", **params, **label_gain}

    def _write_bias(self, bias: PositionBias, _: Mapping[str, Any]) -> dict[str, Any]:
        fields = bias.to_dict()
        level, rate = fields.get("regularization", 0.0), fields.get("learning_rate", 0.1)
        self._require_native_bias(
            bias, position_bias(lambdarank_position_bias_regularization=level, learning_rate=rate)
        )
        return {"lambdarank_position_bias_regularization": level, "learning_rate": rate}


_built_ins = LightGBMObjectives()
native_objective, read_objective = _built_ins.native_objective, _built_ins.read_objective
PRESETS["lightgbm"] = {"lambdarank": lambdarank, "xendcg": xendcg}
