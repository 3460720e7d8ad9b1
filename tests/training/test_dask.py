"""Trainings on Dask workers with declared metrics: what may be combined, and what must happen."""

from functools import partial

import pytest

import rankadapters as ra
from tests.helpers.python_processes import TIMEOUT
from tests.helpers.rankings import Ranking
from tests.training.training_table import EQUAL, NDCG, Error, Row, cases, check, generated, same

distributed = pytest.importorskip("distributed")
pytest.importorskip("sklearn")
from tests.helpers.engines import cut_at_queries, scatter_parts  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:Parameter n_jobs will be ignored:UserWarning"),
    pytest.mark.filterwarnings("ignore:Worker .* was not allocated eval_set data:UserWarning"),
]
ROUNDS = 3
NAME = ra.parse(NDCG).name
TRAIN, VALID = generated(1, 24), generated(2, 20)


def on_workers(client, rows):
    """Return Dask arrays of rows, with whole queries on each worker."""
    return scatter_parts(client, cut_at_queries(Ranking(rows.X, rows.y, rows.qid, rows.sizes), 2))


def by_hand(predict):
    """Return the values of the rounds by hand."""
    return [VALID.value(predict(rounds), NDCG) for rounds in range(1, ROUNDS + 1)]


def local_training(name):
    """Train on all rows in one task; return the log, and the predictions of every round."""
    if name == "lgb.train":
        import lightgbm as lgb

        log, params = {}, {"objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1}
        first, valid = (lgb.Dataset(rows.X, rows.y, group=rows.sizes) for rows in (TRAIN, VALID))
        booster = lgb.train(
            params, first, ROUNDS, valid_sets=[valid], feval=ra.lightgbm.eval_metric(NDCG),
            callbacks=[lgb.record_evaluation(log)],
        )  # fmt: skip
        return log["valid_0"][NAME], [booster.predict(VALID.X, num_iteration=r) for r in range(1, ROUNDS + 1)]
    import xgboost as xgb

    log, metric = {}, ra.xgboost.eval_metric(NDCG)
    first, valid = (xgb.DMatrix(rows.X, rows.y, qid=rows.qid) for rows in (TRAIN, VALID))
    booster = xgb.train(
        {"objective": "rank:ndcg", "nthread": 1}, first, ROUNDS, evals=[(valid, "valid")], evals_result=log,
        custom_metric=metric, callbacks=[metric], verbose_eval=False,
    )  # fmt: skip
    return log["valid"][NAME], [booster.predict(valid, iteration_range=(0, r)) for r in range(1, ROUNDS + 1)]


def inside_a_task(client, name):
    """Train in one process, inside a Dask task."""
    log, predictions = client.submit(local_training, name, pure=False).result(TIMEOUT)
    same("the values", log, by_hand(lambda rounds: predictions[rounds - 1]))


def dask_xgb_ranker(client, ranker=None, fit=None):
    """Train DaskXGBRanker."""
    dxgb = pytest.importorskip("xgboost.dask")
    with client.as_current():
        train, valid = on_workers(client, TRAIN), on_workers(client, VALID)
        model = dxgb.DaskXGBRanker(n_estimators=ROUNDS, allow_group_split=True, **ranker or {})
        model.client = client
        model.fit(train.X, train.y, qid=train.qid, eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid], verbose=False)


RUNNERS = {
    "DaskXGBRanker": dask_xgb_ranker,
    "lgb.train in a task": partial(inside_a_task, name="lgb.train"),
    "xgb.train in a task": partial(inside_a_task, name="xgb.train"),
}
NOT_HERE = Error(r"xgboost\.dask\.train", Exception)


ROWS = [
    Row("lgb.train in a task | xgb.train in a task", "a training in one process", EQUAL, long=True),
    Row("DaskXGBRanker", "an EvalCallback", NOT_HERE, long=True,
        ranker={"callbacks": [ra.xgboost.EvalCallback(NDCG, [((VALID.X, VALID.y, VALID.qid), "valid")])]}),
    Row("DaskXGBRanker", "the metric as eval_metric=", NOT_HERE, long=True,
        ranker={"eval_metric": ra.xgboost.eval_metric(NDCG)}),
    Row("DaskXGBRanker", "the metric in callbacks=", NOT_HERE, long=True,
        ranker={"callbacks": [ra.xgboost.eval_metric(NDCG)]}),
]  # fmt: skip


@pytest.mark.parametrize(("row", "runner"), cases(ROWS, RUNNERS))
def test_a_training_does_what_its_row_says(row, runner, cluster2):
    check(row, partial(runner, cluster2, **row.settings))
