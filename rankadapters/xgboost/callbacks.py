"""Callbacks that log declared metrics in full precision, stop early on one of them, or report every round."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import xgboost as xgb

from rankadapters.callbacks.arguments import display_names, require_missing, require_name, watched_name
from rankadapters.callbacks.dataset_columns import flat
from rankadapters.callbacks.history import History
from rankadapters.callbacks.ignored_weights import IgnoredWeights
from rankadapters.callbacks.metrics import evaluated
from rankadapters.callbacks.rounds import Round, Rounds
from rankadapters.core.data.keywords import needs
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, choices
from rankadapters.core.presets.texts import as_convention
from rankadapters.xgboost.evaluation_sets import EvaluationSet, named_sets
from rankadapters.xgboost.metrics import query_counts, refuse_names, refuse_workers


class EvalCallback(xgb.callback.TrainingCallback):
    """Write the declared metrics into XGBoost's evaluation log in full precision; for `xgb.train` and XGBRanker.

    List it before `early_stopping` in `callbacks=`, because early stopping reads the log.

    Parameters
    ----------
    convention : Convention or str, or sequence of them
        The conventions to report.
    evals : sequence of (data, name)
        `data` is a tuple `(X, y, qid)` or `(X, y, qid, query_weight)`, with X as for `predict` and rows in any order.
        It can also be a DMatrix with label and group, which you need for a base margin.
    n_queries : int or mapping of str to int, optional
        Number of queries in the set, or a mapping of set names to numbers. XGBoost silently cuts a query in two if a
        batch of a DataIter ends inside it; with `n_queries`, a wrong number of queries is an error.
    names : sequence of str, optional
        Display names; `convention.name` by default.
    output_margin : bool
        Whether to rank raw margins. False, the default, ranks the output of `predict`.
    missing : float
        The value of missing features in X, as in XGBRanker.
    n_threads : int, optional
        None uses all CPUs.

    Attributes
    ----------
    history : History
        Entries (name of the set, convention, value in full precision), with the training and its round.

    Raises
    ------
    InputError
        `evals` is not a list of sets, or a set does not have `n_queries` queries.

    Warns
    -----
    UserWarning
        A set has weights, but a convention ignores them (`average="uniform"`).

    Notes
    -----
    A copy, or a pickle made before the first training, has the evaluation sets. A pickle made after a training, as in a
    fitted XGBRanker, drops them: the ranker can predict, but needs a new callback for a new `fit`.

    Examples
    --------
    >>> import numpy as np, rankadapters as ra, xgboost as xgb
    >>> rng = np.random.default_rng(0)
    >>> X, y, qid = rng.random((60, 3)), rng.integers(0, 3, 60), np.repeat([0, 1], 30)
    >>> callback = ra.xgboost.EvalCallback(ra.presets.yahoo(5), [((X, y, qid), "valid")])
    >>> ranker = xgb.XGBRanker(n_estimators=2, callbacks=[callback]).fit(X, y, qid=qid, verbose=False)
    >>> callback.history[-1].value == ra.evaluate(y, ranker.predict(X), ra.presets.yahoo(5), qid=qid).value
    True
    """

    def __init__(
        self,
        convention: Convention | str | Sequence[Convention | str],
        evals: Sequence[tuple[Any, str]],
        *,
        n_queries: int | Mapping[str, int] | None = None,
        names: Sequence[str] | None = None,
        output_margin: bool = False,
        missing: float = np.nan,
        n_threads: int | None = None,
    ) -> None:
        shown = display_names(convention, names)
        refuse_names(shown.values())
        require_missing(missing)
        self._start(
            {
                "evals": named_sets(evals),
                "n_queries": n_queries,
                "names": shown,
                "output_margin": output_margin,
                "missing": missing,
                "n_threads": n_threads,
            }
        )
        if any(watched.has_weights for watched in self._sets.values()):
            IgnoredWeights().warn(self.names)

    def _start(self, declared: dict[str, Any]) -> None:
        """Initialize from the arguments, with an empty history."""
        super().__init__()
        self._declared = declared
        self.names = declared["names"]
        self.history = History()
        self._rounds = Rounds()
        self._round = 0
        counts = query_counts(declared["n_queries"])
        evals = declared["evals"] or []  # None if this callback was pickled after a training
        counts.refuse_sets([name for _, name in evals])
        options = (self.names, declared["missing"], declared["n_threads"])
        self._sets = {name: EvaluationSet(data, *options, partial(counts.refuse, name)) for data, name in evals}

    def __deepcopy__(self, memo: dict[int, Any]) -> EvalCallback:
        """Copy with the same evaluation sets but an empty history, for clones and for a second training."""
        del memo
        return _restored(type(self), self._declared)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments; after a training, without the evaluation sets."""
        if self.history:
            return _restored, (type(self), {**self._declared, "evals": None})
        if any(isinstance(data, xgb.DMatrix) for data, _ in self._declared["evals"] or []):
            msg = "an EvalCallback on a DMatrix cannot be pickled.\nHint: evals=[((X, y, qid), 'valid')]."
            raise InputError(msg)
        return _restored, (type(self), self._declared)

    def before_training(self, model: Any) -> Any:
        """Reset the round counter; refuse several workers, and a callback that lost its sets by pickling."""
        refuse_workers("EvalCallback")
        if self._declared["evals"] is None:
            msg = "this EvalCallback was pickled after a training, which drops its evaluation sets."
            raise InputError(f"{msg}\nHint: ranker.set_params(callbacks=[ra.xgboost.EvalCallback(...)]).")
        self._round = 0
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> bool:  # noqa: ARG002 - XGBoost's signature
        """Predict, evaluate and log every set."""
        if not isinstance(model, xgb.Booster):
            msg = (
                "EvalCallback cannot predict inside xgb.cv.\nHint: xgb.cv(custom_metric=ra.xgboost.custom_metric(...))."
            )
            raise InputError(msg)
        self._rounds.enter(self.history, Round(model, self._round))
        for name, watched in self._sets.items():
            scores = flat(model.predict(watched.dmatrix, output_margin=self._declared["output_margin"]))
            values = evaluated(watched.panels(), scores)
            for convention, shown in self.names.items():
                series = evals_log.setdefault(name, {}).setdefault(shown, [])
                if len(series) != self._round:
                    msg = (
                        f"{shown!r} of {name!r} is reported twice a round.\nHint: by a callback or a metric, not both."
                    )
                    raise InputError(msg)
                series.append(values[convention])
            self.history.report(name, values, self.names, **self._rounds.at)
        self._round += 1
        return False


class EarlyStopping(xgb.callback.EarlyStopping):
    """XGBoost's early stopping, with a clear error if the log lacks the metric; made by `early_stopping`."""

    def before_training(self, model: Any) -> Any:
        """Reset the state of an earlier training."""
        self.stopping_history = {}
        self.best_scores = {}
        self.current_rounds = 0
        return super().before_training(model)

    def after_iteration(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> bool:
        """Require the declared metric in the log, then decide as XGBoost does."""
        name = self.data or next(reversed(evals_log), "")
        if evals_log and name not in evals_log:
            msg = f"early stopping watches the set {name!r}, but the log has {choices(evals_log)}."
            raise InputError(f"{msg}\nHint: data_name={next(reversed(evals_log))!r}.")
        if self.metric_name not in evals_log.get(name, {}):
            logged = {data: list(log) for data, log in evals_log.items()}
            msg = (
                f"early stopping watches {self.metric_name!r} on {name!r}, but the log has {logged}.\n"
                "Hint: list EvalCallback or global_eval before early_stopping, or pass custom_metric= with the same "
                "convention."
            )
            raise InputError(msg)
        return bool(super().after_iteration(model, epoch, evals_log))


@needs(
    convention="'letor4@10', or another convention",
    rounds="rounds=50, how long to wait for an improvement",
)
def early_stopping(
    convention: Convention | str,
    rounds: int,
    *,
    data_name: str | None = None,
    name: str | None = None,
    min_delta: float = 0.0,
    save_best: bool = False,
) -> EarlyStopping:
    """Stop when the declared metric has not improved for some rounds; other metrics are ignored.

    `custom_metric` logs values rounded to six decimals, so smaller improvements do not count. `EvalCallback` logs full
    precision.

    Parameters
    ----------
    convention : Convention or str
        A convention that `custom_metric` or `EvalCallback` reports.
    rounds : int
        Rounds without improvement before training stops.
    data_name : str, optional
        The set to watch; the last one by default.
    name : str, optional
        The display name, if `names=` changed it.
    min_delta : float
        Smallest change that counts as an improvement.
    save_best : bool
        Whether training returns the best model instead of the last.

    Returns
    -------
    EarlyStopping
        For `callbacks=` of `xgb.train`, `xgb.cv` and XGBRanker.

    Raises
    ------
    InputError
        During training, when nothing reports the convention on that set.
    """
    require_name("data_name", data_name)
    metric_name = watched_name(convention, name, rounds, min_delta)
    return EarlyStopping(
        rounds=int(rounds),
        metric_name=metric_name,
        data_name=data_name,
        maximize=as_convention(convention).higher_is_better,
        save_best=save_best,
        min_delta=min_delta,
    )


def _restored(kind: type[EvalCallback], declared: dict[str, Any]) -> EvalCallback:
    """Return a callback with these arguments, without repeating the warning about ignored weights."""
    callback = kind.__new__(kind)
    callback._start(declared)  # noqa: SLF001 - a method of its class
    return callback


class XGBoostRounds(xgb.callback.TrainingCallback):
    """Call `report(model)` after each round; stop before the next round if it returns True.

    `model()` returns a fitted copy of the ranker with the trees so far. XGBoost skips the callbacks after one that
    stops. This one comes first, so it must not stop after a round.
    """

    def __init__(self, ranker: Any, report: Callable[[Callable[[], Any]], bool]) -> None:
        super().__init__()
        self._ranker, self._report, self._stops = ranker, report, False

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Return True, which stops the training, if the last report asked to stop."""
        del model, epoch, evals_log
        return self._stops

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Report the round."""
        del epoch, evals_log
        self._stops = self._report(partial(self._model, model))
        return False

    def _model(self, booster: xgb.Booster) -> Any:
        model = copy.copy(self._ranker)
        model._Booster = booster.copy()  # noqa: SLF001 - as XGBoost's fit sets it
        model._Booster.set_attr(best_iteration=None)  # noqa: SLF001 - or the ranker would predict only up to it
        return model
