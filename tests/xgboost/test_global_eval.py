"""`xgboost.global_eval` where XGBoost differs from LightGBM, and on several workers.

What holds of both in one process is in `tests/callbacks`.
"""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from rankadapters.callbacks.global_metrics import GlobalValue  # noqa: E402 - after the skip
from rankadapters.xgboost.distributed import Collective, _warn_of_empty_workers  # noqa: E402
from tests.helpers.xgboost_matrices import LETOR, TEXTBOOK, dmatrix, train  # noqa: E402 - after the skip

ONE, TWO = ranking(12, 60), ranking(13, 40)


def watched(watch, *later, rounds=60, evals=("valid",), **more):
    sets = {"train": dmatrix(ONE), "valid": dmatrix(TWO)}
    log = {}
    booster = train({"eta": 0.5}, sets["train"], rounds, evals=[(sets[name], name) for name in evals],
                    evals_result=log, custom_metric=watch, callbacks=[watch, *later], **more)  # fmt: skip
    return booster, log


def test_early_stopping_listed_before_it_is_refused():
    watch = ra.xgboost.global_eval(LETOR)
    stop = ra.xgboost.early_stopping(LETOR, rounds=5)
    with pytest.raises(ra.InputError, match=r"early stopping ran before global_eval.\nHint: list global_eval before"):
        train({}, dmatrix(ONE), 5, evals=[(dmatrix(ONE), "train")], custom_metric=watch, callbacks=[stop, watch])


def test_a_training_that_goes_on_from_one_that_stopped_early():
    booster, _ = watched(ra.xgboost.global_eval(TEXTBOOK), ra.xgboost.early_stopping(TEXTBOOK, rounds=5))
    _, log = watched(ra.xgboost.global_eval(TEXTBOOK), ra.xgboost.early_stopping(TEXTBOOK, rounds=5), xgb_model=booster)
    assert len(log["valid"][TEXTBOOK.name]) > 5


def test_what_it_is_not_for():
    watch, data = ra.xgboost.global_eval(LETOR), dmatrix(ONE)
    with pytest.raises(ra.InputError, match=r"evaluated no set.\nHint: the same object as custom_metric="):
        train({}, data, 2, evals=[(data, "train")], callbacks=[watch])
    with pytest.raises(ra.InputError, match="passes a metric the rows of one query at a time"):
        watch(ONE.y, ONE.X[:, 0])


# Of several workers, what can be shown in one process


def test_values_are_summed_over_the_workers(monkeypatch):
    asked = []
    monkeypatch.setattr(xgb.collective, "get_world_size", lambda: 2)
    monkeypatch.setattr(xgb.collective, "allreduce", lambda array, op: asked.append(op) or 2 * array)  # two alike
    watch = ra.xgboost.global_eval(TEXTBOOK, n_queries=2 * TWO.sizes.size)
    booster, log = watched(watch, rounds=1)
    assert set(asked) == {xgb.collective.Op.SUM}
    expected = ra.evaluate(TWO.y, booster.predict(dmatrix(TWO)), TEXTBOOK, qid=TWO.qid).value
    assert log["valid"][TEXTBOOK.name] == [pytest.approx(expected, rel=1e-15)]


def test_a_warning_tells_that_xgboosts_own_values_count_workers_without_rows():
    found = {"valid": [GlobalValue(LETOR.name, 0.5, higher_is_better=True, n_workers=1)]}
    log = {"valid": {LETOR.name: [0.5], "ndcg@5": [0.6], "rmse": [1.0]}}
    with pytest.warns(
        UserWarning, match=r"2 of 3 workers have no rows of 'valid': XGBoost's own ndcg@5 counts each as"
    ):
        _warn_of_empty_workers(found, log, 3)
    for metrics, parts in ((["rmse"], 3), (["ndcg@5"], 1)):  # where nothing is wrong
        _warn_of_empty_workers(found, {"valid": {name: [0.5] for name in (LETOR.name, *metrics)}}, parts)


def test_a_worker_that_is_lost_is_told_in_words(monkeypatch):
    def breaks(array, op):
        raise xgb.core.XGBoostError("Ring Allreduce failed")

    monkeypatch.setattr(xgb.collective, "allreduce", breaks)
    with pytest.raises(ra.RankAdaptersError, match=r"round 3: another of the 2 workers ended.\nHint: read the error"):
        Collective().add("round 3", 2, np.zeros(1, np.int64))
