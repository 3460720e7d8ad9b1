"""Long trainings and long sequences of data sets, and the memory that they keep."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rankadapters as ra

CONVENTION = "letor4@5"
SIZES = np.full(50, 20)  # an array of all rows, kept each round by mistake, would be 8 kB
N = int(SIZES.sum())
PAGE = 4096
WARM_UP = 0.2  # share of the rounds that are not measured


class Growth(NamedTuple):
    """Bytes that each round or data set adds to Python's memory, and to the whole process."""

    python: float
    process: float


class Watch:
    """Measures how memory grows from the end of the warm-up to the last step."""

    def __init__(self, steps: int) -> None:
        self._first, self._last = round(WARM_UP * steps), steps
        self._step = self._before = 0
        self.growth: Growth | None = None  # after the last step

    def step(self, *_: Any) -> bool:
        """Count a step, and return True, which tells CatBoost to go on."""
        self._step += 1
        if self._step == self._first:
            gc.collect()
            self._before = _resident_bytes()
            tracemalloc.start()
        elif self._step == self._last:
            gc.collect()
            (python, _), n = tracemalloc.get_traced_memory(), self._last - self._first
            tracemalloc.stop()
            self.growth = Growth(python / n, (_resident_bytes() - self._before) / n)
        return True

    after_iteration = step  # the method that CatBoost calls after each round


def _resident_bytes() -> int:
    statm = Path("/proc/self/statm")
    return int(statm.read_text(encoding="utf-8").split()[1]) * PAGE if statm.exists() else 0


def rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels."""
    rng = np.random.default_rng(seed)
    return rng.random((N, 2)), rng.integers(0, 3, N).astype(float)


def lightgbm_rounds(rounds: int) -> Growth:
    """Train with our objective and two metrics, one of them by early stopping."""
    import lightgbm as lgb

    (X, y), watch = rows(0), Watch(rounds)
    data = lgb.Dataset(X, y, group=SIZES, free_raw_data=False)
    metric = ra.lightgbm.eval_metric([CONVENTION, "textbook@3"])
    params = {
        "objective": ra.lightgbm.objective(ra.objectives.lightgbm.lambdarank()), "metric": "None", "verbosity": -1,
        "num_threads": 1, "num_leaves": 2, "learning_rate": 0.001,
    }  # fmt: skip
    log: dict[str, Any] = {}
    stop = ra.lightgbm.early_stopping(CONVENTION, rounds=rounds, verbose=False)
    callbacks = [stop, lgb.record_evaluation(log), watch.step]
    valid = lgb.Dataset(X, y, group=SIZES, reference=data, free_raw_data=False)
    lgb.train(params, data, rounds, valid_sets=[valid], feval=metric, callbacks=callbacks)
    assert len(ra.History.of(log)) == 2 * rounds
    return watch.growth


def xgboost_rounds(rounds: int) -> Growth:
    """Train with our objective, metric and callback."""
    import xgboost as xgb

    class Step(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return not watch.step()

    (X, y), watch = rows(0), Watch(rounds)
    data = xgb.DMatrix(X, y, group=SIZES)
    metric = ra.xgboost.eval_metric(CONVENTION)
    small = xgb.DMatrix(X[:100], y[:100], group=SIZES[:5])  # small, since all trees predict it again every round
    callback = ra.xgboost.EvalCallback("textbook@3", evals=[(small, "small")])
    params = {"nthread": 1, "max_depth": 1, "learning_rate": 0.001, "disable_default_eval_metric": True}
    log: dict[str, Any] = {}
    xgb.train(
        params, data, rounds, obj=ra.xgboost.objective(ra.objectives.xgboost.ndcg()), custom_metric=metric,
        evals=[(data, "data")], evals_result=log, verbose_eval=False, callbacks=[metric, callback, Step()],
    )  # fmt: skip
    history = ra.History.of(log)
    assert len(history.only(dataset="data")) == len(history.only(dataset="small")) == rounds
    return watch.growth


def catboost_rounds(rounds: int) -> Growth:
    """Train with our metric and a loss of CatBoost."""
    import catboost as cb

    (X, y), watch, qid = rows(0), Watch(rounds), np.repeat(np.arange(SIZES.size), SIZES)
    metric = ra.catboost.eval_metric(CONVENTION, sets=[(y, qid)])
    model = cb.CatBoost(
        {"loss_function": "QueryRMSE", "eval_metric": metric, "iterations": rounds, "depth": 1, "thread_count": 1}
        | {"learning_rate": 0.001, "logging_level": "Silent", "allow_writing_files": False}
    )
    model.fit(cb.Pool(X, y, group_id=qid), callbacks=[watch])
    assert len(ra.History.of(model.get_evals_result())) == rounds
    return watch.growth


def catboost_objective_rounds(rounds: int) -> Growth:
    """Train with our objective, which CatBoost lacks."""
    import catboost as cb

    (X, y), watch = rows(0), Watch(rounds)
    pool = cb.Pool(X, y, group_id=np.repeat(np.arange(SIZES.size), SIZES))
    params = {"iterations": rounds, "depth": 1, "thread_count": 1, "learning_rate": 0.001}
    objective = ra.objectives.lightgbm.lambdarank()
    model = ra.catboost.train(params, pool, objective, CONVENTION, callbacks=[watch])
    assert len(ra.History.of(model.get_evals_result())) == rounds
    return watch.growth


def lightgbm_datasets(number: int) -> Growth:
    """Evaluate and differentiate on one Dataset after the other."""
    import lightgbm as lgb

    metric = ra.lightgbm.eval_metric(CONVENTION)
    objective = ra.lightgbm.objective(ra.objectives.lightgbm.lambdarank())
    params = {"verbosity": -1, "num_threads": 1}

    def make(X: np.ndarray, y: np.ndarray) -> Any:
        return lgb.Dataset(X, y, group=SIZES, params=params).construct()

    return call_on_datasets(number, make, metric, objective)


def xgboost_datasets(number: int) -> Growth:
    """Evaluate and differentiate on one DMatrix after the other."""
    import xgboost as xgb

    metric = ra.xgboost.eval_metric(CONVENTION)
    objective = ra.xgboost.objective(ra.objectives.xgboost.ndcg())
    return call_on_datasets(number, lambda X, y: xgb.DMatrix(X, y, group=SIZES, nthread=1), metric, objective)


def call_on_datasets(number: int, make: Callable[[np.ndarray, np.ndarray], Any], *callbacks: Any) -> Growth:
    """Call every callback on many data sets, and check that each is freed when it is dropped."""
    watch, scores, before = Watch(number), np.sin(np.arange(N)).astype(np.float32), count_bound_objects()
    for seed in range(number):
        data = make(*rows(seed))
        for callback in callbacks:
            callback(scores, data)
        reference = weakref.ref(data)
        del data
        assert reference() is None, "a callback keeps its data set alive"
        watch.step()
    assert count_bound_objects() == before, "objects that were bound to data sets are alive"
    return watch.growth


def count_bound_objects() -> int:
    """Count our objects that hold an array with an element per row."""
    gc.collect()
    kinds = (ra.Queries, ra.Evaluator)
    return sum(issubclass(type(tracked), kinds) for tracked in gc.get_objects())  # a weak proxy's class may be freed


ROUNDS = {"LightGBM": lightgbm_rounds, "XGBoost": xgboost_rounds, "CatBoost": catboost_rounds}
ROUNDS["CatBoost, ra.catboost.train"] = catboost_objective_rounds
DATASETS = {"LightGBM": lightgbm_datasets, "XGBoost": xgboost_datasets}


def fresh_process() -> ProcessPoolExecutor:
    """Start a process that runs nothing else.

    In the current process other tests may still allocate memory, for example Dask's threads, which keep profiles.
    """
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def measure_growth(process: ProcessPoolExecutor, kind: str, toolkit: str, number: int) -> Growth:
    """Return the bytes that each round or data set adds in a process."""
    return process.submit(_measure_with_numba, {"rounds": ROUNDS, "datasets": DATASETS}[kind][toolkit], number).result()


def _measure_with_numba(measure: Callable[[int], Growth], number: int) -> Growth:
    """Measure with numba loaded from the start: loading it during the rounds would add 34 MB."""
    import_module("numba")
    return measure(number)
