"""Objectives as XGBoost's own parameters."""

from __future__ import annotations

from typing import Any

import xgboost as xgb

from rankadapters.core.errors import UnsupportedConventionError
from rankadapters.core.presets.xgboost import NO_CUTOFF
from rankadapters.objectives import (
    LambdaMAP,
    LambdaRank,
    Objective,
    PositionBias,
    RankNet,
    xgboost_map,
    xgboost_ndcg,
    xgboost_pairwise,
    xgboost_unbiased,
)
from rankadapters.objectives.base import require_objective
from rankadapters.objectives.built_in import no_native, require_native, require_native_bias, require_ndcg
from rankadapters.objectives.pairwise_fields import BY_ROUND
from rankadapters.objectives.position_bias import as_position_bias

SEEDING = (3, 4)  # the first release whose parameter `seed` seeds the pairs of `mean`


def native_objective(value: Objective, *, position_bias: PositionBias | str | None = None) -> dict[str, Any]:
    """Translate an objective into XGBoost's own parameters.

    Parameters
    ----------
    value : Objective
        What XGBoost shall train under.
    position_bias : PositionBias or str, optional
        What it shall learn of the positions of rows, which are their places in their queries.

    Returns
    -------
    dict
        `objective` and its parameters.

    Raises
    ------
    ConventionError
        `value` is not an objective, or is not one of pairs and has a position bias.
    UnsupportedConventionError
        XGBoost has no built-in objective or position bias that is the same, or this release draws the pairs of `mean`
        otherwise; the message names the fields.

    Examples
    --------
    >>> from rankadapters import objectives
    >>> native_objective(objectives.xgboost_map(lambdarank_num_pair_per_sample=5))["objective"]
    'rank:map'
    """
    params = built_in_form(value, position_bias)
    draws = other_draws(value)
    if draws:
        raise UnsupportedConventionError(draws)
    return params


def built_in_form(value: Objective, position_bias: PositionBias | str | None = None) -> dict[str, Any]:
    """Translate as `native_objective` does, for the release of XGBoost that draws the pairs alike.

    Raises
    ------
    UnsupportedConventionError
        No release has the same.
    """
    bias = as_position_bias(position_bias, require_objective(value))
    params = _native(value)
    return params if bias is None else params | _native_bias(bias, params)


def other_draws(value: Objective) -> str:
    """Say how this release draws the pairs of `mean` otherwise; nothing where it draws them alike, or none."""
    fields = value.to_dict()
    if fields.get("samples") is None or (fields["seed"] != BY_ROUND) == _seeds_pairs():
        return ""
    if _seeds_pairs():
        way = "their seed is that of the parameters and not the round, as it was up to 3.3"
        hint = "value.replace(seed=0), or another `seed` of the parameters; 0 is XGBoost's default"
    else:
        way = f"their seed is the round and not seed={fields['seed']}, as it is from 3.4 on"
        hint = f"value.replace(seed={BY_ROUND!r})"
    return f"XGBoost {xgb.__version__} draws the pairs of `mean` otherwise; {way}.\nHint: {hint}."


def _seeds_pairs() -> bool:
    major, minor, *_ = xgb.__version__.split(".")
    return (int(major), int(minor)) >= SEEDING


def _native(value: Objective) -> dict[str, Any]:
    kinds: dict[type[Objective], tuple[str, Any]] = {
        LambdaRank: ("rank:ndcg", xgboost_ndcg),
        RankNet: ("rank:pairwise", xgboost_pairwise),
        LambdaMAP: ("rank:map", xgboost_map),
    }
    if type(value) not in kinds:
        raise no_native("XGBoost", value, "rank:ndcg, rank:pairwise and rank:map")
    name, preset = kinds[type(value)]
    fields = value.to_dict()
    topk, normalization = fields["samples"] is None, fields["normalization"]
    wanted = value.replace(truncation=min(fields["truncation"] or NO_CUTOFF, NO_CUTOFF)) if topk else value
    params: dict[str, Any] = {
        "lambdarank_pair_method": "topk" if topk else "mean",
        "lambdarank_num_pair_per_sample": wanted.to_dict()["truncation"] if topk else fields["samples"],
        "lambdarank_normalization": normalization in {"xgboost", "xgboost-sum"},
        "lambdarank_score_normalization": normalization in {"xgboost", "xgboost-distance"},
    }
    if isinstance(wanted, LambdaRank):
        wanted, params = _gains(wanted, params)
    if fields["seed"] != BY_ROUND:
        params["seed"] = fields["seed"]
    nearest = preset(**params)
    require_native("XGBoost", wanted, nearest)
    return {"objective": name, **params}


def _native_bias(wanted: PositionBias, params: dict[str, Any]) -> dict[str, Any]:
    norm = wanted.to_dict().get("norm", 1.0)
    pairs = {name: params[name] for name in ("lambdarank_pair_method", "lambdarank_num_pair_per_sample")}
    require_native_bias("XGBoost", wanted, xgboost_unbiased(lambdarank_bias_norm=norm, **pairs))
    return {"lambdarank_unbiased": True, "lambdarank_bias_norm": norm}


def _gains(value: LambdaRank, params: dict[str, Any]) -> tuple[LambdaRank, dict[str, Any]]:
    """Bring gains that agree on the labels XGBoost takes to its spelling, and no cutoff to its number."""
    convention = require_ndcg("XGBoost", value)
    params = {**params, "ndcg_exp_gain": not convention.gain.startswith("linear")}
    if convention.gain == "exp2":
        convention = convention.replace(gain="exp2-floor")
    if value.samples is None:
        convention = convention.at(min(convention.k or NO_CUTOFF, NO_CUTOFF))
    return value.replace(convention=convention), params
