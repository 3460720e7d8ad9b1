"""The histories of LightGBM's and XGBoost's metrics number trainings as runs and rounds as iterations."""

from __future__ import annotations

import pickle

import pytest

from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.rankings import ranking

TRAIN, VALID = ranking(1), ranking(2)
TWO_RUNS = [(0, 0), (0, 1), (1, 0), (1, 1)]  # run and iteration of two trainings of two rounds


def entry_keys(history):
    return [(entry.run, entry.iteration, entry.dataset) for entry in history]


def test_a_second_training_on_the_same_datasets_is_another_run(toolkit):
    metric, log = toolkit.metric([LETOR, TEXTBOOK], names=["mine", "other"]), {}
    sets = {"train": toolkit.dataset(TRAIN), "valid": toolkit.dataset(VALID)}
    toolkit.train(metric, sets, rounds=3)
    toolkit.train(metric, sets, log=log)
    rounds = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert entry_keys(metric.history) == [(*key, name) for key in rounds for name in sets for _ in range(2)]
    assert [entry.name for entry in metric.history[:2]] == ["mine", "other"]
    last = metric.history.only(run=-1, dataset="valid", convention=LETOR)
    assert [entry.value for entry in last] == pytest.approx(log["valid"]["mine"], rel=0, abs=toolkit.rounding)


def test_trainings_of_one_round_by_a_wrapped_metric_are_separate_runs(toolkit):
    metric = toolkit.metric(LETOR)
    for _ in range(2):
        toolkit.train(lambda preds, data: metric(preds, data)[0], {"train": toolkit.dataset(TRAIN)}, rounds=1)
    assert entry_keys(metric.history) == [(0, 0, "train"), (1, 0, "train")]


def test_the_folds_of_a_cross_validation_are_sets_of_one_run(toolkit):
    metric = toolkit.metric(TEXTBOOK)
    for _ in range(2):
        toolkit.cv(metric, TRAIN, 2)
    sets = [f"{part}_fold_{fold}" for fold in range(3) for part in ("train", toolkit.test_part)]
    assert entry_keys(metric.history) == [(*key, name) for key in TWO_RUNS for name in sets]


def test_a_set_with_two_names_is_evaluated_twice_in_each_round(toolkit):
    metric, data = toolkit.metric(LETOR), toolkit.dataset(VALID)
    toolkit.train(metric, {"train": toolkit.dataset(TRAIN), "a": data, "b": data})
    assert entry_keys(metric.history) == [(0, i, name) for i in range(2) for name in ("train", "a", "b")]


def test_a_continued_training_is_another_run_and_counts_from_0(toolkit):
    metric = toolkit.metric(LETOR)
    booster = toolkit.train(metric, {"train": toolkit.dataset(TRAIN)})
    toolkit.train(metric, {"train": toolkit.dataset(TRAIN)}, init=booster)
    assert entry_keys(metric.history) == [(*key, "train") for key in TWO_RUNS]


def test_calls_by_hand_are_one_run_and_number_the_unnamed_sets(toolkit):
    first, second, metric = toolkit.dataset(TRAIN), toolkit.dataset(VALID), toolkit.metric(LETOR)
    toolkit.train(metric, {"train": first}, rounds=1)
    for _ in range(2):
        metric(VALID.X[:, 0], second)
        metric(TRAIN.X[:, 0], first)
    calls = [(1, iteration, f"set_{number}") for iteration in (0, 1) for number in (0, 1)]
    assert entry_keys(metric.history) == [(0, 0, "train"), *calls]


def test_a_booster_evaluated_by_hand_passes_the_name_of_the_set(toolkit):
    metric = toolkit.metric(LETOR)
    toolkit.evaluate_booster(metric, TRAIN, "mine")
    assert entry_keys(metric.history) == [(0, 0, "mine")]


def test_an_unpickled_metric_starts_with_run_0(toolkit):
    metric, sets = toolkit.metric(LETOR), {"train": toolkit.dataset(TRAIN)}
    toolkit.train(metric, sets)
    copied = pickle.loads(pickle.dumps(metric))
    assert copied.history == []
    toolkit.train(copied, sets, rounds=1)
    assert entry_keys(copied.history) == [(0, 0, "train")]


def test_global_eval_counts_runs_and_iterations_like_eval_metric(toolkit):
    metric = toolkit.adapter.global_eval(LETOR)
    for _ in range(2):
        toolkit.train(metric, {"train": toolkit.dataset(TRAIN)}, callbacks=[metric])
    assert entry_keys(metric.history) == [(*key, "train") for key in TWO_RUNS]
