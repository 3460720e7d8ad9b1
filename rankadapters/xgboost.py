"""XGBoost: the declared metric in `xgb.train`, `xgb.cv` and `XGBRanker`, and early stopping that watches it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.callbacks import Evaluation, Judged, Monitor, display_names, flat, missing_group, panels_of
from rankadapters.core import presets
from rankadapters.core.convention import NDCG, Convention
from rankadapters.core.errors import ConventionError, InputError, MissingToolkitError
from rankadapters.core.queries import Queries
from rankadapters.parity import require_expressible

try:
    import xgboost as xgb
except ImportError as error:
    raise MissingToolkitError.of("xgboost", "xgboost") from error

if TYPE_CHECKING:
    from rankadapters.core.evaluator import Panel

Array = NDArray[Any]

NO_CUTOFF = 2**31 - 1  # a bare "ndcg" cuts at 32


class CustomMetric:
    """A metric for `custom_metric=`; made by `custom_metric`."""

    __name__ = "rankadapters"  # XGBRanker asks its metrics for a name

    def __init__(self, conventions: Sequence[Convention], names: Sequence[str] | None, n_threads: int | None) -> None:
        self._monitor = Monitor(conventions, names, n_threads, _query_weights)
        _refuse_names(self._monitor.names.values())

    @property
    def history(self) -> list[Evaluation]:
        """Every value so far: (place of the set in the order of first sight, convention, full-precision value)."""
        return self._monitor.history

    def __call__(self, preds: Array, dmatrix: xgb.DMatrix) -> list[tuple[str, float]]:
        """Evaluate predictions on a DMatrix with groups."""
        if not isinstance(dmatrix, xgb.DMatrix):
            msg = (
                "XGBRanker hands a metric the rows of one query at a time and averages the values by query size.\n"
                "Hint: XGBRanker(callbacks=[ra.xgboost.EvalCallback([convention], [((X, y, qid), 'valid')])])."
            )
            raise InputError(msg)
        found = self._monitor.evaluate(dmatrix, _judged(dmatrix), flat(preds))
        return [(name, value) for name, value, _ in found]


def custom_metric(
    *conventions: Convention, names: Sequence[str] | None = None, n_threads: int | None = None
) -> CustomMetric:
    """Make a metric that reports each convention in `xgb.train(custom_metric=)` and `xgb.cv(custom_metric=)`.

    XGBoost itself writes custom metrics with six decimals into its log; `history` keeps the full value, and
    `EvalCallback` writes it into the log. Predictions come as XGBoost hands them over: transformed by a built-in
    objective, raw under
    `obj=`. XGBRanker calls metrics per query and is refused: use `EvalCallback`.

    Parameters
    ----------
    *conventions : Convention
        What to report. Under `average="uniform"` the DMatrix's weights are ignored, by declaration; else they are one
        per query.
    names : sequence of str, optional
        Names to report under; `convention.name` by default.
    n_threads : int, optional
        None takes all CPUs.

    Returns
    -------
    CustomMetric
        Callable as `metric(preds, dmatrix)`.

    Raises
    ------
    ConventionError
        A name holds a space, a tab or a colon, at which XGBoost would cut it.

    References
    ----------
    XGBoost 3.2.0, python-package: `core.Booster.eval_set`.

    Examples
    --------
    >>> import numpy as np, rankadapters as ra, xgboost as xgb
    >>> rng = np.random.default_rng(0)
    >>> data = xgb.DMatrix(rng.random((60, 3)), label=rng.integers(0, 3, 60), qid=np.repeat([0, 1], 30))
    >>> metric = ra.xgboost.custom_metric(ra.presets.letor4(5), ra.presets.yahoo(5))
    >>> params = {"objective": "rank:ndcg", "disable_default_eval_metric": True}
    >>> booster = xgb.train(params, data, 3, evals=[(data, "train")], custom_metric=metric, verbose_eval=False)
    >>> len(metric.history)
    6
    """
    return CustomMetric(conventions, names, n_threads)


class EvalCallback(xgb.callback.TrainingCallback):
    """Write the declared metrics into XGBoost's evaluation log in full precision; for `xgb.train` and XGBRanker.

    List it before `early_stopping` in `callbacks=`, so that the log is complete when the latter looks.

    Parameters
    ----------
    conventions : Convention or sequence of Convention
        What to report.
    evals : sequence of (data, name)
        `data` is a DMatrix with label and group, or a tuple `(X, y, qid)` or `(X, y, qid, query_weight)` as given to
        `predict`, whose rows may be in any order.
    names : sequence of str, optional
        Names to report under; `convention.name` by default.
    output_margin : bool
        Whether raw margins are ranked. False, the default, ranks what `predict` returns.
    n_threads : int, optional
        None takes all CPUs.

    Attributes
    ----------
    history : list of Evaluation
        (name of the set, convention, value in full precision).

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
        conventions: Convention | Sequence[Convention],
        evals: Sequence[tuple[Any, str]],
        *,
        names: Sequence[str] | None = None,
        output_margin: bool = False,
        n_threads: int | None = None,
    ) -> None:
        super().__init__()
        several = (conventions,) if isinstance(conventions, Convention) else tuple(conventions)
        self.names = display_names(several, names)
        _refuse_names(self.names.values())
        self.output_margin = output_margin
        self.history: list[Evaluation] = []
        self._sets = [(name, *_watched(data, self.names, n_threads)) for data, name in evals]

    def after_iteration(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> bool:  # noqa: ARG002 - XGBoost's signature
        """Predict, evaluate and log every set."""
        if not isinstance(model, xgb.Booster):
            msg = (
                "EvalCallback cannot predict inside xgb.cv.\nHint: xgb.cv(custom_metric=ra.xgboost.custom_metric(...))."
            )
            raise InputError(msg)
        for name, dmatrix, panels in self._sets:
            scores = flat(model.predict(dmatrix, output_margin=self.output_margin))
            found = {c: score for panel in panels for c, score in panel.evaluate(scores).items()}
            for convention, shown in self.names.items():
                value = found[convention].value
                evals_log.setdefault(name, {}).setdefault(shown, []).append(value)
                self.history.append(Evaluation(name, convention, value))
        return False


class EarlyStopping(xgb.callback.EarlyStopping):
    """XGBoost's early stopping with a clear word where the metric is missing; made by `early_stopping`."""

    def after_iteration(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> bool:
        """Look for the declared metric, then decide as XGBoost does."""
        name = self.data or next(reversed(evals_log), "")
        if self.metric_name not in evals_log.get(name, {}):
            found = {data: list(log) for data, log in evals_log.items()}
            msg = (
                f"early stopping watches {self.metric_name!r} on {name!r}, but the log has {found}.\n"
                "Hint: list EvalCallback before early_stopping, or pass custom_metric= with the same convention."
            )
            raise InputError(msg)
        return bool(super().after_iteration(model, epoch, evals_log))


def early_stopping(
    convention: Convention,
    rounds: int,
    *,
    data_name: str | None = None,
    name: str | None = None,
    min_delta: float = 0.0,
    save_best: bool = False,
) -> EarlyStopping:
    """Stop when the declared metric, and no other, has not improved for some rounds, in its own direction.

    What `custom_metric` reports reaches the log rounded to six decimals, so that smaller improvements are none; what
    `EvalCallback` reports is watched in full precision.

    Parameters
    ----------
    convention : Convention
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
        rounds=rounds,
        metric_name=convention.name if name is None else name,
        data_name=data_name,
        maximize=convention.higher_is_better,
        save_best=save_best,
        min_delta=min_delta,
    )


def native_metric(convention: Convention) -> dict[str, Any]:
    """Translate a convention into XGBoost's own parameters.

    Under its exponential gain XGBoost refuses fractional labels, so `exp2` and `exp2-floor` are the same to it.
    `k=None` becomes a cutoff beyond any query, since its bare `ndcg` means @32.

    Parameters
    ----------
    convention : Convention
        What XGBoost shall compute.

    Returns
    -------
    dict
        `eval_metric` (with a trailing minus for `empty=0`) and `ndcg_exp_gain`.

    Raises
    ------
    UnsupportedConventionError
        XGBoost has no parameter for a field; the message names the fields and the nearest it can.

    Examples
    --------
    >>> native_metric(presets.xgboost(5, minus=True))
    {'eval_metric': 'ndcg@5-', 'ndcg_exp_gain': True}
    """
    exp_gain = not getattr(convention, "gain", "").startswith("linear")
    minus = isinstance(convention, NDCG) and convention.empty == 0
    nearest = presets.xgboost(convention.k, exp_gain=exp_gain, minus=minus)
    if getattr(convention, "gain", "") == "exp2":
        nearest = nearest.replace(gain="exp2")
    require_expressible("XGBoost", convention, nearest)
    name = f"ndcg@{convention.k or NO_CUTOFF}" + ("-" if minus else "")
    return {"eval_metric": name, "ndcg_exp_gain": exp_gain}


def _watched(data: Any, names: dict[Convention, str], n_threads: int | None) -> tuple[xgb.DMatrix, list[Panel]]:
    """Bind one evaluation set: what to predict on, and the evaluators of its judgments."""
    if isinstance(data, xgb.DMatrix):
        return data, panels_of(names, _judged(data).queries(_query_weights), n_threads)
    if len(data) not in {3, 4}:
        msg = f"an evaluation set has {len(data)} parts; allowed are (X, y, qid) and (X, y, qid, query_weight)."
        raise InputError(msg)
    features, labels, qid, *weight = data

    def bind(weighted: bool) -> Queries:  # noqa: FBT001 - called by panels_of only
        return Queries(labels, qid=qid, query_weight=weight[0] if weighted and weight else None)

    return xgb.DMatrix(features, enable_categorical=True), panels_of(names, bind, n_threads)


def _judged(dmatrix: xgb.DMatrix) -> Judged:
    group_ptr = dmatrix.get_uint_info("group_ptr")
    if group_ptr.size < 2:  # noqa: PLR2004 - one query has two bounds
        raise missing_group("DMatrix", "xgb.DMatrix(..., qid=qid), with qid sorted and dense")
    weights = dmatrix.get_weight()
    return Judged(dmatrix.get_label(), np.diff(group_ptr.astype(np.int64)), weights if weights.size else None)


def _query_weights(weights: Array, group_sizes: Array) -> Array:
    """Pass XGBoost's weights on: with groups, it holds one per query already."""
    del group_sizes
    return weights


def _refuse_names(names: Any) -> None:
    for name in names:
        if any(c in name for c in " \t\n:"):
            msg = f"name {name!r} has a space, tab or colon, at which XGBoost cuts its log.\nHint: use letters and /@-."
            raise ConventionError(msg)
