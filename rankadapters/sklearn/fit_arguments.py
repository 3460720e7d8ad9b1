"""Pass queries, weights and validation sets to each toolkit's ranker, importing only the toolkit in use."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from sklearn.utils.validation import has_fit_parameter

from rankadapters.callbacks.history import Evaluation, History
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, UnsupportedConventionError
from rankadapters.objectives import Objective
from rankadapters.sklearn.round_reports import report_rounds, temporary_params
from rankadapters.sklearn.rows import LabeledRows
from rankadapters.sklearn.tasks import FitTasks

RANKERS = {"LGBMRanker": "lightgbm", "XGBRanker": "xgboost", "CatBoostRanker": "catboost"}
LIGHTGBM_ROUNDS = ("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change")


@dataclass(frozen=True, eq=False)
class FitOptions:
    """Options of a fit: validation sets, the convention of early stopping, an objective and callbacks."""

    sets: Sequence[LabeledRows] = ()
    convention: Convention | None = None
    objective: Objective | None = None  # replaces the ranker's own objective
    tasks: FitTasks | None = None  # reports rounds to scikit-learn's callbacks

    def transformed(self, transform: Callable[[Any], Any]) -> FitOptions:
        """Return the options with the validation features transformed by a pipeline's first steps."""
        return replace(self, sets=[rows.with_features(transform(rows.X)) for rows in self.sets])


def toolkit_of(estimator: object) -> str | None:
    """Return the toolkit of a ranker, or None for any other estimator; recognized without importing the toolkit."""
    for kind in type(estimator).__mro__:
        if RANKERS.get(kind.__name__) == kind.__module__.partition(".")[0]:
            return RANKERS[kind.__name__]
    return None


def fit_on_queries(estimator: Any, train: LabeledRows, options: FitOptions, params: dict[str, Any]) -> History | None:
    """Fit an estimator on rows sorted by query; return the history of the validation values, if recorded."""
    fits = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}
    toolkit = toolkit_of(estimator) or ""
    if options.objective is not None and toolkit != "catboost":
        estimator.set_params(objective=_objective_callback(toolkit, options.objective))
    with report_rounds(toolkit, estimator, options.tasks, params) as arguments:
        return fits.get(toolkit, _other_estimator)(estimator, train, options, arguments)


def _objective_callback(toolkit: str, value: Objective) -> Any:
    if toolkit == "lightgbm":
        from rankadapters.lightgbm import objective as lightgbm_objective

        return lightgbm_objective(value)
    from rankadapters.xgboost import objective as xgboost_objective

    return xgboost_objective(value)


def _lightgbm(ranker: Any, train: LabeledRows, options: FitOptions, params: dict[str, Any]) -> History | None:
    from rankadapters.lightgbm import early_stopping, eval_metric

    arguments = {"group": train.sizes, "sample_weight": train.row_weight, **_lightgbm_sets(ranker, options.sets)}
    if options.convention is None:
        ranker.fit(train.X, train.y, **_merged(params, arguments))
        return None
    ranker_params = ranker.get_params()
    if ranker_params.get("metric") is None:
        ranker.set_params(metric="None")  # otherwise LightGBM also computes its default metric
    rounds = {name: ranker_params[name] for name in LIGHTGBM_ROUNDS if ranker_params.get(name)}
    callbacks = list(params.pop("callbacks", None) or [])
    for number in rounds.values():
        delta = ranker_params.get("early_stopping_min_delta") or 0.0
        callbacks.append(early_stopping(options.convention, rounds=number, min_delta=delta, verbose=False))
    metric = eval_metric(options.convention)
    arguments |= {"eval_metric": metric, "callbacks": callbacks}
    with temporary_params(ranker, **dict.fromkeys(rounds)):
        ranker.fit(train.X, train.y, **_merged(params, arguments))
    return metric.history


def _lightgbm_sets(ranker: Any, sets: Sequence[LabeledRows]) -> dict[str, Any]:
    if not sets:
        return {}
    features, labels = [rows.X for rows in sets], [rows.y for rows in sets]
    if "eval_X" in inspect.signature(ranker.fit).parameters:  # LightGBM 4.7 or later, where eval_set is deprecated
        pairs: dict[str, Any] = {"eval_X": tuple(features), "eval_y": tuple(labels)}
    else:
        pairs = {"eval_set": list(zip(features, labels, strict=True))}
    weights = [rows.row_weight for rows in sets]
    return {**pairs, "eval_group": [rows.sizes for rows in sets], "eval_sample_weight": weights}


def _xgboost(ranker: Any, train: LabeledRows, options: FitOptions, params: dict[str, Any]) -> History | None:
    from rankadapters.xgboost import EvalCallback, early_stopping

    arguments: dict[str, Any] = {"qid": train.codes, "sample_weight": train.query_weight}
    if options.convention is None:
        _xgboost_fit(ranker, train, _merged(params, {**arguments, **_xgboost_sets(options.sets)}))
        return None
    sets = [
        ((rows.X, rows.y, rows.codes) if rows.query_weight is None else (rows.X, rows.y, rows.codes, rows.query_weight))
        for rows in options.sets
    ]
    named = [(data, f"validation_{index}") for index, data in enumerate(sets)]
    evaluation = EvalCallback(options.convention, named, missing=ranker.missing)
    callbacks, rounds = [*(ranker.callbacks or []), evaluation], ranker.early_stopping_rounds
    if rounds:
        callbacks.append(early_stopping(options.convention, rounds=rounds))
    with temporary_params(ranker, callbacks=callbacks, early_stopping_rounds=None):
        _xgboost_fit(ranker, train, _merged(params, arguments))
    return evaluation.history


def _xgboost_sets(sets: Sequence[LabeledRows]) -> dict[str, Any]:
    if not sets:
        return {}
    weights = [rows.query_weight for rows in sets]
    return {
        "eval_set": [(rows.X, rows.y) for rows in sets],
        "eval_qid": [rows.codes for rows in sets],
        "sample_weight_eval_set": None if all(weight is None for weight in weights) else weights,
    }


def _xgboost_fit(ranker: Any, train: LabeledRows, arguments: dict[str, Any]) -> None:
    if not callable(ranker.objective):
        ranker.fit(train.X, train.y, **arguments)
        return
    from rankadapters.xgboost.ranker_fit import fit_by_objective

    fit_by_objective(ranker, train.X, train.y, **arguments)


def _catboost(ranker: Any, train: LabeledRows, options: FitOptions, params: dict[str, Any]) -> History | None:
    arguments: dict[str, Any] = {"group_id": train.codes, "group_weight": train.row_weight}
    columns = {**ranker.get_params(), **params}
    kinds = {name: columns.get(f"{name}_features") for name in ("cat", "text", "embedding")}
    pools = [_catboost_pool(rows, kinds) for rows in options.sets]
    if options.objective is not None:
        from rankadapters.catboost.training import fit_by_objective

        _merged(params, {**arguments, "eval_set": pools})  # only to refuse duplicate arguments
        pools = [_catboost_pool(train, kinds), *pools]
        return fit_by_objective(ranker, pools, options.objective, options.convention, params) or None
    if pools:
        arguments["eval_set"] = pools
    if options.convention is None:
        ranker.fit(train.X, train.y, **_merged(params, arguments))
        return None
    metric = _catboost_metric(options.convention, train, options.sets)
    if isinstance(metric, str):
        ranker.set_params(eval_metric=metric)
        ranker.fit(train.X, train.y, **_merged(params, arguments))
        return _catboost_history(ranker.get_evals_result(), options.convention, metric)
    declared = ranker.get_params().get("eval_metric")
    ranker.set_params(eval_metric=metric)
    ranker.fit(train.X, train.y, **_merged(params, arguments))
    ranker._init_params.pop("eval_metric")  # noqa: SLF001 - set_params refuses a fitted model, and the metric holds data
    if declared is not None:
        ranker._init_params["eval_metric"] = declared  # noqa: SLF001 - as above
    # Drop the training set, which CatBoost also evaluates if it is among the validation sets.
    return History(entry for entry in metric.history if entry.dataset != "learn")


def _catboost_pool(rows: LabeledRows, kinds: dict[str, Any]) -> Any:
    pool = sys.modules["catboost"].Pool  # already imported, because the ranker comes from it
    columns = {f"{name}_features": value for name, value in kinds.items()}
    return pool(rows.X, rows.y, group_id=rows.codes, group_weight=rows.row_weight, **columns)


def _catboost_metric(convention: Convention, train: LabeledRows, sets: Sequence[LabeledRows]) -> Any:
    """Return CatBoost's own metric, which is faster, if it computes the convention; else return our callback metric."""
    from rankadapters.catboost import eval_metric, native_metric

    weighted = any(rows.row_weight is not None for rows in (train, *sets))
    try:
        # CatBoost refuses use_weights=false if there are group weights, and a second loss function as eval_metric.
        if not (weighted and convention.weighting is None) and not convention.pooled:
            return native_metric(convention, group_weights=False)
    except UnsupportedConventionError:
        pass
    return eval_metric(convention, [(rows.y, rows.codes) for rows in sets])


def _catboost_history(log: dict[str, dict[str, list[float]]], convention: Convention, metric: str) -> History:
    """Return the history of CatBoost's own metric; CatBoost's log spells the metric's name differently."""
    from rankadapters.catboost import native_metric, read_metric

    def is_metric(name: str) -> bool:
        try:
            return native_metric(read_metric(name), group_weights=False) == metric
        except ConventionError:  # the log also contains the training loss
            return False

    series = {
        dataset: next(values for name, values in metrics.items() if is_metric(name))
        for dataset, metrics in log.items() if dataset != "learn"
    }  # fmt: skip
    history = History()
    for iteration, row in enumerate(zip(*series.values(), strict=True)):
        history.record(
            Evaluation(dataset, convention, value, iteration=iteration)
            for dataset, value in zip(series, row, strict=True)
        )
    return history


def _other_estimator(estimator: Any, train: LabeledRows, options: FitOptions, params: dict[str, Any]) -> None:
    arguments = {} if train.row_weight is None else {"sample_weight": train.row_weight}
    if arguments and not has_fit_parameter(estimator, "sample_weight"):
        msg = f"{type(estimator).__name__}.fit takes no sample_weight.\nHint: leave it out, or change the estimator."
        raise InputError(msg)
    # An estimator that is not a ranker gets no validation sets: QueryRanker refuses them earlier.
    with nullcontext() if options.tasks is None else options.tasks.of_estimator(estimator):
        estimator.fit(train.X, train.y, **_merged(params, arguments))


def _merged(params: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Merge the caller's parameters with our arguments; raise an error if both have the same name."""
    duplicates = set(params) & set(arguments)
    if duplicates:
        name = min(duplicates)
        msg = f"QueryRanker sets {name}= itself.\nHint: fit(X, y, qid=, sample_weight=, eval_set=)."
        raise InputError(msg)
    return {**params, **arguments}
