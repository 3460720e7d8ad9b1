"""An Evaluator for PySpark's model selection that computes a declared convention."""

from __future__ import annotations

from typing import Any

from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame

from rankadapters.core.declaration.convention import Convention
from rankadapters.partitions import as_partitions
from rankadapters.presets.texts import as_convention, parse
from rankadapters.spark.evaluation import SparkFrame


def _signature(value: Any) -> str:
    return str(as_convention(value))


def _param(name: str, description: str, convert: Any = TypeConverters.toString) -> Param[str]:
    return Param(Params._dummy(), name, description, convert)  # noqa: SLF001 - as in PySpark's own evaluators


class QueryEvaluator(Evaluator, DefaultParamsReadable["QueryEvaluator"], DefaultParamsWritable):
    """Computes a convention for PySpark's `CrossValidator` and `TrainValidationSplit`.

    Folds must not cut queries: give the `CrossValidator` a `foldCol` that is the same in all rows of a query. The
    values equal those of `ra.spark.evaluate`.

    Parameters
    ----------
    convention : Convention or str
        The convention to compute, stored as its signature. It also determines whether larger values are better.
    label, score, qid, partitions, query_weight, row_weight, docid, order
        As in `ra.spark.evaluate`; `partitions` is required. Each is a Param of the same name, so a param map may change
        it. PySpark calls the class without any arguments to load a saved evaluator.

    Raises
    ------
    ConventionError
        The convention is invalid.
    InputError
        `partitions` is missing or not allowed.

    Examples
    --------
    >>> evaluator = QueryEvaluator(
    ...     "textbook@10", label="grade", score="prediction", qid="query", partitions="shuffle"
    ... )  # doctest: +SKIP
    >>> CrossValidator(estimator=model, evaluator=evaluator, estimatorParamMaps=grid, foldCol="fold")  # doctest: +SKIP
    """

    convention = _param("convention", "convention to compute: its signature, or another text for it", _signature)
    label = _param("label", "column of labels")
    score = _param("score", "column of predicted scores")
    qid = _param("qid", "column of query ids")
    partitions = _param("partitions", "how the partitions hold the queries: whole or shuffle")
    query_weight = _param("query_weight", "column of query weights, equal within a query")
    row_weight = _param("row_weight", "column of row weights")
    docid = _param("docid", "column of document identifiers")
    order = _param("order", "column that orders the rows of a query")

    def __init__(
        self,
        convention: Convention | str | None = None,
        *,
        label: str = "label",
        score: str = "score",
        qid: str = "qid",
        partitions: str | None = None,
        query_weight: str | None = None,
        row_weight: str | None = None,
        docid: str | None = None,
        order: str | None = None,
    ) -> None:
        super().__init__()
        if convention is not None:
            as_partitions(partitions)
        arguments = {
            "convention": convention, "label": label, "score": score, "qid": qid, "partitions": partitions,
            "query_weight": query_weight, "row_weight": row_weight, "docid": docid, "order": order,
        }  # fmt: skip
        self._set(**{name: value for name, value in arguments.items() if value is not None})

    def isLargerBetter(self) -> bool:  # noqa: N802 - PySpark's name
        """Return whether higher values of the convention are better."""
        return parse(self.getOrDefault(self.convention)).higher_is_better

    def _evaluate(self, dataset: DataFrame) -> float:
        arguments: dict[str, Any] = {"convention": None, "partitions": None}
        arguments |= {param.name: value for param, value in self.extractParamMap().items()}
        return float(SparkFrame.evaluate(dataset, **arguments))
