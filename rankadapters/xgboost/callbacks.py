"""Callbacks: every declared metric in full precision, and early stopping that watches one of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xgboost as xgb

from rankadapters.callbacks.display_names import display_names, watched_name
from rankadapters.callbacks.history import Evaluation, History
from rankadapters.callbacks.judged import Judged, flat
from rankadapters.callbacks.metrics import panels_of
from rankadapters.callbacks.rounds import Round, Rounds
from rankadapters.core.columns import shared_index
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError, brief
from rankadapters.core.keywords import needs
from rankadapters.core.queries import Queries
from rankadapters.core.texts import as_convention
from rankadapters.xgboost.metrics import judged_of, query_weights, refuse_names, refuse_workers

if TYPE_CHECKING:
    from rankadapters.core.panel import Panel


class EvalCallback(xgb.callback.TrainingCallback):
    """Write the declared metrics into XGBoost's evaluation log in full precision; for `xgb.train` and XGBRanker.

    List it before `early_stopping` in `callbacks=`, so that the log is complete when the latter looks.

    Parameters
    ----------
    conventions : Convention, str, or sequence of them
        What to report.
    evals : sequence of (data, name)
        `data` is a tuple `(X, y, qid)` or `(X, y, qid, query_weight)`, X as given to `predict` and rows in any order,
        or a DMatrix with label and group: the way where there is a base margin.
    names : sequence of str, optional
        Names to report under; `convention.name` by default.
    output_margin : bool
        Whether raw margins are ranked. False, the default, ranks what `predict` returns.
    missing : float
        What stands for a missing feature in X, as told to XGBRanker.
    n_threads : int, optional
        None takes all CPUs.

    Attributes
    ----------
    history : History
        (name of the set, convention, value in full precision), with the training and its round.

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
        conventions: Convention | str | Sequence[Convention | str],
        evals: Sequence[tuple[Any, str]],
        *,
        names: Sequence[str] | None = None,
        output_margin: bool = False,
        missing: float = np.nan,
        n_threads: int | None = None,
    ) -> None:
        super().__init__()
        several = (conventions,) if isinstance(conventions, Convention | str) else tuple(conventions or ())
        self.names = display_names(several, names)
        refuse_names(self.names.values())
        self._declared: dict[str, Any] = {
            "conventions": several,
            "evals": _named_sets(evals),
            "names": names,
            "output_margin": output_margin,
            "missing": missing,
            "n_threads": n_threads,
        }
        self.history = History()
        self._rounds = Rounds()
        self._sets = {name: _WatchedSet(data, self.names, missing, n_threads) for data, name in _named_sets(evals)}
        self._round = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> EvalCallback:
        """Share the data, which nobody changes, and start with no history: for clones and for a second training."""
        del memo
        return type(self)(**self._declared)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was declared; a DMatrix has no pickle."""
        if any(isinstance(data, xgb.DMatrix) for data, _ in self._declared["evals"]):
            msg = "an EvalCallback on a DMatrix cannot be pickled.\nHint: evals=[((X, y, qid), 'valid')]."
            raise InputError(msg)
        return partial(type(self), **self._declared), ()

    def before_training(self, model: Any) -> Any:
        """Count the rounds of this training."""
        refuse_workers("EvalCallback")
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
        at = {"run": self._rounds.run, "iteration": self._rounds.iteration}
        for name, watched in self._sets.items():
            scores = flat(model.predict(watched.dmatrix, output_margin=self._declared["output_margin"]))
            found = {c: score for panel in watched.panels() for c, score in panel.evaluate(scores).items()}
            for convention, shown in self.names.items():
                series = evals_log.setdefault(name, {}).setdefault(shown, [])
                if len(series) != self._round:
                    msg = (
                        f"{shown!r} of {name!r} is reported twice a round.\nHint: by a callback or a metric, not both."
                    )
                    raise InputError(msg)
                series.append(found[convention].value)
                self.history.record([Evaluation(name, convention, found[convention].value, name=shown, **at)])
        self._round += 1
        return False


class EarlyStopping(xgb.callback.EarlyStopping):
    """XGBoost's early stopping with a clear word where the metric is missing; made by `early_stopping`."""

    def before_training(self, model: Any) -> Any:
        """Forget an earlier training."""
        self.stopping_history = {}
        self.best_scores = {}
        self.current_rounds = 0
        return super().before_training(model)

    def after_iteration(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> bool:
        """Look for the declared metric, then decide as XGBoost does."""
        name = self.data or next(reversed(evals_log), "")
        if self.metric_name not in evals_log.get(name, {}):
            found = {data: list(log) for data, log in evals_log.items()}
            msg = (
                f"early stopping watches {self.metric_name!r} on {name!r}, but the log has {found}.\n"
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
    """Stop when the declared metric, and no other, has not improved for some rounds, in its own direction.

    What `custom_metric` reports reaches the log rounded to six decimals, so that smaller improvements do not count;
    what `EvalCallback` reports is watched in full precision.

    Parameters
    ----------
    convention : Convention or str
        A convention that `custom_metric` or `EvalCallback` reports.
    rounds : int
        Rounds without improvement before training stops.
    data_name : str, optional
        The set to watch; the last one by default.
    name : str, optional
        The name it is reported under, where `names=` changed it.
    min_delta : float
        Smallest change that counts as an improvement.
    save_best : bool
        Whether training returns the best model rather than the last.

    Returns
    -------
    EarlyStopping
        For `callbacks=` of `xgb.train`, `xgb.cv` and XGBRanker.

    Raises
    ------
    InputError
        During training, when nothing reports the convention on that set.
    """
    return EarlyStopping(
        rounds=int(rounds),
        metric_name=watched_name(convention, name, rounds),
        data_name=data_name,
        maximize=as_convention(convention).higher_is_better,
        save_best=save_best,
        min_delta=min_delta,
    )


def _named_sets(evals: Any) -> list[tuple[Any, str]]:
    """Check the form of evaluation sets."""
    pairs = list(evals) if isinstance(evals, (list, tuple)) else []
    if any(not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[1], str) for pair in pairs):  # noqa: PLR2004
        pairs = []
    if not pairs or len({name for _, name in pairs}) < len(pairs):
        what = f"evals={brief(evals)} is not a list of (data, name) with different names"
        raise InputError(f"{what}.\nHint: [((X, y, qid), 'valid')].")
    return pairs


class _WatchedSet:
    """One evaluation set: what to predict on, and the evaluators of its judgments."""

    def __init__(self, data: Any, names: dict[Convention, str], missing: float, n_threads: int | None) -> None:
        self._names, self._n_threads = names, n_threads
        self._judged: Judged | None = None
        self._is_ours = not isinstance(data, xgb.DMatrix)  # nobody else can change it
        if not self._is_ours:
            self.dmatrix = data
            self.panels()
            return
        if not isinstance(data, tuple) or len(data) not in {3, 4}:
            what = f"{brief(data)} is not an evaluation set"
            allowed = "a DMatrix, (X, y, qid) and (X, y, qid, query_weight)"
            raise InputError(f"{what}; allowed are {allowed}.\nHint: [((X, y, qid), 'valid')].")
        features, labels, qid, *weight = data
        shared_index({"X": features, "labels": labels, "qid": qid})
        self._panels = panels_of(names, partial(_bind, labels, qid, weight[0] if weight else None), n_threads)
        self.dmatrix = xgb.DMatrix(features, missing=missing, enable_categorical=True)

    def panels(self) -> list[Panel]:
        """Give the evaluators, bound anew where a DMatrix says something else than before."""
        if self._is_ours:
            return self._panels
        judged = judged_of(self.dmatrix)
        if self._judged is None or not self._judged.says(judged):
            self._judged = judged.copied()
            self._panels = panels_of(self._names, judged.queries(query_weights), self._n_threads)
        return self._panels


def _bind(labels: Any, qid: Any, weight: Any, weighting: str | None) -> Queries:
    queries = Queries(labels, qid=qid, query_weight=weight)
    by_query = queries.query_weight
    if by_query is None or weighting == "query_weight":
        return queries
    return queries.with_weights(row_weight=queries.per_row(by_query) if weighting == "row_weight" else None)
