"""Objectives of one's own in QueryRanker."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from rankadapters.sklearn import QueryKFold, QueryRanker, query_scorer  # noqa: E402
from tests.sklearn_rankers import (  # noqa: E402 - after the skip
    CONV,
    DATA,
    ROUNDS,
    SHUFFLED,
    VALID_SET,
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


def test_declared_objectives_train_both_toolkits():
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    letor = ra.presets.letor4(5)
    of_lightgbm = ra.lightgbm.lambdarank(letor, truncation=5)
    first = QueryRanker(lightgbm(objective=of_lightgbm)).fit(DATA.X, DATA.y, qid=DATA.qid)
    hand = lightgbm(objective=of_lightgbm).fit(DATA.X, DATA.y, group=DATA.sizes)
    assert (first.predict(DATA.X) == hand.predict(DATA.X)).all()
    of_xgboost = ra.xgboost.lambdarank(letor, truncation=5)
    second = QueryRanker(xgboost()).set_params(estimator__objective=of_xgboost).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert (clone(second).fit(DATA.X, DATA.y, qid=DATA.qid).predict(DATA.X) == second.predict(DATA.X)).all()
    plain = QueryRanker(xgboost()).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert (plain.predict(DATA.X) != second.predict(DATA.X)).any()


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
    with pytest.raises(ra.InputError, match=r"eval_metric is a callable[^\0]*\nHint: QueryRanker\(eval_metric=\)"):
        QueryRanker(inner).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)


def regressing(y_true, y_pred, weight, group):
    """Squared error, told to LGBMRanker as `objective=`."""
    return y_pred - y_true, np.ones_like(y_pred)


def test_lightgbm_takes_a_callable_objective_itself():
    model = QueryRanker(lightgbm(objective=regressing)).fit(DATA.X, DATA.y, qid=DATA.qid)
    hand = lightgbm(objective=regressing).fit(DATA.X, DATA.y, group=DATA.sizes)
    assert (model.predict(DATA.X) == hand.predict(DATA.X)).all()
