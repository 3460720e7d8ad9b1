"""MLflow with our evaluator, also if the installed rankadapters is older than the evaluator's entry point."""

from __future__ import annotations

import warnings
from importlib import import_module

import pytest

EVALUATOR = "rankadapters.trackers.mlflow_evaluator:MlflowEvaluator"


def import_mlflow():
    """Register our evaluator and return the module mlflow; skip where a package is missing."""
    for package in ("mlflow", "pandas", "sklearn", "matplotlib"):
        pytest.importorskip(package)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MLflow warns of its own type hints
        from mlflow.models.evaluation.evaluator_registry import _model_evaluation_registry
    module, _, name = EVALUATOR.partition(":")
    _model_evaluation_registry.register("rankadapters", getattr(import_module(module), name))
    return import_module("mlflow")
