"""One ranking metric core under one explicitly declared convention, for every learning-to-rank toolkit."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rankadapters.core import presets
from rankadapters.core.convention import DCG, NDCG, Convention
from rankadapters.core.errors import (
    ConventionError,
    IncomparableScoresError,
    InputError,
    MissingToolkitError,
    RankAdaptersError,
    UnsupportedConventionError,
)
from rankadapters.core.signature import parse

if TYPE_CHECKING:
    from rankadapters.core.evaluator import Evaluator, evaluate, evaluate_many
    from rankadapters.core.mean_ndcg import mean_ndcg
    from rankadapters.core.queries import Queries
    from rankadapters.core.score import Score, Tally

__version__ = "0.1.0"

# Imported when first used: the evaluator brings numba, each adapter its toolkit, and data numpy, which the pytest
# plugin must not load into every test run.
_LAZY = dict.fromkeys(("Evaluator", "evaluate", "evaluate_many"), "rankadapters.core.evaluator")
_LAZY |= {"Queries": "rankadapters.core.queries"} | dict.fromkeys(("Score", "Tally"), "rankadapters.core.score")
_LAZY["mean_ndcg"] = "rankadapters.core.mean_ndcg"
_SUBMODULES = (
    "audit",
    "catboost",
    "crosscheck",
    "datasets",
    "io",
    "lightgbm",
    "objectives",
    "parity",
    "sklearn",
    "xgboost",
)

__all__ = [
    "DCG",
    "NDCG",
    "Convention",
    "ConventionError",
    "Evaluator",
    "IncomparableScoresError",
    "InputError",
    "MissingToolkitError",
    "Queries",
    "RankAdaptersError",
    "Score",
    "Tally",
    "UnsupportedConventionError",
    "__version__",
    "evaluate",
    "evaluate_many",
    "mean_ndcg",
    "parse",
    "presets",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"rankadapters.{name}")
    msg = f"module 'rankadapters' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES])
