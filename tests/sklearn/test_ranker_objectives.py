"""Objectives of one's own in QueryRanker."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from rankadapters.sklearn import QueryKFold, QueryRanker, query_scorer  # noqa: E402
from tests.helpers.tables import for_each  # noqa: E402
from tests.helpers.toolkit_rankers import (  # noqa: E402 - after the skip
    CONV,
    DATA,
    RANKERS,
    ROUNDS,
    ROW_WEIGHTS,
    SHUFFLED,
    VALID,
    VALID_SET,
    catboost,
    lightgbm,
    xgboost,
)


def squared(preds, dtrain):
    """Squared error, told to XGBoost as `obj=`."""
    return preds - dtrain.get_label(), np.ones_like(preds)


def test_xgboost_is_trained_by_a_callable_objective():
    xgb = pytest.importorskip("xgboost")
    model = QueryRanker(xgboost(max_depth=3).set_params(objective=squared))
    model.fit(DATA.X[SHUFFLED], DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    queries = ra.Queries(DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    rows, sizes = SHUFFLED[queries.order], np.diff(queries.indptr)
    matrix = xgb.DMatrix(DATA.X[rows], DATA.y[rows], qid=np.repeat(np.arange(sizes.size), sizes))
    booster = xgb.train({"max_depth": 3, "nthread": 1}, matrix, ROUNDS, obj=squared)
    fitted = model.estimator_
    assert (model.predict(DATA.X) == booster.predict(xgb.DMatrix(DATA.X))).all()
    assert (fitted.objective, fitted.n_features_in_, fitted.max_depth) == (squared, 5, 3)
    assert model.feature_importances_.sum() == pytest.approx(1)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(DATA.X) == model.predict(DATA.X)).all()


def test_a_callable_objective_is_copied_searched_and_stopped():
    inner = make_pipeline(StandardScaler(), xgboost(n_estimators=100, early_stopping_rounds=3, learning_rate=0.9))
    model = QueryRanker(inner, eval_metric=CONV, validation_fraction=0.25)
    model.set_params(estimator__xgbranker__objective=squared)
    copied = clone(model)
    assert copied.estimator[-1] is not inner[-1]
    assert copied.estimator[-1].objective is squared
    with sklearn.config_context(enable_metadata_routing=True):
        grid = {"estimator__xgbranker__max_depth": [2]}
        search = GridSearchCV(model, grid, scoring=query_scorer(CONV), cv=QueryKFold(3), error_score="raise")
        search.fit(DATA.X, DATA.y, qid=DATA.qid)
    best = search.best_estimator_
    values = [entry.value for entry in best.history_]
    assert len(values) == np.argmax(values) + 1 + 3 < 100
    assert best.estimator_[-1].best_iteration == np.argmax(values)


def test_a_callable_objective_beside_xgboosts_own_metric():
    inner = xgboost(early_stopping_rounds=2, eval_metric="ndcg@5").set_params(objective=squared)
    model = QueryRanker(inner).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)
    assert list(model.estimator_.evals_result()["validation_0"]) == ["ndcg@5"]
    inner.set_params(eval_metric=lambda y, s: 0.0)
    message = r"eval_metric and objective are both callables.*\nHint: QueryRanker\(eval_metric=\)"
    with pytest.raises(ra.InputError, match=message):
        QueryRanker(inner).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)


def regressing(y_true, y_pred, weight, group):
    """Squared error, told to LGBMRanker as `objective=`."""
    return y_pred - y_true, np.ones_like(y_pred)


def test_lightgbm_takes_a_callable_objective_itself():
    model = QueryRanker(lightgbm(objective=regressing)).fit(DATA.X, DATA.y, qid=DATA.qid)
    hand = lightgbm(objective=regressing).fit(DATA.X, DATA.y, group=DATA.sizes)
    assert (model.predict(DATA.X) == hand.predict(DATA.X)).all()


LAMBDARANK = ra.objectives.LambdaRank(
    convention=ra.presets.yahoo(5).replace(average="query"), truncation=5, samples=None, beyond_k="keep", sigma=1,
    normalization="lightgbm", hessian="plain", sigmoid="exact",
)  # fmt: skip


def by_hand(make, weights):
    """Scores of what the toolkit trains when it is handed the objective in its own words."""
    if make is catboost:
        cb = pytest.importorskip("catboost")
        train = cb.Pool(DATA.X, DATA.y, group_id=DATA.qid, group_weight=weights)
        params = {"iterations": ROUNDS, "thread_count": 1, "random_seed": 0}
        return ra.catboost.train(params, train, LAMBDARANK).predict(DATA.X)
    toolkit = {lightgbm: "lightgbm", xgboost: "xgboost"}[make]
    objective = getattr(ra, toolkit).objective(LAMBDARANK)
    model = QueryRanker(make().set_params(objective=objective))
    return model.fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weights).predict(DATA.X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", RANKERS)
def test_one_objective_trains_every_ranker(make, weighted):
    weights = ROW_WEIGHTS if weighted else None
    model = QueryRanker(make(), objective=LAMBDARANK).fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weights)
    expected = by_hand(make, weights)
    np.testing.assert_array_equal(model.predict(DATA.X), expected)
    plain = QueryRanker(make()).fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weights)
    assert (plain.predict(DATA.X) != expected).any()
    assert not hasattr(model, "history_")
    assert model.feature_importances_.size == 5
    refitted = clone(model).fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weights)
    for again in (pickle.loads(pickle.dumps(model)), refitted):
        np.testing.assert_array_equal(again.predict(DATA.X), expected)
        assert again.objective == LAMBDARANK


@pytest.mark.parametrize("make", RANKERS)
def test_an_objective_is_stopped_by_the_declared_metric(make):
    rounds = {catboost: "iterations"}.get(make, "n_estimators")
    inner = make(**{rounds: 100, "learning_rate": 0.5}, early_stopping_rounds=3)
    model = QueryRanker(inner, objective=LAMBDARANK, eval_metric=CONV)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[VALID_SET])
    values = [entry.value for entry in model.history_]
    name = {"lightgbm": "valid_0", "xgboost": "validation_0"}.get(make.__name__, "validation")
    assert {(entry.dataset, entry.convention) for entry in model.history_} == {(name, CONV)}
    assert len(values) == np.argmax(values) + 1 + 3 < 100
    if make is catboost:
        assert model.estimator_.tree_count_ == np.argmax(values) + 1
        scores = model.predict(VALID.X)
        assert ra.evaluate(VALID.y, scores, CONV, qid=VALID.qid).value == max(values)


def test_catboost_takes_an_objective_in_a_pipeline_a_search_and_with_categories():
    features = DATA.X.astype(int)
    model = QueryRanker(catboost(cat_features=[0], one_hot_max_size=10), objective=LAMBDARANK)
    model.fit(features, DATA.y, qid=DATA.qid, verbose=False)
    assert model.estimator_.get_cat_feature_indices() == [0]
    piped = QueryRanker(make_pipeline(StandardScaler(), catboost()), objective=LAMBDARANK, convention=CONV)
    with sklearn.config_context(enable_metadata_routing=True):
        grid = {"objective": [LAMBDARANK, ra.objectives.QueryRMSE()]}
        search = GridSearchCV(piped, grid, scoring=query_scorer(CONV), cv=QueryKFold(3), error_score="raise")
        search.fit(DATA.X, DATA.y, qid=DATA.qid)
    assert search.best_params_["objective"] in grid["objective"]


TOLD = {"objective": LAMBDARANK}


@for_each(
    ("estimator", "options", "fit", "message"),
    [
        (catboost, {"objective": CONV}, {}, "is not an objective"),
        (catboost, TOLD, {"eval_set": [VALID_SET]}, "no convention (.|\n)*Hint: QueryRanker.eval_m"),
        (catboost, TOLD, {"group_id": DATA.qid}, "QueryRanker sets group_id= itself"),
        (catboost, TOLD, {"metric_period": 5}, "metric_period=5 cannot be used"),
        (LinearRegression, TOLD, {}, "LinearRegression cannot train an objective"),
    ],
)
def test_an_objective_that_cannot_be_trained_is_refused(estimator, options, fit, message):
    pytest.importorskip("catboost")
    with pytest.raises((ra.InputError, ra.ConventionError), match=message):
        QueryRanker(estimator(), **options).fit(DATA.X, DATA.y, qid=DATA.qid, **fit)
