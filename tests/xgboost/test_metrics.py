"""`xgboost.eval_metric` as `custom_metric=`, alone and in `callbacks=` too: numbers of queries, and XGBoost's log.

`tests/callbacks` tests what it shares with LightGBM's metric.
"""

import gc

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.rankings import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from rankadapters.xgboost.metrics import Collective  # noqa: E402 - after the skip
from tests.helpers.xgboost_matrices import PARAMS, dmatrix, train  # noqa: E402 - after the skip

DATA = ranking(6)


class CutQueryBatches(xgb.DataIter):
    """Two batches that cut the second query."""

    def __init__(self, data):
        super().__init__()
        self.data, self.batch = data, 0

    def next(self, input_data):
        if self.batch == 2:
            return False
        half = self.data.sizes[0] + self.data.sizes[1] // 2  # inside the second query
        rows = (slice(0, half), slice(half, None))[self.batch]
        input_data(data=self.data.X[rows], label=self.data.y[rows], qid=self.data.qid[rows])
        self.batch += 1
        return True

    def reset(self):
        self.batch = 0


CUT_QUERY = (
    r"'valid' has 31 queries, not n_queries=30: some are cut\.\nHint: sort by qid, and end each batch of a DataIter"
)


def test_queries_that_a_data_iter_cuts_are_refused():
    assert DATA.sizes[1] > 1
    whole, cut = dmatrix(DATA), xgb.DMatrix(CutQueryBatches(DATA))
    for n_queries in (30, {"valid": 30}):
        metric = ra.xgboost.eval_metric(TEXTBOOK, n_queries=n_queries)
        train({}, whole, 1, evals=[(whole, "valid")], custom_metric=metric, callbacks=[metric])
        with pytest.raises(ra.InputError, match=CUT_QUERY):
            train({}, whole, 1, evals=[(cut, "valid")], custom_metric=metric, callbacks=[metric])
        train({}, whole, 1, callbacks=[ra.xgboost.EvalCallback(TEXTBOOK, [(whole, "valid")], n_queries=n_queries)])
        callback = ra.xgboost.EvalCallback(TEXTBOOK, [(cut, "valid")], n_queries=n_queries)
        with pytest.raises(ra.InputError, match=CUT_QUERY):
            train({}, whole, 1, callbacks=[callback])


def test_a_number_of_queries_is_checked_in_every_call():
    whole, cut = dmatrix(DATA), xgb.DMatrix(CutQueryBatches(DATA))
    metric = ra.xgboost.eval_metric(TEXTBOOK, n_queries=30)
    train({}, whole, 1, evals=[(whole, "train"), (whole, "valid")], custom_metric=metric)
    for call in (
        lambda: metric(DATA.X[:, 0], cut),
        lambda: train({}, whole, 1, evals=[(whole, "train"), (cut, "valid")], custom_metric=metric),
        lambda: xgb.cv(PARAMS, whole, 1, nfold=2, custom_metric=metric),
    ):
        with pytest.raises(ra.InputError, match=r"the data has \d+ queries, not n_queries=30"):
            call()


def test_numbers_by_name_need_the_metric_in_callbacks():
    matrix, metric = dmatrix(DATA), ra.xgboost.eval_metric(TEXTBOOK, n_queries={"valid": 30})
    message = r"does not tell a metric the name of the set(.|\n)*Hint: the same object in callbacks= too"
    settings = {"evals": [(matrix, "valid")], "custom_metric": metric}
    for _ in range(2):
        with pytest.raises(ra.InputError, match=message):
            train({}, matrix, 1, **settings)
        train({}, matrix, 1, callbacks=[metric], **settings)

    def fail(preds, dmatrix):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        train({}, matrix, 1, callbacks=[metric], obj=fail, **settings)
    gc.collect()  # frees the Booster of the failed training
    with pytest.raises(ra.InputError, match=message):
        train({}, matrix, 1, **settings)


class Evaluating(xgb.callback.TrainingCallback):
    """Evaluates another set in every round by the metric of the training."""

    def __init__(self, evaluate):
        super().__init__()
        self.evaluate = evaluate

    def after_iteration(self, model, epoch, evals_log):
        self.evaluate(model)
        return False


@pytest.mark.parametrize("n_queries", [None, {"train": 30, "valid": 20}])
@pytest.mark.parametrize("by", ["eval_set", "call"])
def test_values_of_another_evaluation_are_not_logged_as_those_of_a_set(by, n_queries):
    """Calls are paired with the sets by their order, so one more call would shift the values."""
    first, second, third = (dmatrix(ranking(seed, size)) for seed, size in ((6, 30), (7, 20), (8, 20)))
    metric = ra.xgboost.eval_metric(TEXTBOOK, n_queries=n_queries)
    evaluate = {
        "eval_set": lambda model: model.eval_set([(third, "third")], 0, metric),
        "call": lambda model: metric(model.predict(third), third),
    }[by]
    with pytest.raises(ra.InputError, match=r"called 3 times in this round, but \['train', 'valid'\] report it"):
        train({}, first, 1, evals=[(first, "train"), (second, "valid")], custom_metric=metric,
              callbacks=[Evaluating(evaluate), metric])  # fmt: skip


def test_a_value_that_xgboost_did_not_log_is_refused():
    first, second, third = (dmatrix(ranking(seed, 30)) for seed in (6, 7, 8))
    metric, other = (ra.xgboost.eval_metric(TEXTBOOK) for _ in range(2))

    def report(preds, data):
        if data is first:
            return metric(preds, data)
        metric(np.zeros(third.num_row()), third)
        return other(preds, data)

    with pytest.raises(ra.InputError, match="XGBoost logged other values of 'valid' than the metric computed"):
        train({}, first, 1, evals=[(first, "train"), (second, "valid")], custom_metric=report, callbacks=[metric])


def test_a_quantile_dmatrix_gives_the_same_value_as_a_dmatrix():
    quantile = xgb.QuantileDMatrix(DATA.X, label=DATA.y, qid=DATA.qid)
    metric = ra.xgboost.eval_metric(TEXTBOOK)
    assert metric(DATA.X[:, 0], quantile) == metric(DATA.X[:, 0], dmatrix(DATA))


def test_xgboosts_log_keeps_the_name_of_every_preset():
    data, log = dmatrix(DATA), {}
    conventions = [getattr(ra.presets, name)(k) for name in ra.presets.names() for k in (5, None)]
    conventions = [c for c in dict.fromkeys(conventions) if "docid" not in c.ties and c.empty != "error"]
    conventions += [ra.presets.xgboost(5, ndcg_exp_gain=False, minus=True), TEXTBOOK.replace(empty=0.5)]
    train({}, data, 1, evals=[(data, "train")], custom_metric=ra.xgboost.eval_metric(conventions), evals_result=log)
    assert list(log["train"]) == [convention.name for convention in conventions]


# As a callback too


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
