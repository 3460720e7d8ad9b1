"""Which training and which round the histories of CatBoost, QueryRanker and the learners say they are of."""

from __future__ import annotations

import pickle

import pytest

import rankadapters as ra
from rankadapters.callbacks.history import History
from tests.helpers.ranking_data import ranking

ONE, TWO = ranking(1), ranking(2)
TWICE = [(0, 0), (0, 1), (1, 0), (1, 1)]  # run and iteration of two trainings of two rounds


def rounds(history):
    return [(entry.run, entry.iteration) for entry in history]


def test_each_fit_of_catboost_is_a_run():
    cb = pytest.importorskip("catboost")
    metric = ra.catboost.eval_metric("letor4@5", [(ONE.y, ONE.qid), (TWO.y, TWO.qid)], names=["mine"])
    model = cb.CatBoostRanker(iterations=2, eval_metric=metric, thread_count=1, verbose=False,
                              allow_writing_files=False, use_best_model=False)  # fmt: skip
    for _ in range(2):
        model.fit(ONE.X, ONE.y, group_id=ONE.qid, eval_set=cb.Pool(TWO.X, TWO.y, group_id=TWO.qid))
    for name in ("learn", "validation"):
        assert rounds(metric.history.only(dataset=name)) == TWICE
    assert {entry.name for entry in metric.history} == {"mine"}
    assert pickle.loads(pickle.dumps(metric)).history.runs == []


def test_catboost_train_counts_its_rounds():
    cb = pytest.importorskip("catboost")
    pools = [cb.Pool(data.X, data.y, group_id=data.qid) for data in (ONE, TWO)]
    model = ra.catboost.train({"iterations": 3, "thread_count": 1}, pools[0], ra.objectives.QueryRMSE(),
                              ["letor4@5", "yahoo@5"], eval_set=pools[1], names=["a", "b"])  # fmt: skip
    found = [(entry.iteration, entry.dataset, entry.name) for entry in model.history]
    assert found == [(i, name, each) for i in range(3) for name in ("learn", "validation") for each in "ab"]
    assert model.history.only(dataset="validation").runs == [0]


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost", "catboost", "catboost objective"])
def test_query_ranker_counts_its_rounds(toolkit):
    pytest.importorskip("sklearn")
    pytest.importorskip(toolkit.partition(" ")[0])
    ranker = ra.sklearn.QueryRanker(
        _ranker(toolkit), eval_metric="letor4@5", objective=ra.objectives.QueryRMSE() if " " in toolkit else None
    )
    found = ranker.fit(ONE.X, ONE.y, qid=ONE.qid, eval_set=(TWO.X, TWO.y, TWO.qid)).history_
    assert isinstance(found, History)
    name = {"lightgbm": "valid_0", "xgboost": "validation_0"}.get(toolkit, "validation")
    assert [(*at, entry.dataset) for at, entry in zip(rounds(found), found, strict=True)] == [
        (0, 0, name),
        (0, 1, name),
    ]


def _ranker(toolkit):
    if toolkit == "lightgbm":
        import lightgbm as lgb

        return lgb.LGBMRanker(n_estimators=2, verbosity=-1, min_child_samples=5, n_jobs=1)
    if toolkit == "xgboost":
        import xgboost as xgb

        return xgb.XGBRanker(n_estimators=2, n_jobs=1)
    import catboost as cb

    return cb.CatBoostRanker(iterations=2, thread_count=1, verbose=False, allow_writing_files=False,
                             use_best_model=False)  # fmt: skip


def test_a_learner_counts_its_rounds():
    pytest.importorskip("sklearn")
    model = ra.learners.AdaRank(convention="letor4@5", max_iter=3)
    found = model.fit(ONE.X, ONE.y, qid=ONE.qid, eval_set=(TWO.X, TWO.y, TWO.qid)).history_
    assert isinstance(found, History)
    assert rounds(found.only(dataset="valid_0")) == [(0, 0), (0, 1), (0, 2)]
