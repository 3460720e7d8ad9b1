"""One valid call of every public function, by its name and keywords."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from inspect import isfunction
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import numpy as np

import rankadapters as ra

LABELS, SCORES, QID = [2.0, 0.0, 1.0, 0.0], [0.4, 0.3, 0.2, 0.1], ["a", "a", "b", "b"]
DATA = {"labels": LABELS, "scores": SCORES, "qid": QID}
MODELS = {"labels": LABELS, "scores": {"a": SCORES, "b": LABELS}, "qid": QID}


def public_modules() -> Iterator[tuple[str, ModuleType]]:
    """Yield the name and the module of every public namespace of the package."""
    yield "", ra
    for module in sorted(iter_modules(ra.__path__), key=lambda module: module.name):
        namespace = getattr(ra, module.name, None)
        if isinstance(namespace, ModuleType) and hasattr(namespace, "__all__"):
            yield f"{module.name}.", namespace


def public_functions() -> dict[str, Callable[..., Any]]:
    """Return every public function by its name below `ra`."""
    named = (
        (f"{prefix}{name}", getattr(module, name)) for prefix, module in public_modules() for name in module.__all__
    )
    return {name: value for name, value in named if isfunction(value)}


@lru_cache
def booster(toolkit: str) -> Any:
    """Return a small trained model of a toolkit."""
    features = np.arange(8.0).reshape(4, 2)
    if toolkit == "lightgbm":
        import lightgbm

        data = lightgbm.Dataset(features, LABELS, group=[2, 2])
        return lightgbm.train({"objective": "lambdarank", "verbose": -1}, data, 1)
    if toolkit == "xgboost":
        import xgboost

        return xgboost.train({"objective": "rank:ndcg"}, xgboost.DMatrix(features, LABELS, qid=[0, 0, 1, 1]), 1)
    import catboost

    pool = catboost.Pool(features, LABELS, group_id=QID)
    return catboost.train(
        pool, {"loss_function": "YetiRank", "verbose": False, "allow_writing_files": False}, num_boost_round=1
    )
