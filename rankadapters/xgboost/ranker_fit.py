"""Training an XGBRanker by a callable objective, which its own `fit` refuses and `xgb.train` takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import xgboost as xgb

from rankadapters.core.errors import InputError
from rankadapters.xgboost.objectives import ObjectiveCallback

OVERWRITTEN = ("objective", "booster", "base_score", "feature_types", "enable_categorical")


def fit_by_objective(
    ranker: xgb.XGBRanker,
    X: Any,
    y: Any,
    *,
    qid: Any,
    sample_weight: Any = None,
    eval_set: Sequence[tuple[Any, Any]] = (),
    eval_qid: Sequence[Any] = (),
    sample_weight_eval_set: Sequence[Any] | None = None,
    verbose: bool | int = False,
    **others: Any,
) -> None:
    """Fit an XGBRanker whose `objective` is a callable `obj(preds, dtrain) -> grad, hess`.

    `XGBRanker(objective=f)` raises; `XGBRanker().set_params(objective=f)` does not, but then its own `fit` trains by
    squared error and breaks off when it has. An objective of ours is trained with its `replay_params`, as far as the
    ranker leaves them open.

    References
    ----------
    XGBoost 3.2.0, python-package: sklearn.XGBRanker.fit, sklearn.XGBModel.load_model.
    """
    if others:
        msg = f"{min(others)}= is not handed on where a callable objective trains.\nHint: leave it out."
        raise InputError(msg)
    if any(map(callable, _listed(ranker.eval_metric))):
        msg = (
            "XGBRanker's eval_metric is a callable, beside an objective that is one.\nHint: QueryRanker(eval_metric=)."
        )
        raise InputError(msg)
    weights = sample_weight_eval_set or [None] * len(eval_set)
    evals = [
        (_matrix(ranker, *pair, *more), f"validation_{place}")
        for place, (pair, *more) in enumerate(zip(eval_set, eval_qid, weights, strict=True))
    ]
    train = _matrix(ranker, X, y, qid, sample_weight)
    log: dict[str, Any] = {}
    booster = xgb.train(
        _params(ranker, train),
        train,
        ranker.get_num_boosting_rounds(),
        obj=ranker.objective,
        evals=evals,
        evals_result=log,
        early_stopping_rounds=ranker.early_stopping_rounds,
        callbacks=ranker.callbacks,
        verbose_eval=verbose,
    )
    _load(ranker, booster, log)


def _params(ranker: xgb.XGBRanker, train: xgb.DMatrix) -> dict[str, Any]:
    """Parameters of the training: those that replay a built-in objective, and the ranker's own, which win."""
    own = {name: value for name, value in ranker.get_xgb_params().items() if value is not None}
    if not isinstance(ranker.objective, ObjectiveCallback):
        return own
    replayed = ranker.objective.replay_params(train, base_score=own.get("base_score"))
    if "random_state" in own:
        replayed.pop("seed", None)  # the same parameter, of which XGBoost takes the latter name
    return replayed | own


def _matrix(ranker: xgb.XGBRanker, X: Any, y: Any, qid: Any, weight: Any) -> xgb.DMatrix:
    return xgb.DMatrix(
        X,
        y,
        qid=qid,
        weight=weight,
        missing=ranker.missing,
        nthread=ranker.n_jobs,
        feature_types=ranker.feature_types,
        feature_weights=ranker.feature_weights,
        enable_categorical=ranker.enable_categorical,
    )


def _load(ranker: xgb.XGBRanker, booster: xgb.Booster, log: dict[str, Any]) -> None:
    """Put the booster into the ranker, and back the parameters that loading takes from the booster."""
    declared = {name: getattr(ranker, name) for name in OVERWRITTEN}
    ranker.load_model(booster.save_raw())
    for name, value in declared.items():
        setattr(ranker, name, value)
    if log:
        ranker.evals_result_ = log


def _listed(metrics: Any) -> list[Any]:
    return list(metrics) if isinstance(metrics, (list, tuple)) else [metrics]
