"""Early stopping on a declared metric, and a callback that reports every round with the model trained so far."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import lightgbm as lgb

from rankadapters.callbacks.arguments import watched_name
from rankadapters.core.data.keywords import needs
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.lightgbm.distributed import leaving_network, require_global_metric


class EarlyStopping:
    """LightGBM's early stopping on the declared metric only; made by `early_stopping`."""

    def __init__(self, name: str, watched: Callable[[Any], None]) -> None:
        # LightGBM reads these attributes. Order 30 is after `record_evaluation` (20), which thus gets the last round.
        self.order = 30
        self.before_iteration = False
        self.name = name
        self._watched = watched
        self._all: dict[int, list[Any]] = {}

    def __call__(self, env: Any) -> None:
        """Pass the declared metric's results to LightGBM's own early-stopping callback."""
        with leaving_network(env):
            self._look(env)

    def _look(self, env: Any) -> None:
        require_global_metric(env.model, env.params, self.name)
        results = env.evaluation_result_list or []
        # In older versions, lgb.cv reports the metric "ndcg" of the validation sets as "valid ndcg".
        watched = [result for result in results if result[1] == self.name or result[1].endswith(f" {self.name}")]
        if not watched:
            reported = sorted({result[1] for result in results})
            msg = (
                f"early stopping watches {self.name!r}, but the sets report {reported}.\n"
                "Hint: pass the same convention to feval= or eval_metric=ra.lightgbm.eval_metric(...), with valid_sets."
            )
            raise InputError(msg)
        self._all[env.iteration] = results
        try:
            self._watched(dataclasses.replace(env, evaluation_result_list=watched))
        except lgb.callback.EarlyStopException as stop:
            raise lgb.callback.EarlyStopException(stop.best_iteration, self._all[stop.best_iteration]) from None


@needs(
    convention="'letor4@10', or another convention",
    rounds="rounds=50, how long to wait for an improvement",
)
def early_stopping(
    convention: Convention | str,
    rounds: int,
    *,
    name: str | None = None,
    min_delta: float = 0.0,
    verbose: bool = True,
) -> EarlyStopping:
    """Stop when the declared metric has not improved for some rounds on a validation set; other metrics are ignored.

    Parameters
    ----------
    convention : Convention or str
        A convention that `eval_metric` reports. It decides whether higher or lower values are better.
    rounds : int
        Rounds without improvement before training stops.
    name : str, optional
        The display name, if `eval_metric(names=)` changed it.
    min_delta : float
        Smallest change that counts as an improvement.
    verbose : bool
        Whether LightGBM logs its decision.

    Returns
    -------
    EarlyStopping
        For `callbacks=` of `lgb.train`, `lgb.cv` and `LGBMRanker.fit`.

    Raises
    ------
    InputError
        During training, when nothing reports the convention.
    """
    shown = watched_name(convention, name, rounds, min_delta)
    return EarlyStopping(shown, lgb.early_stopping(int(rounds), verbose=verbose, min_delta=min_delta))


class LightGBMRounds:
    """A LightGBM callback that calls `report(model)` after each round and stops the training if it returns True.

    `model()` returns a fitted copy of the ranker with the trees so far.
    """

    def __init__(self, ranker: Any, report: Callable[[Callable[[], Any]], bool]) -> None:
        # LightGBM reads these attributes. Early stopping (order 30) raises an exception, so report the round before it.
        self.order = 25
        self.before_iteration = False
        self._ranker, self._report = ranker, report

    def __call__(self, env: Any) -> None:
        """Report the round."""
        if self._report(partial(self._model, env.model)):
            raise lgb.callback.EarlyStopException(env.iteration, env.evaluation_result_list)

    def _model(self, booster: lgb.Booster) -> Any:
        model = copy.copy(self._ranker)
        model._Booster = copy.copy(booster)  # noqa: SLF001 - as LightGBM's fit sets it
        model.fitted_ = True
        return model
