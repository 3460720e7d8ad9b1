"""Declared metrics for XGBoost's `custom_metric=`, over the rows of one process or of all workers."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import current_thread
from typing import Any

import numpy as np
import xgboost as xgb
from xgboost import collective

from rankadapters import presets
from rankadapters.callbacks.arguments import QueryCounts, refuse_other_toolkit, refused_as_scorer
from rankadapters.callbacks.dataset_columns import DatasetColumns, flat, missing_group
from rankadapters.callbacks.global_metrics import GlobalTallies, refuse_over_rows, refuse_parts
from rankadapters.callbacks.metrics import Monitor, Trainings
from rankadapters.core.arrays import Array, Ints
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import EVAL_METRIC, shows_call
from rankadapters.core.errors import ConventionError, InputError, RankAdaptersError
from rankadapters.presets.texts import Conventions
from rankadapters.xgboost.stopping import DirectionCheck, forget_best

native_metric, read_metric = presets.xgboost.write, presets.xgboost.read


UNCUT = "sort by qid, and end each batch of a DataIter at the end of a query"  # XGBoost cuts queries in two otherwise
ON_DASK = "xgboost.dask.train(client, params, dtrain, custom_metric=metric, callbacks=[metric])"


class EvalMetric(xgb.callback.TrainingCallback):
    """A metric for XGBoost's `custom_metric=`, and the callback that logs its full precision; made by `eval_metric`."""

    __name__ = "rankadapters"  # XGBRanker reads the `__name__` of a metric

    def __init__(self, monitor: Monitor, n_queries: int | Mapping[str, int] | None) -> None:
        super().__init__()
        refuse_names(monitor.names.values())
        self._monitor, self._counts = monitor, QueryCounts(n_queries, UNCUT)
        self._counts_by_name = isinstance(n_queries, Mapping)
        self._tallies = GlobalTallies(monitor, self._counts)
        self._rounds: Trainings[_Round] = Trainings()  # the round under way of each thread that trains
        self._checks: Trainings[DirectionCheck] = Trainings()

    def __call__(self, preds: Any, dmatrix: Any = None, *labels: Any, **weights: Any) -> Any:
        """Evaluate predictions on a DMatrix with groups; return NaN where `after_iteration` merges several workers."""
        del labels, weights  # which only other callers pass
        if (refused := refused_as_scorer(preds)) is not None:
            return refused
        refuse_other_toolkit("xgboost", "eval_metric", preds, dmatrix)
        if not isinstance(dmatrix, xgb.DMatrix):
            raise InputError(
                "XGBRanker passes a metric the rows of one query at a time and averages the values by query size.",
                hint="XGBRanker(callbacks=[ra.xgboost.EvalCallback(convention, [((X, y, qid), 'valid')])]), and in "
                f"place of DaskXGBRanker {ON_DASK}; LGBMRanker takes ra.lightgbm.eval_metric(convention)",
            )
        this_round = self._rounds.get(current_thread())
        if this_round is not None and this_round.model() is not None:
            n_queries, results = self._evaluated(preds, dmatrix)
            this_round.calls.append((n_queries, dict(results)))
            return results
        # Not in callbacks= too, or that training failed.
        refuse_workers("eval_metric as custom_metric= alone")
        if self._counts_by_name:
            msg = "XGBoost does not tell a metric the name of the set, which n_queries= by name needs."
            raise InputError(msg, hint="the same object in callbacks= too: custom_metric=metric, callbacks=[metric]")
        n_queries, results = self._evaluated(preds, dmatrix)
        self._counts.refuse(None, n_queries)
        return results

    def _evaluated(self, preds: Array, dmatrix: xgb.DMatrix) -> tuple[int, list[tuple[str, float]]]:
        """Return the number of queries of a set, and its values."""
        if collective.get_world_size() > 1:
            n_queries = 0
            results = self._tallies.note(
                dmatrix, lambda: columns_of(dmatrix) if dmatrix.num_row() else None, lambda: flat(preds)
            )
        else:
            columns = columns_of(dmatrix)
            n_queries = columns.group_sizes.size
            results = self._monitor.evaluate(columns, flat(preds))
        return n_queries, [(name, value) for name, value, _ in results]

    def before_training(self, model: Any) -> Any:
        """Begin a training; refuse conventions that workers cannot add up."""
        if collective.get_world_size() > 1:
            refuse_over_rows(self._monitor.names)
        forget_best(model)
        self._checks[model] = DirectionCheck(model, self._monitor.names)
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> bool:
        """Begin a round, in which XGBoost calls the metric on each set."""
        del epoch, evals_log
        if isinstance(model, xgb.Booster):  # `xgb.cv` logs means over the folds, which only the direction needs
            self._tallies.forget()
            self._rounds[current_thread()] = _Round(weakref.ref(model))
        return False

    def after_iteration(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> bool:
        """Write the values of all rows into the log in full precision, except in `xgb.cv`."""
        if not isinstance(model, xgb.Booster):
            self._checks[model].update(model, epoch, evals_log)
            return False
        this_round, names = self._rounds.pop(current_thread(), None), self._monitor.names.values()
        sets = [name for name, log in evals_log.items() if all(len(log.get(shown, ())) > epoch for shown in names)]
        if this_round is None or not sets:
            raise InputError(
                "eval_metric evaluated no set.",
                hint="the same object as custom_metric= too, and evals=[(data, name)]; XGBRanker takes no "
                f"custom_metric=, but an EvalCallback; in place of DaskXGBRanker {ON_DASK}",
            )
        if epoch == 0 and model.attr("best_iteration") is not None:
            hint = "list eval_metric before it in callbacks=, or use ra.xgboost.early_stopping"
            raise InputError("XGBoost's early stopping ran before eval_metric.", hint=hint)
        self._checks[model].update(model, epoch, evals_log)
        if len(this_round.calls) != len(sets):
            msg = f"the metric was called {len(this_round.calls)} times in this round, but {sets} report it."
            raise InputError(msg, hint="one object as custom_metric= and in callbacks=, another for other evaluations")
        parts = collective.get_world_size()
        if parts > 1:
            values_by_set = self._tallies.merge(Collective(), f"round {epoch}", parts, sets, sets)
        else:
            values_by_set = self._checked(dict(zip(sets, this_round.calls, strict=True)), evals_log)
        for name, values in values_by_set.items():
            for shown, value in values.items():
                evals_log[name][shown][-1] = value  # XGBoost's is rounded
        return False

    def after_training(self, model: Any) -> Any:
        """End the last round, which early stopping may have left; check the direction over all rounds."""
        self._rounds.pop(current_thread(), None)
        if (check := self._checks.pop(model, None)) is not None:  # None if a callback has replaced the model
            check.end(model)
        return model

    def _checked(
        self, calls: Mapping[str, tuple[int, dict[str, float]]], evals_log: dict[str, Any]
    ) -> dict[str, dict[str, float]]:
        """Return the values by set, after checking the numbers of queries, and the six decimals that XGBoost logged."""
        self._counts.refuse_sets(list(calls))
        for name, (n_queries, values) in calls.items():
            self._counts.refuse(name, n_queries)
            if any(f"{value:f}" != f"{evals_log[name][shown][-1]:f}" for shown, value in values.items()):
                msg = f"XGBoost logged other values of {name!r} than the metric computed for its sets in this round."
                raise InputError(msg, hint="another object for other evaluations and trainings")
        return {name: values for name, (_, values) in calls.items()}


@dataclass
class _Round:
    """A round of a training with the metric in callbacks=."""

    model: weakref.ref[xgb.Booster]  # free if its training failed
    calls: list[tuple[int, dict[str, float]]] = field(default_factory=list)  # of each set: queries, values by name


class Collective:
    """An `Exchange` that sums by XGBoost's allreduce."""

    def add(self, key: str, parts: int, array: Ints) -> Ints:
        """Sum the arrays of all workers."""
        try:
            total: Ints = collective.allreduce(array, collective.Op.SUM)
        except xgb.core.XGBoostError as error:
            msg = f"{key}: another of the {parts} workers ended."
            raise RankAdaptersError(msg, hint="read the error of that worker") from error
        return total


@shows_call(EVAL_METRIC["xgboost"])
def eval_metric(
    convention: Convention | str | Conventions,
    *,
    n_queries: int | Mapping[str, int] | None = None,
    n_threads: int | None = None,
) -> EvalMetric:
    """Make a metric that reports each convention in every round of a training.

    It works in `xgb.train` and `xgb.cv`. As `custom_metric=` alone it has six decimals in XGBoost's log. Put the same
    object in `callbacks=` too: it then refuses a wrong direction of early stopping, and in `xgb.train` the log has full
    precision, over the rows of all workers. Workers are those of `xgboost.dask.train`, SparkXGBRanker, and `xgb.train`
    inside `xgboost.collective`. All stop in the same round; if one fails, all raise. List the metric before XGBoost's
    own early stopping.

    The metric ranks the predictions that XGBoost passes: transformed by a built-in objective, raw under `obj=`.
    XGBRanker calls metrics per query and is refused; use QueryRanker or `EvalCallback`.

    Parameters
    ----------
    convention : Convention or str, or sequence of these, or mapping of str to these
        The conventions to report; on several workers, those with `pool="rows"` are refused. The DMatrix's weights are
        one per query. Under `average="uniform"` they are ignored, with a warning.
    n_queries : int or mapping of str to int, optional
        Number of queries of the evaluated set over all workers; a different number is an error. XGBoost silently cuts a
        query in two if a partition, or a batch of a DataIter, ends inside it. For several sets, a mapping of set names
        to numbers, with the metric in `callbacks=` too. Not for `xgb.cv`, whose folds are parts of the data.
    n_threads : int, optional
        None uses all CPUs.

    Returns
    -------
    EvalMetric
        Callable as `metric(preds, dmatrix)`, and a callback. It can be used in one training after another, and in
        several threads, but not for other evaluations during its training.

    Raises
    ------
    ConventionError
        A name has a space, a tab or a colon, where XGBoost would cut it.
    InputError
        During training: the DMatrix has no group, a set does not have `n_queries` queries, a worker failed, or the
        metric is only in `callbacks=`, behind XGBoost's own early stopping, or on several workers only
        `custom_metric=`. With the metric in `callbacks=` also: XGBoost's early stopping takes worse values for better
        ones, because its `maximize=` is missing or wrong.
    UnsupportedConventionError
        On several workers: a convention has `pool="rows"`.

    Warns
    -----
    UserWarning
        Once, at the first evaluation: a DMatrix has weights that a convention ignores. At the end of a training, with
        the metric in `callbacks=`: the first round is still the best, but later ones are a little better.

    References
    ----------
    XGBoost 3.2.0, python-package: `core.Booster.eval_set`; `callback.CallbackContainer`; `callback._allreduce_metric`,
    which averages over the workers unweighted; `collective.allreduce`.

    Examples
    --------
    >>> import numpy as np, rankadapters as ra, xgboost as xgb
    >>> rng = np.random.default_rng(0)
    >>> data = xgb.DMatrix(rng.random((60, 3)), label=rng.integers(0, 3, 60), qid=np.repeat([0, 1], 30))
    >>> metric = ra.xgboost.eval_metric(["letor4@5", "yahoo@5"], n_queries=2)
    >>> params, log = {"objective": "rank:ndcg", "disable_default_eval_metric": True}, {}
    >>> callbacks = [metric, ra.xgboost.early_stopping("letor4@5", rounds=3)]
    >>> booster = xgb.train(params, data, 9, evals=[(data, "train")], evals_result=log, verbose_eval=False,
    ...                     custom_metric=metric, callbacks=callbacks)
    >>> ra.History.of(log).best(convention="letor4@5").value == booster.best_score
    True
    """
    return EvalMetric(Monitor(convention, n_threads), n_queries)


def columns_of(dmatrix: xgb.DMatrix) -> DatasetColumns:
    """Return the labels, group sizes and weights of a DMatrix, which has a weight per query."""
    group_ptr = dmatrix.get_uint_info("group_ptr")
    if group_ptr.size < 2:  # noqa: PLR2004 - one query has two offsets
        raise missing_group("DMatrix", "xgb.DMatrix(..., qid=qid), with qid sorted and dense")
    weights = dmatrix.get_weight()
    return DatasetColumns(dmatrix.get_label(), np.diff(group_ptr.astype(np.int64)), weights if weights.size else None)


def refuse_names(names: Iterable[str]) -> None:
    """Refuse display names with a space, tab or colon, at which XGBoost splits its log."""
    for name in names:
        if any(c in name for c in " \t\n:"):
            msg = f"name {name!r} has a space, tab or colon, where XGBoost cuts its log."
            raise ConventionError(msg, hint="use letters and /@-")


def refuse_workers(feature: str) -> None:
    """Refuse a training on several workers."""
    hint = "metric = ra.xgboost.eval_metric(...), custom_metric=metric and callbacks=[metric]; in place of "
    hint += f"DaskXGBRanker {ON_DASK}"
    why = ", and XGBoost averages their values unweighted"
    refuse_parts(feature, collective.get_world_size(), hint, why)
