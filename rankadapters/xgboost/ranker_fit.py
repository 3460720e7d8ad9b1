"""Train an XGBRanker by a callable objective, which `xgb.train` supports but `XGBRanker.fit` does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import xgboost as xgb

from rankadapters.core.errors import InputError
from rankadapters.xgboost.objectives import ObjectiveCallback
from rankadapters.xgboost.stopping import forget_best

OVERWRITTEN = ("objective", "booster", "base_score", "feature_types", "enable_categorical")
MATRIX_OPTIONS = ("missing", "feature_types", "feature_weights", "enable_categorical")


def without_best(model: Any) -> xgb.Booster:
    """Copy the model that a training continues, without its best round: XGBRanker predicts only up to that one."""
    booster = xgb.Booster(model_file=model.get_booster() if isinstance(model, xgb.XGBModel) else model)
    forget_best(booster)
    return booster


def fit_by_objective(
    ranker: xgb.XGBRanker,
    X: Any,
    y: Any,
    *,
    qid: Any,
    sample_weight: Any = None,
    base_margin: Any = None,
    eval_set: Sequence[tuple[Any, Any]] = (),
    eval_qid: Sequence[Any] = (),
    sample_weight_eval_set: Sequence[Any] | None = None,
    base_margin_eval_set: Sequence[Any] | None = None,
    verbose: bool | int = False,
    **unsupported: Any,
) -> None:
    """Fit an XGBRanker whose `objective` is a callable `obj(preds, dtrain) -> grad, hess`.

    `XGBRanker(objective=f)` raises an error. `XGBRanker().set_params(objective=f)` does not, but its `fit` then trains
    by squared error and fails at the end. An `ObjectiveCallback` is trained with its `replay_params`, unless the ranker
    sets these parameters.

    References
    ----------
    XGBoost 3.2.0, python-package: sklearn.XGBRanker.fit, sklearn.XGBModel.load_model.
    """
    if unsupported:
        raise InputError(f"{min(unsupported)}= is not supported with a callable objective.", hint="leave it out")
    metrics = ranker.eval_metric
    if any(map(callable, metrics if isinstance(metrics, (list, tuple)) else [metrics])):
        raise InputError("XGBRanker's eval_metric and objective are both callables.", hint="QueryRanker(eval_metric=)")
    weights, margins = (columns or [None] * len(eval_set) for columns in (sample_weight_eval_set, base_margin_eval_set))
    evals = [
        (matrix(ranker, *pair, qid=ids, weight=weight, base_margin=margin), f"validation_{index}")
        for index, (pair, ids, weight, margin) in enumerate(zip(eval_set, eval_qid, weights, margins, strict=True))
    ]
    train = matrix(ranker, X, y, qid=qid, weight=sample_weight, base_margin=base_margin)
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
    """Return the parameters of the training; the ranker's parameters override `replay_params`."""
    ranker_params = {name: value for name, value in ranker.get_xgb_params().items() if value is not None}
    if not isinstance(ranker.objective, ObjectiveCallback):
        return ranker_params
    replayed = ranker.objective.replay_params(train, base_score=ranker_params.get("base_score"))
    if "random_state" in ranker_params:
        replayed.pop("seed", None)  # or it would override its alias random_state
    return replayed | ranker_params


def matrix(ranker: xgb.XGBRanker, X: Any, y: Any, **columns: Any) -> xgb.DMatrix:
    """Return a DMatrix with the ranker's options."""
    options = {name: getattr(ranker, name) for name in MATRIX_OPTIONS}
    return xgb.DMatrix(X, y, nthread=ranker.n_jobs, **columns, **options)


def _load(ranker: xgb.XGBRanker, booster: xgb.Booster, log: dict[str, Any]) -> None:
    """Load the booster into the ranker, and restore the parameters that loading overwrites."""
    declared = {name: getattr(ranker, name) for name in OVERWRITTEN}
    ranker.load_model(booster.save_raw())
    for name, value in declared.items():
        setattr(ranker, name, value)
    if log:
        ranker.evals_result_ = log
