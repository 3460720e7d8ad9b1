"""scikit-learn's machinery around our objects: what it must refuse at once, and what it changes in copies."""

import warnings

import numpy as np
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from sklearn.ensemble import StackingRegressor  # noqa: E402
from sklearn.inspection import permutation_importance  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    cross_validate,
    learning_curve,
)

from tests.helpers.rankings import ranking  # noqa: E402 - after the skip

DATA, CONV = ranking(3, 20), ra.presets.textbook(5)
GRID = {"alpha": [1.0, 2.0]}
XY = {"X": DATA.X, "y": DATA.y}
QueryKFold, QueryRanker = ra.sklearn.QueryKFold, ra.sklearn.QueryRanker

CALLS = {
    "GridSearchCV": lambda scoring: GridSearchCV(Ridge(), GRID, scoring=scoring).fit(**XY),
    "cross_validate of several": lambda scoring: cross_validate(
        Ridge(), **XY, scoring={"a": scoring, "b": "r2"}, params={}
    ),
    "learning_curve": lambda scoring: learning_curve(Ridge(), **XY, scoring=scoring),
    "permutation_importance": lambda scoring: permutation_importance(Ridge().fit(**XY), **XY, scoring=scoring),
}


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_convention_in_place_of_a_scorer_fails_at_once(call, routing):
    with sklearn.config_context(enable_metadata_routing=routing), warnings.catch_warnings():
        warnings.simplefilter("error")  # scikit-learn would warn of each score that failed
        with pytest.raises(ra.RankAdaptersError, match=r"NDCG declares fields.*\nHint: .*query_scorer\(conv\)"):
            call(CONV)


def test_a_seed_without_a_shuffle_is_still_refused():
    with pytest.raises(ra.InputError, match="random_state has no effect if shuffle=False"):
        list(QueryKFold(3).set_params(random_state=0).split(DATA.X, DATA.y, DATA.qid))


@pytest.mark.parametrize("options", [{}, {"eval_metric": CONV, "validation_fraction": 0.3}])
@pytest.mark.parametrize("objective", [None, ra.objectives.lambdarank(CONV, truncation=5)])
@pytest.mark.parametrize("params", [{}, {"metric": "map", "first_metric_only": False}])
def test_a_fitted_ranker_gains_no_parameters(options, objective, params):
    lgb = pytest.importorskip("lightgbm")
    ranker = lgb.LGBMRanker(n_estimators=2, n_jobs=1, verbosity=-1, **params)
    fitted = QueryRanker(ranker, objective=objective, **options).fit(**XY, qid=DATA.qid).estimator_
    assert fitted.get_params().keys() == ranker.get_params().keys()
    assert fitted.get_params().get("metric") == params.get("metric")
    assert ("metric" in vars(fitted)) == (params.get("metric") is not None)


def test_an_estimator_that_predicts_only_once_it_is_fitted_is_accepted():
    stack = StackingRegressor([("ridge", Ridge()), ("weak", Ridge(100.0))])
    for estimator in (stack, sklearn.pipeline.make_pipeline(stack)):
        assert QueryRanker(estimator).fit(**XY, qid=DATA.qid).predict(DATA.X).shape == DATA.y.shape
    for transformer in (sklearn.preprocessing.StandardScaler(), sklearn.pipeline.make_pipeline("passthrough")):
        with pytest.raises(ra.InputError, match="has no "):
            QueryRanker(transformer).fit(**XY, qid=DATA.qid)


def test_catboosts_arguments_reach_it_with_metadata_routing_too():
    cb = pytest.importorskip("catboost")
    ranker = cb.CatBoostRanker(iterations=2, thread_count=1, verbose=False, allow_writing_files=False)
    baseline = np.random.default_rng(0).normal(size=DATA.y.size)
    models = []
    for routing in (False, True):
        with sklearn.config_context(enable_metadata_routing=routing):
            models.append(QueryRanker(ranker).fit(**XY, qid=DATA.qid, baseline=baseline).predict(DATA.X))
    np.testing.assert_array_equal(*models)
    assert not np.array_equal(models[0], QueryRanker(ranker).fit(**XY, qid=DATA.qid).predict(DATA.X))
