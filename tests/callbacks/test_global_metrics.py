"""`global_eval` of LightGBM and XGBoost in one process: full precision in the log, early stopping, and refusals."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.rankings import ranking
from tests.helpers.tables import for_each

DATA = {"train": ranking(12, 60), "valid": ranking(13, 40)}


def watched(toolkit, watch, *later, rounds=80, sets=("train", "valid"), **more):
    log = {}
    sets = {name: toolkit.dataset(DATA[name]) for name in sets}
    return toolkit.train(watch, sets, rounds, log=log, callbacks=[watch, *later], **more), log


def test_the_log_has_the_value_of_all_rows_in_full_precision(toolkit):
    watch = toolkit.adapter.global_eval([LETOR, "textbook@10"], n_queries={"train": 60, "valid": 40})
    booster, log = watched(toolkit, watch, rounds=3)
    for name, data in DATA.items():
        of = data.X if toolkit.name == "lightgbm" else toolkit.dataset(data)
        for convention in (LETOR, TEXTBOOK):
            expected = ra.evaluate(data.y, booster.predict(of), convention, qid=data.qid).value
            found = [entry.value for entry in watch.history if entry[:2] == (name, convention)]
            assert found == log[name][convention.name]
            assert found[-1] == pytest.approx(expected, rel=0, abs=1e-15 if toolkit.name == "lightgbm" else 0)
    assert len(watch.history) == 3 * 2 * 2


@for_each(("whose", "beside"), [("ours", False), ("ours", True), ("the toolkit's", False)])
def test_early_stopping_watches_the_full_precision(toolkit, whose, beside):
    own = {"metric": "ndcg"} if toolkit.name == "lightgbm" else {"disable_default_eval_metric": False}
    stop = toolkit.adapter.early_stopping(TEXTBOOK, rounds=5) if whose == "ours" else toolkit.own_stopping(5)
    watch = toolkit.adapter.global_eval(TEXTBOOK)
    booster, log = watched(toolkit, watch, stop, **(own if beside else {}))
    values = log["valid"][TEXTBOOK.name]
    round_, score = toolkit.best(booster)
    assert round_ == int(np.argmax(values)) == len(values) - 6
    assert (score if toolkit.name == "xgboost" else score[TEXTBOOK.name]) == max(values)
    assert any(value != round(value, 6) for value in values)


def test_one_object_serves_a_second_training_and_a_pickle_starts_anew(toolkit):
    watch = toolkit.adapter.global_eval(TEXTBOOK, n_queries={"valid": 40})
    first, second = (watched(toolkit, watch, rounds=2)[1] for _ in range(2))
    assert first == second
    copied = pickle.loads(pickle.dumps(watch))
    assert (len(watch.history), copied.history) == (8, [])
    assert watched(toolkit, copied, rounds=2)[1] == first
    assert toolkit.name == "xgboost" or copy.deepcopy(watch) is watch  # LGBMRanker copies its metrics


@for_each(
    ("n_queries", "sets", "message"),
    [
        (61, ["train"], r"'train' has 60 queries on 1 workers, not n_queries=61: some are missing"),
        ({"valid": 39}, ["train", "valid"], r"not n_queries=39: some are cut\.\nHint: sort by qid"),
        (40, ["train", "valid"], r"does not say of which of \['train', 'valid'\]"),
        ({"valid": 40, "test": 3}, ["train", "valid"], r"does not say of which of \['train', 'valid'\]"),
    ],
)
def test_another_number_of_queries_is_an_error(toolkit, n_queries, sets, message):
    with pytest.raises(ra.InputError, match=message):
        watched(toolkit, toolkit.adapter.global_eval(LETOR, n_queries=n_queries), sets=sets)


@for_each("n_queries", [0, 2.0, "3", True, {"valid": None}])
def test_a_number_of_queries_is_whole(toolkit, n_queries):
    with pytest.raises(ra.InputError, match="allowed are whole numbers from 1 on, or a mapping"):
        toolkit.adapter.global_eval(LETOR, n_queries=n_queries)


def test_the_object_must_be_in_both_places(toolkit):
    watch, train = toolkit.adapter.global_eval(LETOR), {"train": toolkit.dataset(DATA["train"])}
    alone = {
        "lightgbm": r"of two rounds were never added up.*\nHint: the same object in call",
        "xgboost": r"reports at the end of a round.\nHint: the same object in callbacks=",
    }
    with pytest.raises(ra.InputError, match=alone[toolkit.name]):
        toolkit.train(watch, train, 3)
    with pytest.raises(ra.InputError, match=r"0 sets were evaluated in this round, but \['train'\] report"):
        toolkit.train(toolkit.metric(LETOR), train, callbacks=[toolkit.adapter.global_eval(LETOR)])


def test_what_it_is_not_for(toolkit):
    with pytest.raises(ra.UnsupportedConventionError, match="is over all rows as one query"):
        toolkit.adapter.global_eval(ra.presets.sklearn.roc_auc_score())
    watch = toolkit.adapter.global_eval(TEXTBOOK)
    with pytest.raises(
        ra.InputError, match=r"is not for (lgb|xgb)\.cv\.\nHint: (lgb|xgb)\.cv\((feval|custom_metric)=ra"
    ):
        toolkit.cv(watch, DATA["train"], 2, callbacks=[watch])


def test_a_set_on_which_nothing_is_left_to_average_is_named(toolkit):
    empty = toolkit.dataset(DATA["valid"]._replace(y=np.zeros_like(DATA["valid"].y)))
    watch = toolkit.adapter.global_eval(TEXTBOOK.replace(empty="skip"))
    with pytest.raises(ra.InputError, match="set 'valid' under 'ndcg@10/textbook\\+empty=skip': nothing is left"):
        toolkit.train(watch, {"train": toolkit.dataset(DATA["train"]), "valid": empty}, callbacks=[watch])


def test_a_training_after_one_that_failed(toolkit):
    watch, train = toolkit.adapter.global_eval(LETOR), {"train": toolkit.dataset(DATA["train"])}

    def fails(preds, data):
        watch(preds, data)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        toolkit.train(fails, train, callbacks=[watch])
    assert watch.history == []
    toolkit.train(watch, train, 4, callbacks=[watch])
    assert len(watch.history) == 4
