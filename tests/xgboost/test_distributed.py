"""`xgboost.eval_metric` on real workers: processes of a Dask cluster, joined by Dask or by XGBoost's collective."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from tests.helpers.engines import failure_of
from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.python_processes import TIMEOUT
from tests.helpers.rankings import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
pytest.importorskip("distributed")
from tests.helpers.every_measure import convention_of, without_docids  # noqa: E402
from tests.helpers.failing_functions import FailingObjective  # noqa: E402 - after the skips
from tests.helpers.ranking_parts import cut_at_queries, cut_at_rows, scatter_parts, workers_of  # noqa: E402

dxgb = pytest.importorskip("xgboost.dask")

TRAIN, VALID = (data._replace(y=np.minimum(data.y, 1)) for data in (ranking(1, 61), ranking(2, 43)))
QUERIES = {"train": 61, "valid": 43}
PARAMS = {"objective": "rank:ndcg", "tree_method": "hist", "disable_default_eval_metric": True, "eta": 0.3, "seed": 1}


def matrix_of(client, parts, workers=None, kind=dxgb.DaskDMatrix):
    """Return a matrix with part i on worker i. Otherwise Dask may give a busy worker's part to another worker."""
    workers = workers or workers_of(client)
    placed_rows = scatter_parts(client, parts, workers)
    matrix = kind(client, placed_rows.X, placed_rows.y, qid=placed_rows.qid)
    futures = {future.key: future for futures in matrix.worker_map.values() for future in futures}
    matrix.worker_map = {}
    for key, index in matrix.partition_order.items():
        matrix.worker_map.setdefault(workers[index % len(workers)], []).append(futures[key])
    return matrix


def train(client, valid, rounds=2, params=PARAMS, **options):
    """Train on whole queries on each worker; `valid` is a list of parts, dealt to the workers in turn."""
    with client.as_current():  # XGBoost asks for the current client, whatever client it gets
        matrices = {}
        for name, parts in (("train", cut_at_queries(TRAIN, len(workers_of(client)))), ("valid", valid)):
            matrices[name] = matrix_of(client, parts)
        evals = [(matrix, name) for name, matrix in matrices.items()]
        training = dxgb.train(client, params, matrices["train"], rounds, evals=evals, verbose_eval=False, **options)
    return training["booster"], training["history"]


def value_of(booster, data, convention):
    return ra.evaluate(data.y, booster.predict(xgb.DMatrix(data.X)), convention, qid=data.qid).value


def test_every_measure_equals_that_of_one_process_bit_for_bit(cluster3):
    conventions = [without_docids(convention_of(measure)) for measure in MEASURES]
    conventions = [convention for convention in conventions if convention.over != "rows"]
    metric = ra.xgboost.eval_metric(conventions, n_queries=QUERIES)
    booster, log = train(cluster3, cut_at_queries(VALID, 2), custom_metric=metric, callbacks=[metric])
    for name, data in (("train", TRAIN), ("valid", VALID)):
        values = {convention.name: log[name][convention.name][-1] for convention in conventions}
        assert values == {convention.name: value_of(booster, data, convention) for convention in conventions}


@pytest.mark.parametrize(
    ("cluster", "n_parts", "stop"),
    [("cluster2", 5, "xgboost"), ("cluster3", 2, "ours")],
)
def test_all_workers_stop_in_the_round_that_the_declared_metric_decides(cluster, n_parts, stop, request):
    metric = ra.xgboost.eval_metric([LETOR, TEXTBOOK], n_queries=QUERIES)
    callbacks = [ra.xgboost.early_stopping(TEXTBOOK, rounds=5)] if stop == "ours" else []
    client = request.getfixturevalue(cluster)
    booster, log = train(client, cut_at_queries(VALID, n_parts), 80, custom_metric=metric,
                         callbacks=[metric, *callbacks], early_stopping_rounds=None if callbacks else 5)  # fmt: skip
    values = log["valid"][TEXTBOOK.name]
    assert booster.best_iteration == int(np.argmax(values))
    assert booster.best_score == max(values)
    assert booster.num_boosted_rounds() == len(values) == booster.best_iteration + 1 + 5
    best = booster[: booster.best_iteration + 1]
    assert value_of(best, VALID, TEXTBOOK) == max(values)


def test_queries_cut_between_workers_are_refused(cluster3):
    metric = ra.xgboost.eval_metric(TEXTBOOK, n_queries=QUERIES)
    parts = cut_at_rows(VALID, 3)
    n_pieces = sum(part.sizes.size for part in parts)
    assert n_pieces > 43
    error = failure_of(lambda: train(cluster3, parts, custom_metric=metric, callbacks=[metric]))
    assert isinstance(error, ra.InputError)
    assert str(error).startswith(f"'valid' has {n_pieces} queries on 3 workers, not n_queries=43: some are cut.")


def test_labels_that_one_worker_cannot_evaluate_raise_an_input_error(cluster3):
    first, *rest = cut_at_queries(VALID, 3)
    broken = [first._replace(y=np.full_like(first.y, 7)), *rest]
    metric = ra.xgboost.eval_metric(ra.presets.lightgbm(5, label_gain=[0, 1]))
    error = failure_of(lambda: train(cluster3, broken, custom_metric=metric, callbacks=[metric]))
    assert isinstance(error, ra.InputError)
    # The error is of the worker with these labels, or of one that heard of it.
    assert "labels[0] is 7, outside the gain table" in str(error) or "another worker of 3 failed" in str(error)


def test_a_worker_that_fails_in_its_objective_ends_the_training(cluster2):
    metric = ra.xgboost.eval_metric(TEXTBOOK)
    options = {"custom_metric": metric, "callbacks": [metric], "obj": FailingObjective(3)}
    error = failure_of(lambda: train(cluster2, cut_at_queries(VALID, 2), 9, **options))
    # The error is of the worker that failed, or of the one whose allreduce broke.
    assert "deliberate" in str(error) or "Allreduce" in str(error) or "another of the" in str(error)


# Metrics and callbacks for one process


def test_a_measure_over_all_rows_is_refused_on_two_workers(cluster2):
    metric = ra.xgboost.eval_metric(ra.presets.sklearn.roc_auc_score())
    error = failure_of(lambda: train(cluster2, cut_at_queries(VALID, 2), custom_metric=metric, callbacks=[metric]))
    assert isinstance(error, ra.UnsupportedConventionError)
    assert "is over all rows as one query" in str(error)


def test_metrics_for_one_process_refuse_a_training_on_two_workers(cluster2):
    metric, parts = ra.xgboost.eval_metric(TEXTBOOK), cut_at_queries(VALID, 2)
    callback = ra.xgboost.EvalCallback(TEXTBOOK, [((VALID.X, VALID.y, VALID.qid), "all")])
    for name, arguments in (
        ("eval_metric as custom_metric= alone", {"custom_metric": metric}),
        ("EvalCallback", {"callbacks": [callback]}),
    ):
        error = failure_of(lambda arguments=arguments: train(cluster2, parts, **arguments))
        assert isinstance(error, ra.InputError)
        assert str(error).startswith(f"{name} is for one process, but this training has 2")
        assert "Hint: metric = ra.xgboost.eval_metric(...), custom_metric=metric and callbacks=[metric]." in str(error)


# XGBoost's own metrics


BUILT_IN_METRIC = {**PARAMS, "disable_default_eval_metric": False, "eval_metric": "ndcg@5"}


def test_xgboosts_ndcg_is_right_if_every_worker_has_rows(cluster3):
    booster, log = train(cluster3, cut_at_queries(VALID, 7), params=BUILT_IN_METRIC)
    assert log["valid"]["ndcg@5"][-1] == pytest.approx(value_of(booster, VALID, ra.presets.xgboost(5)), rel=1e-12)


@pytest.mark.xfail(
    reason="XGBoost 3.2.0 counts a worker without rows as a query of value 1: "
    "https://github.com/dmlc/xgboost/blob/v3.2.0/src/metric/rank_metric.cc",
    strict=True,
    raises=AssertionError,
)
def test_xgboosts_ndcg_is_right_with_a_worker_without_rows(cluster3):
    booster, log = train(cluster3, cut_at_queries(VALID, 1), params=BUILT_IN_METRIC)
    assert log["valid"]["ndcg@5"][-1] == pytest.approx(value_of(booster, VALID, ra.presets.xgboost(5)), rel=1e-12)


def test_xgboosts_ndcg_counts_a_worker_without_rows_as_a_query_of_value_1(cluster3):
    booster, log = train(cluster3, cut_at_queries(VALID, 1), params=BUILT_IN_METRIC)
    ndcg, n_empty = value_of(booster, VALID, ra.presets.xgboost(5)), len(workers_of(cluster3)) - 1
    assert log["valid"]["ndcg@5"][-1] == pytest.approx((ndcg * 43 + n_empty) / (43 + n_empty), rel=1e-12)


def local_mean(preds, dmatrix):
    """Return the mean over the rows of this worker, as a user's metric would."""
    bounds = dmatrix.get_uint_info("group_ptr").astype(np.int64)
    return "mine", ra.evaluate(dmatrix.get_label(), preds, TEXTBOOK, group_sizes=np.diff(bounds)).value


@pytest.mark.xfail(
    reason="XGBoost 3.2.0 averages custom metrics over workers unweighted: "
    "https://github.com/dmlc/xgboost/blob/v3.2.0/python-package/xgboost/callback.py",
    strict=True,
    raises=AssertionError,
)
def test_a_custom_metric_covers_the_rows_of_all_workers(cluster2):
    queries = cut_at_queries(VALID, 43)
    parts = [join(queries[:40]), join(queries[40:])]
    booster, log = train(cluster2, parts, custom_metric=local_mean)
    assert log["valid"]["mine"][-1] == pytest.approx(value_of(booster, VALID, TEXTBOOK), abs=1e-5)


def join(parts):
    return type(parts[0])(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def test_queries_cut_by_a_quantile_dmatrix_of_one_worker_are_refused(cluster2):
    metric = ra.xgboost.eval_metric(TEXTBOOK, n_queries=43)
    parts = cut_at_rows(VALID, 4)
    one_worker = workers_of(cluster2)[:1]

    def run():
        with cluster2.as_current():
            matrix = matrix_of(cluster2, parts, one_worker, dxgb.DaskQuantileDMatrix)
            options = {"custom_metric": metric, "callbacks": [metric], "verbose_eval": False}
            dxgb.train(cluster2, PARAMS, matrix, 2, evals=[(matrix, "valid")], **options)

    n_pieces = sum(part.sizes.size for part in parts)
    assert str(failure_of(run)).startswith(f"'valid' has {n_pieces} queries, not n_queries=43: some are cut")


# XGBoost's collective without Dask


def train_in_process(settings, rank):
    """Join the other processes, train on this process's rows, and return the model and the values in its log."""
    metric = ra.xgboost.eval_metric(TEXTBOOK, n_queries=43)
    log, rows = {}, cut_at_queries(VALID, 2)[rank]
    with xgb.collective.CommunicatorContext(**settings):
        matrix = xgb.DMatrix(rows.X, rows.y, qid=rows.qid)
        booster = xgb.train(PARAMS, matrix, 3, evals=[(matrix, "valid")], evals_result=log, verbose_eval=False,
                            custom_metric=metric, callbacks=[metric])  # fmt: skip
    return booster.save_raw("json"), log["valid"][TEXTBOOK.name]


def test_processes_joined_by_xgboosts_collective_log_the_same_values(cluster2):
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=2, host_ip="127.0.0.1")
    tracker.start()
    workers = workers_of(cluster2)
    settings = tracker.worker_args()
    runs = [cluster2.submit(train_in_process, settings, rank, workers=[workers[rank]], pure=False) for rank in (0, 1)]
    (raw, log), second_process = cluster2.gather(runs)
    tracker.wait_for(TIMEOUT)
    assert second_process == (raw, log)
    assert log[-1] == value_of(xgb.Booster(model_file=raw), VALID, TEXTBOOK)
