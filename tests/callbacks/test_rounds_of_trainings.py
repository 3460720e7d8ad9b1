"""Which training and which round the histories of LightGBM's and XGBoost's metrics say they are of."""

from __future__ import annotations

import pickle

import pytest

from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.rankings import ranking

ONE, TWO = ranking(1), ranking(2)
TWICE = [(0, 0), (0, 1), (1, 0), (1, 1)]  # run and iteration of two trainings of two rounds


def placed(history):
    return [(entry.run, entry.iteration, entry.dataset) for entry in history]


def test_a_second_training_on_the_same_datasets_is_another_run(toolkit):
    metric, log = toolkit.metric([LETOR, TEXTBOOK], names=["mine", "other"]), {}
    sets = {"train": toolkit.dataset(ONE), "valid": toolkit.dataset(TWO)}
    toolkit.train(metric, sets, rounds=3)
    toolkit.train(metric, sets, log=log)
    rounds = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert placed(metric.history) == [(*at, name) for at in rounds for name in sets for _ in range(2)]
    assert [entry.name for entry in metric.history[:2]] == ["mine", "other"]
    last = metric.history.only(run=-1, dataset="valid", convention=LETOR)
    assert [entry.value for entry in last] == pytest.approx(log["valid"]["mine"], rel=0, abs=toolkit.rounding)


def test_trainings_of_one_round_are_runs_of_their_own_and_a_metric_may_be_wrapped(toolkit):
    metric = toolkit.metric(LETOR)
    for _ in range(2):
        toolkit.train(lambda preds, data: metric(preds, data)[0], {"train": toolkit.dataset(ONE)}, rounds=1)
    assert placed(metric.history) == [(0, 0, "train"), (1, 0, "train")]


def test_the_folds_of_a_cross_validation_are_one_run_and_tell_what_was_trained_on(toolkit):
    metric = toolkit.metric(TEXTBOOK)
    for _ in range(2):
        toolkit.cv(metric, ONE, 2)
    sets = [f"{part}_fold_{fold}" for fold in range(3) for part in ("train", toolkit.held_out)]
    assert placed(metric.history) == [(*at, name) for at in TWICE for name in sets]


def test_a_set_under_two_names_is_evaluated_twice_in_one_round(toolkit):
    metric, data = toolkit.metric(LETOR), toolkit.dataset(TWO)
    toolkit.train(metric, {"train": toolkit.dataset(ONE), "a": data, "b": data})
    assert placed(metric.history) == [(0, i, name) for i in range(2) for name in ("train", "a", "b")]


def test_a_continued_training_counts_its_own_rounds(toolkit):
    metric = toolkit.metric(LETOR)
    booster = toolkit.train(metric, {"train": toolkit.dataset(ONE)})
    toolkit.train(metric, {"train": toolkit.dataset(ONE)}, init=booster)
    assert placed(metric.history) == [(*at, "train") for at in TWICE]


def test_calls_by_hand_are_one_run_and_number_the_sets_that_nobody_names(toolkit):
    first, second, metric = toolkit.dataset(ONE), toolkit.dataset(TWO), toolkit.metric(LETOR)
    toolkit.train(metric, {"train": first}, rounds=1)
    for _ in range(2):
        metric(TWO.X[:, 0], second)
        metric(ONE.X[:, 0], first)
    assert placed(metric.history) == [(0, 0, "train"), *((1, i, f"set_{place}") for i in (0, 1) for place in (0, 1))]


def test_a_booster_that_is_asked_by_hand_tells_the_name(toolkit):
    metric = toolkit.metric(LETOR)
    toolkit.asked_by_hand(metric, ONE, "mine")
    assert placed(metric.history) == [(0, 0, "mine")]


def test_a_pickle_starts_with_the_first_run(toolkit):
    metric, sets = toolkit.metric(LETOR), {"train": toolkit.dataset(ONE)}
    toolkit.train(metric, sets)
    again = pickle.loads(pickle.dumps(metric))
    assert again.history == []
    toolkit.train(again, sets, rounds=1)
    assert placed(again.history) == [(0, 0, "train")]


def test_global_eval_counts_as_a_metric_does(toolkit):
    watch = toolkit.adapter.global_eval(LETOR)
    for _ in range(2):
        toolkit.train(watch, {"train": toolkit.dataset(ONE)}, callbacks=[watch])
    assert placed(watch.history) == [(*at, "train") for at in TWICE]
