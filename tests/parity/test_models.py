"""`check_model` of LightGBM and XGBoost models: the model's own metric, the entry of its log, and the data."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity.data import dart_note, read_data
from tests.helpers.rankings import Ranking, ranking

ROUNDS = 4
TRAIN, VALID = ranking(0), ranking(1)
RNG = np.random.default_rng(0)
NOISE = Ranking(RNG.random((200, 3)), RNG.integers(0, 3, 200), np.repeat(np.arange(10), 20), np.full(10, 20))
LIGHTGBM = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [5], "num_threads": 1, "verbosity": -1}
BAGGED = {"bagging_fraction": 0.5, "bagging_freq": 1, "min_data_in_leaf": 20, "seed": 0}
XGBOOST = {"objective": "rank:ndcg", "eval_metric": "ndcg@5", "nthread": 1}


def arrays(data, labels=None):
    return data.X, data.y if labels is None else labels, data.qid


def boosted(train=TRAIN, valid=VALID, n_rounds=ROUNDS, init_model=None, **params):
    """Train with LightGBM; return the Booster and its log of `valid`, which may be `train`."""
    lgb = pytest.importorskip("lightgbm")
    train_set, log = lgb.Dataset(train.X, train.y, group=train.sizes, free_raw_data=False), {}
    valid_set = train_set if valid is train else lgb.Dataset(valid.X, valid.y, group=valid.sizes, reference=train_set)
    logger = [lgb.record_evaluation(log)]
    params = {**LIGHTGBM, **params}
    return lgb.train(params, train_set, n_rounds, [valid_set], ["valid"], init_model=init_model, callbacks=logger), log


@cache
def booster():
    return boosted()


@cache
def ranker(toolkit):
    module = pytest.importorskip(toolkit)
    if toolkit == "lightgbm":
        model = module.LGBMRanker(n_estimators=ROUNDS, num_leaves=7, n_jobs=1, verbosity=-1)
        return model.fit(TRAIN.X, TRAIN.y, group=TRAIN.sizes), arrays(VALID)
    if toolkit == "xgboost":
        model = module.XGBRanker(n_estimators=ROUNDS, max_depth=3, n_jobs=1, eval_metric="ndcg@5")
        evals = {"eval_set": [(VALID.X, VALID.y)], "eval_qid": [VALID.qid]}
        return model.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, verbose=False, **evals), arrays(VALID)
    pool = module.Pool(VALID.X, VALID.y, group_id=VALID.qid)
    options = {"iterations": 2, "thread_count": 1, "allow_writing_files": False, "logging_level": "Silent"}
    return module.CatBoostRanker(**options).fit(pool), pool


@pytest.mark.parametrize(("toolkit", "sources"), [
    ("lightgbm", ["lightgbm ndcg@5"]),
    ("xgboost", ["xgboost ndcg@5 ndcg_exp_gain=True", "Booster.eval ndcg@5 ndcg_exp_gain=True"]),
])  # fmt: skip
@pytest.mark.parametrize("iteration", [None, 0, ROUNDS - 1])
def test_the_models_own_evaluation_and_its_log_of_any_iteration_agree(toolkit, sources, iteration):
    (model, data), log, dataset = ranker(toolkit), None, "validation_0"
    if toolkit == "lightgbm":
        (model, log), dataset = booster(), "valid"
    check, convention = getattr(ra, toolkit).check_model, getattr(ra.presets, toolkit)(5)
    report = check(model, data, convention, dataset=dataset, log=log, iteration=iteration)
    report.raise_if_failed()
    checked = ROUNDS - 1 if iteration is None else iteration
    assert [row.source for row in report.rows] == [*sources, f"log of {dataset}, iteration {checked}, ndcg@5"]
    assert log is None or report.rows[-1].value == log["valid"]["ndcg@5"][checked]


def stopped_early(toolkit):
    """Train with early stopping; return the model, its best iteration and its number of rounds."""
    module = pytest.importorskip(toolkit)
    if toolkit == "xgboost":
        train_set, valid_set = (module.DMatrix(data.X, data.y, qid=data.qid) for data in (TRAIN, VALID))
        evals = {"evals": [(valid_set, "valid")], "early_stopping_rounds": 3, "verbose_eval": False}
        model = module.train(XGBOOST, train_set, 60, **evals)
        return model, model.best_iteration, model.num_boosted_rounds()
    train_set = module.Dataset(TRAIN.X, TRAIN.y, group=TRAIN.sizes)
    valid_set = module.Dataset(VALID.X, VALID.y, group=VALID.sizes, reference=train_set)
    stopping = module.early_stopping(3, verbose=False)
    model = module.train(LIGHTGBM, train_set, 60, [valid_set], callbacks=[stopping], keep_training_booster=True)
    return model, model.best_iteration - 1, model.current_iteration()


@pytest.mark.long
@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost"])
def test_a_model_that_stopped_early_is_checked_at_its_best_iteration(toolkit):
    model, best, n_rounds = stopped_early(toolkit)
    assert 0 < best < n_rounds - 1
    check, convention = getattr(ra, toolkit).check_model, getattr(ra.presets, toolkit)(5)
    by_default, at_best, at_last = (
        check(model, arrays(VALID), convention, iteration=iteration).rows for iteration in (None, best, n_rounds - 1)
    )
    assert by_default == at_best
    assert by_default[0].our_value != at_last[0].our_value


def test_a_booster_is_checked_on_a_dmatrix():
    xgb = pytest.importorskip("xgboost")
    model, convention = ranker("xgboost")[0], ra.presets.xgboost(3, minus=True)
    weights = np.linspace(1, 2, VALID.sizes.size).astype(np.float32)
    matrix = xgb.DMatrix(VALID.X, VALID.y, qid=VALID.qid, weight=weights)
    report = ra.xgboost.check_model(model.get_booster(), matrix, convention)
    report.raise_if_failed()
    our_score = ra.evaluate(VALID.y, model.predict(VALID.X), convention, qid=VALID.qid, query_weight=weights)
    assert {row.our_value for row in report.rows} == {our_score.value}


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost"])
def test_a_different_logged_value_has_no_differences_by_query(toolkit):
    model, data = ranker(toolkit)
    log, convention = {"valid": {"ndcg@5": [0.1, 0.2, 0.3, 0.123456789]}}, getattr(ra.presets, toolkit)(5)
    *rows, last = getattr(ra, toolkit).check_model(model, data, convention, dataset="valid", log=log).rows
    assert {row.verdict for row in rows} == {"equal"}
    assert (last.verdict, last.value, last.per_query) == ("different", 0.123456789, None)
    assert "none of the changes tried gives it" in last.reason


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost", "catboost"])
def test_a_models_parity_holds_only_if_the_declared_convention_was_compared(toolkit):
    check = pytest.importorskip(f"rankadapters.{toolkit}").check_model
    model, data = ranker(toolkit)
    assert check(model, data, f"{toolkit}@5").ok
    report = check(model, data, f"{toolkit}@5+discount=jk2")
    assert [row.verdict for row in report.rows] == ["equal"] * (len(report.rows) - 1) + ["not-comparable"]
    assert not report.ok
    with pytest.raises(
        ra.parity.ParityError, match=rf"none could be \(of: {toolkit}\); declare what was compared instead"
    ):
        report.raise_if_failed()


# The model's own gains.


def reloaded(model):
    return type(model)(model_str=model.model_to_string())


@pytest.mark.parametrize("gains", [[0, 1, 9, 10, 11], "0,1,9,10,11"])
def test_a_lightgbm_model_is_checked_under_its_own_label_gain(gains):
    trained, log = boosted(label_gain=gains)
    convention = ra.presets.lightgbm(5, label_gain=[0, 1, 9, 10, 11])
    message = r"trained under gain='table_0_1_9_10_11', where label 2 has 9, not gain='exp2', where it has 3"
    for model in (trained, reloaded(trained)):
        report = ra.lightgbm.check_model(model, arrays(VALID), convention, dataset="valid", log=log)
        report.raise_if_failed()
        assert report.rows[0].value == pytest.approx(log["valid"]["ndcg@5"][-1], abs=1e-12)
        with pytest.raises(ra.InputError, match=message):
            ra.lightgbm.check_model(model, arrays(VALID), ra.presets.lightgbm(5))
        for measure in ("lightgbm.map@5", "lightgbm.auc", "lightgbm.average_precision"):  # without gains
            labels = VALID.y if "average" not in measure else VALID.y > 0
            assert ra.lightgbm.check_model(model, arrays(VALID, labels), measure).ok
    model, _ = boosted(label_gain=[0, 1, 3, 7, 15, 1000])  # differs for absent labels only
    assert ra.lightgbm.check_model(model, arrays(VALID), ra.presets.lightgbm(5)).ok


@pytest.mark.parametrize("load", [False, True])
@pytest.mark.parametrize("objective", ["rank:ndcg", "reg:squarederror"])
def test_an_xgboost_model_is_checked_under_its_own_ndcg_exp_gain(load, objective, tmp_path):
    xgb = pytest.importorskip("xgboost")
    matrix, log = xgb.DMatrix(VALID.X, VALID.y, qid=VALID.qid), {}
    params = {**XGBOOST, "objective": objective, "ndcg_exp_gain": False, "verbosity": 0}
    booster = xgb.train(params, matrix, ROUNDS, evals=[(matrix, "set")], evals_result=log, verbose_eval=False)
    if load:
        booster.save_model(tmp_path / "model.json")
        booster = xgb.Booster(model_file=tmp_path / "model.json")
    linear = ra.presets.xgboost(5, ndcg_exp_gain=False)
    report = ra.xgboost.check_model(booster, matrix, linear, dataset="set", log=log)
    report.raise_if_failed()
    assert report.rows[-1].value == log["set"]["ndcg@5"][-1]
    if load and objective != "rank:ndcg":  # this model file does not store the metric's parameters
        return
    with pytest.raises(ra.InputError, match="under gain='linear', where label 2 has 2, not gain='exp2-floor'"):
        ra.xgboost.check_model(booster, matrix, ra.presets.xgboost(5))
    binary = xgb.DMatrix(VALID.X, VALID.y > 1, qid=VALID.qid)
    assert ra.xgboost.check_model(booster, binary, ra.presets.xgboost(5)).ok


# The entry of the log that is compared.


def logged_row(model, log, **options):
    return ra.lightgbm.check_model(model, arrays(NOISE), "lightgbm@5", dataset="valid", log=log, **options).rows[1]


@pytest.mark.long
@pytest.mark.parametrize(("boosting", "seed"), [("gbdt", 0), ("dart", 3)])
def test_a_model_with_fewer_trees_than_rounds_is_compared_with_the_last_round(boosting, seed):
    pruned = {**BAGGED, "boosting": boosting, "min_gain_to_split": 1.0, "drop_rate": 0.5, "seed": seed}
    model, log = boosted(NOISE, NOISE, 40, **pruned)
    assert model.current_iteration() < 40  # rounds that find no split are logged and make no tree
    row = logged_row(model, log)
    assert row.verdict == "equal"
    assert row.value == log["valid"]["ndcg@5"][-1] != log["valid"]["ndcg@5"][model.current_iteration() - 1]


def test_a_continued_training_has_logged_its_own_rounds_only():
    first_model, _ = boosted(NOISE, NOISE, 5, **BAGGED)
    model, log = boosted(NOISE, NOISE, 6, first_model, **BAGGED)
    for iteration, index in ((None, -1), (7, 2)):
        row = logged_row(model, log, iteration=iteration)
        assert (row.verdict, row.value) == ("equal", log["valid"]["ndcg@5"][index])
    for iteration in (0, 4):
        message = rf"iteration {iteration} was not logged: the log has the iterations 5 to "
        with pytest.raises(ra.InputError, match=message):
            logged_row(model, log, iteration=iteration)


def test_scattered_queries_and_missing_features_are_refused_by_xgboosts_own_evaluation():
    order = np.argsort(np.arange(VALID.qid.size) % 2, kind="stable")
    for data, message in (
        (tuple(column[order] for column in arrays(VALID)), "the rows of a query are not together"),
        ((VALID.X[:, :2], VALID.y, VALID.qid), "the data has 2 features but the model was trained on 5"),
    ):
        with pytest.raises(ra.InputError, match=message):
            ra.xgboost.check_model(ranker("xgboost")[0], data, ra.presets.xgboost(5), dataset="validation_0")


def test_data_has_three_or_four_columns():
    columns = [[0.5], [1.0]], [1, 0], [7, 7], [3.0]
    weights = [read_data(columns[:n])[1].query_weight for n in (3, 4)]
    assert (weights[0], weights[1].tolist()) == (None, [3])
    for bad_data in (columns[:2], (*columns, None), list(columns[:3])):
        with pytest.raises(ra.InputError, match=r"allowed are \(X, labels, qid\) and \(X, labels, qid, query_weight\)"):
            read_data(bad_data)


@pytest.mark.parametrize(
    ("rounds", "booster", "noted"), [(4, "dart", True), (5, "dart", False), (6, "dart", False), (4, "gbdt", False)]
)
def test_only_dart_rescales_trees_and_only_those_of_earlier_rounds(rounds, booster, noted):
    note = "DART has rescaled the first 4 iterations' trees since, so their log is of other scores."
    assert dart_note(rounds, 5, booster) == (note,) * noted


@pytest.mark.long
def test_a_different_log_value_of_an_earlier_dart_round_is_explained():
    model, log = boosted(NOISE, NOISE, 10, boosting_type="dart", drop_rate=0.5, **BAGGED)
    row = logged_row(model, log, iteration=3)
    assert row.reason.startswith("DART has rescaled the first 4 iterations' trees since")
    assert "DART" not in logged_row(model, log).reason


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # XGBoost deprecates DART since 3.4
def test_different_values_of_an_earlier_dart_round_of_xgboost_are_explained():
    xgb = pytest.importorskip("xgboost")
    matrix, log = xgb.DMatrix(NOISE.X, NOISE.y, qid=NOISE.qid), {}
    params = {**XGBOOST, "booster": "dart", "rate_drop": 0.5}
    model = xgb.train(params, matrix, 10, evals=[(matrix, "train")], evals_result=log, verbose_eval=False)
    report = ra.xgboost.check_model(model, matrix, "xgboost@5", dataset="train", log=log, iteration=3)
    assert all(row.reason.startswith("DART has rescaled the first 4") for row in report.rows)
    assert ra.xgboost.check_model(model, matrix, "xgboost@5", dataset="train", log=log).ok


# LightGBM's Dataset.


@cache
def noise_booster():
    return boosted(NOISE, NOISE, 5)


def noise_dataset(**change):
    lgb = pytest.importorskip("lightgbm")
    return lgb.Dataset(NOISE.X, NOISE.y, **({"group": NOISE.sizes, "free_raw_data": False} | change))


def test_a_dataset_that_keeps_its_features_is_checked():
    (model, log), weights = noise_booster(), np.arange(1.0, 11)
    scores = model.predict(NOISE.X, raw_score=True)
    expected = ra.evaluate(NOISE.y, scores, "lightgbm@5", qid=NOISE.qid, query_weight=weights)
    for is_constructed in (True, False):
        weighted = noise_dataset(weight=np.repeat(weights, 20))
        report = ra.lightgbm.check_model(model, weighted.construct() if is_constructed else weighted, "lightgbm@5")
        assert (report.ok, report.rows[0].our_value) == (True, expected.value)
    assert ra.lightgbm.check_model(model, noise_dataset().construct(), "lightgbm@5", dataset="valid", log=log).ok


def test_a_subset_is_checked_and_a_dataset_without_features_or_groups_is_refused():
    model, _ = noise_booster()
    report = ra.lightgbm.check_model(model, noise_dataset().subset(range(40)).construct(), "lightgbm@5")
    expected = ra.lightgbm.check_model(model, tuple(column[:40] for column in arrays(NOISE)), "lightgbm@5")
    assert (report.ok, report.rows[0].value) == (True, expected.rows[0].value)
    for dataset, message in (
        (noise_dataset(free_raw_data=True).construct(), r"has no features: .*\nHint: .*free_raw_data=False"),
        (noise_dataset(group=None).construct(), "has no group"),
        (noise_dataset(group=None, free_raw_data=True), "has no group"),  # before it is constructed
    ):
        with pytest.raises(ra.InputError, match=f"the Dataset {message}"):
            ra.lightgbm.check_model(model, dataset, "lightgbm@5")
