"""`lightgbm.early_stopping`: sets that it cannot watch. `tests/training` tests what it stops."""

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
    """Train with the sets of these names, of which "train" is the training set."""
    data = dataset(TRAIN)
    sets = [{"train": data, "other": dataset(OTHER)}.get(name, dataset(VALID)) for name in names]
    return lgb.train({**PARAMS, "learning_rate": 0.5, **params}, data, 60, valid_sets=sets, valid_names=names,
                     feval=metric, callbacks=[stop])  # fmt: skip


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


def test_a_cross_validation_has_no_training_set_to_watch():
    from sklearn.model_selection import GroupKFold

    with pytest.raises(ra.InputError, match=r"the set 'train', but the validation sets are \['valid'\]"):
        lgb.cv(PARAMS, dataset(TRAIN), 20, folds=GroupKFold(3), feval=METRIC, callbacks=[stopping(data_name="train")],
               eval_train_metric=True)  # fmt: skip


def test_a_training_with_dart_does_not_turn_off_the_next():
    stop = stopping(data_name="valid")
    with pytest.warns(UserWarning, match="not available in dart mode"):
        assert train(stop, ["valid"], boosting="dart").current_iteration() == 60
    assert train(stop, ["valid"]).current_iteration() < 60
