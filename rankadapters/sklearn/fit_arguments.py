"""Fit the estimator inside QueryRanker: pass queries, weights and validation sets to each toolkit's ranker.

Only the toolkit in use is imported.
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.validation import has_fit_parameter

from rankadapters.callbacks.history import History, Log
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.objectives import Objective
from rankadapters.sklearn.rows import LabeledRows, n_entries

RANKERS = {"LGBMRanker": "lightgbm", "XGBRanker": "xgboost", "CatBoostRanker": "catboost"}
# Parameters of the rankers' `fit` that describe features or rounds, even if they have as many entries as X has rows.
NOT_BY_ROW = {
    "callbacks", "categorical_feature", "cat_features", "embedding_features", "eval_at", "eval_names", "eval_metric",
    "feature_name", "feature_weights", "pairs_weight", "text_features",
}  # fmt: skip
BY_ROW_NUMBER = {"pairs", "graph"}
# Parameters of the rankers' `fit` for the scores that training starts from: of the training rows, and of the sets.
MARGINS: dict[str | None, tuple[str, str]] = {
    "lightgbm": ("init_score", "eval_init_score"),
    "xgboost": ("base_margin", "base_margin_eval_set"),
    "catboost": ("baseline", ""),
    None: ("", ""),
}


def toolkit_of(estimator: object) -> str | None:
    """Return the toolkit of a ranker, or None for any other estimator; recognized without importing the toolkit."""
    for kind in type(estimator).__mro__:
        if RANKERS.get(kind.__name__) == kind.__module__.partition(".")[0]:
            return RANKERS[kind.__name__]
    return None


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, which may be nested; return any other estimator unchanged."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def copy_of(estimator: Any) -> Any:
    """Clone an estimator or pipeline, even if scikit-learn's `clone` cannot copy its ranker."""
    if not isinstance(estimator, Pipeline):
        return _copy_of_ranker(estimator)
    name, last = estimator.steps[-1]
    shell = copy.copy(estimator)
    shell.steps = [*estimator.steps[:-1], (name, "passthrough")]
    cloned = clone(shell)
    cloned.steps[-1] = (name, copy_of(last))
    return cloned


def _copy_of_ranker(ranker: Any) -> Any:
    toolkit = toolkit_of(ranker)
    if toolkit == "catboost":  # get_params copies lists such as cat_features, so clone's check fails
        return type(ranker)(**ranker.get_params())
    if toolkit != "xgboost" or not callable(ranker.objective):
        return clone(ranker)
    stand_in = copy.copy(ranker)
    stand_in.objective = "rank:ndcg"  # the constructor of XGBRanker refuses a callable
    cloned = clone(stand_in)
    cloned.objective = clone(ranker.objective, safe=False)
    return cloned


def fit_transformers(
    estimator: Any, sets: list[LabeledRows], params: dict[str, Any]
) -> tuple[Any, list[LabeledRows], dict[str, Any]]:
    """Fit the transformers of a pipeline, which see only features, and transform the training rows and other sets.

    Returns the last step, its rows and its fit parameters.
    """
    while isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        head, (train, *others) = estimator[:-1], sets
        head_params, params = _split(estimator, head, train, params)
        if head.steps:
            train = train.with_features(head.fit_transform(train.X, train.y, **head_params))
            sets = [train, *(rows.with_features(head.transform(rows.X)) for rows in others)]
            estimator.steps = [*head.steps, (name, last)]  # with memory=, `head` has fitted copies of its steps
        estimator = last
    return estimator, sets, params


def _split(
    estimator: Pipeline, head: Pipeline, train: LabeledRows, params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split fit parameters into those of the transformers and of the last step, by metadata routing or name prefix.

    Columns for the transformers are in the order of the training rows, those for the last step as the caller's.
    """
    name = estimator.steps[-1][0]
    if not get_config()["enable_metadata_routing"]:
        last_keys = {key for key in params if key.startswith(f"{name}__") or not head.steps}
        rest = {key: value for key, value in params.items() if key not in last_keys}
        return in_order(train, rest), {key.removeprefix(f"{name}__"): params[key] for key in last_keys}
    last_params = dict(process_routing(estimator, "fit", **params)[name]["fit"])
    available = in_order(train, params)
    if train.row_weight is not None:
        available["sample_weight"] = train.row_weight
    head_keys = get_routing_for_object(head).consumes("fit_transform", available) if head.steps else ()
    return {key: available[key] for key in head_keys}, last_params


def by_row(params: dict[str, Any], n: int | None) -> dict[str, Any]:
    """Return the fit parameters that have an entry for each of the caller's `n` rows."""
    return {
        name: value
        for name, value in params.items()
        if name.rpartition("__")[2] not in NOT_BY_ROW and n_entries(value) == n
    }


def in_order(rows: LabeledRows, params: dict[str, Any]) -> dict[str, Any]:
    """Return fit parameters whose entries by row are in the order of these rows."""
    if rows.source is None:
        return dict(params)
    for name in params:
        if name.rpartition("__")[2] in BY_ROW_NUMBER:
            raise InputError(
                f"{name}= names rows by their numbers, which change because QueryRanker "
                f"{'holds some out' if rows.is_part else 'sorts rows by query'}.",
                hint="pass rows that are sorted by query, and eval_set in place of validation_fraction",
            )
    columns = by_row(params, rows.n_source)
    return {**params, **{name: rows.take(name, column) for name, column in columns.items()}}


class RankerFit:
    """A fit of one estimator: the training rows and the validation sets, in the form that its toolkit takes.

    The convention stops the training. The objective replaces the ranker's own. `params` are the caller's arguments of
    the estimator's `fit`.
    """

    def __init__(
        self, ranker: Any, sets: list[LabeledRows], convention: Convention | None, objective: Objective | str | None,
        params: dict[str, Any],
    ) -> None:  # fmt: skip
        self.ranker, (self.train, *self.valid), self.params = ranker, sets, params
        self.convention, self.objective = convention, objective
        self.toolkit = toolkit_of(ranker)
        self.margins: list[Any] = [None] * len(sets)  # of the training rows and of each validation set
        self._take_margins(*MARGINS[self.toolkit])
        held_out = in_order(self.valid[0], params) if self.train.is_part else {}
        self.subgroups = [held_out.get("subgroup_id")] + [None] * len(sets)  # CatBoost's, of each validation set
        self.params = in_order(self.train, params)

    def run(self) -> History | None:
        """Fit the estimator in place; return the history of the convention's values."""
        fits = {"lightgbm": self._lightgbm, "xgboost": self._xgboost, "catboost": self._catboost, None: self._estimator}
        log = fits[self.toolkit]() or getattr(self.ranker, "evals_result_", {})  # XGBoost: after a round
        return None if self.convention is None else _history(self.ranker, log, self.convention)

    def _take_margins(self, name: str, name_of_sets: str) -> None:
        """Move the scores that training starts from out of the parameters, in the order of each set's rows."""
        margin, of_sets = self.params.pop(name, None), self.params.pop(name_of_sets, None)
        if margin is not None:
            self.margins[0] = self.train.take(name, margin)
        if of_sets is None and not (margin is not None and self.train.is_part):
            return
        if self.train.is_part:
            if of_sets is not None:
                raise InputError(f"{name_of_sets} is for eval_set.", hint=f"{name}=, which validation_fraction divides")
            of_sets = [margin]
        if not isinstance(of_sets, (list, tuple)) or len(of_sets) != len(self.valid):
            msg = f"{name_of_sets} must be a list with an entry for each of the {len(self.valid)} validation sets."
            raise InputError(msg, hint=f"{name_of_sets}=[scores] beside eval_set=[(X, y, qid)]")
        for index, (rows, scores) in enumerate(zip(self.valid, of_sets, strict=True)):
            if scores is not None:
                self.margins[index + 1] = rows.take(name if self.train.is_part else f"{name_of_sets}[{index}]", scores)

    def _fit(self, **arguments: Any) -> None:
        fit = self.ranker.fit
        if self.margins[0] is not None:
            arguments[MARGINS[self.toolkit][0]] = self.margins[0]
        if self.toolkit == "xgboost" and callable(self.ranker.objective):
            from rankadapters.xgboost.ranker_fit import fit_by_objective

            fit = partial(fit_by_objective, self.ranker)
        fit(self.train.X, self.train.y, **self._merged(arguments))

    def _merged(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Merge the caller's parameters with our arguments; raise an error if both have the same name."""
        duplicates = set(self.params) & set(arguments)
        if duplicates:
            name = min(duplicates)
            raise InputError(f"QueryRanker sets {name}= itself.", hint="fit(X, y, qid=, sample_weight=, eval_set=)")
        return {**self.params, **arguments}

    def _estimator(self) -> None:
        weight = self.train.row_weight
        if weight is not None and not has_fit_parameter(self.ranker, "sample_weight"):
            msg = f"{type(self.ranker).__name__}.fit takes no sample_weight."
            raise InputError(msg, hint="leave it out, or change the estimator")
        # An estimator that is not a ranker gets no validation sets: QueryRanker refuses them earlier.
        self._fit(**{} if weight is None else {"sample_weight": weight})

    def _lightgbm(self) -> None:
        from rankadapters import lightgbm
        from rankadapters.lightgbm.trainings import refuse_bagging_by_query, sort_ours_first

        if self.objective is not None:
            self.ranker.set_params(objective=lightgbm.objective(self.objective))
        if isinstance(self.ranker.objective, lightgbm.ObjectiveCallback):  # LGBMRanker does not show it the parameters
            refuse_bagging_by_query(self.ranker.get_params())
        arguments = {"group": self.train.sizes, "sample_weight": self.train.row_weight, **self._lightgbm_sets()}
        params = self.ranker.get_params()
        names_metric = any(params.get(name) is not None for name in ("metric", "metrics", "metric_types"))
        # Without "None", LightGBM also computes its default metric, which refuses queries of more than 10,000 rows.
        no_metric = {} if names_metric else {"metric": "None"}
        if self.convention is None:
            asks_for_metric = self.valid or "eval_metric" in self.params or not callable(params["objective"])
            with _temporary_params(self.ranker, **({} if asks_for_metric else no_metric)):
                self._fit(**arguments)
            return
        shown = self.convention.name

        def sort_first(env: Any) -> None:
            sort_ours_first(env.evaluation_result_list, {shown})

        callbacks = [sort_first, *(self.params.pop("callbacks", None) or [])]
        with _temporary_params(self.ranker, **no_metric, first_metric_only=True):
            self._fit(**arguments, eval_metric=lightgbm.eval_metric(self.convention), callbacks=callbacks)

    def _lightgbm_sets(self) -> dict[str, Any]:
        if not self.valid:
            return {}
        features, labels = [rows.X for rows in self.valid], [rows.y for rows in self.valid]
        if "eval_X" in inspect.signature(self.ranker.fit).parameters:  # LightGBM 4.7, where eval_set is deprecated
            pairs: dict[str, Any] = {"eval_X": tuple(features), "eval_y": tuple(labels)}
        else:
            pairs = {"eval_set": list(zip(features, labels, strict=True))}
        if any(margin is not None for margin in self.margins[1:]):
            pairs["eval_init_score"] = self.margins[1:]
        weights = [rows.row_weight for rows in self.valid]
        return {**pairs, "eval_group": [rows.sizes for rows in self.valid], "eval_sample_weight": weights}

    def _xgboost(self) -> None:
        from rankadapters import xgboost
        from rankadapters.xgboost.ranker_fit import without_best

        ranker = self.ranker
        if self.params.get("xgb_model") is not None:
            self.params = {**self.params, "xgb_model": without_best(self.params["xgb_model"])}
        if self.objective is not None:
            ranker.set_params(objective=xgboost.objective(self.objective))
        arguments: dict[str, Any] = {"qid": self.train.codes, "sample_weight": self.train.query_weight}
        if self.convention is None:
            if any(margin is not None for margin in self.margins[1:]):
                arguments["base_margin_eval_set"] = self.margins[1:]
            if self.valid:
                arguments["eval_set"] = [(rows.X, rows.y) for rows in self.valid]
                arguments["eval_qid"] = [rows.codes for rows in self.valid]
                arguments["sample_weight_eval_set"] = [rows.query_weight for rows in self.valid]
            self._fit(**arguments)
            return
        sets = [(data, f"validation_{index}") for index, data in enumerate(self._xgboost_sets())]
        callbacks = [*(ranker.callbacks or []), xgboost.EvalCallback(self.convention, sets, missing=ranker.missing)]
        if ranker.early_stopping_rounds:
            callbacks.append(xgboost.early_stopping(self.convention, rounds=ranker.early_stopping_rounds))
        with _temporary_params(ranker, callbacks=callbacks, early_stopping_rounds=None):
            self._fit(**arguments)

    def _xgboost_sets(self) -> list[Any]:
        """Return the validation sets as EvalCallback takes them: those with a margin as a DMatrix."""
        from rankadapters.xgboost.ranker_fit import matrix

        return [
            (rows.X, rows.y, rows.codes, rows.query_weight)
            if margin is None
            else matrix(self.ranker, rows.X, rows.y, qid=rows.codes, weight=rows.query_weight, base_margin=margin)
            for rows, margin in zip(self.valid, self.margins[1:], strict=True)
        ]

    def _catboost(self) -> Log | None:
        ranker, own = self.ranker, self.ranker.get_params()
        columns = {**own, **self.params}
        kinds = {f"{kind}_features": columns.get(f"{kind}_features") for kind in ("cat", "text", "embedding")}
        pool = sys.modules["catboost"].Pool  # already imported, because the ranker comes from it

        def pool_of(rows: LabeledRows, baseline: Any, subgroup_id: Any) -> Any:
            queries = {"group_id": rows.codes, "group_weight": rows.row_weight, "subgroup_id": subgroup_id}
            return pool(rows.X, rows.y, **queries, baseline=baseline, **kinds)

        arguments: dict[str, Any] = {"group_id": self.train.codes, "group_weight": self.train.row_weight}
        if self.margins[0] is not None and self.valid and not self.train.is_part:
            msg = "baseline= has the scores of the training rows alone, but CatBoost needs those of every set."
            raise InputError(msg, hint="validation_fraction, which divides the baseline, in place of eval_set")
        pools = list(map(pool_of, self.valid, self.margins[1:], self.subgroups))
        if pools:
            arguments["eval_set"] = pools
        if self.objective is not None:
            from rankadapters.catboost.training import fit_by_objective

            self._merged(arguments)  # only to refuse duplicate arguments
            pools = [pool_of(self.train, self.margins[0], None), *pools]
            return fit_by_objective(ranker, pools, self.objective, self.convention, self.params)
        metric = None if self.convention is None else self._catboost_metric(self.convention)
        if metric is not None:
            ranker.set_params(eval_metric=metric)
        self._fit(**arguments)
        if not isinstance(metric, str | None):  # our metric holds data
            ranker._init_params = own  # noqa: SLF001 - set_params refuses a fitted model
        return None

    def _catboost_metric(self, convention: Convention) -> Any:
        """Return our metric; on a GPU, where CatBoost calls no Python, CatBoost's own if it computes the convention."""
        from rankadapters.catboost import eval_metric, native_metric

        sets = [(rows.y, rows.codes) for rows in self.valid]
        if str(self.ranker.get_params().get("task_type")).upper() != "GPU":
            return eval_metric(convention, sets)
        weighted = any(rows.row_weight is not None for rows in (self.train, *self.valid))
        # CatBoost refuses use_weights=false if there are group weights, and a second loss function as eval_metric.
        if not (weighted and convention.weighting is None) and not convention.pooled:
            with suppress(UnsupportedConventionError):
                return native_metric(convention, group_weights=False)
        return eval_metric(convention, sets)


def _history(ranker: Any, log: Log, convention: Convention) -> History:
    """Return the values of a convention on the validation sets, from the log that the ranker's toolkit wrote."""
    sets = {dataset: metrics for dataset, metrics in log.items() if dataset != "learn"}  # CatBoost's training set
    name = convention.name
    logged = {metric: None for metrics in sets.values() for metric in metrics}
    if toolkit_of(ranker) == "catboost" and name not in logged:
        from rankadapters.catboost.metrics import name_in_log, native_metric

        name = name_in_log(native_metric(convention, group_weights=False), logged) or name
    values = {dataset: {convention.name: metrics[name]} for dataset, metrics in sets.items() if name in metrics}
    return History.of(values, {convention.name: convention})


@contextmanager
def _temporary_params(estimator: Any, **params: Any) -> Iterator[None]:
    """Set parameters during a training, and restore them so that the fitted estimator keeps no callback or data."""
    own = estimator.get_params()
    estimator.set_params(**params)
    try:
        yield
    finally:
        estimator.set_params(**{name: own[name] for name in params if name in own})
        for name in params.keys() - own.keys():  # LGBMRanker accepts further parameters, and keeps them in two places
            delattr(estimator, name)
            estimator._other_params.pop(name)  # noqa: SLF001 - nothing public removes a parameter
