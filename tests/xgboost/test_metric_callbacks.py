"""`xgboost.eval_metric` as `custom_metric=` and in `callbacks=` too, where XGBoost differs from LightGBM.

`tests/callbacks` tests what the two toolkits share in one process.
"""

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.rankings import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from rankadapters.xgboost.metrics import Collective  # noqa: E402 - after the skip
from tests.helpers.xgboost_matrices import dmatrix, train  # noqa: E402 - after the skip

TRAIN, VALID = ranking(12, 60), ranking(13, 40)


def train_with_metric(metric, *callbacks, rounds=60, evals=("valid",), **options):
    matrices = {"train": dmatrix(TRAIN), "valid": dmatrix(VALID)}
    log = {}
    booster = train({"eta": 0.5}, matrices["train"], rounds, evals=[(matrices[name], name) for name in evals],
                    evals_result=log, custom_metric=metric, callbacks=[metric, *callbacks], **options)  # fmt: skip
    return booster, log


def test_the_callback_replaces_rounded_values_by_full_precision():
    metric = ra.xgboost.eval_metric([LETOR, "lightgbm.auc"])
    valid = VALID._replace(y=np.minimum(VALID.y, 1))
    matrix, logs = dmatrix(valid), []
    for callbacks in ([], [metric]):
        log = {}
        booster = train({}, dmatrix(TRAIN), 3, evals=[(matrix, "valid")], custom_metric=metric, callbacks=callbacks,
                        evals_result=log)  # fmt: skip
        logs.append(log["valid"])
    scores = booster.predict(matrix)
    for convention in (LETOR, ra.parse("lightgbm.auc")):  # AUC is over all rows as one query
        rounded_values, values = (log[convention.name] for log in logs)
        assert values[-1] == ra.evaluate(valid.y, scores, convention, qid=valid.qid).value
        assert rounded_values == [round(value, 6) for value in values] != values


def test_xgboosts_own_early_stopping_listed_before_the_metric_is_refused():
    metric = ra.xgboost.eval_metric(LETOR)
    stop = xgb.callback.EarlyStopping(rounds=5, metric_name=LETOR.name, maximize=True)
    with pytest.raises(ra.InputError, match=r"early stopping ran before eval_metric.\nHint: list eval_metric before"):
        train({}, dmatrix(TRAIN), 5, evals=[(dmatrix(TRAIN), "train")], custom_metric=metric, callbacks=[stop, metric])


def test_unsupported_uses_of_the_metric_are_refused():
    metric, matrix = ra.xgboost.eval_metric(LETOR), dmatrix(TRAIN)
    evals = [(matrix, "train")]
    with pytest.raises(ra.InputError, match=r"evaluated no set.\nHint: the same object as custom_metric="):
        train({}, matrix, 2, evals=evals, custom_metric=ra.xgboost.eval_metric(TEXTBOOK), callbacks=[metric])
    with pytest.raises(ra.InputError, match=r"called 2 times in this round, but \['train'\] report it"):
        train({}, matrix, 2, evals=evals * 2, custom_metric=metric, callbacks=[metric])
    with pytest.raises(ra.InputError, match="passes a metric the rows of one query at a time"):
        metric(TRAIN.y, TRAIN.X[:, 0])


def test_calls_outside_the_rounds_of_a_training_are_not_logged():
    metric, matrix = ra.xgboost.eval_metric(LETOR), dmatrix(VALID)
    scores = VALID.X[:, 0]
    expected = ra.evaluate(VALID.y, scores, LETOR, qid=VALID.qid).value

    class CallsTheMetric(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            assert metric(scores, matrix) == [(LETOR.name, expected)]

    _, log = train_with_metric(metric, CallsTheMetric(), rounds=3)
    assert metric(scores, matrix) == [(LETOR.name, expected)]
    assert log == train_with_metric(ra.xgboost.eval_metric(LETOR), rounds=3)[1]


# Several workers, simulated in one process


def test_values_are_summed_over_the_workers(monkeypatch):
    operations = []
    monkeypatch.setattr(xgb.collective, "get_world_size", lambda: 2)
    # As if both workers had the same rows.
    monkeypatch.setattr(xgb.collective, "allreduce", lambda array, op: operations.append(op) or 2 * array)
    metric = ra.xgboost.eval_metric(TEXTBOOK, n_queries=2 * VALID.sizes.size)
    booster, log = train_with_metric(metric, rounds=1)
    assert set(operations) == {xgb.collective.Op.SUM}
    expected = ra.evaluate(VALID.y, booster.predict(dmatrix(VALID)), TEXTBOOK, qid=VALID.qid).value
    assert log["valid"][TEXTBOOK.name] == [pytest.approx(expected, rel=1e-15)]


def test_several_workers_refuse_a_metric_that_their_parts_do_not_add_up_to(monkeypatch):
    monkeypatch.setattr(xgb.collective, "get_world_size", lambda: 2)
    with pytest.raises(ra.UnsupportedConventionError, match="is over all rows as one query"):
        train_with_metric(ra.xgboost.eval_metric(ra.presets.sklearn.roc_auc_score()))
    metric, matrix = ra.xgboost.eval_metric(TEXTBOOK), dmatrix(VALID)
    message = r"as custom_metric= alone is for one process(.|\n)*Hint: .*custom_metric=metric and callbacks=\[metric\]"
    with pytest.raises(ra.InputError, match=message):
        train({}, matrix, 2, evals=[(matrix, "valid")], custom_metric=metric)


def test_a_lost_worker_raises_a_readable_error(monkeypatch):
    def fail(array, op):
        raise xgb.core.XGBoostError("Ring Allreduce failed")

    monkeypatch.setattr(xgb.collective, "allreduce", fail)
    with pytest.raises(ra.RankAdaptersError, match=r"round 3: another of the 2 workers ended.\nHint: read the error"):
        Collective().add("round 3", 2, np.zeros(1, np.int64))
