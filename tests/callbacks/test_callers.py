"""An adapter that another toolkit calls, or that is passed in the wrong argument, names what to pass instead."""

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")
cb = pytest.importorskip("catboost")
sklearn = pytest.importorskip("sklearn")

DATA, CONV = ranking(1, 10), ra.presets.textbook(5)
LOSS = ra.objectives.QueryRMSE()
SETS = {"eval_set": [(DATA.X, DATA.y)], "eval_group": [DATA.sizes]}
LGBM = {"verbosity": -1, "num_threads": 1, "metric": "None"}

ADAPTERS = {
    "LightGBM's metric": ra.lightgbm.eval_metric(CONV),
    "XGBoost's metric": ra.xgboost.eval_metric(CONV),
    "XGBoost's callback": ra.xgboost.EvalCallback(CONV, [((DATA.X, DATA.y, DATA.qid), "valid")]),
    "CatBoost's metric": ra.catboost.eval_metric(CONV, [(DATA.y, DATA.qid)]),
    "scikit-learn's scorer": ra.sklearn.query_scorer(CONV),
}
OBJECTIVES = {"LightGBM's": ra.lightgbm.objective(LOSS), "XGBoost's": ra.xgboost.objective(LOSS)}


def lgb_train(callbacks=(), **options):
    data = lgb.Dataset(DATA.X, DATA.y, group=DATA.sizes)
    params = {**LGBM, "objective": options.pop("objective", "lambdarank")}
    lgb.train(params, data, 1, valid_sets=[data], callbacks=list(callbacks), **options)


def lgbm_ranker(objective="lambdarank", **options):
    ranker = lgb.LGBMRanker(n_estimators=1, verbosity=-1, objective=objective)
    ranker.fit(DATA.X, DATA.y, group=DATA.sizes, **SETS, **options)


def xgb_train(**options):
    data = xgb.DMatrix(DATA.X, DATA.y, qid=DATA.qid)
    xgb.train({"nthread": 1, "verbosity": 0}, data, 1, evals=[(data, "train")], verbose_eval=False, **options)


def xgb_ranker(metric):
    ranker = xgb.XGBRanker(n_estimators=1, n_jobs=1, eval_metric=metric)
    ranker.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=SETS["eval_set"], eval_qid=[DATA.qid])


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize(
    ("adapter", "call", "hint"),
    [
        ("XGBoost's metric", lambda metric: lgb_train(feval=metric), r"ra\.lightgbm\.eval_metric"),
        ("XGBoost's metric", lambda metric: lgb_train([metric]), r"ra\.lightgbm\.eval_metric"),
        ("XGBoost's metric", lambda metric: lgbm_ranker(eval_metric=metric), r"ra\.lightgbm\.eval_metric"),
        ("XGBoost's metric", xgb_ranker, "EvalCallback"),
        ("XGBoost's callback", lambda metric: lgb_train(feval=metric), r"ra\.lightgbm\.eval_metric"),
        ("XGBoost's callback", lambda metric: lgbm_ranker(eval_metric=metric), "callbacks="),
        ("CatBoost's metric", lambda metric: lgb_train(feval=metric), r"ra\.lightgbm\.eval_metric"),
        ("CatBoost's metric", lambda metric: lgbm_ranker(eval_metric=metric), r"ra\.lightgbm\.eval_metric"),
        ("CatBoost's metric", lambda metric: xgb_train(custom_metric=metric), r"ra\.xgboost\.eval_metric"),
        ("CatBoost's metric", xgb_ranker, r"ra\.xgboost\.eval_metric"),
        ("LightGBM's metric", lambda metric: lgb_train([metric]), "feval=metric"),
        ("LightGBM's metric", lambda metric: xgb_train(custom_metric=metric), r"ra\.xgboost\.eval_metric"),
        ("LightGBM's metric", xgb_ranker, r"QueryRanker\(XGBRanker\(\), eval_metric=\)"),
        ("scikit-learn's scorer", lambda metric: lgb_train(feval=metric), r"ra\.lightgbm\.eval_metric"),
        ("scikit-learn's scorer", lambda metric: xgb_train(custom_metric=metric), r"ra\.xgboost\.eval_metric"),
        ("scikit-learn's scorer", xgb_ranker, "scoring=scorer"),
    ],
)
def test_a_metric_in_the_wrong_place_names_the_right_one(adapter, call, hint):
    with pytest.raises(ra.InputError, match=rf"\nHint: (.|\n)*{hint}"):
        call(ADAPTERS[adapter])


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize(
    ("adapter", "call", "hint"),
    [
        ("XGBoost's", lambda objective: lgb_train(objective=objective), r"ra\.lightgbm\.objective"),
        ("XGBoost's", lgbm_ranker, r"ra\.lightgbm\.objective"),
        ("LightGBM's", lambda objective: xgb_train(obj=objective), r"ra\.xgboost\.objective"),
    ],
)
def test_an_objective_of_another_toolkit_names_the_right_one(adapter, call, hint):
    with pytest.raises(ra.InputError, match=rf"\nHint: (.|\n)*{hint}"):
        call(OBJECTIVES[adapter])


@pytest.mark.parametrize("adapter", ["LightGBM's metric", "XGBoost's metric", "CatBoost's metric", *OBJECTIVES])
def test_an_adapter_as_scoring_fails_at_once(adapter):
    scoring = (ADAPTERS | OBJECTIVES)[adapter]
    search = sklearn.model_selection.GridSearchCV(sklearn.linear_model.Ridge(), {"alpha": [1.0, 2.0]}, scoring=scoring)
    with pytest.raises(ra.RankAdaptersError, match=r"is no scorer of scikit-learn.\nHint: scoring=.*query_scorer"):
        search.fit(DATA.X, np.arange(DATA.y.size))
