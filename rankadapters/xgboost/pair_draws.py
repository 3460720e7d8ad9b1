"""Random pairs of XGBoost's pair method `mean`: samples before the first round, and settings that change the pairs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import xgboost as xgb

from rankadapters.callbacks.rounds import calling
from rankadapters.core.errors import UnsupportedConventionError, warn_caller
from rankadapters.objectives import Objective
from rankadapters.objectives.pairwise import Pairwise
from rankadapters.objectives.pairwise_fields import BY_ROUND, SEEDS
from rankadapters.objectives.xgboost import native_objective

SEEDING = (3, 4)  # the first XGBoost release whose parameter `seed` seeds the random pairs of `mean`
SHARES = ("subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode")  # sample if below 1
DROPOUTS = ("rate_drop", "skip_drop", "one_drop")  # drop trees at random if above 0
SHUFFLES = ("shuffle", "random")  # the feature selectors that use random numbers


class TrainingDraws:
    """Tells how often XGBoost's built-in objective would have sampled pairs before the first round.

    XGBoost estimates `base_score` for a built-in objective, and with sampled pairs draws once for the estimate. A
    callable objective starts from this estimate, so its training begins with the second draw.
    """

    def __init__(self) -> None:
        self._estimates: WeakKeyDictionary[xgb.DMatrix, float] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy without the estimates, because a copy is used with different datasets."""
        return TrainingDraws, ()

    def expect(self, dmatrix: xgb.DMatrix, estimate: float | None) -> None:
        """Store the estimated `base_score` of a DMatrix; None removes an earlier estimate."""
        self._estimates.pop(dmatrix, None)
        if estimate is not None:
            self._estimates[dmatrix] = estimate

    def before_training(self, value: Objective, dmatrix: xgb.DMatrix) -> int:
        """Return the number of pair samples to skip before round 1; warn if XGBoost would sample other pairs."""
        if not isinstance(value, Pairwise) or value.samples is None:
            return 0
        booster = _booster()
        if booster is None:
            return 0
        settings = dict(_parameters(json.loads(booster.save_config())["learner"]))
        _warn_of_other_draws(value, settings)
        estimate = self._estimates.get(dmatrix)
        if value.seed == BY_ROUND or estimate is None or booster.num_boosted_rounds():
            return 0
        return int(np.float32(settings["base_score"].strip("[]")) == np.float32(estimate))


def seeds_pairs() -> bool:
    """Return whether the installed XGBoost seeds the random pairs of `mean` by its parameter `seed`."""
    major, minor, *_ = xgb.__version__.split(".")
    return (int(major), int(minor)) >= SEEDING


def other_draws(value: Objective) -> str:
    """Describe how the installed XGBoost samples other pairs of `mean` than this objective; empty if it does not."""
    fields = value.to_dict()
    if fields.get("samples") is None or (fields["seed"] != BY_ROUND) == seeds_pairs():
        return ""
    if seeds_pairs():
        way = "it seeds them by the parameter `seed`, and not by the round as up to 3.3"
        hint = "value.replace(seed=0), or the `seed` of your parameters; 0 is XGBoost's default"
    else:
        way = f"it seeds them by the round, and not by seed={fields['seed']} as from 3.4 on"
        hint = f"value.replace(seed={BY_ROUND!r})"
    return f"XGBoost {xgb.__version__} draws the pairs of `mean` differently: {way}.\nHint: {hint}."


def _booster() -> xgb.Booster | None:
    """Return the booster in training; None outside a training."""
    return next((names["self"] for names in calling("xgboost") if isinstance(names.get("self"), xgb.Booster)), None)


def _parameters(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names and values of all parameters in a nested XGBoost configuration."""
    for name, part in config.items():
        if isinstance(part, dict):
            yield from part.items() if name.endswith("_param") else _parameters(part)


def _warn_of_other_draws(value: Pairwise, settings: Mapping[str, str]) -> None:
    try:
        native_objective(value)
    except UnsupportedConventionError:
        return  # not a built-in objective of any XGBoost release
    difference = other_draws(value) or ("" if value.seed == BY_ROUND else _other_settings(int(value.seed), settings))
    if difference:
        warn_caller(f"this training is not that of XGBoost's built-in objective: {difference}")


def _other_settings(seed: int, settings: Mapping[str, str]) -> str:
    """Describe why XGBoost would sample other pairs under these parameters; empty if it would sample the same."""
    sharing = [name for name in SHARES if float(settings.get(name, 1)) < 1]
    sharing += [name for name in DROPOUTS if float(settings.get(name, 0)) > 0]
    sharing += ["feature_selector"] if settings.get("feature_selector") in SHUFFLES else []
    if sharing:
        shown = ", ".join(f"{name}={settings[name]}" for name in sharing)
        return (
            f"under {shown} its pairs share a generator with rows, features or dropped trees, so both are different.\n"
            "Hint: lambdarank_pair_method='topk', which draws no pairs; or train without "
            f"{' and '.join(sharing)}."
        )
    if settings["seed_per_iteration"] != "0":
        return "under seed_per_iteration it seeds each round separately.\nHint: train without seed_per_iteration."
    if int(settings["seed"]) % SEEDS != seed:
        return (
            f"it seeds its pairs by the parameter seed={settings['seed']}, but the objective has seed={seed}."
            f"\nHint: value.replace(seed={int(settings['seed']) % SEEDS})."
        )
    return ""
