"""A callback that logs declared metrics in XGBRanker."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import xgboost as xgb

from rankadapters.callbacks.arguments import QueryCounts, display_names, refuse_other_toolkit, require_missing
from rankadapters.callbacks.dataset_columns import flat
from rankadapters.callbacks.metrics import Trainings, evaluated, evaluators_of, warn_of_ignored_weights
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, brief
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.threads import as_n_threads
from rankadapters.parity.data import read_data
from rankadapters.presets.texts import Conventions
from rankadapters.xgboost.metrics import UNCUT, columns_of, refuse_names, refuse_workers
from rankadapters.xgboost.stopping import DirectionCheck, forget_best

_Training = tuple[dict[str, tuple[xgb.DMatrix, list[Evaluator]]], DirectionCheck]


class EvalCallback(xgb.callback.TrainingCallback):
    """Write the declared metrics into XGBoost's evaluation log in full precision; for `xgb.train` and XGBRanker.

    QueryRanker does this for you. In `xgb.train`, `eval_metric` needs no second prediction. List the callback before
    XGBoost's own early stopping in `callbacks=`, because that reads the log.

    Parameters
    ----------
    convention : Convention or str, or sequence of these, or mapping of str to these
        The conventions to report.
    evals : sequence of (data, name)
        `data` is a tuple `(X, y, qid)` or `(X, y, qid, query_weight)`, with X as for `predict` and rows in any order.
        It can also be a DMatrix with label and group, which you need for a base margin.
    n_queries : int or mapping of str to int, optional
        Number of queries in the set, or a mapping of set names to numbers. XGBoost silently cuts a query in two if a
        batch of a DataIter ends inside it; with `n_queries`, a wrong number of queries is an error.
    output_margin : bool
        Whether to rank raw margins. False, the default, ranks the output of `predict`.
    missing : float
        The value of missing features in X, as in XGBRanker.
    n_threads : int, optional
        None uses all CPUs.

    Raises
    ------
    InputError
        `evals` is not a list of sets, or `n_queries` is wrong for them. When a training starts: the columns of a set do
        not fit, or it does not have `n_queries` queries. In training: XGBoost's early stopping takes worse values for
        better ones, as `early_stopping_rounds=` of XGBRanker does for most names.

    Warns
    -----
    UserWarning
        Once, when a training starts: a set has weights, but a convention ignores them (`average="uniform"`).

    Notes
    -----
    The labels of a set are those at the start of a training.

    A pickle holds the evaluation sets, so another process can train; also that of a fitted XGBRanker, unless you remove
    the callback first: `ranker.set_params(callbacks=None)`. A callback on a DMatrix cannot be pickled. A copy, as in
    `sklearn.base.clone`, shares the sets.

    Examples
    --------
    >>> import numpy as np, rankadapters as ra, xgboost as xgb
    >>> rng = np.random.default_rng(0)
    >>> X, y, qid = rng.random((60, 3)), rng.integers(0, 3, 60), np.repeat([0, 1], 30)
    >>> callback = ra.xgboost.EvalCallback(ra.presets.yahoo(5), [((X, y, qid), "valid")])
    >>> ranker = xgb.XGBRanker(n_estimators=2, callbacks=[callback]).fit(X, y, qid=qid, verbose=False)
    >>> history = ra.History.of(ranker.evals_result())
    >>> history[-1].value == ra.evaluate(y, ranker.predict(X), ra.presets.yahoo(5), qid=qid).value
    True
    """

    def __init__(
        self,
        convention: Convention | str | Conventions,
        evals: Sequence[tuple[Any, str]],
        *,
        n_queries: int | Mapping[str, int] | None = None,
        output_margin: bool = False,
        missing: float = np.nan,
        n_threads: int | None = None,
    ) -> None:
        super().__init__()
        self.names = display_names(convention)
        refuse_names(self.names.values())
        require_missing(missing)
        self._evals, self._counts = _named_sets(evals), QueryCounts(n_queries, UNCUT)
        self._counts.refuse_sets(list(self._evals))
        self._output_margin, self._missing = output_margin, missing
        self._n_threads = None if n_threads is None else as_n_threads(n_threads)
        self._trainings: Trainings[_Training] = Trainings()  # empty in a pickle
        self._has_warned = False

    def __call__(self, *data: Any, **named: Any) -> NoReturn:  # LGBMRanker would ignore a metric that it cannot call
        """Refuse to be a metric."""
        del named
        refuse_other_toolkit("xgboost", "eval_metric", *data)
        hint = "callbacks=[callback]; as custom_metric= of xgb.train, ra.xgboost.eval_metric(convention)"
        raise InputError("EvalCallback is no metric.", hint=hint)

    def before_training(self, model: Any) -> Any:
        """Bind the evaluation sets; refuse several workers and `xgb.cv`."""
        refuse_workers("EvalCallback")
        if not isinstance(model, xgb.Booster):
            msg = "EvalCallback cannot predict inside xgb.cv."
            raise InputError(msg, hint="xgb.cv(custom_metric=ra.xgboost.eval_metric(...))")
        forget_best(model)
        sets = {name: self._bind(name, data) for name, data in self._evals.items()}
        self._trainings[model] = sets, DirectionCheck(model, self.names, sets)
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: dict[str, Any]) -> bool:
        """Predict, evaluate and log every set."""
        sets, check = self._trainings[model]
        check.update(model, epoch, evals_log)
        for name, (dmatrix, evaluators) in sets.items():
            values = evaluated(evaluators, flat(model.predict(dmatrix, output_margin=self._output_margin)))
            for convention, shown in self.names.items():
                series = evals_log.setdefault(name, {}).setdefault(shown, [])
                if len(series) != epoch:
                    msg = f"{shown!r} of {name!r} is reported twice a round."
                    raise InputError(msg, hint="by a callback or a metric, not both")
                series.append(values[convention])
        return False

    def after_training(self, model: Any) -> Any:
        """Free the bound sets."""
        if (training := self._trainings.pop(model, None)) is not None:
            training[1].end(model)
        return model

    def _bind(self, set_name: str, data: Any) -> tuple[xgb.DMatrix, list[Evaluator]]:
        """Return the DMatrix to predict on, and the evaluators that know its labels."""
        bind: Callable[[str | None], Queries]
        if isinstance(data, xgb.DMatrix):
            columns = columns_of(data)
            dmatrix, has_weights, bind = data, columns.weights is not None, columns.queries
        else:
            features, queries = read_data(data)
            if (by_query := queries.query_weight) is not None:
                queries = queries.with_weights(by_query, row_weight=queries.per_row(by_query))
            has_weights, bind = by_query is not None, queries.weighed_by
            dmatrix = xgb.DMatrix(features, missing=self._missing, enable_categorical=True)
        evaluators = evaluators_of(self.names, bind, self._n_threads)
        self._counts.refuse(set_name, evaluators[0].queries.n_queries)
        if has_weights and not self._has_warned:
            self._has_warned = warn_of_ignored_weights(self.names)
        return dmatrix, evaluators

    def __deepcopy__(self, memo: dict[int, Any]) -> EvalCallback:
        """Copy with the same evaluation sets, for clones: a DMatrix has no copies."""
        del memo
        return copy.copy(self)


def _named_sets(evals: Any) -> dict[str, Any]:
    """Return the data of evaluation sets by name, after checking their form."""
    pairs = list(evals) if isinstance(evals, (list, tuple)) else []
    is_named = all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], str) for pair in pairs)  # noqa: PLR2004
    sets = {name: data for data, name in pairs} if is_named else {}
    if not sets or len(sets) < len(pairs):
        msg = f"evals={brief(evals)} is not a list of (data, name) with different names."
        raise InputError(msg, hint="[((X, y, qid), 'valid')]")
    for data in sets.values():
        if not isinstance(data, xgb.DMatrix) and not (isinstance(data, tuple) and len(data) in {3, 4}):
            allowed = "a DMatrix, (X, y, qid) and (X, y, qid, query_weight)"
            msg = f"{brief(data)} is not an evaluation set; allowed are {allowed}."
            raise InputError(msg, hint="[((X, y, qid), 'valid')]")
    return sets
