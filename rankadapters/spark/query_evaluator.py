"""An Evaluator for PySpark's model selection that computes a declared convention."""

from __future__ import annotations

from typing import Any

from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWritable, MLReader
from pyspark.sql import DataFrame

from rankadapters.core.declaration.convention import Convention
from rankadapters.presets.texts import as_convention, parse
from rankadapters.spark.evaluation import evaluate


def _signature(value: Any) -> str:
    return str(as_convention(value))


def _param(name: str, description: str, convert: Any = TypeConverters.toString) -> Param[str]:
    return Param(Params._dummy(), name, description, convert)  # noqa: SLF001 - as in PySpark's own evaluators


class QueryEvaluator(Evaluator, DefaultParamsWritable):
    """Computes a convention for PySpark's `CrossValidator` and `TrainValidationSplit`.

    Folds must not cut queries: give the `CrossValidator` a `foldCol` that is the same in all rows of a query. The
    values equal those of `ra.spark.evaluate`.

    Parameters
    ----------
    convention : Convention or str
        The convention to compute, stored as its signature. It also determines whether larger values are better.
    label, score, qid, partitions, query_weight, row_weight, docid, order
        As in `ra.spark.evaluate`. Each is a Param of the same name, so a param map may change it.

    Raises
    ------
    ConventionError
        The convention is invalid.

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
    partitions = _param("partitions", "how the partitions hold the queries: whole, sorted, shuffle")
    query_weight = _param("query_weight", "column of query weights, equal within a query")
    row_weight = _param("row_weight", "column of row weights")
    docid = _param("docid", "column of document identifiers")
    order = _param("order", "column that orders the rows of a query")

    def __init__(
        self,
        convention: Convention | str,
        *,
        label: str = "label",
        score: str = "score",
        qid: str = "qid",
        partitions: str,
        query_weight: str | None = None,
        row_weight: str | None = None,
        docid: str | None = None,
        order: str | None = None,
    ) -> None:
        super().__init__()
        columns = {"query_weight": query_weight, "row_weight": row_weight, "docid": docid, "order": order}
        optional = {role: column for role, column in columns.items() if column is not None}
        self._set(convention=convention, label=label, score=score, qid=qid, partitions=partitions, **optional)

    def isLargerBetter(self) -> bool:  # noqa: N802 - PySpark's name
        """Return whether higher values of the convention are better."""
        return parse(self.getOrDefault(self.convention)).higher_is_better

    @classmethod
    def read(cls) -> MLReader:
        """Return a reader for saved evaluators; `QueryEvaluator.load(path)` creates and uses it in one call."""
        return _EvaluatorReader()

    @classmethod
    def load(cls, path: str) -> QueryEvaluator:
        """Load an evaluator that `save` wrote."""
        return _EvaluatorReader().load(path)

    def _evaluate(self, dataset: DataFrame) -> float:
        arguments = {param.name: value for param, value in self.extractParamMap().items()}
        return float(evaluate(dataset, **arguments))


class _EvaluatorReader(MLReader):
    """Creates an evaluator from saved params; PySpark's reader cannot, since some arguments have no default."""

    def load(self, path: str) -> QueryEvaluator:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        evaluator = QueryEvaluator(**metadata["paramMap"])
        evaluator._resetUid(metadata["uid"])  # noqa: SLF001 - as PySpark's own readers do
        return evaluator
