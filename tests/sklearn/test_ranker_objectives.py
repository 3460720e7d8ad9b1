"""QueryRanker with callable objectives and with our declared objectives."""

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
from tests.helpers.toolkit_rankers import (  # noqa: E402 - after the skip
    CONV,
    DATA,
    ROUNDS,
    SHUFFLED,
    VALID,
    VALID_SET,
    catboost,
    lightgbm,
    xgboost,
)


def xgboost_squared_error(preds, dtrain):
    """Return the gradient and Hessian of the squared error, in XGBoost's form for `obj=`."""
    return preds - dtrain.get_label(), np.ones_like(preds)


def test_xgboost_trains_a_callable_objective():
    xgb = pytest.importorskip("xgboost")
    model = QueryRanker(xgboost(max_depth=3).set_params(objective=xgboost_squared_error))
    model.fit(DATA.X[SHUFFLED], DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    queries = ra.Queries(DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    rows, sizes = SHUFFLED[queries.order], np.diff(queries.indptr)
    matrix = xgb.DMatrix(DATA.X[rows], DATA.y[rows], qid=np.repeat(np.arange(sizes.size), sizes))
    booster = xgb.train({"max_depth": 3, "nthread": 1}, matrix, ROUNDS, obj=xgboost_squared_error)
    fitted = model.estimator_
    assert (model.predict(DATA.X) == booster.predict(xgb.DMatrix(DATA.X))).all()
    assert (fitted.objective, fitted.n_features_in_, fitted.max_depth) == (xgboost_squared_error, 5, 3)
    assert model.feature_importances_.sum() == pytest.approx(1)
    unpickled = pickle.loads(pickle.dumps(model))
    assert (unpickled.predict(DATA.X) == model.predict(DATA.X)).all()


def test_a_callable_objective_works_with_clone_search_and_early_stopping():
    pipeline = make_pipeline(StandardScaler(), xgboost(n_estimators=100, early_stopping_rounds=3, learning_rate=0.9))
    model = QueryRanker(pipeline, eval_metric=CONV, validation_fraction=0.25)
    model.set_params(estimator__xgbranker__objective=xgboost_squared_error)
    cloned = clone(model)
    assert cloned.estimator[-1] is not pipeline[-1]
    assert cloned.estimator[-1].objective is xgboost_squared_error
    with sklearn.config_context(enable_metadata_routing=True):
        grid = {"estimator__xgbranker__max_depth": [2]}
        search = GridSearchCV(model, grid, scoring=query_scorer(CONV), cv=QueryKFold(3), error_score="raise")
        search.fit(DATA.X, DATA.y, qid=DATA.qid)
    best = search.best_estimator_
    values = [entry.value for entry in best.history_]
    assert len(values) == np.argmax(values) + 1 + 3 < 100
    assert best.estimator_[-1].best_iteration == np.argmax(values)


def test_a_callable_objective_refuses_a_callable_metric_but_takes_xgboosts_own():
    ranker = xgboost(early_stopping_rounds=2, eval_metric="ndcg@5").set_params(objective=xgboost_squared_error)
    model = QueryRanker(ranker).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)
    assert list(model.estimator_.evals_result()["validation_0"]) == ["ndcg@5"]
    ranker.set_params(eval_metric=lambda y, s: 0.0)
    message = r"eval_metric and objective are both callables.*\nHint: QueryRanker\(eval_metric=\)"
    with pytest.raises(ra.InputError, match=message):
        QueryRanker(ranker).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)


def lightgbm_squared_error(y_true, y_pred, weight, group):
    """Return the gradient and Hessian of the squared error, in LGBMRanker's form for `objective=`."""
    return y_pred - y_true, np.ones_like(y_pred)


def test_lightgbm_trains_a_callable_objective():
    model = QueryRanker(lightgbm(objective=lightgbm_squared_error)).fit(DATA.X, DATA.y, qid=DATA.qid)
    ranker = lightgbm(objective=lightgbm_squared_error).fit(DATA.X, DATA.y, group=DATA.sizes)
    assert (model.predict(DATA.X) == ranker.predict(DATA.X)).all()


LAMBDARANK = ra.objectives.LambdaRank(
    convention=ra.presets.yahoo(5).replace(average="query"), truncation=5, samples=None, beyond_k="keep", sigma=1,
    normalization="lightgbm", hessian="plain", sigmoid="exact",
)  # fmt: skip


def test_the_history_of_catboost_under_an_objective_is_exact():
    """CatBoost's own log of such a model is read from text, which changes the last bit of some values."""
    convention = ra.presets.catboost.query_rmse()
    ranker = catboost(iterations=60, learning_rate=0.5, use_best_model=False)
    model = QueryRanker(ranker, objective=LAMBDARANK, eval_metric=convention)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[VALID_SET])
    staged = model.estimator_.staged_predict(VALID.X)
    expected = [ra.evaluate(VALID.y, scores, convention, qid=VALID.qid).value for scores in staged]
    assert [entry.value for entry in model.history_] == expected
    assert model.estimator_.get_evals_result()["validation"][convention.name] != expected


@pytest.mark.parametrize("in_ranker", [False, True], ids=["of QueryRanker", "of its ranker"])
def test_bagging_by_query_is_refused_under_a_declared_objective(in_ranker):
    objective = ra.objectives.lightgbm.lambdarank()
    ranker = lightgbm(bagging_by_query=True, subsample=0.5, subsample_freq=1)
    if in_ranker:
        ranker.set_params(objective=ra.lightgbm.objective(objective))
    model = QueryRanker(ranker, objective=None if in_ranker else objective)
    with pytest.raises(ra.InputError, match=r"bagging_by_query=True draws queries only for LightGBM's own objectives"):
        model.fit(DATA.X, DATA.y, qid=DATA.qid)
    model.set_params(estimator__bagging_by_query=False).fit(DATA.X, DATA.y, qid=DATA.qid)


def test_an_argument_that_xgboosts_fit_takes_only_without_a_callable_is_refused():
    pytest.importorskip("xgboost")
    model = QueryRanker(xgboost().set_params(objective=xgboost_squared_error))
    with pytest.raises(ra.InputError, match=r"^feature_weights= is not supported with a callable objective"):
        model.fit(DATA.X, DATA.y, qid=DATA.qid, feature_weights=np.ones(5))
