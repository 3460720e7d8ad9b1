"""Early stopping in LightGBM and XGBoost watches the declared metric."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import LETOR, TEXTBOOK, LightGBM, XGBoost
from tests.helpers.rankings import ranking
from tests.helpers.tables import for_each

TRAIN, VALID = ranking(20, 60), ranking(21, 40)


def datasets(toolkit):
    return {"train": toolkit.dataset(TRAIN), "valid": toolkit.dataset(VALID)}


def early_stopping(toolkit, watched, name=None):
    """Return early stopping after 5 rounds; LightGBM watches the first metric, so it takes no name."""
    return toolkit.adapter.early_stopping(watched, rounds=5, **({} if toolkit.name == "lightgbm" else {"name": name}))


@for_each("watched", [LETOR, TEXTBOOK])
@for_each("names", [None, ["loss", "other"]])  # "loss", which a toolkit might minimise
def test_early_stopping_watches_the_declared_metric_whatever_its_name(toolkit, names, watched):
    metric, log = toolkit.metric([watched, TEXTBOOK if watched is LETOR else LETOR], names=names), {}
    name = names[0] if names else watched.name
    booster = toolkit.train(metric, datasets(toolkit), 80, log=log, callbacks=[early_stopping(toolkit, watched, name)])
    values = log["valid"][name]
    round_, score = toolkit.best(booster)
    assert len(values) < 80
    assert round_ == int(np.argmax(values)) == len(values) - 6
    assert (score if toolkit.name == "xgboost" else score[name]) == max(values)
    assert toolkit.name == "xgboost" or set(score) == set(log["valid"])


def test_xgboost_watches_the_declared_metric_beside_its_own():
    toolkit, log = XGBoost(), {}
    callbacks = [early_stopping(toolkit, LETOR)]
    booster = toolkit.train(toolkit.metric([LETOR, TEXTBOOK]), datasets(toolkit), 80, log=log, callbacks=callbacks,
                            disable_default_eval_metric=False)  # fmt: skip
    values = log["valid"][LETOR.name]
    assert toolkit.best(booster) == (int(np.argmax(values)), max(values))
    assert len(values) == int(np.argmax(values)) + 6 < 80


def test_early_stopping_ends_a_cross_validation(toolkit):
    stop = toolkit.adapter.early_stopping(TEXTBOOK, 5)  # by position, as in the toolkits
    means = toolkit.cv(toolkit.metric(TEXTBOOK), ranking(22, 60), 80, callbacks=[stop])
    assert int(np.argmax(means)) == len(means) - 1 < 79


def test_lightgbms_callback_can_be_used_in_a_second_training():
    toolkit = LightGBM()
    stop = early_stopping(toolkit, TEXTBOOK)
    boosters = [toolkit.train(toolkit.metric(TEXTBOOK), datasets(toolkit), 80, callbacks=[stop]) for _ in range(2)]
    assert toolkit.best(boosters[0]) == toolkit.best(boosters[1])


def test_a_change_below_min_delta_is_no_improvement(toolkit):
    stop, log = toolkit.adapter.early_stopping(TEXTBOOK, 5, min_delta=1), {}
    toolkit.train(toolkit.metric(TEXTBOOK), datasets(toolkit), 80, log=log, callbacks=[stop])
    assert len(log["valid"][TEXTBOOK.name]) == 6


def test_watching_a_metric_that_is_not_evaluated_is_refused_by_xgboost():
    toolkit = XGBoost()
    with pytest.raises(ValueError, match="No metric named: ndcg@5/letor4"):
        toolkit.train(toolkit.metric(TEXTBOOK), datasets(toolkit), 3, callbacks=[early_stopping(toolkit, LETOR)])


NO_ROUNDS, NO_DELTAS = (0, -1, True, "3", "abc", 2.0, None), ("x", None, -0.1, np.nan, np.inf, [0.1])


@for_each(
    ("arguments", "message"),
    [
        *(({"rounds": rounds}, "rounds=.*; allowed are whole numbers from 1 on") for rounds in NO_ROUNDS),
        *(({"min_delta": delta}, "min_delta=.*; allowed are finite numbers from 0 on") for delta in NO_DELTAS),
    ],
)
def test_invalid_arguments_are_refused(toolkit, arguments, message):
    with pytest.raises(ra.InputError, match=message):
        toolkit.adapter.early_stopping(LETOR, **{"rounds": 3, **arguments})


def test_xgboost_takes_a_name_that_is_a_text():
    with pytest.raises(ra.InputError, match="name=3; allowed are a text and None"):
        XGBoost().adapter.early_stopping(LETOR, 3, name=3)
