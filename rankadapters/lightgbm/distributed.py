"""Metrics over the rows of all workers of a LightGBM training, such as DaskLGBMRanker's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import lightgbm as lgb

from rankadapters.callbacks.arguments import QueryCounts
from rankadapters.callbacks.dataset_columns import flat
from rankadapters.callbacks.global_metrics import Exchange, GlobalTallies, refuse_over_rows
from rankadapters.callbacks.metrics import Monitor
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.lightgbm.metrics import columns_of, mean_weights
from rankadapters.lightgbm.trainings import n_machines, sort_ours_first
from rankadapters.presets.texts import Conventions

_RESULT = getattr(lgb, "EvalResult", lambda *row: row)  # an entry of LightGBM's results; a tuple before 4.7


class GlobalEval:
    """A metric over all workers, to pass as the metric and also in `callbacks=`; made by `global_eval`."""

    def __init__(
        self, monitor: Monitor, counts: QueryCounts, exchange: Exchange | None, eval_names: Sequence[str]
    ) -> None:
        # LightGBM reads these attributes. This callback runs first, so that the other callbacks see the values.
        self.order = -math.inf
        self.before_iteration = False
        refuse_over_rows(monitor.names)
        self._directions = {name: convention.higher_is_better for convention, name in monitor.names.items()}
        self._tallies = GlobalTallies(monitor, counts)
        self._exchange = exchange
        self._eval_names = _as_eval_names(eval_names)

    def __deepcopy__(self, memo: dict[int, Any]) -> GlobalEval:
        """Return the same object, since metric and callback must be one object, but LGBMRanker copies metrics."""
        del memo
        return self

    # LightGBM counts a metric's parameters, and passes the groups only if there are four positional parameters.
    def __call__(
        self, first: Any, second: Any = None, weight: Any = None, group: Any = None
    ) -> list[tuple[str, float, bool]]:
        """Called as a metric, tally one dataset; called as a callback after a round, merge all workers' tallies."""
        if isinstance(first, lgb.callback.CallbackEnv):
            with leaving_network(first):
                self._end_round(first)
            return []
        if isinstance(second, lgb.Dataset):
            return self._tallies.note(second, lambda: columns_of(second), lambda: flat(first))
        return self._tallies.note(first, lambda: columns_of(first, weight, group), lambda: flat(second))

    def _end_round(self, env: Any) -> None:
        """Merge the tallies of all workers, and write the values into LightGBM's results in full precision."""
        if isinstance(env.model, lgb.CVBooster):
            raise InputError("global_eval is not for lgb.cv.", hint="lgb.cv(feval=ra.lightgbm.eval_metric(...))")
        parts = n_machines(env.params)
        if parts > 1 and self._exchange is None:
            msg = f"{parts} workers need an exchange."
            raise InputError(msg, hint="global_eval(..., exchange=ra.dask.exchange(client))")
        results, first_name = env.evaluation_result_list, next(iter(self._directions))
        local_sets = [result[0] for result in results if result[1] == first_name]
        if parts == 1 and not local_sets:
            hint = "the same object as feval= or eval_metric= too, with sets to evaluate"
            raise InputError("global_eval evaluated no set.", hint=hint)
        exchange, sets = (self._exchange, self._eval_names) if parts > 1 else (None, local_sets)
        values_by_set = self._tallies.merge(exchange, f"round {env.iteration + 1}", parts, sets, local_sets)
        results[:] = [result for result in results if result[1] not in self._directions]
        results += [
            _RESULT(dataset, name, value, self._directions[name])
            for dataset, values in values_by_set.items()
            for name, value in values.items()
        ]
        sort_ours_first(results, self._directions)


def global_eval(
    convention: Convention | str | Conventions,
    *,
    exchange: Exchange | None = None,
    eval_names: Sequence[str] = ("valid_0",),
    n_queries: int | Mapping[str, int] | None = None,
    n_threads: int | None = None,
) -> GlobalEval:
    """Make a metric over the rows of all workers, with values bit-identical to `ra.evaluate` on all rows.

    Pass the same object to `eval_metric=` (`feval=` of `lgb.train`) and in `callbacks=`. Each worker tallies its rows,
    and the exchange adds the tallies. At the end of the round every worker has the values, even without rows of the
    set, so `early_stopping` stops all of them in the same round. If a worker fails, all workers raise; its log has the
    error. LightGBM's own metrics are over each worker's rows only.

    Parameters
    ----------
    convention : Convention or str, or sequence of these, or mapping of str to these
        The conventions to report; those with `pool="rows"` are refused.
    exchange : Exchange, optional
        The sum over workers: an object with `add(key, parts, array)`, which waits for the int64 arrays of all workers
        and returns their sum to each, such as `ra.dask.exchange(client)`. A single process needs none.
    eval_names : sequence of str
        Names of all sets, because a worker without rows of a set does not know its name. With several sets, use the
        names of `fit(eval_names=)`.
    n_queries : int or mapping of str to int, optional
        Number of queries of the evaluated set over all workers; a different number is an error. For several sets, a
        mapping of set names to numbers.
    n_threads : int, optional
        None uses all CPUs.

    Returns
    -------
    GlobalEval
        A metric and a callback. LightGBM's log has its values in full precision: `ra.History.of` reads it.

    Raises
    ------
    UnsupportedConventionError
        A convention has `pool="rows"`.
    InputError
        `eval_names` is not a list of different names. During training: a worker failed or was lost, queries were cut,
        or the object is not passed in both arguments.

    References
    ----------
    LightGBM 4.7.0, python-package: `dask._train`, which returns what the first worker reports.

    Examples
    --------
    >>> import lightgbm as lgb, numpy as np, rankadapters as ra
    >>> X, y = np.random.default_rng(0).random((60, 3)), np.arange(60) % 3
    >>> data = lgb.Dataset(X, label=y, group=[20, 40])
    >>> watch, log = ra.lightgbm.global_eval("letor4@5", n_queries=2), {}
    >>> params = {"objective": "lambdarank", "metric": "None", "verbosity": -1}
    >>> callbacks = [watch, lgb.record_evaluation(log)]
    >>> booster = lgb.train(params, data, 3, valid_sets=[data], feval=watch, callbacks=callbacks)
    >>> score = ra.evaluate(y, booster.predict(X), "letor4@5", group_sizes=[20, 40])
    >>> log["training"]["ndcg@5/letor4"][-1] == score.value
    True
    """
    counts = QueryCounts(n_queries, "sort by qid and keep the rows of a query in one partition")
    return GlobalEval(Monitor(convention, n_threads, mean_weights), counts, exchange, eval_names)


@contextmanager
def leaving_network(env: Any) -> Iterator[None]:
    """Leave the workers' network if the metric fails; otherwise the freed booster would close a later network."""
    try:
        yield
    except Exception:
        if n_machines(env.params) > 1:
            env.model.free_network()
        raise


def _as_eval_names(eval_names: object) -> list[str]:
    names = list(eval_names) if isinstance(eval_names, (list, tuple)) else []
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise InputError(f"eval_names={eval_names!r} is not a list of different names.", hint="as in fit(eval_names=)")
    numbered = [name for name in names if name in {f"valid_{number}" for number in range(len(names))}]
    if len(names) > 1 and numbered:
        msg = f"eval_names={names} has {numbered[0]!r}, but LightGBM numbers the sets separately on each worker."
        raise InputError(msg, hint="fit(eval_names=['first', 'second']), and the same here")
    return names
