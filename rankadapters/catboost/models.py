"""A trained CatBoost model's own numbers, by each route that it has, held against ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import catboost as cb
import numpy as np
from numpy.typing import NDArray

from rankadapters.catboost.data import CATBOOST, as_held, ask, refuse_negative, refuse_pairs, sentence, weights_of_rows
from rankadapters.catboost.metrics import read_metric
from rankadapters.core import presets
from rankadapters.core.columns import same_length
from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.fields import is_whole
from rankadapters.core.queries import Queries
from rankadapters.core.texts import as_convention
from rankadapters.parity import ParityReport, ParityRow, Route
from rankadapters.parity.checking import compare
from rankadapters.parity.data import bind, value_of

Array = NDArray[Any]


def check_model(
    model: Any,
    pool: Any,
    convention: Convention | str,
    *,
    qid: object = None,
    group_weight: object = None,
    dataset: str | None = None,
    iteration: int | None = None,
) -> ParityReport:
    """Hold a trained model's numbers on a Pool against ours, by each of CatBoost's routes.

    The routes are `model.predict` and `model.staged_predict` with `catboost.utils.eval_metric`, `model.eval_metrics`,
    and the log of the training where the Pool was one of its sets.

    Parameters
    ----------
    model : CatBoost or CatBoostRanker
        Trained.
    pool : catboost.Pool
        With labels, and with group ids, since no ranking metric of CatBoost's does without.
    convention : Convention or str
        What is declared.
    qid : array-like, shape (n_docs,), optional
        Query of each row, to be held against the Pool's groups, which are read back by default.
    group_weight : float array, shape (n_docs,), optional
        The Pool's group weights, which cannot be read back.
    dataset : str, optional
        The Pool's name in the training: `learn`, `validation`, `validation_0`, ... Without it the log is no route.
    iteration : int, optional
        Which iteration to check, from 0 on; the model's last by default.

    Returns
    -------
    ParityReport
        A row per route under the nearest convention that CatBoost can express, then the declared one. For a Pool
        without group ids, a row that says what CatBoost does with it.

    Raises
    ------
    InputError
        The model is not trained, or the parts do not fit each other.

    Notes
    -----
    A model that was trained with `target_border` makes 0 and 1 of the labels in all its metrics; so does our value,
    and the reason says so.

    Examples
    --------
    >>> import catboost as cb, numpy as np, rankadapters as ra
    >>> rng = np.random.default_rng(0)
    >>> pool = cb.Pool(rng.random((40, 3)), rng.integers(0, 3, 40), group_id=np.repeat(np.arange(8), 5))
    >>> model = cb.CatBoostRanker(iterations=3, thread_count=1, verbose=False, allow_writing_files=False).fit(pool)
    >>> report = check_model(model, pool, ra.presets.catboost(3))
    >>> report.ok, len(report.rows)
    (True, 3)
    """
    convention = as_convention(convention)
    n_trees = _refuse_untrained(model, pool, iteration)
    (labels, *changed), nearest = _labels_seen(model, pool), presets.catboost.nearest(convention)
    refuse_pairs(nearest)
    hashes = pool.get_group_id_hash()
    if hashes is None:
        return _without_groups(model, pool, labels, nearest, qid)
    ids = hashes if qid is None else _same_groups(qid, hashes)
    queries = Queries(labels, qid=ids)
    weights = None
    if group_weight is not None:
        weights, varies = weights_of_rows(group_weight, queries)
        if varies is not None:
            who = queries.query_ids[varies]
            msg = f"group_weight varies within query {who}, which a Pool refuses.\nHint: the Pool's own."
            raise InputError(msg)
    queries = Queries(labels, qid=ids, query_weight=weights if convention.weighting else None)
    refuse_negative(queries, nearest)
    scores = cb.CatBoost.predict(model, pool, prediction_type="RawFormulaVal", ntree_end=n_trees)
    queries, scores = bind(queries, scores, convention, {})
    held = as_held(queries, scores, *changed, *_unknown_weights(model, pool, nearest, weights, n_trees))
    routes = list(_routes(model, pool, nearest, n_trees, dataset))
    return compare(CATBOOST, routes, held, declared=convention, nearest=nearest)


def _refuse_untrained(model: Any, pool: Any, iteration: int | None) -> int:
    """How many trees are asked for."""
    if not isinstance(model, cb.CatBoost) or not isinstance(pool, cb.Pool):
        msg = (
            f"check_model takes a CatBoost model and a Pool, not {type(model).__name__} and {type(pool).__name__}.\n"
            "Hint: check_model(model, catboost.Pool(X, labels, group_id=qid), convention)."
        )
        raise InputError(msg)
    if not model.is_fitted():
        msg = "the model is not trained, so it has no scores.\nHint: model.fit(pool) first."
        raise InputError(msg)
    trees = int(model.tree_count_)
    if iteration is None:
        return trees
    if not is_whole(iteration) or not 0 <= int(iteration) < trees:
        msg = f"iteration={iteration!r}, but the model has the iterations 0 to {trees - 1}.\nHint: None is its last."
        raise InputError(msg)
    return int(iteration) + 1


def _labels(pool: cb.Pool) -> Array:
    found = pool.get_label()
    if found is None or np.ndim(found) != 1:
        what = "no labels" if found is None else f"labels of shape {np.shape(found)}"
        msg = f"the Pool has {what}, but one label per row is needed.\nHint: catboost.Pool(X, labels, group_id=qid)."
        raise InputError(msg)
    return np.asarray(found, np.float64)


def _labels_seen(model: Any, pool: cb.Pool) -> Iterator[Any]:
    """Give the labels as the model's own metrics see them, and a note where that is not as the Pool has them."""
    labels, border = _labels(pool), model.get_all_params().get("target_border")
    if border is None:
        yield labels
        return
    yield (labels > np.float32(border)).astype(np.float64)
    yield f"labels above {border:g} are 1 and the others 0, as the model's target_border makes them."


def _same_groups(qid: object, hashes: Array) -> Array:
    ids = np.asarray(qid)
    same_length("qid", ids, len(hashes))
    change = ids[1:] != ids[:-1]
    other = np.flatnonzero(change != (hashes[1:] != hashes[:-1]))
    if other.size:
        row = int(other[0]) + 1
        whose = (
            ("qid begins a query", "the Pool does not")
            if change[row - 1]
            else ("the Pool begins a group", "qid does not")
        )
        msg = f"at row {row} {whose[0]} but {whose[1]}.\nHint: the qid that the Pool was given as group_id."
        raise InputError(msg)
    return ids


def _routes(model: Any, pool: Any, nearest: Convention, n_trees: int, dataset: str | None) -> Iterator[Route]:
    metric = presets.catboost.spell(nearest)

    def staged(queries: Queries, _: Array) -> float:
        steps = {"ntree_end": n_trees, "eval_period": n_trees}
        *_, last = cb.CatBoost.staged_predict(model, pool, prediction_type="RawFormulaVal", **steps)
        return ask(queries, np.asarray(last), metric)

    yield Route(source=f"model.predict and catboost.utils.eval_metric {metric}", ask=lambda q, s: ask(q, s, metric))
    yield Route(source=f"model.staged_predict and catboost.utils.eval_metric {metric}", ask=staged, apart=False)
    yield Route(
        source=f"model.eval_metrics {metric}", ask=lambda *_: _eval_metrics(model, pool, metric, n_trees), apart=False
    )
    if dataset is not None:
        key, value = _logged(model, nearest, dataset, n_trees)
        yield Route(source=f"log of {dataset}, iteration {n_trees - 1}, {key}", ask=lambda *_: value, apart=False)


def _eval_metrics(model: Any, pool: Any, metric: str, n_trees: int) -> float:
    [values] = model.eval_metrics(pool, [metric], ntree_end=n_trees, eval_period=n_trees, thread_count=1).values()
    return float(values[-1])


def _logged(model: Any, nearest: Convention, dataset: str, n_trees: int) -> tuple[str, float]:
    log = model.get_evals_result()
    if dataset not in log:
        msg = f"the training logged no {dataset!r}, but {sorted(log)}.\nHint: fit(train, eval_set=pool)."
        raise InputError(msg)
    for key, values in log[dataset].items():
        try:
            logged = read_metric(key)
        except ConventionError:
            continue  # another metric
        # Whether weights count is not always in the key, nor was it said: the values decide.
        if logged.replace(average="query") == nearest.replace(average="query"):
            return key, float(values[n_trees - 1])
    plain = presets.catboost.spell(nearest, group_weights=False)
    msg = (
        f"the log of {dataset!r} has {sorted(log[dataset])}, none of which is {presets.catboost.spell(nearest)}.\n"
        f"Hint: CatBoostRanker(custom_metric=[{plain!r} + ';hints=skip_train~false'])."
    )
    raise InputError(msg)


def _unknown_weights(
    model: Any, pool: Any, nearest: Convention, weights: Array | None, n_trees: int
) -> tuple[str, ...]:
    """Find group weights that the Pool has and nobody told: CatBoost's values with and without them differ."""
    if weights is not None or nearest.weighting is None:
        return ()
    weighted, plain = (
        _eval_metrics(model, pool, presets.catboost.spell(nearest.replace(average=average)), n_trees)
        for average in ("query", "uniform")
    )
    if weighted == plain:
        return ()
    return ("The Pool has group weights, which cannot be read back, so ours is without them; pass group_weight=.",)


def _without_groups(model: Any, pool: Any, labels: Array, nearest: Convention, qid: object) -> ParityReport:
    """Say what CatBoost does with a Pool that has no groups, by asking it."""
    metric = presets.catboost.spell(nearest)
    try:
        value, said = (
            _eval_metrics(model, pool, metric, int(model.tree_count_)),
            "gives the value of all rows as one query",
        )
    except cb.CatBoostError as error:
        value, said = None, f"refuses it: {sentence(error)}"
    ours = None
    if qid is not None:
        same_length("qid", np.asarray(qid), labels.size)
        queries = Queries(labels, qid=qid)
        held = as_held(queries, cb.CatBoost.predict(model, pool, prediction_type="RawFormulaVal"))
        ours = value_of(held.queries, held.scores, nearest)
    reason = f"The Pool has no group ids, and CatBoost {said}.\nHint: catboost.Pool(X, labels, group_id=qid)."
    row = ParityRow.not_comparable(
        f"model.eval_metrics {metric}", CATBOOST.version, nearest, value=value, our_value=ours, reason=reason
    )
    return ParityReport((row,), "the Pool has no group ids")
