"""`xgboost.global_eval` on real workers: Dask, and `xgboost.collective` alone."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from tests.helpers.engines import failure_of
from tests.helpers.rankings import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
pytest.importorskip("distributed")
from tests.core.measures.test_every_measure import by_rows, convention_of  # noqa: E402
from tests.helpers.failing_functions import FailingObjective  # noqa: E402 - after the skips
from tests.helpers.ranking_parts import cut_at_queries, cut_at_rows, placed, workers_of  # noqa: E402
from tests.helpers.xgboost_matrices import LETOR, TEXTBOOK  # noqa: E402

dxgb = pytest.importorskip("xgboost.dask")

ONE, TWO = (data._replace(y=np.minimum(data.y, 1)) for data in (ranking(1, 61), ranking(2, 43)))
QUERIES = {"train": 61, "valid": 43}
PARAMS = {"objective": "rank:ndcg", "tree_method": "hist", "disable_default_eval_metric": True, "eta": 0.3, "seed": 1}


def train(client, valid, rounds=2, one=ONE, params=PARAMS, **more):
    """Train on whole queries on each worker; `valid` is in parts, on the workers in turn."""
    with client.as_current():  # XGBoost asks for it, whatever client it is given
        sets = {}
        for name, parts in (("train", cut_at_queries(one, len(workers_of(client)))), ("valid", valid)):
            held = placed(client, parts)
            sets[name] = dxgb.DaskDMatrix(client, held.X, held.y, qid=held.qid)
        evals = [(data, name) for name, data in sets.items()]
        found = dxgb.train(client, params, sets["train"], rounds, evals=evals, verbose_eval=False, **more)
    return found["booster"], found["history"]


def value(booster, data, convention):
    return ra.evaluate(data.y, booster.predict(xgb.DMatrix(data.X)), convention, qid=data.qid).value


def test_every_measure_that_merges_has_the_bits_of_one_process(cluster3):
    conventions = [by_rows(convention_of(measure)) for measure in MEASURES]
    conventions = [convention for convention in conventions if convention.over != "rows"]
    watch = ra.xgboost.global_eval(conventions, n_queries=QUERIES)
    booster, log = train(cluster3, cut_at_queries(TWO, 2), custom_metric=watch, callbacks=[watch])
    for name, data in (("train", ONE), ("valid", TWO)):
        found = {convention.name: log[name][convention.name][-1] for convention in conventions}
        assert found == {convention.name: value(booster, data, convention) for convention in conventions}


@pytest.mark.parametrize(
    ("cluster", "n_parts", "stop"),
    [("cluster2", 5, "xgboost"), ("cluster3", 2, "ours")],
)
def test_all_workers_stop_in_the_round_of_the_declared_metric(cluster, n_parts, stop, request):
    watch = ra.xgboost.global_eval([LETOR, TEXTBOOK], n_queries=QUERIES)
    ours = [ra.xgboost.early_stopping(TEXTBOOK, rounds=5)] if stop == "ours" else []
    client = request.getfixturevalue(cluster)
    booster, log = train(client, cut_at_queries(TWO, n_parts), 80, custom_metric=watch, callbacks=[watch, *ours],
                         early_stopping_rounds=None if ours else 5)  # fmt: skip
    values = log["valid"][TEXTBOOK.name]
    assert booster.best_iteration == int(np.argmax(values))
    assert booster.best_score == max(values)
    assert booster.num_boosted_rounds() == len(values) == booster.best_iteration + 1 + 5
    best = booster[: booster.best_iteration + 1]
    assert value(best, TWO, TEXTBOOK) == max(values)


def test_queries_cut_between_workers_are_found(cluster3):
    watch = ra.xgboost.global_eval(TEXTBOOK, n_queries=QUERIES)
    parts = cut_at_rows(TWO, 3)
    n_found = sum(part.sizes.size for part in parts)
    assert n_found > 43
    error = failure_of(lambda: train(cluster3, parts, custom_metric=watch, callbacks=[watch]))
    assert isinstance(error, ra.InputError)
    assert str(error).startswith(f"'valid' has {n_found} queries on 3 workers, not n_queries=43: some are cut.")


def test_what_one_worker_cannot_evaluate_all_refuse(cluster3):
    first, *others = cut_at_queries(TWO, 3)
    broken = [first._replace(y=np.full_like(first.y, 7)), *others]
    watch = ra.xgboost.global_eval(ra.presets.lightgbm(5, label_gain=[0, 1]))
    error = failure_of(lambda: train(cluster3, broken, custom_metric=watch, callbacks=[watch]))
    assert isinstance(error, ra.InputError)
    assert "labels[0] is 7, outside the gain table" in str(error)


def test_a_worker_that_fails_elsewhere_ends_the_training(cluster2):
    watch = ra.xgboost.global_eval(TEXTBOOK)
    run = {"custom_metric": watch, "callbacks": [watch], "obj": FailingObjective(3)}
    error = failure_of(lambda: train(cluster2, cut_at_queries(TWO, 2), 9, **run))
    # Of the worker that failed, or of the one whose allreduce broke.
    assert "deliberate" in str(error) or "Allreduce" in str(error) or "another of the" in str(error)


# One process: what averages over the workers, or knows one only


def test_what_is_for_one_process_refuses_several(cluster2):
    metric, parts = ra.xgboost.custom_metric(TEXTBOOK), cut_at_queries(TWO, 2)
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [((TWO.X, TWO.y, TWO.qid), "all")])
    for what, more in (("custom_metric", {"custom_metric": metric}), ("EvalCallback", {"callbacks": [callback]})):
        error = failure_of(lambda more=more: train(cluster2, parts, **more))
        assert isinstance(error, ra.InputError)
        assert str(error).startswith(f"{what} is for one process, but this training has 2")
        assert "Hint: ra.xgboost.global_eval(...) as custom_metric= and in callbacks=." in str(error)


# What XGBoost does by itself


OWN = {**PARAMS, "disable_default_eval_metric": False, "eval_metric": "ndcg@5"}


def test_xgboosts_ndcg_is_right_where_every_worker_has_rows(cluster3):
    booster, log = train(cluster3, cut_at_queries(TWO, 7), params=OWN)
    assert log["valid"]["ndcg@5"][-1] == pytest.approx(value(booster, TWO, ra.presets.xgboost(5)), rel=1e-12)


@pytest.mark.xfail(
    reason="XGBoost 3.2.0 counts a worker without rows as a query of value 1: "
    "https://github.com/dmlc/xgboost/blob/v3.2.0/src/metric/rank_metric.cc",
    strict=True,
    raises=AssertionError,
)
def test_xgboosts_ndcg_with_a_worker_without_rows(cluster3):
    booster, log = train(cluster3, cut_at_queries(TWO, 1), params=OWN)
    assert log["valid"]["ndcg@5"][-1] == pytest.approx(value(booster, TWO, ra.presets.xgboost(5)), rel=1e-12)


def test_xgboosts_ndcg_counts_a_worker_without_rows_as_a_query_of_value_1(cluster3):
    booster, log = train(cluster3, cut_at_queries(TWO, 1), params=OWN)
    true, n_empty = value(booster, TWO, ra.presets.xgboost(5)), len(workers_of(cluster3)) - 1
    assert log["valid"]["ndcg@5"][-1] == pytest.approx((true * 43 + n_empty) / (43 + n_empty), rel=1e-12)


def local_mean(preds, dmatrix):
    """A metric as one would write it, which knows the rows of its own worker."""
    bounds = dmatrix.get_uint_info("group_ptr").astype(np.int64)
    return "mine", ra.evaluate(dmatrix.get_label(), preds, TEXTBOOK, group_sizes=np.diff(bounds)).value


@pytest.mark.xfail(
    reason="XGBoost 3.2.0 averages custom metrics over workers unweighted: "
    "https://github.com/dmlc/xgboost/blob/v3.2.0/python-package/xgboost/callback.py",
    strict=True,
    raises=AssertionError,
)
def test_a_custom_metric_is_of_all_rows(cluster2):
    halves = cut_at_queries(TWO, 43)
    parts = [join(halves[:40]), join(halves[40:])]
    booster, log = train(cluster2, parts, custom_metric=local_mean)
    assert log["valid"]["mine"][-1] == pytest.approx(value(booster, TWO, TEXTBOOK), abs=1e-5)


def join(parts):
    return type(parts[0])(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def test_queries_cut_within_a_worker_by_a_quantile_matrix_are_found(cluster2):
    watch = ra.xgboost.global_eval(TEXTBOOK, n_queries=43)
    parts = cut_at_rows(TWO, 4)
    one_worker = workers_of(cluster2)[:1]

    def run():
        with cluster2.as_current():
            held = placed(cluster2, parts, one_worker)
            data = dxgb.DaskQuantileDMatrix(cluster2, held.X, held.y, qid=held.qid)
            more = {"custom_metric": watch, "callbacks": [watch], "verbose_eval": False}
            dxgb.train(cluster2, PARAMS, data, 2, evals=[(data, "valid")], **more)

    n_found = sum(part.sizes.size for part in parts)
    assert str(failure_of(run)).startswith(
        f"'valid' has {n_found} queries on 1 workers, not n_queries=43: some are cut"
    )


# The collective alone


def trained_by_hand(settings, rank):
    """What one process of any launcher does: join the others, train on its own rows, give its log."""
    watch = ra.xgboost.global_eval(TEXTBOOK, n_queries=43)
    log, part = {}, cut_at_queries(TWO, 2)[rank]
    with xgb.collective.CommunicatorContext(**settings):
        data = xgb.DMatrix(part.X, part.y, qid=part.qid)
        booster = xgb.train(PARAMS, data, 3, evals=[(data, "valid")], evals_result=log, verbose_eval=False,
                            custom_metric=watch, callbacks=[watch])  # fmt: skip
    return booster.save_raw("json"), log["valid"][TEXTBOOK.name], [entry.value for entry in watch.history]


def test_processes_that_xgboosts_collective_joins(cluster2):
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=2, host_ip="127.0.0.1")
    tracker.start()
    workers = workers_of(cluster2)
    settings = tracker.worker_args()
    runs = [cluster2.submit(trained_by_hand, settings, rank, workers=[workers[rank]], pure=False) for rank in (0, 1)]
    (raw, log, history), other = cluster2.gather(runs)
    tracker.wait_for(10)
    assert other == (raw, log, history)
    assert log == history
    assert log[-1] == value(xgb.Booster(model_file=raw), TWO, TEXTBOOK)
