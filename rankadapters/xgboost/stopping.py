"""Early stopping on a declared metric, and the check that XGBoost's own has the metric's direction."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import xgboost as xgb

from rankadapters.callbacks.arguments import require_stopping
from rankadapters.callbacks.metrics import Trainings
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, warn_caller
from rankadapters.presets.texts import as_convention

LARGEST_MIN_DELTA = 0.01  # of the first value: an improvement that is larger was not ignored because of `min_delta`

_declared_trainings: WeakSet[xgb.Booster] = WeakSet()  # the models that an `EarlyStopping` watches


class EarlyStopping(xgb.callback.EarlyStopping):
    """XGBoost's early stopping on a declared metric; made by `early_stopping`.

    Each training has its own state, so that trainings may follow each other or run in several threads. It decides on a
    round when the next one begins, so that callbacks after it can report the metric too.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._options = options
        self._trainings: Trainings[_Stopping] = Trainings()

    def before_training(self, model: Any) -> Any:
        """Begin a training."""
        if isinstance(model, xgb.Booster):
            forget_best(model)
            _declared_trainings.add(model)
        self._trainings[model] = _Stopping(xgb.callback.EarlyStopping(**self._options))
        return self._trainings[model].callback.before_training(model)

    def before_iteration(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> bool:
        """Decide on the last round."""
        del epoch, evals_log
        return self._trainings[model].decide(model)

    def after_iteration(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> bool:
        """Decide now in `xgb.cv`, where no callback reports a metric; note the round in a training."""
        self._trainings[model].last_round = epoch, evals_log
        return not isinstance(model, xgb.Booster) and self._trainings[model].decide(model)

    def after_training(self, model: Any) -> Any:
        """Decide on the last round, and warn if the best model is lost."""
        stopping = self._trainings.pop(model)
        stopping.decide(model)
        if isinstance(model, xgb.Booster):
            _warn_of_lost_best(model)
        return stopping.callback.after_training(model)


@dataclass(eq=False)
class _Stopping:
    """The early stopping of one training."""

    callback: xgb.callback.EarlyStopping
    last_round: tuple[int, dict[str, Any]] | None = None  # with XGBoost's log; None if it is decided

    def decide(self, model: Any) -> bool:
        """Return whether the training stops after the last round."""
        last_round, self.last_round = self.last_round, None
        if last_round is None:
            return False
        try:
            return bool(self.callback.after_iteration(model, *last_round))
        except (ValueError, AssertionError) as error:
            sets = {name: sorted(metrics) for name, metrics in last_round[1].items()}
            reason = str(error) or "the set reports no metric"
            hint = "report the convention there; with a name of its own, {'mine': convention} in both"
            raise InputError(f"early stopping: {reason}; the sets report {sets}.", hint=hint) from None


def early_stopping(
    convention: Convention | str | Mapping[str, Convention | str],
    rounds: int,
    *,
    data_name: str | None = None,
    min_delta: float = 0.0,
    save_best: bool = False,
) -> EarlyStopping:
    """Make XGBoost's early stopping on a declared metric, with its display name and direction.

    In `callbacks=` it may come before or after what reports the metric, and each training starts anew. `eval_metric` as
    `custom_metric=` alone logs values rounded to six decimals, so smaller improvements do not count; in `callbacks=`
    too it logs full precision, as `EvalCallback` does.

    Parameters
    ----------
    convention : Convention or str, or mapping of str to one of these
        A convention that `eval_metric` or `EvalCallback` reports, with the name that it has there.
    rounds : int
        Rounds without improvement before training stops.
    data_name : str, optional
        The set to watch; the last one by default.
    min_delta : float
        Smallest change that counts as an improvement.
    save_best : bool
        Whether training returns the best model instead of the last. XGBoost refuses it for `gblinear`.

    Returns
    -------
    xgboost.callback.EarlyStopping
        For `callbacks=` of `xgb.train`, `xgb.cv` and XGBRanker, in one training after another and in several threads.

    Raises
    ------
    InputError
        During training, if nothing reports the convention on that set. The message lists what the sets report.

    Warns
    -----
    UserWarning
        At the end of a training that stopped after its best round: no model has the logged value of that round,
        because `booster="dart"` has rescaled its trees since, or `"gblinear"` has only the weights of the last round.

    Examples
    --------
    >>> stop = early_stopping("catboost.query_rmse", rounds=20)
    >>> stop.metric_name, stop.maximize
    ('query-rmse/catboost.query_rmse', False)
    """
    require_stopping(rounds, min_delta, data_name=data_name)
    declared = as_convention(convention)
    return EarlyStopping(
        rounds=int(rounds),
        metric_name=declared.name,
        data_name=data_name,
        maximize=declared.higher_is_better,
        save_best=save_best,
        min_delta=min_delta,
    )


class DirectionCheck:
    """Check in a training or a cross-validation that XGBoost's own early stopping has the direction of our metric.

    XGBoost passes its callbacks no early stopping, but the model has the best round so far. The watched series is a
    series of the log that has each best score in its round. If all such series are ours, three observations show a
    wrong direction:

    - A later best round has a worse value. This is certain, and an error.
    - The first round of a new model is still the best, although a later value is better by more than
      `LARGEST_MIN_DELTA` times the first. A larger `min_delta` in the right direction would look the same. An error.
    - So it is at the end, no value is worse, and one is better by less than that: a warning.

    `sets` are the names of the sets on which our metrics are reported, by display name in `names`; None means all.
    """

    def __init__(self, model: Any, names: Mapping[Convention, str], sets: Collection[str] | None = None) -> None:
        self._start = model.num_boosted_rounds()
        self._higher_is_better = {name: convention.higher_is_better for convention, name in names.items()}
        self._sets = sets
        self._log: dict[str, Any] = {}
        self._best: int | None = None  # counted from the start of this training
        self._watched: list[tuple[str, str]] = []  # the set and name of each series that can be the watched one

    def update(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> None:
        """Read the best round of those before `epoch`; refuse a worse one than before, and a first one that stays."""
        self._log = evals_log
        iteration = None if model in _declared_trainings else model.attr("best_iteration")
        if iteration is None:
            return
        best, previous = int(iteration) - self._start, self._best
        if best != previous:
            self._best, series = best, self._series_with(best, model.attr("best_score"))
            self._watched = series if previous is None else [entry for entry in self._watched if entry in series]
            if previous is not None and min(self._gains(previous), default=0) > 0:
                raise self._wrong_direction(previous)
        if self._watched and best == self._start == 0 < epoch - 1:
            least = [LARGEST_MIN_DELTA * abs(_mean(self._log[set_name][name][0])) for set_name, name in self._watched]
            if all(gain > delta for gain, delta in zip(self._gains(epoch - 1), least, strict=True)):
                raise self._wrong_direction(epoch - 1)

    def end(self, model: Any) -> None:
        """Refuse a first round that is still the best, although a later one is much better; warn of a little better."""
        n_rounds = max((len(series) for log in self._log.values() for series in log.values()), default=0)
        self.update(model, n_rounds, self._log)
        if self._best != 0 or self._start != 0 or not self._watched:
            return
        gains = [self._gains(epoch) for epoch in range(1, n_rounds)]
        if all(min(row) >= 0 for row in gains) and (better := [i + 1 for i, row in enumerate(gains) if min(row) > 0]):
            error = self._wrong_direction(better[0])
            warn_caller(f"{error}\nIf min_delta is larger than every improvement, ignore this warning.")

    def _series_with(self, best: int, score: str | None) -> list[tuple[str, str]]:
        """Return the set and name of each series of the log that has the best score in the best round."""
        return [
            (set_name, name)
            for set_name, log in self._log.items()
            for name, series in log.items()
            if len(series) > best and str(_mean(series[best])) == score
        ]

    def _gains(self, epoch: int) -> list[float]:
        """Return how much better a round is than the best one on each series to watch; -inf if it is not ours."""
        gains = []
        for set_name, name in self._watched:
            is_ours = name in self._higher_is_better and (self._sets is None or set_name in self._sets)
            series, gain = self._log[set_name][name], -math.inf
            if is_ours and epoch < len(series):
                difference = _mean(series[epoch]) - _mean(series[self._best or 0])
                gain = difference if self._higher_is_better[name] else -difference
            gains.append(gain)
        return gains

    def _wrong_direction(self, epoch: int) -> InputError:
        """Return the error for a round that is better than the best one."""
        set_name, name = self._watched[-1]
        best_value, value = (_mean(self._log[set_name][name][index]) for index in (self._best or 0, epoch))
        higher_is_better = self._higher_is_better[name]
        return InputError(
            f"early stopping takes round {self._best} of {name!r} on {set_name!r} for the best, {best_value}, although "
            f"round {epoch} has {value} and {'higher' if higher_is_better else 'lower'} is better.",
            hint=f"maximize={higher_is_better} beside early_stopping_rounds=; in XGBRanker, and for a large "
            "min_delta, ra.xgboost.early_stopping in callbacks= instead",
        )


def _mean(value: float | tuple[float, float]) -> float:
    """Return a value of the log, which is a mean and a standard deviation in `xgb.cv`."""
    return value[0] if isinstance(value, tuple) else value


def forget_best(model: xgb.Booster) -> None:
    """Drop the best round of the training that this one continues; XGBRanker would predict without the new trees."""
    model.set_attr(best_iteration=None, best_score=None)


def learner_config(model: xgb.Booster) -> dict[str, Any]:
    """Return the configuration of a model: its `gradient_booster`, its objective and its metrics."""
    config: dict[str, Any] = json.loads(model.save_config())["learner"]
    return config


def drops_trees(booster_config: Mapping[str, Any]) -> bool:
    """Return whether a booster drops trees. XGBoost 3.4 calls DART `gbtree` too, and only these rates tell."""
    rates = booster_config.get("dart_train_param") or {}
    return any(float(rates.get(name, 0)) for name in ("rate_drop", "one_drop"))


def _warn_of_lost_best(model: xgb.Booster) -> None:
    """Warn if the model of the best round differs from the one that was logged."""
    iteration = model.attr("best_iteration")
    n_rounds = model.num_boosted_rounds()
    if iteration is None or int(iteration) + 1 == n_rounds:
        return
    config = learner_config(model)["gradient_booster"]
    if drops_trees(config):
        why = "DART has rescaled the trees since"
    elif config["name"] == "gblinear":
        why = "gblinear has only the weights of the last round"
    else:
        return
    warn_caller(
        f"no prediction has the logged value of the best round {iteration} of {n_rounds}: {why}.",
        hint=f"train {int(iteration) + 1} rounds without early stopping",
    )
