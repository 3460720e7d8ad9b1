"""LightGBM's own objectives and position bias, with its parameter names and defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankadapters.core import presets
from rankadapters.core.declaration.number_fields import WholeField
from rankadapters.core.declaration.spelling import table
from rankadapters.core.presets.lightgbm import LABELS, MOST_ROWS
from rankadapters.objectives.base import Objective, as_objective
from rankadapters.objectives.built_in import (
    no_native,
    read_built_in,
    require_native,
    require_native_bias,
    require_ndcg,
)
from rankadapters.objectives.lambda_rank import LambdaRank
from rankadapters.objectives.listwise import XENDCG
from rankadapters.objectives.position_bias import AdditiveBias, PositionBias, as_position_bias


def lambdarank(
    *,
    lambdarank_truncation_level: int = 30,
    lambdarank_norm: bool = True,
    sigmoid: float = 1.0,
    label_gain: Sequence[float] | None = None,
) -> LambdaRank:
    """LightGBM's `lambdarank`, bit for bit; the position bias of a Dataset with positions is `position_bias`.

    Parameters
    ----------
    lambdarank_truncation_level : int
        Bounds the first rank of a pair and cuts the ideal DCG.
    lambdarank_norm : bool
        Whether pairs are divided by their score distance and queries scaled by their sum of lambdas.
    sigmoid : float
        Steepness, `sigma`.
    label_gain : sequence of float, optional
        Gain by label; 2^label - 1 by default.

    References
    ----------
    LightGBM 4.7.0, src/objective/rank_objective.hpp, `LambdarankNDCG`. Run: predictions equal after 50 rounds.

    Examples
    --------
    >>> lambdarank().convention.k, lambdarank().normalization
    (30, 'lightgbm')
    """
    WholeField(group="value", about="", least=1).check("lambdarank_truncation_level", lambdarank_truncation_level)
    return LambdaRank(
        convention=presets.lightgbm(lambdarank_truncation_level, label_gain=label_gain),
        truncation=lambdarank_truncation_level, samples=None, beyond_k="keep", sigma=sigmoid,
        normalization="lightgbm" if lambdarank_norm else "none", hessian="plain", sigmoid="table",
    )  # fmt: skip


def xendcg(*, objective_seed: int = 5) -> XENDCG:
    """LightGBM's `rank_xendcg`, bit for bit while no probability rounds to 1, beyond which LightGBM divides by 0.

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
    """LightGBM's position bias, bit for bit, for a Dataset with positions and one thread of LightGBM's.

    With several threads, LightGBM adds up in an order of its threads.

    Parameters
    ----------
    lambdarank_position_bias_regularization : float
        Of the biases.
    learning_rate : float
        The training's, as its parameters have it at the start.

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


BUILT_IN: dict[str, Callable[..., Objective]] = {"lambdarank": lambdarank, "rank_xendcg": xendcg}


def native_objective(objective: Objective | str, *, position_bias: PositionBias | str | None = None) -> dict[str, Any]:
    """Translate an objective into LightGBM's own parameters; `read_objective` reads them back.

    Parameters
    ----------
    objective : Objective or str
        What LightGBM shall train under.
    position_bias : PositionBias or str, optional
        What it shall learn of the positions of the Dataset. None adds nothing: LightGBM learns of them whenever the
        Dataset has some.

    Returns
    -------
    dict
        `objective` and its parameters; of a position bias also the `learning_rate`, which is the training's too.

    Raises
    ------
    ConventionError
        The objective is none, or is not one of pairs and has a position bias.
    UnsupportedConventionError
        LightGBM has no built-in objective or position bias that is the same; the message names the fields.

    Examples
    --------
    >>> native_objective("lightgbm.xendcg")
    {'objective': 'rank_xendcg', 'objective_seed': 5}
    """
    value = as_objective(objective)
    bias = as_position_bias(position_bias, value)
    return _write(value) | ({} if bias is None else _write_bias(bias))


def read_objective(objective: str | Mapping[str, Any], **params: Any) -> Objective:
    """Read what LightGBM trains under; the inverse of `native_objective`.

    Parameters
    ----------
    objective : str or mapping
        LightGBM's name, or what `native_objective` returned.
    **params
        Parameters of the objective; those left out have LightGBM's defaults.

    Raises
    ------
    ConventionError
        LightGBM has no such ranking objective, or the objective has no such parameter.

    Examples
    --------
    >>> read_objective("lambdarank", lambdarank_norm=False).normalization
    'none'
    """
    return read_built_in("LightGBM", BUILT_IN, objective, params)


def _write(value: Objective) -> dict[str, Any]:
    if isinstance(value, XENDCG):
        return {"objective": "rank_xendcg", "objective_seed": value.seed}
    if not isinstance(value, LambdaRank):
        raise no_native("LightGBM", value, BUILT_IN)
    convention = require_ndcg("LightGBM", value)
    wanted = value.replace(convention=convention.at(min(convention.k or MOST_ROWS, MOST_ROWS)))
    if value.samples is None:
        wanted = wanted.replace(truncation=min(value.truncation or MOST_ROWS, MOST_ROWS))
    gains = list(map(float, range(LABELS))) if convention.gain.startswith("linear") else table(convention.gain)
    params: dict[str, Any] = {
        "lambdarank_truncation_level": wanted.truncation or MOST_ROWS,
        "lambdarank_norm": value.normalization != "none",
        "sigmoid": value.sigma,
    }
    nearest = lambdarank(**params)
    # It takes whole labels from 0 on only, where gains of several names agree.
    require_native("LightGBM", wanted, nearest.replace(convention=nearest.convention.replace(gain=convention.gain)))
    labelled = {} if gains is None else {"label_gain": list(gains)}
    return {"objective": "lambdarank", **params, **labelled}


def _write_bias(wanted: PositionBias) -> dict[str, Any]:
    fields = wanted.to_dict()
    level, rate = fields.get("regularization", 0.0), fields.get("learning_rate", 0.1)
    require_native_bias(
        "LightGBM", wanted, position_bias(lambdarank_position_bias_regularization=level, learning_rate=rate)
    )
    return {"lambdarank_position_bias_regularization": level, "learning_rate": rate}
