"""Random pairs of XGBoost's pair method `mean`, which depend on its release."""

from __future__ import annotations

import xgboost as xgb

from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.objectives import Objective
from rankadapters.objectives.pairwise_fields import BY_ROUND
from rankadapters.objectives.xgboost import native_objective

SEEDING = (3, 4)  # the first XGBoost release whose parameter `seed` seeds the random pairs of `mean`


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


def refuse_estimate(value: Objective) -> None:
    """Refuse to replay a training from an estimated `base_score` if XGBoost would draw pairs for the estimate."""
    fields = value.to_dict()
    if fields.get("samples") is None or fields["seed"] == BY_ROUND:
        return
    try:
        native_objective(value)
    except UnsupportedConventionError:
        return  # no release of XGBoost has this objective, so there is nothing to replay
    msg = (
        "base_score=None cannot replay the pairs of `mean` with a seed: from 3.4 on XGBoost draws pairs for its "
        "estimate of base_score, so its first round has the second draw."
    )
    raise InputError(msg, hint="base_score=0.5, or another number, here and in XGBoost's own training")
