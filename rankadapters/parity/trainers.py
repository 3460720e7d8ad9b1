"""The toolkits that parity checks can ask: how to import each, and how to train a small ranker with it."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankadapters import presets
from rankadapters.core.data.columns import Array
from rankadapters.core.declaration.arguments import choice, names
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import MEASURES
from rankadapters.datasets import Grouped
from rankadapters.parity.toolkit import Toolkit

ROUNDS = 50
COLUMNS = 0.8  # share of the features that a tree or split uses, so that the seed matters


class Task(NamedTuple):
    """The data and the seed with which every toolkit trains."""

    train: Grouped
    test: Grouped
    seed: int


class Availability(NamedTuple):
    """Whether a toolkit can be used: its version, or a note that says why not."""

    version: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Trainer:
    """How to import a toolkit and train its small model."""

    name: str  # name of the toolkit's extra, adapter and presets
    packages: tuple[str, ...]  # packages that training needs, the toolkit's own first
    model: str  # name of the model class
    convention: Callable[[int], Convention]  # makes the toolkit's preset with a given cutoff
    made: dict[str, Any]  # constructor arguments of the class, besides the common ones
    fit: Callable[[Any, Task, Any], dict[str, Any]] = lambda *_: {}  # makes the arguments of `fit`
    module: str = ""  # module of the class, if not the toolkit's package
    load: Callable[[str], Toolkit] = lambda name: importlib.import_module(f"rankadapters.{name}.parity").TOOLKIT

    def probe(self, n_packages: int | None = None) -> Availability:
        """Import all packages that the toolkit needs, or only the first `n_packages` of them."""
        for package in self.packages[:n_packages]:
            try:
                importlib.import_module(package)
            except ModuleNotFoundError as error:
                missing = error.name or package
                return Availability(None, f'{missing} is not installed: pip install "rankadapters[{self.name}]"')
            except Exception as error:  # noqa: BLE001 - a broken installation may raise anything, such as XGBoostError
                message = " ".join(str(error).split())
                return Availability(None, f"{package} is installed but cannot be imported: {message:.200}")
        return Availability(str(sys.modules[self.packages[0]].__version__))

    def train(self, task: Task, words: Any) -> tuple[Array, float | None]:
        """Return the scores of the test rows, and the metric that the last round logged for them, if any."""
        model_class = getattr(importlib.import_module(self.module or self.packages[0]), self.model)
        model = model_class(**self.made, learning_rate=0.1, random_state=task.seed)
        arguments = self.fit(model, task, words)
        # Waiting OpenMP threads spin: on a busy machine a second thread made training ten times slower.
        threadpoolctl = sys.modules.get("threadpoolctl")  # installed with scikit-learn, whose model has no n_jobs
        with threadpoolctl.threadpool_limits(1, user_api="openmp") if threadpoolctl else nullcontext():
            model.fit(task.train.X, task.train.labels, **arguments)
            # In LightGBM 4.6, LGBMRanker.predict would warn that X lacks the column names that `fit` invented.
            scores = np.asarray(getattr(model, "booster_", model).predict(task.test.X))
        if not any(name.startswith("eval_") for name in arguments):
            return scores, None
        [[values]] = (metrics.values() for metrics in model.evals_result_.values())
        return scores, values[-1]


def _lightgbm(model: Any, task: Task, words: dict[str, Any]) -> dict[str, Any]:
    test = task.test
    # LightGBM up to 4.6 takes eval_set, later versions eval_X and eval_y.
    has_eval_X = "eval_X" in inspect.signature(model.fit).parameters
    evals = {"eval_X": test.X, "eval_y": test.labels} if has_eval_X else {"eval_set": [(test.X, test.labels)]}
    model.set_params(metric=words["metric"])  # with `eval_metric=` the objective's NDCG would be logged too
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
            # No evaluation set, because CatBoost's log renames the metric and adds the loss's own NDCG.
            fit=lambda _, task, __: {"group_id": task.train.qid},
            made={
                "iterations": ROUNDS, "depth": 5, "rsm": COLUMNS, "thread_count": 2,  # CatBoost's idle threads sleep
                "allow_writing_files": False, "logging_level": "Silent",
            },
        ),
    )
}  # fmt: skip


def own_convention(trainer: Trainer, measure: str, k: int) -> Convention | None:
    """Return a toolkit's preset of a measure, which is named in our words or the toolkit's; None if there is none.

    A preset of given pairs becomes one of pairs made from labels.
    """
    measure_name = measure_named(measure)
    methods = sorted(presets.TOOLS[trainer.name].measures(), key=lambda method: method != measure)
    conventions = [trainer.convention(k), *(presets.make(f"{trainer.name}.{method}", k) for method in methods)]
    own_preset = next((convention for convention in conventions if convention.measure == measure_name), None)
    is_of_pairs = getattr(own_preset, "pairs", "") == "given"
    return own_preset.replace(pairs="label", average="query") if own_preset and is_of_pairs else own_preset


def measure_named(name: str) -> str:
    """Return our name of a measure, given our name or a toolkit's, such as 'map'.

    >>> measure_named("map"), measure_named("ap")
    ('ap', 'ap')
    """
    methods = {method: f"{tool}.{method}" for tool in TOOLKITS for method in presets.TOOLS[tool].measures()}
    name = choice("measure", name, dict.fromkeys([*MEASURES, *methods]))
    return presets.make(methods[name], 1).measure if name in methods else name


def usable(toolkits: str | Iterable[str] | None, n_packages: int | None = None) -> dict[str, Availability]:
    """Return which toolkits can be used, checked by importing the first `n_packages` packages of each, or all."""
    listed = list(TOOLKITS) if toolkits is None else names("toolkits", toolkits, hint="toolkits=['lightgbm']")
    return {choice("toolkits", name, TOOLKITS): TOOLKITS[name].probe(n_packages) for name in listed}
