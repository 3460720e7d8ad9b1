"""Spark: the declared metric of the rows of all executors, and an Evaluator for PySpark's cross-validation."""

from __future__ import annotations

from rankadapters.core.errors import MissingToolkitError

try:
    import pyspark  # noqa: F401 - whether it is there, before our own modules ask for it
except ImportError as error:
    raise MissingToolkitError.of("pyspark", "spark") from error

from rankadapters.spark.evaluation import evaluate, per_query
from rankadapters.spark.query_evaluator import QueryEvaluator

__all__ = ["QueryEvaluator", "evaluate", "per_query"]


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)
