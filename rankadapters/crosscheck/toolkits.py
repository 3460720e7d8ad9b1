"""The toolkits, each as one function that trains a small ranker and asks the toolkit for its own NDCG."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError, choices
from rankadapters.datasets import Grouped

Array = NDArray[Any]

ROUNDS = 50
THREADS = 1  # OpenMP's threads wait by spinning: on a busy machine a second one made this ten times slower
CATBOOST_THREADS = 2  # its own, which sleep
LEARNING_RATE = 0.1
XGBOOST_LABELS = 31  # the largest under its exponential gain
COLUMNS = 0.8  # share of the features that a tree or split sees, so that the seed matters


@dataclass(frozen=True, slots=True)
class Task:
    """What every toolkit is given."""

    train: Grouped
    test: Grouped
    seed: int


@dataclass(frozen=True, slots=True)
class Said:
    """Scores of the test rows, and what the toolkit says of them under which metric."""

    scores: Array
    metric: str
    value: float | None
    rows: NDArray[np.bool_] | None = None  # of the test set that the toolkit's value covers; None is all
    labels: Array | None = None  # as the toolkit holds them, where that differs
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Whether a toolkit can be used: its version, or a note that says why not."""

    version: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Toolkit:
    """How a toolkit is asked.

    Attributes
    ----------
    name : str
        Of its extra.
    packages : tuple of str
        Modules that must be there, its own first.
    model : str
        Class that is trained.
    convention : callable
        Its preset, by cutoff.
    ask : callable
        Trains the model and returns its scores and what the toolkit says of them.
    """

    name: str
    packages: tuple[str, ...]
    model: str
    convention: Callable[[int], Convention]
    ask: Callable[[Task, Convention], Said]


def _sklearn(task: Task, convention: Convention) -> Said:
    k = getattr(convention, "k", None)
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.metrics import ndcg_score
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # scikit-learn brings it

    model = HistGradientBoostingRegressor(
        max_iter=ROUNDS, max_leaf_nodes=15, learning_rate=LEARNING_RATE, max_features=COLUMNS,
        early_stopping=False, random_state=task.seed,
    )  # fmt: skip
    test = task.test
    with threadpool_limits(THREADS, user_api="openmp"):
        scores = model.fit(task.train.X, task.train.labels).predict(test.X)
    several = np.repeat(test.sizes > 1, test.sizes)
    values = [
        ndcg_score(test.labels[None, rows], scores[None, rows], k=k)
        for rows in map(slice, test.queries.indptr[:-1], test.queries.indptr[1:])
        if rows.stop - rows.start > 1
    ]
    left_out = test.sizes.size - len(values)
    note = f"ndcg_score refuses one-document queries: {left_out} left out on both sides" if left_out else None
    value = math.fsum(values) / len(values) if values else None
    return Said(scores, f"ndcg_score(k={k})", value, several, note=note)


def _lightgbm(task: Task, convention: Convention) -> Said:
    from lightgbm import LGBMRanker

    from rankadapters.lightgbm import LABELS, native_metric

    train, test = task.train, task.test
    _refuse_labels("lightgbm", task, LABELS - 1)
    _refuse_long_queries(task)
    model = LGBMRanker(
        n_estimators=ROUNDS, num_leaves=15, learning_rate=LEARNING_RATE, colsample_bytree=COLUMNS, n_jobs=THREADS,
        deterministic=True, force_row_wise=True, random_state=task.seed, verbosity=-1,
    )  # fmt: skip
    native = native_metric(convention)
    # eval_set until LightGBM 4.6, eval_X and eval_y since.
    since = "eval_X" in inspect.signature(model.fit).parameters
    evals = {"eval_X": test.X, "eval_y": test.labels} if since else {"eval_set": [(test.X, test.labels)]}
    model.fit(
        train.X, train.labels, group=train.sizes, eval_group=[test.sizes], eval_at=native["eval_at"],
        eval_metric=native["metric"], **evals,
    )  # fmt: skip
    # The booster's own predict: LGBMRanker's misses, in LightGBM 4.6, the column names that its fit made up.
    return Said(np.asarray(model.booster_.predict(test.X)), *_last_round(model.evals_result_))


def _xgboost(task: Task, convention: Convention) -> Said:
    from xgboost import XGBRanker

    from rankadapters.xgboost import native_metric

    train, test = task.train, task.test
    _refuse_labels("xgboost", task, XGBOOST_LABELS)
    model = XGBRanker(
        n_estimators=ROUNDS, max_depth=4, learning_rate=LEARNING_RATE, colsample_bynode=COLUMNS, n_jobs=THREADS,
        random_state=task.seed, **native_metric(convention),
    )  # fmt: skip
    evals = {"eval_set": [(test.X, test.labels)], "eval_qid": [test.qid]}
    model.fit(train.X, train.labels, qid=train.qid, verbose=False, **evals)
    return Said(model.predict(test.X), *_last_round(model.evals_result()))


def _catboost(task: Task, convention: Convention) -> Said:
    from catboost import CatBoostRanker
    from catboost.utils import eval_metric

    from rankadapters.catboost import native_metric

    train, test = task.train, task.test
    model = CatBoostRanker(
        iterations=ROUNDS, depth=5, learning_rate=LEARNING_RATE, rsm=COLUMNS, thread_count=CATBOOST_THREADS,
        random_seed=task.seed, allow_writing_files=False, logging_level="Silent",
    ).fit(train.X, train.labels, group_id=train.qid)  # fmt: skip
    scores, metric = model.predict(test.X), native_metric(convention)
    # A training's log renames the metric and sets its loss's own NDCG beside it; asked like this, it is the one meant.
    [value] = eval_metric(test.labels, scores, metric, group_id=test.qid, thread_count=CATBOOST_THREADS)
    held = test.labels.astype(np.float32).astype(np.float64)
    if np.array_equal(held, test.labels):
        return Said(scores, metric, float(value))
    return Said(scores, metric, float(value), labels=held, note="of labels rounded to float32, as it holds them")


TOOLKITS = {
    toolkit.name: toolkit
    for toolkit in (
        Toolkit("sklearn", ("sklearn",), "HistGradientBoostingRegressor", presets.sklearn, _sklearn),
        Toolkit("lightgbm", ("lightgbm", "sklearn"), "LGBMRanker", presets.lightgbm, _lightgbm),
        Toolkit("xgboost", ("xgboost", "sklearn"), "XGBRanker", presets.xgboost, _xgboost),
        Toolkit("catboost", ("catboost",), "CatBoostRanker", presets.catboost, _catboost),
    )
}


def _refuse_labels(toolkit: str, task: Task, most: int) -> None:
    """Say in one line what the toolkit would, after printing something of its own."""
    for name, split in (("train", task.train), ("test", task.test)):
        bad = ~np.isin(split.labels, np.arange(most + 1))
        if bad.any():
            msg = (
                f"{name}: label {split.labels[np.argmax(bad)]:g}, but {toolkit} takes whole labels from 0 to {most}.\n"
                f"Hint: map the labels, or leave {toolkit} out of the toolkits."
            )
            raise InputError(msg)


def _refuse_long_queries(task: Task) -> None:
    from rankadapters.lightgbm import MOST_ROWS

    for name, split in (("train", task.train), ("test", task.test)):
        if split.sizes.max() > MOST_ROWS:
            msg = (
                f"{name}: a query of {split.sizes.max()} rows, but lightgbm takes {MOST_ROWS}.\n"
                "Hint: leave lightgbm out of the toolkits."
            )
            raise InputError(msg)


def _last_round(log: dict[str, dict[str, list[float]]]) -> tuple[str, float]:
    [metrics] = log.values()
    [(metric, values)] = metrics.items()
    return metric, values[-1]


def named(name: str) -> Toolkit:
    """Find a toolkit by name."""
    if name not in TOOLKITS:
        msg = f"{name!r} is no toolkit; allowed are {choices(TOOLKITS)}."
        raise InputError(msg)
    return TOOLKITS[name]


def probe(toolkit: Toolkit) -> Found:
    """Import what a toolkit needs."""
    for package in toolkit.packages:
        try:
            importlib.import_module(package)
        except ModuleNotFoundError as error:
            missing = error.name or package
            return Found(None, f'{missing} is not installed: pip install "rankadapters[{toolkit.name}]"')
        except Exception as error:  # noqa: BLE001 - a broken installation raises what it likes, XGBoost its own class
            return Found(None, f"{package} is installed but cannot be imported: {' '.join(str(error).split()):.200}")
    return Found(str(importlib.import_module(toolkit.packages[0]).__version__))
