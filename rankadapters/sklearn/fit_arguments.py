"""How each toolkit's ranker is handed its queries, weights and validation sets; none is imported but the one in use."""

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
from rankadapters.sklearn.round_reports import lent, reported
from rankadapters.sklearn.rows import LabelledRows
from rankadapters.sklearn.tasks import FitTasks

RANKERS = {"LGBMRanker": "lightgbm", "XGBRanker": "xgboost", "CatBoostRanker": "catboost"}
LIGHTGBM_ROUNDS = ("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change")


@dataclass(frozen=True, eq=False)
class Watched:
    """Validation sets, the convention that they are evaluated under and stop the training by, an objective, tasks."""

    sets: Sequence[LabelledRows] = ()
    convention: Convention | None = None
    objective: Objective | None = None  # what is trained in place of the ranker's own
    tasks: FitTasks | None = None  # which report the rounds to scikit-learn's callbacks

    def transformed(self, transform: Callable[[Any], Any]) -> Watched:
        """Bring the sets through the transformers of a pipeline."""
        return replace(self, sets=[rows.with_features(transform(rows.X)) for rows in self.sets])


def toolkit_of(estimator: object) -> str | None:
    """Name the toolkit whose ranker this is, by the names of its classes; None for any other estimator."""
    for kind in type(estimator).__mro__:
        if RANKERS.get(kind.__name__) == kind.__module__.partition(".")[0]:
            return RANKERS[kind.__name__]
    return None


def hand(estimator: Any, train: LabelledRows, watched: Watched, params: dict[str, Any]) -> History | None:
    """Fit an estimator on rows in the order of their queries; a callback's history where there is one."""
    ways = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}
    toolkit = toolkit_of(estimator) or ""
    if watched.objective is not None and toolkit != "catboost":
        estimator.set_params(objective=_callback(toolkit, watched.objective))
    with reported(toolkit, estimator, watched.tasks, params) as arguments:
        return ways.get(toolkit, _any)(estimator, train, watched, arguments)


def _callback(toolkit: str, value: Objective) -> Any:
    if toolkit == "lightgbm":
        from rankadapters.lightgbm import objective as of_lightgbm

        return of_lightgbm(value)
    from rankadapters.xgboost import objective as of_xgboost

    return of_xgboost(value)


def _lightgbm(ranker: Any, train: LabelledRows, watched: Watched, params: dict[str, Any]) -> History | None:
    from rankadapters.lightgbm import early_stopping, eval_metric

    given = {"group": train.sizes, "sample_weight": train.row_weight, **_lightgbm_sets(ranker, watched.sets)}
    if watched.convention is None:
        ranker.fit(train.X, train.y, **_joined(params, given))
        return None
    own = ranker.get_params()
    if own.get("metric") is None:
        ranker.set_params(metric="None")  # else LightGBM computes its default beside the declared one
    rounds = {name: own[name] for name in LIGHTGBM_ROUNDS if own.get(name)}
    callbacks = list(params.pop("callbacks", None) or [])
    for number in rounds.values():
        delta = own.get("early_stopping_min_delta") or 0.0
        callbacks.append(early_stopping(watched.convention, rounds=number, min_delta=delta, verbose=False))
    metric = eval_metric(watched.convention)
    given |= {"eval_metric": metric, "callbacks": callbacks}
    with lent(ranker, **dict.fromkeys(rounds)):
        ranker.fit(train.X, train.y, **_joined(params, given))
    return metric.history


def _lightgbm_sets(ranker: Any, sets: Sequence[LabelledRows]) -> dict[str, Any]:
    if not sets:
        return {}
    features, labels = [rows.X for rows in sets], [rows.y for rows in sets]
    if "eval_X" in inspect.signature(ranker.fit).parameters:  # from 4.7 on, where eval_set is deprecated
        pairs: dict[str, Any] = {"eval_X": tuple(features), "eval_y": tuple(labels)}
    else:
        pairs = {"eval_set": list(zip(features, labels, strict=True))}
    weights = [rows.row_weight for rows in sets]
    return {**pairs, "eval_group": [rows.sizes for rows in sets], "eval_sample_weight": weights}


def _xgboost(ranker: Any, train: LabelledRows, watched: Watched, params: dict[str, Any]) -> History | None:
    from rankadapters.xgboost import EvalCallback, early_stopping

    given: dict[str, Any] = {"qid": train.codes, "sample_weight": train.query_weight}
    if watched.convention is None:
        _xgboost_fit(ranker, train, _joined(params, {**given, **_xgboost_sets(watched.sets)}))
        return None
    sets = [
        ((rows.X, rows.y, rows.codes) if rows.query_weight is None else (rows.X, rows.y, rows.codes, rows.query_weight))
        for rows in watched.sets
    ]
    named = [(data, f"validation_{place}") for place, data in enumerate(sets)]
    watch = EvalCallback(watched.convention, named, missing=ranker.missing)
    callbacks, rounds = [*(ranker.callbacks or []), watch], ranker.early_stopping_rounds
    if rounds:
        callbacks.append(early_stopping(watched.convention, rounds=rounds))
    with lent(ranker, callbacks=callbacks, early_stopping_rounds=None):
        _xgboost_fit(ranker, train, _joined(params, given))
    return watch.history


def _xgboost_sets(sets: Sequence[LabelledRows]) -> dict[str, Any]:
    if not sets:
        return {}
    weights = [rows.query_weight for rows in sets]
    return {
        "eval_set": [(rows.X, rows.y) for rows in sets],
        "eval_qid": [rows.codes for rows in sets],
        "sample_weight_eval_set": None if all(weight is None for weight in weights) else weights,
    }


def _xgboost_fit(ranker: Any, train: LabelledRows, given: dict[str, Any]) -> None:
    if not callable(ranker.objective):
        ranker.fit(train.X, train.y, **given)
        return
    from rankadapters.xgboost.ranker_fit import fit_by_objective

    fit_by_objective(ranker, train.X, train.y, **given)


def _catboost(ranker: Any, train: LabelledRows, watched: Watched, params: dict[str, Any]) -> History | None:
    given: dict[str, Any] = {"group_id": train.codes, "group_weight": train.row_weight}
    columns = {**ranker.get_params(), **params}
    kinds = {name: columns.get(f"{name}_features") for name in ("cat", "text", "embedding")}
    pools = [_catboost_pool(rows, kinds) for rows in watched.sets]
    if watched.objective is not None:
        from rankadapters.catboost.training import fit_by_objective

        _joined(params, {**given, "eval_set": pools})  # which refuses what is handed over here
        pools = [_catboost_pool(train, kinds), *pools]
        return fit_by_objective(ranker, pools, watched.objective, watched.convention, params) or None
    if pools:
        given["eval_set"] = pools
    if watched.convention is None:
        ranker.fit(train.X, train.y, **_joined(params, given))
        return None
    metric = _catboost_metric(watched.convention, train, watched.sets)
    if isinstance(metric, str):
        ranker.set_params(eval_metric=metric)
        ranker.fit(train.X, train.y, **_joined(params, given))
        return _catboost_history(ranker.get_evals_result(), watched.convention, metric)
    declared = ranker.get_params().get("eval_metric")
    ranker.set_params(eval_metric=metric)
    ranker.fit(train.X, train.y, **_joined(params, given))
    ranker._init_params.pop("eval_metric")  # noqa: SLF001 - set_params refuses a fitted model, which must hold no data
    if declared is not None:
        ranker._init_params["eval_metric"] = declared  # noqa: SLF001 - as above
    # CatBoost evaluates the training set, too, and it is declared where it is a validation set as well.
    return History(entry for entry in metric.history if entry.dataset != "learn")


def _catboost_pool(rows: LabelledRows, kinds: dict[str, Any]) -> Any:
    pool = sys.modules["catboost"].Pool  # whose ranker is here, so it is imported
    columns = {f"{name}_features": value for name, value in kinds.items()}
    return pool(rows.X, rows.y, group_id=rows.codes, group_weight=rows.row_weight, **columns)


def _catboost_metric(convention: Convention, train: LabelledRows, sets: Sequence[LabelledRows]) -> Any:
    """CatBoost's own metric where it is the declared one, which is fastest; else ours, told the validation sets."""
    from rankadapters.catboost import eval_metric, native_metric

    weighted = any(rows.row_weight is not None for rows in (train, *sets))
    try:
        # CatBoost refuses use_weights=false in a training with group weights, and a loss beside the loss it trains.
        if not (weighted and convention.weighting is None) and not convention.pooled:
            return native_metric(convention, group_weights=False)
    except UnsupportedConventionError:
        pass
    return eval_metric(convention, [(rows.y, rows.codes) for rows in sets])


def _catboost_history(log: dict[str, dict[str, list[float]]], convention: Convention, metric: str) -> History:
    """Return what CatBoost's own metric was in every round, of each validation set; its log spells the metric anew."""
    from rankadapters.catboost import native_metric, read_metric

    def is_metric(name: str) -> bool:
        try:
            return native_metric(read_metric(name), group_weights=False) == metric
        except ConventionError:  # of a loss
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


def _any(estimator: Any, train: LabelledRows, watched: Watched, params: dict[str, Any]) -> None:
    given = {} if train.row_weight is None else {"sample_weight": train.row_weight}
    if given and not has_fit_parameter(estimator, "sample_weight"):
        msg = f"{type(estimator).__name__}.fit takes no sample_weight.\nHint: leave it out, or use another estimator."
        raise InputError(msg)
    # Validation sets are refused before for what is not a ranker.
    with nullcontext() if watched.tasks is None else watched.tasks.of_estimator(estimator):
        estimator.fit(train.X, train.y, **_joined(params, given))


def _joined(params: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Join what the caller gave and what we hand over, which must not be the same."""
    twice = set(params) & set(given)
    if twice:
        name = min(twice)
        msg = f"{name}= is what QueryRanker hands over itself.\nHint: fit(X, y, qid=, sample_weight=, eval_set=)."
        raise InputError(msg)
    return {**params, **given}
