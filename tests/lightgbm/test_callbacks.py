"""`lightgbm.early_stopping`: the metric and the sets that it watches."""

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.parameters import short
from tests.helpers.rankings import ranking

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from tests.helpers.lightgbm_datasets import PARAMS, dataset  # noqa: E402 - after the skip

TRAIN, VALID, OTHER = ranking(5, 60), ranking(6, 40), ranking(7, 40)
METRIC = ra.lightgbm.eval_metric([LETOR, TEXTBOOK])
ROUNDS = 4


def stopping(convention=TEXTBOOK, **options):
    return ra.lightgbm.early_stopping(convention, ROUNDS, verbose=False, **options)


def train(stop, names, *, metric=METRIC, **params):
    """Train with the sets of these names, and return the Booster and the log; "train" is the training set."""
    data = dataset(TRAIN)
    sets = [data if name == "train" else dataset(OTHER if name == "other" else VALID) for name in names]
    log = {}
    booster = lgb.train({**PARAMS, "learning_rate": 0.5, **params}, data, 60, valid_sets=sets, valid_names=names,
                        feval=metric, callbacks=[stop, lgb.record_evaluation(log)])  # fmt: skip
    return booster, log


def stopped_in(values):
    """Return the round, from 1, in which a training stops that maximizes these values, and its best round."""
    for last in range(ROUNDS, len(values)):
        best = int(np.argmax(values[: last + 1]))
        if last - best >= ROUNDS:
            return last + 1, best + 1
    raise AssertionError


@pytest.fixture(scope="module")
def full_log():
    """Return the log of a training that no early stopping ends."""
    return train(lambda env: None, ["train", "valid", "other"])[1]


@pytest.mark.parametrize("data_name", [None, "valid", "other"])
@pytest.mark.parametrize("convention", [LETOR, TEXTBOOK], ids=short)
def test_the_named_set_decides_and_without_a_name_any_validation_set(convention, data_name, full_log):
    booster, log = train(stopping(convention, data_name=data_name), ["train", "valid", "other"])
    by_set = [stopped_in(full_log[name][convention.name]) for name in ("valid", "other") if data_name in {None, name}]
    n_rounds, best = min(by_set)
    assert (len(log["valid"][convention.name]), booster.best_iteration) == (n_rounds, best)
    expected = {name: {metric: values[best - 1] for metric, values in log[name].items()} for name in log}
    assert {name: dict(values) for name, values in booster.best_score.items()} == expected


def test_the_two_sets_stop_in_different_rounds(full_log):
    assert len({stopped_in(full_log[name][TEXTBOOK.name]) for name in ("valid", "other")}) == 2


@pytest.mark.parametrize("names", [["train"], ["training"]])
@pytest.mark.parametrize("conventions", [[TEXTBOOK], [LETOR, TEXTBOOK]], ids=short)
@pytest.mark.parametrize("data_name", [None, "train"])
def test_the_training_set_alone_is_refused(names, conventions, data_name):
    stop = stopping(data_name=data_name)
    message = r"validation sets, but only the training set reports 'ndcg@10/textbook'\.\nHint: valid_sets="
    with pytest.raises(ra.InputError, match=message):
        train(stop, names, metric=ra.lightgbm.eval_metric(conventions))


@pytest.mark.parametrize("data_name", ["train", "valid_0", "Valid"])
def test_an_unknown_set_is_an_error_that_lists_the_validation_sets(data_name):
    with pytest.raises(ra.InputError, match=rf"watches the set '{data_name}', but the .* are \['other', 'valid'\]\."):
        train(stopping(data_name=data_name), ["train", "valid", "other"])


@pytest.mark.parametrize("data_name", [None, "valid", "train"])
def test_a_cross_validation_watches_its_validation_folds(data_name):
    from sklearn.model_selection import GroupKFold

    def run(*callbacks):
        return lgb.cv({**PARAMS, "learning_rate": 0.5}, dataset(TRAIN), 20, folds=GroupKFold(3), feval=METRIC,
                      callbacks=list(callbacks), eval_train_metric=True)  # fmt: skip

    if data_name == "train":
        with pytest.raises(ra.InputError, match=r"the set 'train', but the validation sets are \['valid'\]"):
            run(stopping(data_name=data_name))
    else:
        key = f"valid {TEXTBOOK.name}-mean"
        assert len(run(stopping(data_name=data_name))[key]) == stopped_in(run()[key])[1]  # lgb.cv cuts at the best


def test_a_training_with_dart_does_not_turn_off_the_next(full_log):
    stop = stopping(data_name="valid")
    with pytest.warns(UserWarning, match="not available in dart mode"):
        assert train(stop, ["valid"], boosting="dart")[0].current_iteration() == 60
    assert train(stop, ["valid"])[0].best_iteration == stopped_in(full_log["valid"][TEXTBOOK.name])[1]
