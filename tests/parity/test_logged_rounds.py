"""Which entry of a training's log a trained model is compared with, and the data it is compared on."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

SIZES = [20] * 10
QID = np.repeat(np.arange(10), 20)
PARAMS = {
    "objective": "lambdarank", "metric": "ndcg", "eval_at": [5], "bagging_fraction": 0.5, "bagging_freq": 1,
    "min_data_in_leaf": 20, "verbosity": -1, "seed": 0, "num_threads": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.random((200, 3)), rng.integers(0, 3, 200)


def trained(data, n_rounds=40, init_model=None, *, free_raw_data=True, **params):
    dataset = lgb.Dataset(data[0], data[1], group=SIZES, free_raw_data=free_raw_data)
    log = {}
    model = lgb.train(
        PARAMS | params, dataset, n_rounds, valid_sets=[dataset], valid_names=["train"], init_model=init_model,
        callbacks=[lgb.record_evaluation(log)],
    )  # fmt: skip
    return model, log, dataset


def logged(data, model, log, **options):
    checked = ra.lightgbm.check_model(model, (*data, QID), "lightgbm@5", dataset="train", log=log, **options)
    return checked.rows[1]


@pytest.mark.parametrize(("boosting", "seed"), [("gbdt", 0), ("dart", 3)])
def test_a_model_of_fewer_trees_than_rounds_is_compared_with_the_last_round(data, boosting, seed):
    model, log, _ = trained(data, boosting=boosting, min_gain_to_split=1.0, drop_rate=0.5, seed=seed)
    assert model.current_iteration() < 40  # rounds that find no split are logged and make no tree
    row = logged(data, model, log)
    assert row.verdict == "equal"
    assert row.value == log["train"]["ndcg@5"][-1] != log["train"]["ndcg@5"][model.current_iteration() - 1]


@pytest.mark.parametrize("iteration", [None, 7])
def test_a_training_that_went_on_logged_its_later_rounds_only(data, iteration):
    before, _, _ = trained(data, 5)
    model, log, _ = trained(data, 6, before)
    row = logged(data, model, log, iteration=iteration)
    assert row.verdict == "equal"
    assert row.value == log["train"]["ndcg@5"][-1 if iteration is None else 2]


@pytest.mark.parametrize("iteration", [0, 4])
def test_a_round_before_the_log_is_refused(data, iteration):
    before, _, _ = trained(data, 5)
    model, log, _ = trained(data, 6, before)
    with pytest.raises(ra.InputError, match=rf"iteration {iteration} was not logged: the log has the iterations 5 to "):
        logged(data, model, log, iteration=iteration)


def test_a_log_of_an_earlier_round_of_dart_is_said_to_be_of_other_scores(data):
    model, log, _ = trained(data, 10, boosting_type="dart", drop_rate=0.5)
    row = logged(data, model, log, iteration=3)
    assert row.reason.startswith("DART has rescaled the first 4 iterations' trees since")
    assert "DART" not in logged(data, model, log).reason


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # from 3.4 on DART is deprecated
def test_an_earlier_round_of_dart_in_xgboost_too(data):
    matrix, log = xgb.DMatrix(*data, qid=QID), {}
    params = {"objective": "rank:ndcg", "eval_metric": "ndcg@5", "booster": "dart", "rate_drop": 0.5, "nthread": 1}
    model = xgb.train(params, matrix, 10, evals=[(matrix, "train")], evals_result=log, verbose_eval=False)
    report = ra.xgboost.check_model(model, matrix, "xgboost@5", dataset="train", log=log, iteration=3)
    assert all(row.reason.startswith("DART has rescaled the first 4") for row in report.rows)
    assert ra.xgboost.check_model(model, matrix, "xgboost@5", dataset="train", log=log).ok


@pytest.mark.parametrize("is_constructed", [True, False])
def test_a_dataset_that_has_its_features_is_checked(data, is_constructed):
    model, log, dataset = trained(data, 5, free_raw_data=False)
    weights = np.repeat(np.arange(1.0, 11), 20)
    weighted = lgb.Dataset(*data, group=SIZES, weight=weights, free_raw_data=False)
    report = ra.lightgbm.check_model(model, weighted.construct() if is_constructed else weighted, "lightgbm@5")
    expected = ra.evaluate(
        data[1], model.predict(data[0], raw_score=True), "lightgbm@5", qid=QID, query_weight=np.arange(1.0, 11)
    )
    assert (report.ok, report.rows[0].our_value) == (True, expected.value)
    assert ra.lightgbm.check_model(model, dataset, "lightgbm@5", dataset="train", log=log).ok


def test_a_part_of_a_dataset_is_checked(data):
    model, _, dataset = trained(data, 5, free_raw_data=False)
    part = dataset.subset(range(40)).construct()
    report = ra.lightgbm.check_model(model, part, "lightgbm@5")
    expected = ra.lightgbm.check_model(model, (data[0][:40], data[1][:40], QID[:40]), "lightgbm@5")
    assert (report.ok, report.rows[0].value) == (True, expected.rows[0].value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"free_raw_data": True},
            r"the Dataset has no features: .*\nHint: .*free_raw_data=False",
        ),
        ({"group": None}, r"the Dataset has no group"),
    ],
)
def test_a_dataset_that_lacks_something_is_refused(data, change, message):
    model, _, _ = trained(data, 2)
    dataset = lgb.Dataset(*data, **({"group": SIZES, "free_raw_data": False} | change))
    with pytest.raises(ra.InputError, match=message):
        ra.lightgbm.check_model(model, dataset.construct(), "lightgbm@5")


def test_a_dataset_without_groups_is_refused_before_it_is_constructed(data):
    model, _, _ = trained(data, 2)
    with pytest.raises(ra.InputError, match="the Dataset has no group"):
        ra.lightgbm.check_model(model, lgb.Dataset(*data), "lightgbm@5")
