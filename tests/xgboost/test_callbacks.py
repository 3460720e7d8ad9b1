"""`xgboost.EvalCallback`: full precision for XGBRanker, copies, and what it refuses."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking
from tests.helpers.tables import for_each

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from tests.helpers.xgboost_matrices import IGNORED, LETOR, PARAMS, TEXTBOOK, XGBOOST, dmatrix, train  # noqa: E402 - after the skip


def test_xgbranker_reports_full_precision_through_the_callback():
    one, two = ranking(12), ranking(13)
    mixed = np.random.default_rng(0).permutation(two.y.size)  # its rows may come in any order
    callback = ra.xgboost.EvalCallback([LETOR, XGBOOST], [((two.X[mixed], two.y[mixed], two.qid[mixed]), "valid")])
    ranker = xgb.XGBRanker(n_estimators=4, callbacks=[callback], n_jobs=1).fit(one.X, one.y, qid=one.qid)
    assert len(callback.history) == 8
    for number in range(4):
        scores = ranker.predict(two.X[mixed], iteration_range=(0, number + 1))
        for offset, convention in enumerate((LETOR, XGBOOST)):
            value = ra.evaluate(two.y[mixed], scores, convention, qid=two.qid[mixed]).value
            assert callback.history[2 * number + offset] == ("valid", convention, value)


def test_the_callback_writes_into_the_log_beside_xgboosts_own_sets():
    one, two, result = ranking(12), ranking(13), {}
    weights = np.random.default_rng(1).random(two.sizes.size)
    convention = XGBOOST.replace(empty=0)
    with pytest.warns(UserWarning, match=IGNORED):
        callback = ra.xgboost.EvalCallback([convention, TEXTBOOK], [((two.X, two.y, two.qid, weights), "valid")])
    booster = train({}, dmatrix(one), 3, evals=[(dmatrix(one), "train")], evals_result=result,
                    custom_metric=ra.xgboost.custom_metric(LETOR), callbacks=[callback])  # fmt: skip
    scores = booster.predict(dmatrix(two))
    assert list(result) == ["train", "valid"]
    assert (
        result["valid"][convention.name][-1]
        == ra.evaluate(two.y, scores, convention, qid=two.qid, query_weight=weights).value
    )
    assert result["valid"][TEXTBOOK.name][-1] == ra.evaluate(two.y, scores, TEXTBOOK, qid=two.qid).value


def test_the_callback_weighs_rows_where_the_convention_takes_all_rows_as_one():
    one, weights = ranking(12), np.random.default_rng(1).random(ranking(12).sizes.size).astype(np.float32)
    one = one._replace(y=(one.y > 0).astype(float))
    for data in ((one.X, one.y, one.qid, weights), dmatrix(one, weight=weights)):
        callback = ra.xgboost.EvalCallback("lightgbm.auc", [(data, "valid")])
        scores = train({}, dmatrix(one), 1, callbacks=[callback]).predict(dmatrix(one))
        expected = ra.evaluate(one.y, scores, "lightgbm.auc", qid=one.qid, row_weight=np.repeat(weights, one.sizes))
        assert callback.history[-1].value == expected.value


def test_the_callback_ranks_raw_margins_when_told():
    one = ranking(14)
    one = one._replace(y=(one.y > 0).astype(float))
    data = dmatrix(one)
    callbacks = [ra.xgboost.EvalCallback(TEXTBOOK, [(data, str(m))], output_margin=m) for m in (False, True)]
    # Margins so large that the sigmoid saturates: probabilities tie where margins do not.
    booster = train({"objective": "binary:logistic", "eta": 100}, data, 3, callbacks=callbacks)
    for callback, margin in zip(callbacks, (False, True), strict=True):
        scores = booster.predict(data, output_margin=margin)
        assert callback.history[-1].value == ra.evaluate(one.y, scores, TEXTBOOK, group_sizes=one.sizes).value
    assert callbacks[0].history[-1].value != callbacks[1].history[-1].value


def test_the_callback_notices_that_a_dmatrix_says_something_else():
    one = ranking(16)
    data = dmatrix(one)
    callback = ra.xgboost.EvalCallback([LETOR, XGBOOST], [(data, "data")])
    for labels, sizes in ((one.y, one.sizes), (one.y[::-1].copy(), one.sizes), (one.y, one.sizes[::-1].copy())):
        data.set_label(labels)
        data.set_group(sizes)
        scores = train({}, dmatrix(one), 1, callbacks=[callback]).predict(data)
        for entry in callback.history[-2:]:
            assert entry.value == ra.evaluate(labels, scores, entry.convention, group_sizes=sizes).value


def test_early_stopping_in_xgbranker_watches_a_set_of_the_callback():
    one, two = ranking(20, 60), ranking(21, 40)
    evals = [((two.X, two.y, two.qid), "valid"), ((one.X, one.y, one.qid), "train")]
    report = ra.xgboost.EvalCallback([TEXTBOOK, LETOR], evals)
    stop = ra.xgboost.early_stopping(TEXTBOOK, rounds=5, data_name="valid")
    ranker = xgb.XGBRanker(n_estimators=80, learning_rate=1.0, callbacks=[report, stop], n_jobs=1)
    ranker.fit(one.X, one.y, qid=one.qid)
    values = [entry.value for entry in report.history.only(dataset="valid", convention=TEXTBOOK)]
    assert ranker.best_iteration == int(np.argmax(values)) == len(values) - 6 < 74


def test_each_fit_of_a_ranker_and_a_continued_training_is_a_run():
    one, evals = ranking(16), [((ranking(17).X, ranking(17).y, ranking(17).qid), "valid")]
    fits, trainings = (ra.xgboost.EvalCallback(LETOR, evals, names=["mine"]) for _ in range(2))
    ranker, booster = xgb.XGBRanker(n_estimators=2, callbacks=[fits], n_jobs=1), None
    for _ in range(2):
        ranker.fit(one.X, one.y, qid=one.qid, verbose=False)
        booster = train({}, dmatrix(one), 2, callbacks=[trainings], xgb_model=booster)
    for history in (fits.history, trainings.history):
        found = [(entry.run, entry.iteration, entry.dataset, entry.name) for entry in history]
        assert found == [(run, i, "valid", "mine") for run in (0, 1) for i in (0, 1)]


def test_the_callback_refuses_what_it_cannot_do():
    one = ranking(15)
    with pytest.raises(ra.InputError, match="the DMatrix has no group"):
        ra.xgboost.EvalCallback(LETOR, [(xgb.DMatrix(one.X, label=one.y), "x")])
    late = [ra.xgboost.early_stopping(LETOR, rounds=5), ra.xgboost.EvalCallback(LETOR, [(dmatrix(one), "x")])]
    with pytest.raises(ra.InputError, match="early stopping watches 'ndcg@5/letor4'"):
        train({}, dmatrix(one), 3, callbacks=late)
    with pytest.raises(ra.InputError, match=r"is not an evaluation set; allowed are a DMatrix, \(X, y, qid\)"):
        ra.xgboost.EvalCallback(LETOR, [((one.X, one.y), "x")])
    with pytest.raises(ra.InputError, match=r"cannot predict inside xgb\.cv"):
        xgb.cv(PARAMS, dmatrix(one), 2, nfold=2, callbacks=[ra.xgboost.EvalCallback(LETOR, [(dmatrix(one), "x")])])


# Copies and wrong calls


def tuple_callback(data, **more):
    return ra.xgboost.EvalCallback(TEXTBOOK, [((data.X, data.y, data.qid), "valid")], **more)


def test_a_ranker_with_the_callback_is_pickled_cloned_and_fitted_again():
    from sklearn.base import clone

    one = ranking(16)
    callbacks = [tuple_callback(one), ra.xgboost.early_stopping(TEXTBOOK, rounds=3)]
    ranker = xgb.XGBRanker(n_estimators=30, callbacks=callbacks, n_jobs=1)
    ranker.fit(one.X, one.y, qid=one.qid, verbose=False)
    first, best = len(callbacks[0].history), ranker.best_iteration
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.predict(one.X), ranker.predict(one.X))
    for copied in (
        pickle.loads(pickle.dumps(callbacks[0])),
        copy.deepcopy(callbacks[0]),
        copy.deepcopy(again.callbacks[0]),
    ):
        assert copied.history == []
        assert copied.names == callbacks[0].names
    cloned = clone(ranker).fit(one.X, one.y, qid=one.qid, verbose=False)
    assert (cloned.best_iteration, len(callbacks[0].history)) == (best, first)
    ranker.fit(one.X, one.y, qid=one.qid, verbose=False)
    assert (ranker.best_iteration, len(callbacks[0].history)) == (best, 2 * first)


def test_a_callback_on_a_dmatrix_is_copied_but_has_no_pickle():
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [(dmatrix(ranking(16)), "valid")])
    assert copy.deepcopy(callback).names == callback.names
    with pytest.raises(ra.InputError, match="on a DMatrix cannot be pickled"):
        pickle.dumps(callback)


def test_a_fitted_ranker_leaves_the_evaluation_sets_behind():
    one, two = ranking(16), ranking(17, 300)
    callback = tuple_callback(two)
    ranker = xgb.XGBRanker(n_estimators=2, callbacks=[callback], n_jobs=1)
    assert len(pickle.dumps(ranker)) > two.X.nbytes  # to be trained by another process
    ranker.fit(one.X, one.y, qid=one.qid, verbose=False)
    pickled = pickle.dumps(ranker)
    assert len(pickled) < two.X.nbytes
    for again in (pickle.loads(pickled), pickle.loads(pickle.dumps(pickle.loads(pickled)))):
        np.testing.assert_array_equal(again.predict(two.X), ranker.predict(two.X))
        with pytest.raises(
            ra.InputError, match=r"which drops its evaluation sets\.\nHint: ranker\.set_params\(callbacks"
        ):
            again.fit(one.X, one.y, qid=one.qid, verbose=False)
    again.set_params(callbacks=[tuple_callback(two)]).fit(one.X, one.y, qid=one.qid, verbose=False)
    assert ranker.fit(one.X, one.y, qid=one.qid, verbose=False).callbacks[0].history.runs == [0, 1]


def test_a_ranker_fitted_with_a_callback_on_a_dmatrix_is_pickled():
    one = ranking(16)
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [(dmatrix(one), "valid")])
    ranker = xgb.XGBRanker(n_estimators=2, callbacks=[callback], n_jobs=1).fit(one.X, one.y, qid=one.qid)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(one.X), ranker.predict(one.X))


def test_copies_do_not_warn_of_ignored_weights_again():
    one = ranking(16)
    with pytest.warns(UserWarning, match=IGNORED) as warned:
        callback = ra.xgboost.EvalCallback(TEXTBOOK, [((one.X, one.y, one.qid, np.ones(one.sizes.size)), "valid")])
    copied = pickle.loads(pickle.dumps(copy.deepcopy(callback)))
    train({}, dmatrix(one), 2, callbacks=[copied])
    assert (len(warned), len(copied.history)) == (1, 2)
    weighted = dmatrix(one, weight=np.ones(one.sizes.size))
    with pytest.warns(UserWarning, match=IGNORED):
        ra.xgboost.EvalCallback([XGBOOST, TEXTBOOK], [(weighted, "valid")])


def test_missing_features_are_those_that_the_ranker_was_told():
    one = ranking(17)
    X = np.where(np.random.default_rng(0).random(one.X.shape) < 0.3, -999, one.X)
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [((X, one.y, one.qid), "valid")], missing=-999)
    ranker = xgb.XGBRanker(n_estimators=4, missing=-999, callbacks=[callback], n_jobs=1)
    ranker.fit(X, one.y, qid=one.qid, verbose=False)
    assert callback.history[-1].value == ra.evaluate(one.y, ranker.predict(X), TEXTBOOK, qid=one.qid).value


def test_early_stopping_on_a_set_that_nobody_evaluates_names_the_sets():
    one = ranking(18)
    stop = ra.xgboost.early_stopping(TEXTBOOK, rounds=3, data_name="validation_0")
    said = r"watches the set 'validation_0', but the log has 'train', 'valid'\.\nHint: data_name='valid'\."
    with pytest.raises(ra.InputError, match=said):
        train({}, dmatrix(one), 2, evals=[(dmatrix(one), "train")], custom_metric=ra.xgboost.custom_metric(LETOR),
              callbacks=[tuple_callback(one), stop])  # fmt: skip


def test_one_name_reported_twice_is_refused():
    one = ranking(18)
    data = dmatrix(one)
    with pytest.raises(ra.InputError, match="'ndcg@10/textbook' of 'valid' is reported twice a round"):
        train({}, data, 2, evals=[(data, "valid")], custom_metric=ra.xgboost.custom_metric(TEXTBOOK),
              callbacks=[tuple_callback(one)])  # fmt: skip


@for_each("evals", [None, [], {"v": 1}, [1], [(1, 2)], [("a", "v"), ("b", "v")], (("x", "y"), "v")])
def test_arguments_of_another_kind(evals):
    with pytest.raises(ra.InputError, match=r"is not a list of \(data, name\) with different names"):
        ra.xgboost.EvalCallback(TEXTBOOK, evals)
    with pytest.raises(ra.InputError, match="data_name=0; allowed are a text and None"):
        ra.xgboost.early_stopping(TEXTBOOK, rounds=3, data_name=0)
    with pytest.raises(ra.InputError, match="missing='x'; allowed are numbers, NaN among them"):
        tuple_callback(ranking(16), missing="x")
