"""Refuse callers that an adapter is not for: another toolkit, or a search of scikit-learn."""

from __future__ import annotations

from rankadapters.core.declaration.declared import RefusedScore
from rankadapters.core.errors import InputError, RankAdaptersError

TOOLKITS = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}


def refuse_other_toolkit(adapter: str, function: str, *data: object) -> None:
    """Refuse a dataset or a callback's argument of another toolkit; the error names that toolkit's adapter.

    `adapter` is the module of ours that made the callable, and `function` the function that did.
    """
    for value in data:
        package = type(value).__module__.partition(".")[0]
        if package in TOOLKITS and package != adapter:
            msg = f"{TOOLKITS[package]} called an object of ra.{adapter}."
            raise InputError(msg, hint=f"ra.{package}.{function}(...)")


def refused_as_scorer(caller: object) -> RefusedScore | None:
    """Return the refusal of an estimator of scikit-learn, which calls a scorer; None for anything else."""
    if not hasattr(caller, "get_params"):
        return None
    msg = "an adapter of a toolkit is no scorer of scikit-learn."
    return RefusedScore(RankAdaptersError(msg, hint="scoring=ra.sklearn.query_scorer(convention)"))
