"""`xgboost.global_eval` in one process: full precision in the log, early stopping, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.ranking_data import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from rankadapters.callbacks.global_metrics import GlobalValue  # noqa: E402 - after the skip
from rankadapters.xgboost.distributed import Collective, _warn_of_empty_workers  # noqa: E402
from tests.helpers.xgboost_data import LETOR, PARAMS, TEXTBOOK, dmatrix, train  # noqa: E402 - after the skip

ONE, TWO = ranking(12, 60), ranking(13, 40)


def watched(watch, *later, rounds=60, evals=("valid",), **more):
    sets = {"train": dmatrix(ONE), "valid": dmatrix(TWO)}
    log = {}
    booster = train({"eta": 0.5}, sets["train"], rounds, evals=[(sets[name], name) for name in evals],
                    evals_result=log, custom_metric=watch, callbacks=[watch, *later], **more)  # fmt: skip
    return booster, log


def test_the_log_has_the_value_of_all_rows_in_full_precision():
    watch = ra.xgboost.global_eval([LETOR, "textbook@10"], n_queries={"valid": 40, "train": 60})
    booster, log = watched(watch, rounds=3, evals=("train", "valid"))
    for name, data in (("train", ONE), ("valid", TWO)):
        scores = booster.predict(dmatrix(data))
        for convention in (LETOR, TEXTBOOK):
            assert log[name][convention.name][-1] == ra.evaluate(data.y, scores, convention, qid=data.qid).value
    assert [entry.value for entry in watch.history if entry[:2] == ("valid", LETOR)] == log["valid"][LETOR.name]
    assert len(watch.history) == 3 * 2 * 2


@pytest.mark.parametrize("stop", ["ours", "xgboost"])
def test_early_stopping_watches_the_full_precision(stop):
    watch = ra.xgboost.global_eval(TEXTBOOK)
    ours = [ra.xgboost.early_stopping(TEXTBOOK, rounds=5)] if stop == "ours" else []
    booster, log = watched(watch, *ours, early_stopping_rounds=None if ours else 5)
    values = log["valid"][TEXTBOOK.name]
    assert booster.best_iteration == int(np.argmax(values))
    assert booster.best_score == max(values)
    assert len(values) == booster.best_iteration + 1 + 5
    assert any(value != round(value, 6) for value in values)


def test_one_object_serves_a_second_training_and_a_pickle_starts_anew():
    watch = ra.xgboost.global_eval(TEXTBOOK, n_queries=40)
    _, first = watched(watch, rounds=2)
    _, second = watched(watch, rounds=2)
    assert first == second
    copied = pickle.loads(pickle.dumps(watch))
    assert (len(watch.history), copied.history) == (4, [])
    assert watched(copied, rounds=2)[1] == first


def test_another_number_of_queries_is_an_error():
    with pytest.raises(ra.InputError, match=r"'valid' has 40 queries on 1 workers, not n_queries=41: some are missing"):
        watched(ra.xgboost.global_eval(LETOR, n_queries=41))
    with pytest.raises(ra.InputError, match=r"not n_queries=39: some are cut\.\nHint: sort by qid"):
        watched(ra.xgboost.global_eval(LETOR, n_queries={"valid": 39}), evals=("train", "valid"))


@pytest.mark.parametrize("n_queries", [40, {"valid": 40, "test": 3}])
def test_the_number_of_queries_is_of_a_set_that_there_is(n_queries):
    with pytest.raises(ra.InputError, match=r"does not say of which of \['train', 'valid'\]"):
        watched(ra.xgboost.global_eval(LETOR, n_queries=n_queries), evals=("train", "valid"))


@pytest.mark.parametrize("n_queries", [0, 2.0, "3", True, {"valid": None}])
def test_a_number_of_queries_is_whole(n_queries):
    with pytest.raises(ra.InputError, match="allowed are whole numbers from 1 on, or a mapping"):
        ra.xgboost.global_eval(LETOR, n_queries=n_queries)


def test_the_object_must_be_in_both_places():
    watch, data = ra.xgboost.global_eval(LETOR), dmatrix(ONE)
    with pytest.raises(ra.InputError, match=r"reports at the end of a round.\nHint: the same object in callbacks="):
        train({}, data, 2, evals=[(data, "train")], custom_metric=watch)
    with pytest.raises(ra.InputError, match=r"evaluated no set.\nHint: the same object as custom_metric="):
        train({}, data, 2, evals=[(data, "train")], callbacks=[watch])
    with pytest.raises(ra.InputError, match=r"0 sets were evaluated in this round, but \['train'\] report"):
        train({}, data, 2, evals=[(data, "train")], custom_metric=ra.xgboost.custom_metric(LETOR), callbacks=[watch])


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
    over_rows = ra.presets.sklearn.roc_auc_score()
    with pytest.raises(ra.UnsupportedConventionError, match="is over all rows as one query"):
        ra.xgboost.global_eval(over_rows)
    watch = ra.xgboost.global_eval(LETOR)
    with pytest.raises(ra.InputError, match=r"is not for xgb\.cv"):
        xgb.cv(PARAMS, dmatrix(ONE), 2, nfold=2, custom_metric=watch, callbacks=[watch])
    with pytest.raises(ra.InputError, match="passes a metric the rows of one query at a time"):
        watch(ONE.y, ONE.X[:, 0])
    with pytest.raises(ra.ConventionError, match="has a space, tab or colon"):
        ra.xgboost.global_eval(LETOR, names=["a b"])


def test_a_set_on_which_nothing_is_left_to_average_is_named():
    skipping = TEXTBOOK.replace(empty="skip")
    empty = TWO._replace(y=np.zeros_like(TWO.y))
    watch = ra.xgboost.global_eval(skipping)
    with pytest.raises(ra.InputError, match="set 'valid' under 'ndcg@10/textbook\\+empty=skip': nothing is left"):
        train({}, dmatrix(ONE), 2, evals=[(dmatrix(empty), "valid")], custom_metric=watch, callbacks=[watch])


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


@pytest.mark.parametrize(("metrics", "parts"), [(["rmse"], 3), (["ndcg@5"], 1)])
def test_where_nothing_is_wrong_there_is_no_warning(metrics, parts):
    found = {"valid": [GlobalValue(LETOR.name, 0.5, higher_is_better=True, n_workers=1)]}
    _warn_of_empty_workers(found, {"valid": {name: [0.5] for name in (LETOR.name, *metrics)}}, parts)


def test_a_worker_that_is_lost_is_told_in_words(monkeypatch):
    def breaks(array, op):
        raise xgb.core.XGBoostError("Ring Allreduce failed")

    monkeypatch.setattr(xgb.collective, "allreduce", breaks)
    with pytest.raises(ra.RankAdaptersError, match=r"round 3: another of the 2 workers ended.\nHint: read the error"):
        Collective().add("round 3", 2, np.zeros(1, np.int64))
