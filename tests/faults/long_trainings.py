"""Trainings of many rounds and many data sets one after the other, and what they keep of memory."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NOW, kernels

CONVENTION = "letor4@5"
SIZES = np.full(50, 20)  # an array of their rows, kept each round by mistake, would be 8 kB
N = int(SIZES.sum())
PAGE = 4096
WARM = 0.2  # of the rounds, after which memory is compared with the end


class Grown(NamedTuple):
    """What each round or data set added, in bytes: to Python's memory, and to all of the process."""

    python: float
    process: float


class Watch:
    """Compares memory at two of many steps, between which Python's is traced."""

    def __init__(self, steps: int) -> None:
        self._first, self._last = round(WARM * steps), steps
        self._step = self._before = 0
        self.grown: Grown | None = None  # after the last step

    def step(self, *_: Any) -> bool:
        """Count a step; True, since CatBoost's callbacks say whether to go on."""
        self._step += 1
        if self._step == self._first:
            gc.collect()
            self._before = _resident()
            tracemalloc.start()
        elif self._step == self._last:
            gc.collect()
            (python, _), n = tracemalloc.get_traced_memory(), self._last - self._first
            tracemalloc.stop()
            self.grown = Grown(python / n, (_resident() - self._before) / n)
        return True


def _resident() -> int:
    statm = Path("/proc/self/statm")
    return int(statm.read_text(encoding="utf-8").split()[1]) * PAGE if statm.exists() else 0


def rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels."""
    rng = np.random.default_rng(seed)
    return rng.random((N, 2)), rng.integers(0, 3, N).astype(float)


def lightgbm_rounds(rounds: int) -> Grown:
    """Train with our objective and two metrics, one of them by early stopping."""
    import lightgbm as lgb

    (X, y), watch = rows(0), Watch(rounds)
    data = lgb.Dataset(X, y, group=SIZES, free_raw_data=False)
    metric = ra.lightgbm.eval_metric([CONVENTION, "textbook@3"])
    params = {
        "objective": ra.lightgbm.objective(ra.objectives.lightgbm.lambdarank()), "metric": "None", "verbosity": -1,
        "num_threads": 1, "num_leaves": 2, "learning_rate": 0.001,
    }  # fmt: skip
    callbacks = [ra.lightgbm.early_stopping(CONVENTION, rounds=rounds), watch.step]
    valid = lgb.Dataset(X, y, group=SIZES, reference=data, free_raw_data=False)
    lgb.train(params, data, rounds, valid_sets=[valid], feval=metric, callbacks=callbacks)
    assert len(metric.history) == 2 * rounds
    return watch.grown


def xgboost_rounds(rounds: int) -> Grown:
    """Train with our objective, metric and callback."""
    import xgboost as xgb

    class Step(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return not watch.step()

    (X, y), watch = rows(0), Watch(rounds)
    data = xgb.DMatrix(X, y, group=SIZES)
    metric = ra.xgboost.custom_metric(CONVENTION)
    small = xgb.DMatrix(X[:100], y[:100], group=SIZES[:5])  # on which all trees predict anew in every round
    callback = ra.xgboost.EvalCallback("textbook@3", evals=[(small, "small")])
    params = {"nthread": 1, "max_depth": 1, "learning_rate": 0.001, "disable_default_eval_metric": True}
    xgb.train(
        params, data, rounds, obj=ra.xgboost.objective(ra.objectives.xgboost.ndcg()), custom_metric=metric,
        evals=[(data, "data")], verbose_eval=False, callbacks=[callback, Step()],
    )  # fmt: skip
    assert len(metric.history) == len(callback.history) == rounds
    return watch.grown


def catboost_rounds(rounds: int) -> Grown:
    """Train with our metric, under a loss of CatBoost's."""
    import catboost as cb

    class Step:
        def after_iteration(self, info: Any) -> bool:
            return watch.step()

    (X, y), watch, qid = rows(0), Watch(rounds), np.repeat(np.arange(SIZES.size), SIZES)
    metric = ra.catboost.eval_metric(CONVENTION, sets=[(y, qid)])
    model = cb.CatBoost(
        {"loss_function": "QueryRMSE", "eval_metric": metric, "iterations": rounds, "depth": 1, "thread_count": 1}
        | {"learning_rate": 0.001, "logging_level": "Silent", "allow_writing_files": False}
    )
    model.fit(cb.Pool(X, y, group_id=qid), callbacks=[Step()])
    assert len(metric.history) >= rounds
    return watch.grown


def catboost_objective_rounds(rounds: int) -> Grown:
    """Train under an objective that CatBoost lacks."""
    import catboost as cb

    class Step:
        def after_iteration(self, info: Any) -> bool:
            return watch.step()

    (X, y), watch = rows(0), Watch(rounds)
    pool = cb.Pool(X, y, group_id=np.repeat(np.arange(SIZES.size), SIZES))
    params = {"iterations": rounds, "depth": 1, "thread_count": 1, "learning_rate": 0.001}
    value = ra.objectives.lightgbm.lambdarank()
    model = ra.catboost.train(params, pool, value, CONVENTION, callbacks=[Step()])
    assert len(model.history) == rounds
    return watch.grown


def lightgbm_datasets(number: int) -> Grown:
    """Evaluate and differentiate on one Dataset after the other."""
    import lightgbm as lgb

    metric = ra.lightgbm.eval_metric(CONVENTION)
    value = ra.lightgbm.objective(ra.objectives.lightgbm.lambdarank())
    params = {"verbosity": -1, "num_threads": 1}

    def make(seed: int) -> Any:
        X, y = rows(seed)
        return lgb.Dataset(X, y, group=SIZES, params=params).construct()

    return _data_sets(number, make, metric, value)


def xgboost_datasets(number: int) -> Grown:
    """Evaluate and differentiate on one DMatrix after the other."""
    import xgboost as xgb

    metric = ra.xgboost.custom_metric(CONVENTION)
    value = ra.xgboost.objective(ra.objectives.xgboost.ndcg())

    def make(seed: int) -> Any:
        X, y = rows(seed)
        return xgb.DMatrix(X, y, group=SIZES, nthread=1)

    return _data_sets(number, make, metric, value)


def _data_sets(number: int, make: Callable[[int], Any], *called: Any) -> Grown:
    """Let every callback see many data sets, each of which is gone when it is dropped."""
    watch, scores, before = Watch(number), np.sin(np.arange(N)).astype(np.float32), living()
    for seed in range(number):
        data = make(seed)
        for callback in called:
            callback(scores, data)
        gone = weakref.ref(data)
        del data
        assert gone() is None, "a callback keeps its data set alive"
        watch.step()
    assert living() == before, "what was bound to data sets is alive"
    return watch.grown


def living() -> int:
    """Count the objects of ours that hold arrays by row."""
    gc.collect()
    kinds = (ra.Queries, ra.Panel, ra.Evaluator)
    return sum(issubclass(type(each), kinds) for each in gc.get_objects())  # a weak proxy's class may be gone


ROUNDS = {"LightGBM": lightgbm_rounds, "XGBoost": xgboost_rounds, "CatBoost": catboost_rounds}
ROUNDS["CatBoost, ra.catboost.train"] = catboost_objective_rounds
DATASETS = {"LightGBM": lightgbm_datasets, "XGBoost": xgboost_datasets}


def alone() -> ProcessPoolExecutor:
    """Make a process that does nothing but these trainings.

    In this one what tests left at work would count too: Dask's threads for one, which keep profiles.
    """
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def measured(process: ProcessPoolExecutor, kind: str, toolkit: str, number: int) -> Grown:
    """Return the bytes that each round or data set added in a process."""
    return process.submit(_in_machine_code, {"rounds": ROUNDS, "datasets": DATASETS}[kind][toolkit], number).result()


def _in_machine_code(measure: Callable[[int], Grown], number: int) -> Grown:
    """Measure, with numba there from the start: it takes 34 MB once, which came after 8,000 rounds of 1,000 rows."""
    with kernels(NOW):
        return measure(number)
