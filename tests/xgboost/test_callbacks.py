"""`xgboost.EvalCallback`: full-precision values for XGBRanker, copies of the callback, and refused arguments."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import IGNORED_WEIGHTS, LETOR, TEXTBOOK
from tests.helpers.rankings import ranking
from tests.helpers.tables import for_each

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from tests.helpers.xgboost_matrices import PARAMS, XGBOOST, dmatrix, train  # noqa: E402 - after the skip


def test_the_callback_records_full_precision_values_of_xgbranker():
    data, valid = ranking(12), ranking(13)
    rows = np.random.default_rng(0).permutation(valid.y.size)  # rows of a set may be in any order
    callback = ra.xgboost.EvalCallback([LETOR, XGBOOST], [((valid.X[rows], valid.y[rows], valid.qid[rows]), "valid")])
    ranker = xgb.XGBRanker(n_estimators=4, callbacks=[callback], n_jobs=1).fit(data.X, data.y, qid=data.qid)
    assert len(callback.history) == 8
    for iteration in range(4):
        scores = ranker.predict(valid.X[rows], iteration_range=(0, iteration + 1))
        for index, convention in enumerate((LETOR, XGBOOST)):
            value = ra.evaluate(valid.y[rows], scores, convention, qid=valid.qid[rows]).value
            assert callback.history[2 * iteration + index] == ("valid", convention, value)


def test_the_callback_adds_its_evaluation_set_to_xgboosts_log():
    data, valid, log = ranking(12), ranking(13), {}
    weights = np.random.default_rng(1).random(valid.sizes.size)
    convention = XGBOOST.replace(empty=0)
    with pytest.warns(UserWarning, match=IGNORED_WEIGHTS):
        callback = ra.xgboost.EvalCallback([convention, TEXTBOOK], [((valid.X, valid.y, valid.qid, weights), "valid")])
    booster = train({}, dmatrix(data), 3, evals=[(dmatrix(data), "train")], evals_result=log,
                    custom_metric=ra.xgboost.custom_metric(LETOR), callbacks=[callback])  # fmt: skip
    scores = booster.predict(dmatrix(valid))
    assert list(log) == ["train", "valid"]
    assert (
        log["valid"][convention.name][-1]
        == ra.evaluate(valid.y, scores, convention, qid=valid.qid, query_weight=weights).value
    )
    assert log["valid"][TEXTBOOK.name][-1] == ra.evaluate(valid.y, scores, TEXTBOOK, qid=valid.qid).value


def test_query_weights_become_row_weights_if_the_convention_pools_all_rows():
    data, weights = ranking(12), np.random.default_rng(1).random(ranking(12).sizes.size).astype(np.float32)
    data = data._replace(y=(data.y > 0).astype(float))
    for evaluation_data in ((data.X, data.y, data.qid, weights), dmatrix(data, weight=weights)):
        callback = ra.xgboost.EvalCallback("lightgbm.auc", [(evaluation_data, "valid")])
        scores = train({}, dmatrix(data), 1, callbacks=[callback]).predict(dmatrix(data))
        expected = ra.evaluate(data.y, scores, "lightgbm.auc", qid=data.qid, row_weight=np.repeat(weights, data.sizes))
        assert callback.history[-1].value == expected.value


def test_output_margin_makes_the_callback_rank_raw_margins():
    data = ranking(14)
    data = data._replace(y=(data.y > 0).astype(float))
    matrix = dmatrix(data)
    callbacks = [ra.xgboost.EvalCallback(TEXTBOOK, [(matrix, str(raw))], output_margin=raw) for raw in (False, True)]
    # The margins are so large that the sigmoid saturates: probabilities tie but margins do not.
    booster = train({"objective": "binary:logistic", "eta": 100}, matrix, 3, callbacks=callbacks)
    for callback, raw in zip(callbacks, (False, True), strict=True):
        scores = booster.predict(matrix, output_margin=raw)
        assert callback.history[-1].value == ra.evaluate(data.y, scores, TEXTBOOK, group_sizes=data.sizes).value
    assert callbacks[0].history[-1].value != callbacks[1].history[-1].value


def test_the_callback_reads_the_current_labels_and_groups_of_its_dmatrix():
    data = ranking(16)
    matrix = dmatrix(data)
    callback = ra.xgboost.EvalCallback([LETOR, XGBOOST], [(matrix, "data")])
    for labels, sizes in ((data.y, data.sizes), (data.y[::-1].copy(), data.sizes), (data.y, data.sizes[::-1].copy())):
        matrix.set_label(labels)
        matrix.set_group(sizes)
        scores = train({}, dmatrix(data), 1, callbacks=[callback]).predict(matrix)
        for entry in callback.history[-2:]:
            assert entry.value == ra.evaluate(labels, scores, entry.convention, group_sizes=sizes).value


def test_early_stopping_in_xgbranker_watches_an_evaluation_set_of_the_callback():
    data, valid = ranking(20, 60), ranking(21, 40)
    evals = [((valid.X, valid.y, valid.qid), "valid"), ((data.X, data.y, data.qid), "train")]
    callback = ra.xgboost.EvalCallback([TEXTBOOK, LETOR], evals)
    stop = ra.xgboost.early_stopping(TEXTBOOK, rounds=5, data_name="valid")
    ranker = xgb.XGBRanker(n_estimators=80, learning_rate=1.0, callbacks=[callback, stop], n_jobs=1)
    ranker.fit(data.X, data.y, qid=data.qid)
    values = [entry.value for entry in callback.history.only(dataset="valid", convention=TEXTBOOK)]
    assert ranker.best_iteration == int(np.argmax(values)) == len(values) - 6 < 74


def test_each_fit_and_each_continued_training_is_recorded_as_a_new_run():
    data, evals = ranking(16), [((ranking(17).X, ranking(17).y, ranking(17).qid), "valid")]
    fit_callback, train_callback = (ra.xgboost.EvalCallback(LETOR, evals, names=["mine"]) for _ in range(2))
    ranker, booster = xgb.XGBRanker(n_estimators=2, callbacks=[fit_callback], n_jobs=1), None
    for _ in range(2):
        ranker.fit(data.X, data.y, qid=data.qid, verbose=False)
        booster = train({}, dmatrix(data), 2, callbacks=[train_callback], xgb_model=booster)
    for history in (fit_callback.history, train_callback.history):
        entries = [(entry.run, entry.iteration, entry.dataset, entry.name) for entry in history]
        assert entries == [(run, iteration, "valid", "mine") for run in (0, 1) for iteration in (0, 1)]


def test_unsupported_uses_of_the_callback_are_refused():
    data = ranking(15)
    with pytest.raises(ra.InputError, match="the DMatrix has no group"):
        ra.xgboost.EvalCallback(LETOR, [(xgb.DMatrix(data.X, label=data.y), "x")])
    wrong_order = [ra.xgboost.early_stopping(LETOR, rounds=5), ra.xgboost.EvalCallback(LETOR, [(dmatrix(data), "x")])]
    with pytest.raises(ra.InputError, match="early stopping watches 'ndcg@5/letor4'"):
        train({}, dmatrix(data), 3, callbacks=wrong_order)
    with pytest.raises(ra.InputError, match=r"is not an evaluation set; allowed are a DMatrix, \(X, y, qid\)"):
        ra.xgboost.EvalCallback(LETOR, [((data.X, data.y), "x")])
    with pytest.raises(ra.InputError, match=r"cannot predict inside xgb\.cv"):
        xgb.cv(PARAMS, dmatrix(data), 2, nfold=2, callbacks=[ra.xgboost.EvalCallback(LETOR, [(dmatrix(data), "x")])])


# Copies of the callback and wrong arguments


def callback_on_rows(data, **options):
    return ra.xgboost.EvalCallback(TEXTBOOK, [((data.X, data.y, data.qid), "valid")], **options)


def test_a_ranker_with_the_callback_can_be_pickled_cloned_and_fitted_again():
    from sklearn.base import clone

    data = ranking(16)
    callbacks = [callback_on_rows(data), ra.xgboost.early_stopping(TEXTBOOK, rounds=3)]
    ranker = xgb.XGBRanker(n_estimators=30, callbacks=callbacks, n_jobs=1)
    ranker.fit(data.X, data.y, qid=data.qid, verbose=False)
    n_entries, best_iteration = len(callbacks[0].history), ranker.best_iteration
    unpickled = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(unpickled.predict(data.X), ranker.predict(data.X))
    for copied in (
        pickle.loads(pickle.dumps(callbacks[0])),
        copy.deepcopy(callbacks[0]),
        copy.deepcopy(unpickled.callbacks[0]),
    ):
        assert copied.history == []
        assert copied.names == callbacks[0].names
    cloned = clone(ranker).fit(data.X, data.y, qid=data.qid, verbose=False)
    assert (cloned.best_iteration, len(callbacks[0].history)) == (best_iteration, n_entries)
    ranker.fit(data.X, data.y, qid=data.qid, verbose=False)
    assert (ranker.best_iteration, len(callbacks[0].history)) == (best_iteration, 2 * n_entries)


def test_a_callback_on_a_dmatrix_can_be_copied_but_not_pickled():
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [(dmatrix(ranking(16)), "valid")])
    assert copy.deepcopy(callback).names == callback.names
    with pytest.raises(ra.InputError, match="on a DMatrix cannot be pickled"):
        pickle.dumps(callback)


def test_pickling_a_fitted_ranker_drops_the_evaluation_sets():
    data, valid = ranking(16), ranking(17, 300)
    callback = callback_on_rows(valid)
    ranker = xgb.XGBRanker(n_estimators=2, callbacks=[callback], n_jobs=1)
    assert len(pickle.dumps(ranker)) > valid.X.nbytes  # unfitted: another process may train it
    ranker.fit(data.X, data.y, qid=data.qid, verbose=False)
    pickled = pickle.dumps(ranker)
    assert len(pickled) < valid.X.nbytes
    for unpickled in (pickle.loads(pickled), pickle.loads(pickle.dumps(pickle.loads(pickled)))):
        np.testing.assert_array_equal(unpickled.predict(valid.X), ranker.predict(valid.X))
        with pytest.raises(
            ra.InputError, match=r"which drops its evaluation sets\.\nHint: ranker\.set_params\(callbacks"
        ):
            unpickled.fit(data.X, data.y, qid=data.qid, verbose=False)
    unpickled.set_params(callbacks=[callback_on_rows(valid)]).fit(data.X, data.y, qid=data.qid, verbose=False)
    assert ranker.fit(data.X, data.y, qid=data.qid, verbose=False).callbacks[0].history.runs == [0, 1]


def test_a_ranker_fitted_with_a_callback_on_a_dmatrix_can_be_pickled():
    data = ranking(16)
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [(dmatrix(data), "valid")])
    ranker = xgb.XGBRanker(n_estimators=2, callbacks=[callback], n_jobs=1).fit(data.X, data.y, qid=data.qid)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(data.X), ranker.predict(data.X))


def test_copies_of_a_callback_do_not_repeat_the_warning_about_ignored_weights():
    data = ranking(16)
    with pytest.warns(UserWarning, match=IGNORED_WEIGHTS) as caught:
        callback = ra.xgboost.EvalCallback(TEXTBOOK, [((data.X, data.y, data.qid, np.ones(data.sizes.size)), "valid")])
    copied = pickle.loads(pickle.dumps(copy.deepcopy(callback)))
    train({}, dmatrix(data), 2, callbacks=[copied])
    assert (len(caught), len(copied.history)) == (1, 2)
    weighted = dmatrix(data, weight=np.ones(data.sizes.size))
    with pytest.warns(UserWarning, match=IGNORED_WEIGHTS):
        ra.xgboost.EvalCallback([XGBOOST, TEXTBOOK], [(weighted, "valid")])


def test_the_callback_predicts_with_the_declared_missing_value():
    data = ranking(17)
    X = np.where(np.random.default_rng(0).random(data.X.shape) < 0.3, -999, data.X)
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [((X, data.y, data.qid), "valid")], missing=-999)
    ranker = xgb.XGBRanker(n_estimators=4, missing=-999, callbacks=[callback], n_jobs=1)
    ranker.fit(X, data.y, qid=data.qid, verbose=False)
    assert callback.history[-1].value == ra.evaluate(data.y, ranker.predict(X), TEXTBOOK, qid=data.qid).value


def test_early_stopping_on_an_unknown_set_lists_the_evaluated_sets():
    data = ranking(18)
    stop = ra.xgboost.early_stopping(TEXTBOOK, rounds=3, data_name="validation_0")
    message = r"watches the set 'validation_0', but the log has 'train', 'valid'\.\nHint: data_name='valid'\."
    with pytest.raises(ra.InputError, match=message):
        train({}, dmatrix(data), 2, evals=[(dmatrix(data), "train")], custom_metric=ra.xgboost.custom_metric(LETOR),
              callbacks=[callback_on_rows(data), stop])  # fmt: skip


def test_a_metric_reported_twice_per_round_is_refused():
    data = ranking(18)
    matrix = dmatrix(data)
    with pytest.raises(ra.InputError, match="'ndcg@10/textbook' of 'valid' is reported twice a round"):
        train({}, matrix, 2, evals=[(matrix, "valid")], custom_metric=ra.xgboost.custom_metric(TEXTBOOK),
              callbacks=[callback_on_rows(data)])  # fmt: skip


@for_each("evals", [None, [], {"v": 1}, [1], [(1, 2)], [("a", "v"), ("b", "v")], (("x", "y"), "v")])
def test_arguments_of_a_wrong_type_are_refused(evals):
    with pytest.raises(ra.InputError, match=r"is not a list of \(data, name\) with different names"):
        ra.xgboost.EvalCallback(TEXTBOOK, evals)
    with pytest.raises(ra.InputError, match="data_name=0; allowed are a text and None"):
        ra.xgboost.early_stopping(TEXTBOOK, rounds=3, data_name=0)
    with pytest.raises(ra.InputError, match="missing='x'; allowed are numbers, NaN among them"):
        callback_on_rows(ranking(16), missing="x")
