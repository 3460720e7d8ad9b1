"""`xgboost.EvalCallback`: full-precision values for XGBRanker, copies of the callback, and refused arguments."""

import copy
import gc
import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.rankings import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from tests.helpers.xgboost_matrices import XGBOOST, dmatrix, train  # noqa: E402 - after the skip


def train_and_read(data, *callbacks, rounds=2, **options):
    """Train on a ranking with callbacks, and return the Booster and the history of its log."""
    log = {}
    booster = train({}, dmatrix(data), rounds, callbacks=list(callbacks), evals_result=log, **options)
    return booster, ra.History.of(log)


def test_output_margin_makes_the_callback_rank_raw_margins():
    data = ranking(14)
    data = data._replace(y=(data.y > 0).astype(float))
    matrix = dmatrix(data)
    callbacks = [ra.xgboost.EvalCallback(TEXTBOOK, [(matrix, str(raw))], output_margin=raw) for raw in (False, True)]
    # The margins are so large that the sigmoid saturates: probabilities tie but margins do not.
    log, values = {}, []
    params = {"objective": "binary:logistic", "eta": 100}
    booster = train(params, matrix, 3, callbacks=callbacks, evals_result=log)
    for raw in (False, True):
        scores = booster.predict(matrix, output_margin=raw)
        values.append(log[str(raw)][TEXTBOOK.name][-1])
        assert values[-1] == ra.evaluate(data.y, scores, TEXTBOOK, group_sizes=data.sizes).value
    assert values[0] != values[1]


def test_each_training_reads_the_labels_and_groups_of_the_dmatrix():
    data = ranking(16)
    matrix = dmatrix(data)
    callback = ra.xgboost.EvalCallback([LETOR, XGBOOST], [(matrix, "data")])
    for labels, sizes in ((data.y, data.sizes), (data.y[::-1].copy(), data.sizes), (data.y, data.sizes[::-1].copy())):
        matrix.set_label(labels)
        matrix.set_group(sizes)
        booster, history = train_and_read(data, callback, rounds=1)
        scores = booster.predict(matrix)
        for entry in history:
            assert entry.value == ra.evaluate(labels, scores, entry.convention, group_sizes=sizes).value


def test_unsupported_uses_of_the_callback_are_refused():
    data = ranking(15)
    without_group = ra.xgboost.EvalCallback(LETOR, [(xgb.DMatrix(data.X, label=data.y), "x")])
    with pytest.raises(ra.InputError, match="the DMatrix has no group"):
        train({}, dmatrix(data), 3, callbacks=[without_group])
    wrong_order = [xgb.callback.EarlyStopping(rounds=5), ra.xgboost.EvalCallback(LETOR, [(dmatrix(data), "x")])]
    with pytest.raises(ValueError, match="Must have at least 1 validation dataset"):
        train({}, dmatrix(data), 3, callbacks=wrong_order)
    with pytest.raises(ra.InputError, match=r"is not an evaluation set; allowed are a DMatrix, \(X, y, qid\)"):
        ra.xgboost.EvalCallback(LETOR, [((data.X, data.y), "x")])


# Copies of the callback and wrong arguments


def callback_on_rows(data, **options):
    return ra.xgboost.EvalCallback(TEXTBOOK, [((data.X, data.y, data.qid), "valid")], **options)


def test_a_callback_on_a_dmatrix_can_be_copied():
    data = ranking(16)
    matrix = dmatrix(data)
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [(matrix, "valid")])
    copied = copy.deepcopy(callback)
    histories = [train_and_read(data, each)[1] for each in (callback, copied)]
    assert histories[0] == histories[1]


def matrices():
    gc.collect()
    return sum(issubclass(type(alive), xgb.DMatrix) for alive in gc.get_objects())  # isinstance fails for a dead proxy


def test_trainings_that_fail_leave_a_callback_that_works_and_no_matrix():
    data, n_matrices = ranking(16), matrices()
    callback = callback_on_rows(data)

    def fail(preds, dmatrix):
        raise RuntimeError

    for _ in range(3):
        with pytest.raises(RuntimeError):
            train({}, dmatrix(data), 2, callbacks=[callback], obj=fail)
    assert matrices() == n_matrices
    assert len(train_and_read(data, pickle.loads(pickle.dumps(callback)))[1]) == 2
    assert len(train_and_read(data, callback)[1]) == 2
    assert matrices() == n_matrices


def test_the_callback_predicts_with_the_declared_missing_value():
    data = ranking(17)
    X = np.where(np.random.default_rng(0).random(data.X.shape) < 0.3, -999, data.X)
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [((X, data.y, data.qid), "valid")], missing=-999)
    ranker = xgb.XGBRanker(n_estimators=4, missing=-999, callbacks=[callback], n_jobs=1)
    ranker.fit(X, data.y, qid=data.qid, verbose=False)
    value = ra.evaluate(data.y, ranker.predict(X), TEXTBOOK, qid=data.qid).value
    assert ranker.evals_result()["valid"][TEXTBOOK.name][-1] == value


def test_a_set_whose_features_have_other_rows_than_its_labels_is_refused():
    data = ranking(18)
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [((data.X[1:], data.y, data.qid), "valid")])
    with pytest.raises(ra.InputError, match=f"X has {data.y.size - 1} rows but labels has {data.y.size}"):
        train({}, dmatrix(data), 2, callbacks=[callback])


def test_one_callback_serves_trainings_inside_one_another():
    data, valid = ranking(12), ranking(13)
    sets = [((valid.X, valid.y, valid.qid), "valid")]
    expected = train_and_read(data, ra.xgboost.EvalCallback(LETOR, sets), rounds=3)[1]
    callback = ra.xgboost.EvalCallback(LETOR, sets)

    class Nested(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            assert train_and_read(data, callback, rounds=2)[1] == expected[:2]
            return False

    assert train_and_read(data, callback, Nested(), rounds=3)[1] == expected


def test_errors_on_dask_name_the_training_that_takes_the_metric(monkeypatch):
    on_dask = (
        r"\n?Hint: (.|\n)*in place of DaskXGBRanker xgboost\.dask\.train\(client, params, dtrain, custom_metric=metric"
    )
    data, metric = ranking(16), ra.xgboost.eval_metric(TEXTBOOK)
    monkeypatch.setattr(xgb.collective, "get_world_size", lambda: 2)
    with pytest.raises(ra.InputError, match="EvalCallback is for one process" + ".*" + on_dask):
        xgb.XGBRanker(callbacks=[callback_on_rows(data)]).fit(data.X, data.y, qid=data.qid)
    with pytest.raises(ra.InputError, match="evaluated no set." + on_dask):
        xgb.XGBRanker(callbacks=[metric]).fit(data.X, data.y, qid=data.qid)
    with pytest.raises(ra.InputError, match="one query at a time and averages the values by query size." + on_dask):
        xgb.XGBRanker(eval_metric=metric).fit(
            data.X, data.y, qid=data.qid, eval_set=[(data.X, data.y)], eval_qid=[data.qid]
        )
