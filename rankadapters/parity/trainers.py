"""The toolkits that can be asked: where each is found, and the small ranker that shows it at work."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core import presets
from rankadapters.core.data.columns import Array
from rankadapters.core.declaration.arguments import choice, names
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import MEASURES
from rankadapters.datasets import Grouped
from rankadapters.parity.toolkit import Toolkit

ROUNDS = 50
COLUMNS = 0.8  # share of the features that a tree or split sees, so that the seed matters


class Task(NamedTuple):
    """What every toolkit is given."""

    train: Grouped
    test: Grouped
    seed: int


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
    made: dict[str, Any]  # what the class is made with, beside what all have
    fit: Callable[[Any, Task, Any], dict[str, Any]] = lambda *_: {}  # keywords of `fit`, with its words for the metric
    module: str = ""  # where the class stands, if not in its own package
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
        return Availability(str(sys.modules[self.packages[0]].__version__))

    def train(self, task: Task, words: Any) -> tuple[Array, float | None]:
        """Give scores of the test rows, and what the training logged of them in its last round, if it did."""
        kind = getattr(importlib.import_module(self.module or self.packages[0]), self.model)
        model = kind(**self.made, learning_rate=0.1, random_state=task.seed)
        told = self.fit(model, task, words)
        # OpenMP's threads wait by spinning: on a busy machine a second one made a training ten times slower.
        known = sys.modules.get("threadpoolctl")  # scikit-learn brings it, whose model has no parameter for this
        with known.threadpool_limits(1, user_api="openmp") if known else nullcontext():
            model.fit(task.train.X, task.train.labels, **told)
            # The booster's own predict: LGBMRanker's misses, in LightGBM 4.6, the column names that its fit made up.
            scores = np.asarray(getattr(model, "booster_", model).predict(task.test.X))
        if not any(name.startswith("eval_") for name in told):
            return scores, None
        [[values]] = (metrics.values() for metrics in model.evals_result_.values())
        return scores, values[-1]


def _lightgbm(model: Any, task: Task, words: dict[str, Any]) -> dict[str, Any]:
    test = task.test
    # eval_set until LightGBM 4.6, eval_X and eval_y since.
    since = "eval_X" in inspect.signature(model.fit).parameters
    evals = {"eval_X": test.X, "eval_y": test.labels} if since else {"eval_set": [(test.X, test.labels)]}
    model.set_params(metric=words["metric"])  # beside `eval_metric=` the log would have its objective's NDCG
    cutoff = {"eval_at": words["eval_at"]} if "eval_at" in words else {}
    return {"group": task.train.sizes, "eval_group": [test.sizes], **cutoff, **evals}


def _xgboost(model: Any, task: Task, words: dict[str, Any]) -> dict[str, Any]:
    model.set_params(**words)
    evals = {"eval_set": [(task.test.X, task.test.labels)], "eval_qid": [task.test.qid]}
    return {"qid": task.train.qid, "verbose": False, **evals}


TOOLKITS = {
    trainer.name: trainer
    for trainer in (
        Trainer(
            "sklearn", ("sklearn",), "HistGradientBoostingRegressor", presets.sklearn, module="sklearn.ensemble",
            made={"max_iter": ROUNDS, "max_leaf_nodes": 15, "max_features": COLUMNS, "early_stopping": False},
        ),
        Trainer(
            "lightgbm", ("lightgbm", "sklearn"), "LGBMRanker", presets.lightgbm, fit=_lightgbm,
            made={
                "n_estimators": ROUNDS, "num_leaves": 15, "colsample_bytree": COLUMNS, "n_jobs": 1,
                "deterministic": True, "force_row_wise": True, "verbosity": -1,
            },
        ),
        Trainer(
            "xgboost", ("xgboost", "sklearn"), "XGBRanker", presets.xgboost, fit=_xgboost,
            made={"n_estimators": ROUNDS, "max_depth": 4, "colsample_bynode": COLUMNS, "n_jobs": 1},
        ),
        Trainer(
            "catboost", ("catboost",), "CatBoostRanker", presets.catboost,
            # No evaluation set: a training's log renames the metric and sets its loss's own NDCG beside it.
            fit=lambda _, task, __: {"group_id": task.train.qid},
            made={
                "iterations": ROUNDS, "depth": 5, "rsm": COLUMNS, "thread_count": 2,  # its own, which sleep
                "allow_writing_files": False, "logging_level": "Silent",
            },
        ),
    )
}  # fmt: skip


def own_convention(trainer: Trainer, measure: str, k: int) -> Convention | None:
    """Give a toolkit's own preset of a measure, by the toolkit's name of it where it has that; None where it has none.

    Pairs are made of labels.
    """
    word = measure_named(measure)
    methods = sorted(presets.TOOLS[trainer.name].measures(), key=lambda each: each != measure)
    several = [trainer.convention(k), *(presets.make(f"{trainer.name}.{method}", k) for method in methods)]
    own = next((convention for convention in several if convention.measure == word), None)
    return own.replace(pairs="label", average="query") if own and getattr(own, "pairs", "") == "given" else own


def measure_named(name: str) -> str:
    """Return the name of a measure, given by its own name or by a toolkit's name of it, such as 'map'.

    >>> measure_named("map"), measure_named("ap")
    ('ap', 'ap')
    """
    methods = {method: f"{tool}.{method}" for tool in TOOLKITS for method in presets.TOOLS[tool].measures()}
    name = choice("measure", name, dict.fromkeys([*MEASURES, *methods]))
    return presets.make(methods[name], 1).measure if name in methods else name


def usable(toolkits: str | Iterable[str] | None, n_packages: int | None = None) -> dict[str, Availability]:
    """Tell whether toolkits can be used: all packages that training their models needs, or the first packages."""
    listed = list(TOOLKITS) if toolkits is None else names("toolkits", toolkits, hint="toolkits=['lightgbm']")
    return {choice("toolkits", name, TOOLKITS): TOOLKITS[name].probe(n_packages) for name in listed}
