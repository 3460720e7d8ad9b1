"""XGBoost's own NDCG, of given scores or of a trained model, held against ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Never

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.keywords import GROUPS, refuse_other_names
from rankadapters.core.queries import Queries, as_queries
from rankadapters.core.texts import as_convention
from rankadapters.parity import Held, ParityReport, Route, Toolkit, nearest_expressible
from rankadapters.parity.checking import compare
from rankadapters.parity.data import (
    as_float32,
    as_judged,
    bind,
    in_order,
    logged_at,
    refuse_other_gains,
    refuse_retrieval,
    rounds_until,
)
from rankadapters.xgboost.metrics import judged_of, native_metric, query_weights, read_metric

Array = NDArray[Any]

XGBOOST = Toolkit(name="XGBoost", package="xgboost", version=xgb.__version__)
MOST_LABEL = 31  # under its exponential gain
QUIET = {"objective": "rank:ndcg", "verbosity": 0, "nthread": 1, "base_score": 0.0}


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
    """Hold XGBoost's own NDCG of these scores against ours.

    No model is trained: the scores are a DMatrix's base margin, on which XGBoost evaluates its metric. Where it cannot
    express the convention, the two are compared under the nearest that it can, and a second row states our value under
    the declared one: equal where nothing in the data depends on the fields that it cannot express.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better. XGBoost holds them as float32, which is `precision="float32"`.
    convention : Convention or str
        What is declared.
    qid, group_sizes, query_weight
        As in `Queries`.

    Returns
    -------
    ParityReport
        XGBoost's value against ours, which must agree to 1e-9; then the declared convention, if that is another.

    Raises
    ------
    InputError
        The data has no value under the convention, or XGBoost refuses it: under its exponential gain fractional and
        negative labels and those above 31; weights with which an empty query lifts its mean above 1.

    References
    ----------
    XGBoost 3.2.0, src/metric/rank_metric.cc.

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
    refuse_retrieval(queries, "XGBoost")
    queries, array = bind(queries, scores, convention, {})
    nearest = nearest_expressible(native_metric, convention)
    held, route = _route(queries, array, nearest)
    return compare(XGBOOST, [route], held, declared=convention, nearest=nearest)


def check_model(
    model: Any,
    data: Any,
    convention: Convention | str,
    *,
    dataset: str | None = None,
    log: Mapping[str, Any] | None = None,
    iteration: int | None = None,
) -> ParityReport:
    """Hold a trained model's NDCG on a data set against ours.

    Parameters
    ----------
    model : XGBRanker or Booster
        Trained.
    data : DMatrix or tuple
        A DMatrix with labels and groups, or `(X, labels, qid)` or `(X, labels, qid, query_weight)`.
    convention : Convention or str
        What is declared.
    dataset : str, optional
        The data's name in the training, as in `validation_0`; then what was logged for it is compared too.
    log : dict, optional
        What `xgb.train(evals_result=)` filled; an XGBRanker has its own.
    iteration : int, optional
        Which iteration to check, from 0 on; the model's best, or last, by default.

    Returns
    -------
    ParityReport
        A row per route under the nearest convention that XGBoost can express, then the declared one. The routes are
        its metric on the predictions, the model's own `eval`, and the log.

    Raises
    ------
    InputError
        The model is not trained, the parts do not fit each other, XGBoost refuses the data, or the model was trained
        under an `ndcg_exp_gain` with which its own NDCG of this data is another than the one asked for.

    Examples
    --------
    >>> import numpy as np, rankadapters as ra, xgboost as xgb
    >>> rng = np.random.default_rng(0)
    >>> X, y, qid = rng.random((60, 3)), rng.integers(0, 3, 60), np.repeat([0, 1, 2], 20)
    >>> ranker = xgb.XGBRanker(n_estimators=3).fit(X, y, qid=qid)
    >>> report = ra.xgboost.check_model(ranker, (X, y, qid), ra.presets.xgboost(5))
    >>> report.ok, len(report.rows)
    (True, 2)
    """
    booster, convention = _booster(model), as_convention(convention)
    matrix, queries = _data(data, convention.weighting)
    if matrix.num_col() != booster.num_features():
        msg = (
            f"the data has {matrix.num_col()} features but the model was trained on {booster.num_features()}.\n"
            "Hint: the columns that it was trained on."
        )
        raise InputError(msg)
    rounds = rounds_until(iteration, booster.num_boosted_rounds(), _best(booster))
    upto = booster[:rounds]
    queries, scores = bind(queries, upto.predict(matrix, output_margin=True), convention, {})
    nearest = nearest_expressible(native_metric, convention)
    refuse_other_gains(queries.labels, nearest, _own_metric(booster, nearest))
    held, route = _route(queries, scores, nearest)
    params = native_metric(nearest)
    upto.set_param(_parameters(params))  # of this slice, which is a copy
    evaluated = partial(_evaluated, upto, matrix, params["eval_metric"])
    routes = [route]
    if params.get("groups", True):  # which the data have
        routes.append(Route(source=f"Booster.eval {_said(params)}", ask=lambda *_: evaluated(), apart=False))
    if dataset is not None:
        found = log if log is not None else _own_log(model)
        value = logged_at(found, dataset, params["eval_metric"], rounds - 1)
        source = f"log of {dataset}, iteration {rounds - 1}, {params['eval_metric']}"
        routes.append(Route(source=source, ask=lambda *_: value, apart=False))
    return compare(XGBOOST, routes, held, declared=convention, nearest=nearest)


def _route(queries: Queries, scores: Array, nearest: Convention) -> tuple[Held, Route]:
    params = native_metric(nearest)
    labels, weights = as_float32("labels", queries.labels, "XGBoost"), queries.query_weight
    notes = [] if (labels == queries.labels).all() else ["labels rounded to float32, as XGBoost holds them."]
    _refuse(labels, params)
    if weights is not None:
        weights = as_float32("query_weight", weights, "XGBoost")
        notes += [] if (weights == queries.query_weight).all() else ["query_weight rounded to float32."]
    together, rows = in_order(queries, labels=labels, query_weight=weights)
    held = Held(queries=together, scores=scores[rows], notes=tuple(notes))
    return held, Route(source=f"xgboost {_said(params)}", ask=partial(_ask, params))


def _said(params: dict[str, Any]) -> str:
    return " ".join([params["eval_metric"], *(f"{n}={value}" for n, value in params.items() if n != "eval_metric")])


def _ask(params: dict[str, Any], queries: Queries, scores: Array) -> float:
    """XGBoost's metric of a base margin."""
    groups = params.get("groups", True)
    matrix = xgb.DMatrix(
        np.zeros((queries.n_docs, 1)), label=queries.labels, qid=queries.query_of_row if groups else None,
        weight=queries.query_weight if groups else queries.row_weight, base_margin=scores, nthread=1,
    )  # fmt: skip
    return _evaluated(xgb.Booster({**QUIET, **_parameters(params)}, [matrix]), matrix, params["eval_metric"])


def _parameters(params: dict[str, Any]) -> dict[str, Any]:
    """XGBoost's own parameters, without what is said of the data."""
    return {name: value for name, value in params.items() if name != "groups"}


def _evaluated(booster: xgb.Booster, matrix: xgb.DMatrix, metric: str) -> float:
    """Read the value from the line that XGBoost writes, which has all digits."""
    try:
        line = booster.eval(matrix, "set")
    except xgb.core.XGBoostError as error:
        why = " ".join(str(error).partition("Stack trace")[0].split())
        msg = f"xgboost refuses: {why[:300].rstrip('.')}.\nHint: mend the data, or leave xgboost out."
        raise InputError(msg) from error
    found = dict(part.rpartition(":")[::2] for part in line.split("\t")[1:])
    return float(found[f"set-{metric}"])


def _refuse(labels: Array, params: dict[str, Any]) -> None:
    bad = ~np.isin(labels, np.arange(MOST_LABEL + 1))
    if params.get("ndcg_exp_gain") and bad.any():
        row = int(np.argmax(bad))
        msg = (
            f"labels[{row}] is {labels[row]:g}, but xgboost takes whole labels from 0 to {MOST_LABEL} under its "
            "exponential gain.\nHint: map the labels, a linear gain, or leave xgboost out."
        )
        raise InputError(msg)


def _booster(model: Any) -> xgb.Booster:
    if not isinstance(model, (xgb.Booster, xgb.XGBModel)):
        msg = f"{type(model).__name__} is no XGBoost model.\nHint: an XGBRanker or a Booster."
        raise InputError(msg)
    if isinstance(model, xgb.XGBModel):
        if not model.__sklearn_is_fitted__():
            msg = "the model is not trained, so it has no scores.\nHint: model.fit(X, y, qid=qid) first."
            raise InputError(msg)
        return model.get_booster()
    return model


def _own_metric(booster: xgb.Booster, nearest: Convention) -> Convention:
    """Give what the model's own metric of that name is under the parameters that it was trained with."""
    params = native_metric(nearest)
    learner = json.loads(booster.save_config())["learner"]
    several = [part.get("lambdarank_param", {}) for part in (*learner["metrics"], learner["objective"])]
    own = next((each["ndcg_exp_gain"] for each in several if "ndcg_exp_gain" in each), None)
    if own is None or "ndcg_exp_gain" not in params:
        return nearest
    return read_metric({**params, "ndcg_exp_gain": own == "1"})


def _best(booster: xgb.Booster) -> int:
    try:
        return int(booster.best_iteration) + 1
    except AttributeError:  # no early stopping
        return 0


def _data(data: Any, weighting: str | None) -> tuple[xgb.DMatrix, Queries]:
    if isinstance(data, xgb.DMatrix):
        return data, judged_of(data).queries(query_weights)(weighting)
    X, queries = as_judged(data)
    if not queries.are_together:
        msg = "the rows of a query are not together, as XGBoost wants them.\nHint: sort X, labels and qid by qid."
        raise InputError(msg)
    sizes = np.diff(queries.indptr)
    matrix = xgb.DMatrix(X, queries.labels, qid=np.repeat(np.arange(sizes.size), sizes), weight=queries.query_weight)
    return matrix, queries


def _own_log(model: Any) -> Any:
    if isinstance(model, xgb.Booster):
        return None
    try:
        return model.evals_result()
    except xgb.core.XGBoostError:  # it was fitted without eval_set
        return None
