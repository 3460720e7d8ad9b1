"""`xgboost.global_eval` where XGBoost differs from LightGBM, and on several workers.

`tests/callbacks` tests what the two toolkits share in one process.
"""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.rankings import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from rankadapters.callbacks.global_metrics import GlobalValue  # noqa: E402 - after the skip
from rankadapters.xgboost.distributed import Collective, _warn_of_empty_workers  # noqa: E402
from tests.helpers.xgboost_matrices import dmatrix, train  # noqa: E402 - after the skip

TRAIN, VALID = ranking(12, 60), ranking(13, 40)


def train_with_metric(metric, *callbacks, rounds=60, evals=("valid",), **options):
    matrices = {"train": dmatrix(TRAIN), "valid": dmatrix(VALID)}
    log = {}
    booster = train({"eta": 0.5}, matrices["train"], rounds, evals=[(matrices[name], name) for name in evals],
                    evals_result=log, custom_metric=metric, callbacks=[metric, *callbacks], **options)  # fmt: skip
    return booster, log


def test_early_stopping_listed_before_global_eval_is_refused():
    metric = ra.xgboost.global_eval(LETOR)
    stop = ra.xgboost.early_stopping(LETOR, rounds=5)
    with pytest.raises(ra.InputError, match=r"early stopping ran before global_eval.\nHint: list global_eval before"):
        train({}, dmatrix(TRAIN), 5, evals=[(dmatrix(TRAIN), "train")], custom_metric=metric, callbacks=[stop, metric])


def test_training_continues_from_a_model_that_was_stopped_early():
    booster, _ = train_with_metric(ra.xgboost.global_eval(TEXTBOOK), ra.xgboost.early_stopping(TEXTBOOK, rounds=5))
    _, log = train_with_metric(
        ra.xgboost.global_eval(TEXTBOOK), ra.xgboost.early_stopping(TEXTBOOK, rounds=5), xgb_model=booster
    )
    assert len(log["valid"][TEXTBOOK.name]) > 5


def test_unsupported_uses_of_global_eval_are_refused():
    metric, matrix = ra.xgboost.global_eval(LETOR), dmatrix(TRAIN)
    with pytest.raises(ra.InputError, match=r"evaluated no set.\nHint: the same object as custom_metric="):
        train({}, matrix, 2, evals=[(matrix, "train")], callbacks=[metric])
    with pytest.raises(ra.InputError, match="passes a metric the rows of one query at a time"):
        metric(TRAIN.y, TRAIN.X[:, 0])


# Several workers, simulated in one process


def test_values_are_summed_over_the_workers(monkeypatch):
    operations = []
    monkeypatch.setattr(xgb.collective, "get_world_size", lambda: 2)
    # As if both workers had the same rows.
    monkeypatch.setattr(xgb.collective, "allreduce", lambda array, op: operations.append(op) or 2 * array)
    metric = ra.xgboost.global_eval(TEXTBOOK, n_queries=2 * VALID.sizes.size)
    booster, log = train_with_metric(metric, rounds=1)
    assert set(operations) == {xgb.collective.Op.SUM}
    expected = ra.evaluate(VALID.y, booster.predict(dmatrix(VALID)), TEXTBOOK, qid=VALID.qid).value
    assert log["valid"][TEXTBOOK.name] == [pytest.approx(expected, rel=1e-15)]


def test_a_warning_says_that_xgboosts_own_metric_counts_workers_without_rows():
    global_values = {"valid": [GlobalValue(LETOR.name, 0.5, higher_is_better=True, n_workers=1)]}
    log = {"valid": {LETOR.name: [0.5], "ndcg@5": [0.6], "rmse": [1.0]}}
    with pytest.warns(
        UserWarning, match=r"2 of 3 workers have no rows of 'valid': XGBoost's own ndcg@5 counts each as"
    ):
        _warn_of_empty_workers(global_values, log, 3)
    for metrics, n_workers in ((["rmse"], 3), (["ndcg@5"], 1)):  # no warning
        _warn_of_empty_workers(global_values, {"valid": {name: [0.5] for name in (LETOR.name, *metrics)}}, n_workers)


def test_a_lost_worker_raises_a_readable_error(monkeypatch):
    def fail(array, op):
        raise xgb.core.XGBoostError("Ring Allreduce failed")

    monkeypatch.setattr(xgb.collective, "allreduce", fail)
    with pytest.raises(ra.RankAdaptersError, match=r"round 3: another of the 2 workers ended.\nHint: read the error"):
        Collective().add("round 3", 2, np.zeros(1, np.int64))
