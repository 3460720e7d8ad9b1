"""Early stopping on a declared metric, by LightGBM's own callback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import lightgbm as lgb

from rankadapters.callbacks.arguments import refuse_other_toolkit, require_stopping
from rankadapters.callbacks.metrics import Trainings
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.lightgbm.distributed import leaving_network
from rankadapters.presets.texts import as_convention

_LightGBMStopping: Any = type(lgb.early_stopping(1))
_Training = tuple[Any, list[Any]]  # LightGBM's early stopping, and the results of each round, of all metrics and sets


class EarlyStopping(_LightGBMStopping):
    """LightGBM's early stopping, shown only the declared metric on the watched sets; made by `early_stopping`.

    Each training has its own state, so that trainings may follow each other or run in several threads. `name` is that
    of the metric, and `data_name` of the set to watch; None watches every validation set.
    """

    def __init__(self, rounds: int, *, name: str, data_name: str | None, verbose: bool, min_delta: float) -> None:
        super().__init__(rounds, first_metric_only=True, verbose=verbose, min_delta=min_delta)
        self.name, self.data_name = name, data_name
        self._trainings: Trainings[_Training] = Trainings()

    def __call__(self, env: Any) -> None:
        """Decide as LightGBM does, by the watched results alone."""
        refuse_other_toolkit("lightgbm", "early_stopping", env)
        if env.iteration == env.begin_iteration:
            stopping = _LightGBMStopping(
                self.stopping_rounds, first_metric_only=True, verbose=self.verbose, min_delta=self.min_delta
            )
            self._trainings[env.model] = stopping, []
        stopping, rounds = self._trainings[env.model]
        results = env.evaluation_result_list or []
        rounds.append(results)
        watched = [
            result
            for result in results
            if result[1] == self.name
            and self.data_name in {None, result[0]}
            and not self._is_train_set(dataset_name=result[0], env=env)
        ]
        if not watched:
            with leaving_network(env):
                self._refuse(results, env)
        try:
            stopping(replace(env, evaluation_result_list=watched))
        except lgb.callback.EarlyStopException as stop:
            stop.best_score = rounds[stop.best_iteration - env.begin_iteration]  # of all metrics and sets
            raise

    def _refuse(self, results: Any, env: Any) -> None:
        """Raise an error that says what is not reported: the metric, or the set to watch."""
        reported = sorted({result[1] for result in results})
        if self.name not in reported:
            msg = f"early stopping watches {self.name!r}, but the sets report {reported}."
            hint = "the same convention in feval= or eval_metric=ra.lightgbm.eval_metric(...)"
            raise InputError(msg, hint=f"{hint}; with a name of its own, {{'mine': convention}} in both")
        sets = {data_name for data_name, name, *_ in results if name == self.name}
        valid = sorted(name for name in sets if not self._is_train_set(dataset_name=name, env=env))
        if not valid:
            msg = f"early stopping watches validation sets, but only the training set reports {self.name!r}."
            raise InputError(msg, hint="valid_sets=[valid] of lgb.train, or eval_set= of LGBMRanker.fit")
        msg = f"early stopping watches the set {self.data_name!r}, but the validation sets are {valid}."
        raise InputError(msg, hint=f"data_name={valid[0]!r}, or data_name=None for all of them")


def early_stopping(
    convention: Convention | str | Mapping[str, Convention | str],
    rounds: int,
    *,
    data_name: str | None = None,
    min_delta: float = 0.0,
    verbose: bool = True,
) -> EarlyStopping:
    """Stop when the declared metric has not improved for some rounds on a validation set; other metrics are ignored.

    `lgb.early_stopping(20, first_metric_only=True)` and
    `LGBMRanker(early_stopping_rounds=20, first_metric_only=True, metric="None")` do the same if the convention is the
    first that `eval_metric` reports and LightGBM computes no metric of its own. They watch the first metric, whatever
    its name, and LightGBM puts its own first: those of `metric=`, its default without `metric="None"`, and each text in
    `eval_metric=[ours, "map"]`, wherever it is in the list.

    On several workers use `global_eval`, so that all workers stop in the same round.

    Parameters
    ----------
    convention : Convention or str, or mapping of str to one of these
        A convention that `eval_metric` reports, with the name that it has there.
    rounds : int
        Rounds without improvement before training stops.
    data_name : str, optional
        The validation set to watch. None watches all of them: training stops as soon as one has not improved. The
        training set is never watched.
    min_delta : float
        Smallest change that counts as an improvement.
    verbose : bool
        Whether LightGBM logs its decision.

    Returns
    -------
    EarlyStopping
        A subclass of LightGBM's callback, for `callbacks=` of `lgb.train`, `lgb.cv` and `LGBMRanker.fit`.

    Raises
    ------
    InputError
        During training, when nothing reports the convention, or no validation set does, or `data_name` is not one that
        does. The message lists the sets.

    Warns
    -----
    UserWarning
        LightGBM's warning in a training with `boosting="dart"`, where it never stops early.

    Examples
    --------
    >>> import lightgbm as lgb, numpy as np, rankadapters as ra
    >>> X, y = np.random.default_rng(0).random((120, 3)), np.arange(120) % 3
    >>> train = lgb.Dataset(X[:60], label=y[:60], group=[20, 40])
    >>> valid = lgb.Dataset(X[60:], label=y[60:], group=[30, 30], reference=train)
    >>> params, log = {"objective": "lambdarank", "metric": "None", "verbosity": -1}, {}
    >>> callbacks = [ra.lightgbm.early_stopping("letor4@5", 3, verbose=False), lgb.record_evaluation(log)]
    >>> metric = ra.lightgbm.eval_metric("letor4@5")
    >>> booster = lgb.train(params, train, 90, valid_sets=[valid], feval=metric, callbacks=callbacks)
    >>> len(log["valid_0"]["ndcg@5/letor4"]) - booster.best_iteration
    3
    """
    require_stopping(rounds, min_delta, data_name=data_name)
    watched = as_convention(convention).name
    return EarlyStopping(int(rounds), name=watched, data_name=data_name, verbose=verbose, min_delta=min_delta)
