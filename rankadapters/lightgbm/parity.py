"""LightGBM's own NDCG, of given scores or of a trained model, held against ours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Never

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.keywords import GROUPS, refuse_other_names
from rankadapters.core.queries import Queries, as_queries
from rankadapters.core.texts import as_convention
from rankadapters.lightgbm.metrics import LABELS, MOST_ROWS, native_metric, query_weights, read_metric
from rankadapters.parity import Held, ParityReport, Route, Toolkit, nearest_expressible
from rankadapters.parity.checking import compare
from rankadapters.parity.data import (
    as_judged,
    bind,
    in_order,
    logged_at,
    refuse_other_gains,
    refuse_retrieval,
    rounds_until,
)

Array = NDArray[Any]

LIGHTGBM = Toolkit(name="LightGBM", package="lightgbm", version=lgb.__version__)
QUIET = {"objective": "none", "verbosity": -1, "num_threads": 1, "feature_pre_filter": False}


def check_parity(
    labels: object,
    scores: object,
    convention: Convention | str,
    *,
    qid: object = None,
    group_sizes: object = None,
    query_weight: object = None,
    **other: Never,
) -> ParityReport:
    """Hold LightGBM's own NDCG of these scores against ours.

    No model is trained: the scores are LightGBM's initial scores, on which it evaluates its metric. Where it cannot
    express the convention, the two are compared under the nearest that it can, and a second row states our value under
    the declared one: equal where nothing in the data depends on the fields that it cannot express.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    convention : Convention or str
        What is declared.
    qid, group_sizes, query_weight
        As in `Queries`. LightGBM is given the query's weight on each of its rows, and takes their float32 mean.

    Returns
    -------
    ParityReport
        LightGBM's value against ours, which must agree to 1e-9; then the declared convention, if that is another.

    Raises
    ------
    InputError
        The data has no value under the convention, or LightGBM refuses it: fractional, negative or too large labels,
        more than 10,000 rows in a query.

    References
    ----------
    LightGBM 4.7.0, src/metric/rank_metric.hpp.

    Examples
    --------
    >>> from rankadapters import presets
    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.6], presets.textbook(2), group_sizes=[3])
    >>> report.ok, [row.verdict for row in report.rows]  # neither ties nor an empty query, so nothing is missing
    (True, ['equal', 'equal-on-this-data'])
    """
    convention = as_convention(convention)
    refuse_other_names(other, GROUPS)
    columns = {"qid": qid, "group_sizes": group_sizes, "query_weight": query_weight}
    queries = as_queries(labels, **columns)
    refuse_retrieval(queries, "LightGBM")
    queries, array = bind(queries, scores, convention, {})
    nearest = nearest_expressible(native_metric, convention)
    held, route = _route(queries, array, nearest)
    return compare(LIGHTGBM, [route], held, declared=convention, nearest=nearest)


def check_model(
    model: Any,
    data: tuple[Any, ...],
    convention: Convention | str,
    *,
    dataset: str | None = None,
    log: Mapping[str, Any] | None = None,
    iteration: int | None = None,
) -> ParityReport:
    """Hold a trained model's NDCG on a data set against ours.

    Parameters
    ----------
    model : LGBMRanker or Booster
        Trained.
    data : tuple
        `(X, labels, qid)` or `(X, labels, qid, query_weight)`, rows as LightGBM was given them.
    convention : Convention or str
        What is declared.
    dataset : str, optional
        The data's name in the training, as in `valid_0`; then what was logged for it is compared too.
    log : dict, optional
        What `lgb.record_evaluation` filled; an LGBMRanker has its own.
    iteration : int, optional
        Which iteration to check, from 0 on; the model's best, or last, by default.

    Returns
    -------
    ParityReport
        A row per route under the nearest convention that LightGBM can express, then the declared one.

    Raises
    ------
    InputError
        The model is not trained, the parts do not fit each other, LightGBM refuses the data, or the model was trained
        under a `label_gain` with which its own NDCG of this data is another than the one asked for.

    Examples
    --------
    >>> import lightgbm as lgb, numpy as np, rankadapters as ra
    >>> rng = np.random.default_rng(0)
    >>> X, y, qid = rng.random((60, 3)), rng.integers(0, 3, 60), np.repeat([0, 1, 2], 20)
    >>> ranker = lgb.LGBMRanker(n_estimators=3, verbosity=-1).fit(X, y, group=[20, 20, 20])
    >>> ra.lightgbm.check_model(ranker, (X, y, qid), ra.presets.lightgbm(5)).ok
    True
    """
    booster, convention = _booster(model), as_convention(convention)
    X, queries = as_judged(data)
    rounds = rounds_until(iteration, booster.current_iteration(), booster.best_iteration)
    predicted = booster.predict(X, num_iteration=rounds, raw_score=True)
    queries, scores = bind(queries, predicted, convention, {})
    nearest = nearest_expressible(native_metric, convention)
    refuse_other_gains(queries.labels, nearest, _own_metric(booster, nearest))
    held, route = _route(queries, scores, nearest)
    routes = [route]
    if dataset is not None:
        found = log if log is not None else getattr(model, "evals_result_", None)
        name = _log_name(native_metric(nearest))
        value = logged_at(found, dataset, name, rounds - 1)
        source = f"log of {dataset}, iteration {rounds - 1}, {name}"
        routes.append(Route(source=source, ask=lambda *_: value, apart=False))
    return compare(LIGHTGBM, routes, held, declared=convention, nearest=nearest)


def _route(queries: Queries, scores: Array, nearest: Convention) -> tuple[Held, Route]:
    params = native_metric(nearest)
    _refuse(queries, params)
    together, rows = in_order(queries)
    sizes = np.diff(together.indptr)
    row_weights, notes = None, []
    if together.query_weight is not None:
        row_weights = np.repeat(together.query_weight, sizes).astype(np.float32)
        weights = query_weights(row_weights, sizes).astype(np.float64)
        notes = [] if (weights == together.query_weight).all() else ["query_weight is the float32 mean of row weights."]
        together, _ = in_order(together, query_weight=weights)
    held = Held(queries=together, scores=scores[rows].astype(np.float64), notes=tuple(notes))
    source = f"lightgbm {_log_name(params)}" + (" label_gain" if "label_gain" in params else "")
    return held, Route(source=source, ask=partial(_ask, params, row_weights))


def _log_name(params: dict[str, Any]) -> str:
    return f"{params['metric']}@{params['eval_at'][0]}" if "eval_at" in params else str(params["metric"])


def _ask(params: dict[str, Any], row_weights: Array | None, queries: Queries, scores: Array) -> float:
    """LightGBM's metric of its initial scores."""
    weight = row_weights if queries.query_weight is not None else None
    data = lgb.Dataset(
        np.zeros((queries.n_docs, 1)), label=queries.labels, group=np.diff(queries.indptr), weight=weight,
        init_score=scores, params=QUIET,
    )  # fmt: skip
    try:
        [result] = lgb.Booster({**QUIET, **params}, data).eval_train()
    except lgb.basic.LightGBMError as error:
        msg = f"lightgbm refuses: {str(error).rstrip('.')}.\nHint: mend the data, or leave lightgbm out."
        raise InputError(msg) from error
    return float(result[2])


def _refuse(queries: Queries, params: dict[str, Any]) -> None:
    """Name what LightGBM refuses, before it prints something of its own."""
    most = len(params.get("label_gain", range(LABELS))) - 1
    bad = ~np.isin(queries.labels, np.arange(most + 1))
    if bad.any():
        row = int(np.argmax(bad))
        msg = (
            f"labels[{row}] is {queries.labels[row]:g}, but lightgbm takes whole labels from 0 to {most}.\n"
            "Hint: map the labels, or leave lightgbm out."
        )
        raise InputError(msg)
    longest = int(np.diff(queries.indptr).max())
    if longest > MOST_ROWS:
        msg = f"a query has {longest} rows, but lightgbm takes {MOST_ROWS}.\nHint: leave lightgbm out."
        raise InputError(msg)


def _booster(model: Any) -> lgb.Booster:
    if isinstance(model, lgb.Booster):
        return model
    if not isinstance(model, lgb.LGBMModel):
        msg = f"{type(model).__name__} is no LightGBM model.\nHint: an LGBMRanker or a Booster."
        raise InputError(msg)
    if not model.__sklearn_is_fitted__():
        msg = "the model is not trained, so it has no scores.\nHint: model.fit(X, y, group=sizes) first."
        raise InputError(msg)
    return model.booster_


def _own_metric(booster: lgb.Booster, nearest: Convention) -> Convention:
    """Give what the model's own metric of that name is under the parameters that it was trained with."""
    given = booster.params.get("label_gain")
    gains = given.split(",") if isinstance(given, str) else given
    params = {name: value for name, value in native_metric(nearest).items() if name != "label_gain"}
    if nearest.measure != "ndcg" or not gains:
        return read_metric(params)
    return read_metric(params, label_gain=list(map(float, gains)))
