"""A trained model's own metric is what its own parameters make of it."""

from __future__ import annotations

import pytest

import rankadapters as ra
from tests.helpers.ranking_data import ranking

ROUNDS = 4


def lgb_model(valid, **params):
    lgb = pytest.importorskip("lightgbm")
    train, log = ranking(0), {}
    first = lgb.Dataset(train.X, train.y, group=train.sizes)
    second = lgb.Dataset(valid.X, valid.y, group=valid.sizes, reference=first)
    given = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [5], "num_threads": 1, "verbosity": -1, **params}
    return lgb.train(given, first, ROUNDS, [second], ["valid"], callbacks=[lgb.record_evaluation(log)]), log


def reloaded(booster):
    return type(booster)(model_str=booster.model_to_string())


@pytest.mark.parametrize("gains", [[0, 1, 9, 10, 11], "0,1,9,10,11"])
@pytest.mark.parametrize("load", [lambda booster: booster, reloaded])
def test_the_models_own_label_gain_decides_what_its_ndcg_is(gains, load):
    valid = ranking(1)
    booster, log = lgb_model(valid, label_gain=gains)
    data, booster = (valid.X, valid.y, valid.qid), load(booster)
    own = ra.presets.lightgbm(5, label_gain=[0, 1, 9, 10, 11])
    report = ra.lightgbm.check_model(booster, data, own, dataset="valid", log=log)
    report.raise_if_failed()
    assert report.rows[0].value == pytest.approx(log["valid"]["ndcg@5"][-1], abs=1e-12)
    message = r"trained under gain='table_0_1_9_10_11', where label 2 has 9, not gain='exp2', where it has 3"
    with pytest.raises(ra.InputError, match=message):
        ra.lightgbm.check_model(booster, data, ra.presets.lightgbm(5))


def test_gains_that_are_the_same_on_this_data_are_no_other_metric():
    valid = ranking(1)
    booster, log = lgb_model(valid, label_gain=[0, 1, 3, 7, 15, 1000])
    assert valid.y.max() < 5
    data = (valid.X, valid.y, valid.qid)
    assert ra.lightgbm.check_model(booster, data, ra.presets.lightgbm(5), dataset="valid", log=log).ok


def test_a_convention_of_other_gains_than_lightgbms_default_is_refused_by_name():
    valid = ranking(1)
    booster, _ = lgb_model(valid)
    with pytest.raises(ra.InputError, match="trained under gain='exp2', where label 2 has 3, not gain='linear'"):
        ra.lightgbm.check_model(booster, (valid.X, valid.y, valid.qid), ra.presets.sklearn(5))


@pytest.mark.parametrize("metric", ["map", "auc"])
def test_label_gain_says_nothing_of_lightgbms_other_metrics(metric):
    valid = ranking(1)
    booster, _ = lgb_model(valid, label_gain=[0, 1, 9, 10, 11])
    convention = ra.presets.lightgbm.map(5) if metric == "map" else ra.presets.lightgbm.auc()
    assert ra.lightgbm.check_model(booster, (valid.X, valid.y, valid.qid), convention).ok


@pytest.mark.parametrize("load", ["", "json"])
@pytest.mark.parametrize("objective", ["rank:ndcg", "reg:squarederror"])
def test_xgboosts_own_ndcg_exp_gain_decides_what_its_ndcg_is(load, objective, tmp_path):
    xgb = pytest.importorskip("xgboost")
    valid, log = ranking(1), {}
    matrix = xgb.DMatrix(valid.X, valid.y, qid=valid.qid)
    params = {"objective": objective, "ndcg_exp_gain": False, "eval_metric": "ndcg@5", "nthread": 1, "verbosity": 0}
    booster = xgb.train(params, matrix, ROUNDS, evals=[(matrix, "set")], evals_result=log, verbose_eval=False)
    if load:
        booster.save_model(tmp_path / "model.json")
        booster = xgb.Booster(model_file=tmp_path / "model.json")
    linear = ra.presets.xgboost(5, ndcg_exp_gain=False)
    report = ra.xgboost.check_model(booster, matrix, linear, dataset="set", log=log)
    report.raise_if_failed()
    assert report.rows[-1].value == log["set"]["ndcg@5"][-1]
    if load and objective != "rank:ndcg":  # such a model file holds no parameter of its metric
        return
    with pytest.raises(ra.InputError, match="under gain='linear', where label 2 has 2, not gain='exp2-floor'"):
        ra.xgboost.check_model(booster, matrix, ra.presets.xgboost(5))
    binary = xgb.DMatrix(valid.X, valid.y > 1, qid=valid.qid)
    assert ra.xgboost.check_model(booster, binary, ra.presets.xgboost(5)).ok
