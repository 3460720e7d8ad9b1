"""Metrics over all workers, in one process, and early stopping, which watches the declared metric."""

import copy
import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.callbacks.arguments import QueryCounts, require_missing
from tests.helpers.metric_trainings import LETOR, TEXTBOOK, LightGBM
from tests.helpers.rankings import ranking

DATA = {"train": ranking(12, 60), "valid": ranking(13, 40)}


def train(toolkit, metric, /, *callbacks, rounds=80, sets=("train", "valid"), **params):
    log = {}
    sets = {name: toolkit.dataset(DATA[name]) for name in sets}
    return toolkit.train(metric, sets, rounds, log=log, callbacks=[metric, *callbacks], **params), log


def test_the_log_has_the_value_of_all_rows_in_full_precision(toolkit):
    metric = toolkit.global_metric([LETOR, "textbook@10"], n_queries={"train": 60, "valid": 40})
    booster, log = train(toolkit, metric, rounds=3)
    for name, data in DATA.items():
        features = data.X if toolkit.name == "lightgbm" else toolkit.dataset(data)
        for convention in (LETOR, TEXTBOOK):
            expected = ra.evaluate(data.y, booster.predict(features), convention, qid=data.qid).value
            values = log[name][convention.name]
            assert values[-1] == pytest.approx(expected, rel=0, abs=1e-15 if toolkit.name == "lightgbm" else 0)
    assert len(ra.History.of(log)) == 3 * 2 * 2


@pytest.mark.parametrize(("stopping", "with_built_in"), [("ours", False), ("ours", True), ("the toolkit's", False)])
def test_early_stopping_compares_values_in_full_precision(toolkit, stopping, with_built_in):
    built_in_metric = {"metric": "ndcg"} if toolkit.name == "lightgbm" else {"disable_default_eval_metric": False}
    stop = toolkit.adapter.early_stopping(TEXTBOOK, rounds=5) if stopping == "ours" else toolkit.native_stopping(5)
    metric = toolkit.global_metric(TEXTBOOK)
    booster, log = train(toolkit, metric, stop, **(built_in_metric if with_built_in else {}))
    values = log["valid"][TEXTBOOK.name]
    round_, score = toolkit.best(booster)
    assert round_ == int(np.argmax(values)) == len(values) - 6
    assert (score if toolkit.name == "xgboost" else score[TEXTBOOK.name]) == max(values)
    assert any(value != round(value, 6) for value in values)


def test_a_metric_and_its_copy_serve_several_trainings(toolkit):
    metric = toolkit.global_metric(TEXTBOOK, n_queries={"valid": 40})
    first, second = (train(toolkit, metric, rounds=2)[1] for _ in range(2))
    assert first == second
    assert train(toolkit, pickle.loads(pickle.dumps(metric)), rounds=2)[1] == first
    assert toolkit.name == "xgboost" or copy.deepcopy(metric) is metric  # LGBMRanker copies its metrics


@pytest.mark.parametrize(
    ("n_queries", "sets", "message"),
    [
        (61, ["train"], r"'train' has 60 queries( on 1 workers)?, not n_queries=61: some are missing"),
        ({"valid": 39}, ["train", "valid"], r"not n_queries=39: some are cut\.\nHint: sort by qid"),
        (40, ["train", "valid"], r"does not say of which of \['train', 'valid'\]"),
        ({"valid": 40, "test": 3}, ["train", "valid"], r"does not say of which of \['train', 'valid'\]"),
    ],
)
def test_a_wrong_number_of_queries_is_refused(toolkit, n_queries, sets, message):
    with pytest.raises(ra.InputError, match=message):
        train(toolkit, toolkit.global_metric(LETOR, n_queries=n_queries), sets=sets)


def test_lightgbms_metric_must_also_be_a_callback():
    toolkit = LightGBM()
    with pytest.raises(ra.InputError, match=r"of two rounds were never added up.*\nHint: the same object in call"):
        toolkit.train(toolkit.global_metric(LETOR), {"train": toolkit.dataset(DATA["train"])}, 3)


def test_the_callback_must_also_be_the_metric(toolkit):
    message = {
        "lightgbm": r"0 sets were evaluated in this round, but \['train'\] report",
        "xgboost": "called 0 times in this round",
    }
    with pytest.raises(ra.InputError, match=message[toolkit.name]):
        toolkit.train(toolkit.metric(LETOR), {"train": toolkit.dataset(DATA["train"])},
                      callbacks=[toolkit.global_metric(LETOR)])  # fmt: skip


def test_global_eval_refuses_cross_validation_and_xgboosts_metric_takes_part_in_it(toolkit):
    metric = toolkit.global_metric(TEXTBOOK)
    if toolkit.name == "lightgbm":
        with pytest.raises(ra.InputError, match=r"is not for lgb\.cv\.\nHint: lgb\.cv\(feval=ra"):
            toolkit.cv(metric, DATA["train"], 2, callbacks=[metric])
    else:
        assert toolkit.cv(metric, DATA["train"], 2, callbacks=[metric]) == toolkit.cv(metric, DATA["train"], 2)


def test_a_set_without_queries_to_average_is_refused(toolkit):
    empty = toolkit.dataset(DATA["valid"]._replace(y=np.zeros_like(DATA["valid"].y)))
    metric = toolkit.global_metric(TEXTBOOK.replace(empty="skip"))
    about = r"set 'valid' under 'ndcg@10/textbook\+empty=skip': " if toolkit.name == "lightgbm" else ""
    with pytest.raises(ra.InputError, match=f"{about}nothing is left to average"):  # XGBoost does not tell the name
        toolkit.train(metric, {"train": toolkit.dataset(DATA["train"]), "valid": empty}, callbacks=[metric])


def test_a_metric_works_again_after_a_failed_training(toolkit):
    metric, sets, log = toolkit.global_metric(LETOR), {"train": toolkit.dataset(DATA["train"])}, {}

    def failing_metric(preds, data):
        metric(preds, data)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        toolkit.train(failing_metric, sets, callbacks=[metric])
    toolkit.train(metric, sets, 4, log=log, callbacks=[metric])
    assert len(log["train"][LETOR.name]) == 4


def test_a_callback_that_is_no_metric_of_the_training_is_refused(toolkit):
    metric = toolkit.global_metric(LETOR)
    with pytest.raises(ra.InputError, match=r"evaluated no set\.(.|\n)*Hint: the same object as"):
        toolkit.train(None, {"train": toolkit.dataset(DATA["train"])}, callbacks=[metric])


@pytest.mark.long
def test_one_object_serves_trainings_in_several_threads(toolkit):
    metric = toolkit.global_metric(LETOR)
    expected = train(toolkit, toolkit.global_metric(LETOR), rounds=20)[1]
    with ThreadPoolExecutor(2) as pool:
        logs = list(pool.map(lambda _: train(toolkit, metric, rounds=20)[1], range(4)))
    assert logs == [expected] * 4


TRAIN, VALID = ranking(20, 60), ranking(21, 40)


def datasets(toolkit):
    return {"train": toolkit.dataset(TRAIN), "valid": toolkit.dataset(VALID)}


def test_a_change_below_min_delta_is_no_improvement(toolkit):
    stop, log = toolkit.adapter.early_stopping(TEXTBOOK, 5, min_delta=1), {}
    toolkit.train(toolkit.metric(TEXTBOOK), datasets(toolkit), 80, log=log, callbacks=[stop])
    assert len(log["valid"][TEXTBOOK.name]) == 6


RATES = (0.1, 0.3, 0.5, 1.0)


def trained(toolkit, metric, stop, rate):
    """Train until the callback stops; return the best round and the number of rounds."""
    callbacks, log = [metric, stop] if toolkit.name == "xgboost" else [stop], {}
    booster = toolkit.train(metric, datasets(toolkit), rounds=40, log=log, eta=rate, callbacks=callbacks)
    return toolkit.best(booster)[0], len(log["valid"][TEXTBOOK.name])


def test_trainings_in_threads_stop_as_one_after_another(toolkit):
    options = {"verbose": False} if toolkit.name == "lightgbm" else {}
    metric, stop = toolkit.metric(TEXTBOOK), toolkit.adapter.early_stopping(TEXTBOOK, 3, data_name="valid", **options)
    alone = [trained(toolkit, toolkit.metric(TEXTBOOK), pickle.loads(pickle.dumps(stop)), rate) for rate in RATES]
    assert len({rounds for _, rounds in alone}) > 1
    assert min(rounds for _, rounds in alone) < 40
    with ThreadPoolExecutor(len(RATES)) as pool:
        for _ in range(3):
            assert list(pool.map(lambda rate: trained(toolkit, metric, stop, rate), RATES)) == alone


@pytest.mark.parametrize("n_queries", [0, -1, 1.5, True, "3", {"valid": 0}, {"valid": 2, "train": None}])
def test_a_number_of_queries_is_whole_and_from_1_on(n_queries):
    with pytest.raises(
        ra.InputError, match=r"n_queries=.*; allowed are whole numbers from 1 on, or a mapping of a set"
    ):
        QueryCounts(n_queries, "hint")


def test_numbers_of_queries_are_checked_by_set_and_say_what_may_be_wrong():
    for counts in (QueryCounts(1, "fix it"), QueryCounts({"valid": 1}, "fix it")):
        counts.refuse_sets(["valid"])
        counts.refuse("valid", 1)
        with pytest.raises(ra.InputError, match=r"^'valid' has 2 queries here, not n_queries=1: some are cut\."):
            counts.refuse("valid", 2, " here")
    with pytest.raises(ra.InputError, match=r"^the data has 0 queries, .*: some are missing, or joined with their nei"):
        QueryCounts(1, "fix it").refuse(None, 0)
    for sets, n_queries in ((["a", "b"], 1), (["a"], {"b": 1})):
        with pytest.raises(ra.InputError, match=r"does not say of which of"):
            QueryCounts(n_queries, "fix it").refuse_sets(sets)
    QueryCounts(None, "fix it").refuse("any", 7)


@pytest.mark.parametrize(
    ("rounds", "options", "message"),
    [
        (0, {}, "rounds=0"), (1.5, {}, "rounds=1.5"), (1, {"min_delta": -0.5}, "min_delta=-0.5"),
        (1, {"min_delta": "0"}, "min_delta='0'"), (1, {"data_name": 3}, "data_name=3; allowed are a text and None"),
    ],
)  # fmt: skip
def test_wrong_arguments_of_early_stopping_are_refused_and_the_smallest_accepted(toolkit, rounds, options, message):
    with pytest.raises(ra.InputError, match=re.escape(message)):
        toolkit.adapter.early_stopping(TEXTBOOK, rounds, **options)
    assert toolkit.adapter.early_stopping(TEXTBOOK, 1, min_delta=0, data_name="valid")


@pytest.mark.parametrize("missing", [True, "nan", 1j])
def test_a_missing_feature_is_a_number(missing):
    with pytest.raises(ra.InputError, match=r"missing=.*; allowed are numbers, NaN among them"):
        require_missing(missing)
    for number in (None, np.nan, 0, -999.0, np.float32(1)):
        require_missing(number)
