"""Compute declared metrics over Spark DataFrames, and use them in PySpark's cross-validation."""

from __future__ import annotations

from rankadapters.core.declaration.guesses import list_public
from rankadapters.core.errors import MissingToolkitError

try:
    import pyspark  # noqa: F401 - fail here if it is missing, before our modules import it
    from pyarrow import Table  # noqa: F401 - as above
except ImportError as error:
    raise MissingToolkitError.of((error.name or "pyspark").partition(".")[0], "spark") from error

from rankadapters.spark.evaluation import SparkFrame
from rankadapters.spark.query_evaluator import QueryEvaluator

evaluate = SparkFrame.evaluate
per_query = SparkFrame.per_query

__all__ = ["QueryEvaluator", "evaluate", "per_query"]

list_public(__name__)
