"""The toolkits that can be asked: where each is found, and the small ranker that shows it at work."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError, choices
from rankadapters.datasets import Grouped
from rankadapters.parity import Toolkit

Array = NDArray[Any]

ROUNDS = 50
THREADS = 1  # OpenMP's threads wait by spinning: on a busy machine a second one made this ten times slower
CATBOOST_THREADS = 2  # its own, which sleep
LEARNING_RATE = 0.1
COLUMNS = 0.8  # share of the features that a tree or split sees, so that the seed matters


class Task(NamedTuple):
    """What every toolkit is given."""

    train: Grouped
    test: Grouped
    seed: int


class Said(NamedTuple):
    """Scores of the test rows, and what the training logged of them in its last round; None is to be asked for."""

    scores: Array
    value: float | None = None


class Availability(NamedTuple):
    """Whether a toolkit can be used: its version, or a note that says why not."""

    version: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Trainer:
    """How a toolkit is found, and its small model trained."""

    name: str  # of its extra, of its adapter, and of its presets
    packages: tuple[str, ...]  # that must be there to train, its own first
    model: str  # the class that is trained
    convention: Callable[[int], Convention]  # its preset, by cutoff
    train: Callable[[Task, Any], Said]  # with the toolkit's own words for the metric
    load: Callable[[str], Toolkit] = lambda name: importlib.import_module(f"rankadapters.{name}.parity").TOOLKIT

    def probe(self, n_packages: int | None = None) -> Availability:
        """Import what it needs: all, or the first packages."""
        for package in self.packages[:n_packages]:
            try:
                importlib.import_module(package)
            except ModuleNotFoundError as error:
                missing = error.name or package
                return Availability(None, f'{missing} is not installed: pip install "rankadapters[{self.name}]"')
            except Exception as error:  # noqa: BLE001 - a broken installation raises what it likes, XGBoost its own class
                why = " ".join(str(error).split())
                return Availability(None, f"{package} is installed but cannot be imported: {why:.200}")
        return Availability(str(importlib.import_module(self.packages[0]).__version__))


def _sklearn(task: Task, words: dict[str, Any]) -> Said:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # scikit-learn brings it

    del words
    model = HistGradientBoostingRegressor(
        max_iter=ROUNDS, max_leaf_nodes=15, learning_rate=LEARNING_RATE, max_features=COLUMNS,
        early_stopping=False, random_state=task.seed,
    )  # fmt: skip
    with threadpool_limits(THREADS, user_api="openmp"):
        return Said(model.fit(task.train.X, task.train.labels).predict(task.test.X))


def _lightgbm(task: Task, words: dict[str, Any]) -> Said:
    from lightgbm import LGBMRanker

    train, test = task.train, task.test
    model = LGBMRanker(
        n_estimators=ROUNDS, num_leaves=15, learning_rate=LEARNING_RATE, colsample_bytree=COLUMNS, n_jobs=THREADS,
        deterministic=True, force_row_wise=True, random_state=task.seed, verbosity=-1,
    )  # fmt: skip
    # eval_set until LightGBM 4.6, eval_X and eval_y since.
    since = "eval_X" in inspect.signature(model.fit).parameters
    evals = {"eval_X": test.X, "eval_y": test.labels} if since else {"eval_set": [(test.X, test.labels)]}
    model.fit(
        train.X, train.labels, group=train.sizes, eval_group=[test.sizes], eval_at=words["eval_at"],
        eval_metric=words["metric"], **evals,
    )  # fmt: skip
    # The booster's own predict: LGBMRanker's misses, in LightGBM 4.6, the column names that its fit made up.
    return Said(np.asarray(model.booster_.predict(test.X)), _last_round(model.evals_result_))


def _xgboost(task: Task, words: dict[str, Any]) -> Said:
    from xgboost import XGBRanker

    train, test = task.train, task.test
    model = XGBRanker(
        n_estimators=ROUNDS, max_depth=4, learning_rate=LEARNING_RATE, colsample_bynode=COLUMNS, n_jobs=THREADS,
        random_state=task.seed, **words,
    )  # fmt: skip
    evals = {"eval_set": [(test.X, test.labels)], "eval_qid": [test.qid]}
    model.fit(train.X, train.labels, qid=train.qid, verbose=False, **evals)
    return Said(model.predict(test.X), _last_round(model.evals_result()))


def _catboost(task: Task, words: str) -> Said:
    from catboost import CatBoostRanker

    del words  # a training's log renames the metric and sets its loss's own NDCG beside it
    model = CatBoostRanker(
        iterations=ROUNDS, depth=5, learning_rate=LEARNING_RATE, rsm=COLUMNS, thread_count=CATBOOST_THREADS,
        random_seed=task.seed, allow_writing_files=False, logging_level="Silent",
    ).fit(task.train.X, task.train.labels, group_id=task.train.qid)  # fmt: skip
    return Said(model.predict(task.test.X))


def _last_round(log: dict[str, dict[str, list[float]]]) -> float:
    [metrics] = log.values()
    [values] = metrics.values()
    return values[-1]


TOOLKITS = {
    trainer.name: trainer
    for trainer in (
        Trainer("sklearn", ("sklearn",), "HistGradientBoostingRegressor", presets.sklearn, _sklearn),
        Trainer("lightgbm", ("lightgbm", "sklearn"), "LGBMRanker", presets.lightgbm, _lightgbm),
        Trainer("xgboost", ("xgboost", "sklearn"), "XGBRanker", presets.xgboost, _xgboost),
        Trainer("catboost", ("catboost",), "CatBoostRanker", presets.catboost, _catboost),
    )
}


def named(name: str) -> Trainer:
    """Find a toolkit by name."""
    if name not in TOOLKITS:
        msg = f"{name!r} is not a toolkit; allowed are {choices(TOOLKITS)}."
        raise InputError(msg)
    return TOOLKITS[name]
