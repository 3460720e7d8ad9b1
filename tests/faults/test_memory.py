"""Long trainings keep no memory except the toolkit's log."""

from __future__ import annotations

import gc
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context

import numpy as np
import pytest

import rankadapters as ra

pytestmark = pytest.mark.long

CONVENTION = "letor4@5"
SIZES = np.full(50, 20)  # an array of all rows, kept each round by mistake, would be 8 kB
QID = np.repeat(np.arange(SIZES.size), SIZES)
WARM_UP = 0.2  # share of the rounds that are not measured
# A round adds up to 2,400 bytes, such as the toolkit's log; an array of the rows would add 8,000. Some processes add
# 180,000 bytes once, after the warm-up, so a measurement takes many rounds.
MAX_BYTES = 6000


class Watch:
    """Measures how many bytes of Python's memory each step adds, from the end of the warm-up to the last step."""

    def __init__(self, steps):
        self.first, self.last, self.n_steps, self.growth = round(WARM_UP * steps), steps, 0, None

    def step(self, *_):
        """Count a step, and return True, which tells CatBoost to go on."""
        self.n_steps += 1
        if self.n_steps == self.first:
            gc.collect()
            tracemalloc.start()
        elif self.n_steps == self.last:
            gc.collect()
            self.growth = tracemalloc.get_traced_memory()[0] / (self.last - self.first)
            tracemalloc.stop()
        return True

    after_iteration = step  # the method that CatBoost calls after each round


def rows(seed):
    rng = np.random.default_rng(seed)
    return rng.random((QID.size, 2)), rng.integers(0, 3, QID.size).astype(float)


def lightgbm_rounds(watch):
    """Train with our objective and two metrics, one of them by early stopping."""
    import lightgbm as lgb

    X, y = rows(0)
    data = lgb.Dataset(X, y, group=SIZES, free_raw_data=False)
    valid = lgb.Dataset(X, y, group=SIZES, reference=data, free_raw_data=False)
    params = {
        "objective": ra.lightgbm.objective(ra.objectives.lightgbm.lambdarank()), "metric": "None", "verbosity": -1,
        "num_threads": 1, "num_leaves": 2, "learning_rate": 0.001,
    }  # fmt: skip
    stop = ra.lightgbm.early_stopping(CONVENTION, rounds=watch.last, verbose=False)
    callbacks = [stop, lgb.record_evaluation({}), watch.step]
    metric = ra.lightgbm.eval_metric([CONVENTION, "textbook@3"])
    lgb.train(params, data, watch.last, valid_sets=[valid], feval=metric, callbacks=callbacks)


def xgboost_rounds(watch):
    """Train with our objective, metric and callback."""
    import xgboost as xgb

    class Step(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            return not watch.step()

    X, y = rows(0)
    data, metric = xgb.DMatrix(X, y, group=SIZES), ra.xgboost.eval_metric(CONVENTION)
    small = xgb.DMatrix(X[:100], y[:100], group=SIZES[:5])  # small, since all trees predict it again every round
    callback = ra.xgboost.EvalCallback("textbook@3", evals=[(small, "small")])
    params = {"nthread": 1, "max_depth": 1, "learning_rate": 0.001, "disable_default_eval_metric": True}
    xgb.train(
        params, data, watch.last, obj=ra.xgboost.objective(ra.objectives.xgboost.ndcg()), custom_metric=metric,
        evals=[(data, "data")], evals_result={}, verbose_eval=False, callbacks=[metric, callback, Step()],
    )  # fmt: skip


def catboost_rounds(watch):
    """Train with our metric and a loss of CatBoost."""
    import catboost as cb

    X, y = rows(0)
    metric = ra.catboost.eval_metric(CONVENTION, sets=[(y, QID)])
    model = cb.CatBoost(
        {"loss_function": "QueryRMSE", "eval_metric": metric, "iterations": watch.last, "depth": 1, "thread_count": 1}
        | {"learning_rate": 0.001, "logging_level": "Silent", "allow_writing_files": False}
    )
    model.fit(cb.Pool(X, y, group_id=QID), callbacks=[watch])


def catboost_objective_rounds(watch):
    """Train with our objective, which CatBoost lacks."""
    import catboost as cb

    X, y = rows(0)
    params = {"iterations": watch.last, "depth": 1, "thread_count": 1, "learning_rate": 0.001}
    objective = ra.objectives.lightgbm.lambdarank()
    ra.catboost.train(params, cb.Pool(X, y, group_id=QID), objective, CONVENTION, callbacks=[watch])


def growth(run, steps):
    """Run in a process with numba loaded from the start: loading it during the steps would add 34 MB."""
    import_module("numba")
    watch = Watch(steps)
    run(watch)
    return watch.growth


@pytest.fixture(scope="module")
def process():
    """Yield a process that runs nothing else: other tests may still allocate memory, for example Dask's threads."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        yield executor


@pytest.mark.parametrize(
    ("run", "steps"),
    [
        (lightgbm_rounds, 60), (xgboost_rounds, 60), (catboost_rounds, 60), (catboost_objective_rounds, 60),
    ],
)  # fmt: skip
def test_a_round_keeps_little_memory(process, run, steps):
    pytest.importorskip(run.__name__.partition("_")[0])
    assert process.submit(growth, run, steps).result() < MAX_BYTES
