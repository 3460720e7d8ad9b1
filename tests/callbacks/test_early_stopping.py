"""Early stopping in LightGBM and XGBoost watches the declared metric."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.metric_trainings import LETOR, TEXTBOOK, LightGBM
from tests.helpers.rankings import ranking
from tests.helpers.tables import for_each

TRAIN, VALID = ranking(20, 60), ranking(21, 40)


def datasets(toolkit):
    return {"train": toolkit.dataset(TRAIN), "valid": toolkit.dataset(VALID)}


@for_each("watched", [LETOR, TEXTBOOK])
@for_each("names", [None, ["loss", "other"]])  # "loss", which a toolkit might minimise
@pytest.mark.parametrize("with_built_in", [False, pytest.param(True, marks=pytest.mark.long)])
def test_early_stopping_watches_the_declared_metric_whatever_its_name(toolkit, with_built_in, names, watched):
    built_in_metric = {"metric": "ndcg"} if toolkit.name == "lightgbm" else {"disable_default_eval_metric": False}
    metric, log = toolkit.metric([watched, TEXTBOOK if watched is LETOR else LETOR], names=names), {}
    name = names and names[0]
    stop = toolkit.adapter.early_stopping(watched, rounds=5, name=name)
    params = built_in_metric if with_built_in else {}
    booster = toolkit.train(metric, datasets(toolkit), 80, log=log, callbacks=[stop], eta=1, **params)
    values = log["valid"][name or watched.name]
    round_, score = toolkit.best(booster)
    assert len(values) < 80
    assert round_ == int(np.argmax(values)) == len(values) - 6
    assert (score if toolkit.name == "xgboost" else score[name or watched.name]) == max(values)
    assert toolkit.name == "xgboost" or set(score) == set(log["valid"])


def test_early_stopping_ends_a_cross_validation(toolkit):
    stop = toolkit.adapter.early_stopping(TEXTBOOK, 5)  # by position, as in the toolkits
    means = toolkit.cv(toolkit.metric(TEXTBOOK), ranking(22, 60), 80, callbacks=[stop])
    assert int(np.argmax(means)) == len(means) - 1 < 79


def test_lightgbms_callback_can_be_used_in_a_second_training():
    toolkit = LightGBM()
    stop = toolkit.adapter.early_stopping(TEXTBOOK, rounds=5)
    boosters = [toolkit.train(toolkit.metric(TEXTBOOK), datasets(toolkit), 80, callbacks=[stop]) for _ in range(2)]
    assert toolkit.best(boosters[0]) == toolkit.best(boosters[1])


def test_the_callback_is_the_toolkits_own(toolkit):
    assert isinstance(toolkit.adapter.early_stopping(LETOR, 5), type(toolkit.native_stopping(5)))


def test_a_change_below_min_delta_is_no_improvement(toolkit):
    stop, log = toolkit.adapter.early_stopping(TEXTBOOK, 5, min_delta=1), {}
    toolkit.train(toolkit.metric(TEXTBOOK), datasets(toolkit), 80, log=log, callbacks=[stop])
    assert len(log["valid"][TEXTBOOK.name]) == 6


def test_watching_a_metric_that_is_not_evaluated_is_refused(toolkit):
    stop, message = toolkit.adapter.early_stopping(LETOR, rounds=5), r"(?s)'ndcg@5/letor4'.*'ndcg@10/textbook'"
    message = {"xgboost": "No metric named: ndcg@5/letor4"}.get(toolkit.name, message)  # XGBoost's own error
    with pytest.raises(ValueError, match=message):
        toolkit.train(toolkit.metric(TEXTBOOK), datasets(toolkit), 3, callbacks=[stop])


NO_ROUNDS, NO_DELTAS = (0, -1, True, "3", "abc", 2.0, None), ("x", None, -0.1, np.nan, np.inf, [0.1])
