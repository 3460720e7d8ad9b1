"""PySpark's Evaluator of a declared convention."""

from __future__ import annotations

from typing import Any

from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWritable, MLReader
from pyspark.sql import DataFrame

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.presets.texts import as_convention, parse
from rankadapters.spark.evaluation import evaluate


def _signature(value: Any) -> str:
    return str(as_convention(value))


def _param(name: str, about: str, read: Any = TypeConverters.toString) -> Param[str]:
    return Param(Params._dummy(), name, about, read)  # noqa: SLF001 - as in PySpark's own


class QueryEvaluator(Evaluator, DefaultParamsWritable):
    """The value of a convention, for `CrossValidator` and `TrainValidationSplit` of PySpark.

    Folds must not cut queries: give the `CrossValidator` a column of folds by query as its `foldCol`. Each value is
    that of `ra.spark.evaluate`.

    Parameters
    ----------
    convention : Convention or str
        What to compute; it says whether larger is better, and is held as its signature.
    label, score, qid, partitions, query_weight, row_weight, docid, order
        As in `ra.spark.evaluate`; each is a Param by that name, so that a param map may change it.

    Raises
    ------
    ConventionError
        The convention is not one.

    Examples
    --------
    >>> evaluator = QueryEvaluator(
    ...     "textbook@10", label="grade", score="prediction", qid="query", partitions="shuffle"
    ... )  # doctest: +SKIP
    >>> CrossValidator(estimator=model, evaluator=evaluator, estimatorParamMaps=grid, foldCol="fold")  # doctest: +SKIP
    """

    convention = _param("convention", "what to compute: a signature or another text of a convention", _signature)
    label = _param("label", "column of labels")
    score = _param("score", "column of predicted scores")
    qid = _param("qid", "column of queries")
    partitions = _param("partitions", "how the partitions hold the queries: whole, sorted, shuffle")
    query_weight = _param("query_weight", "column of query weights, equal within a query")
    row_weight = _param("row_weight", "column of row weights")
    docid = _param("docid", "column of document identifiers")
    order = _param("order", "column that puts the rows of a query in order")

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
        named = {role: column for role, column in columns.items() if column is not None}
        self._set(convention=convention, label=label, score=score, qid=qid, partitions=partitions, **named)

    def isLargerBetter(self) -> bool:  # noqa: N802 - PySpark's name
        """Tell whether the convention's higher values are the better ones."""
        return parse(self.getOrDefault(self.convention)).higher_is_better

    @classmethod
    def read(cls) -> MLReader:
        """Give what reads an evaluator that was saved; `QueryEvaluator.load(path)` does both."""
        return _EvaluatorReader()

    @classmethod
    def load(cls, path: str) -> QueryEvaluator:
        """Read an evaluator that `save` wrote."""
        return _EvaluatorReader().load(path)

    def _evaluate(self, dataset: DataFrame) -> float:
        given = {param.name: value for param, value in self.extractParamMap().items()}
        return float(evaluate(dataset, **given))


class _EvaluatorReader(MLReader):
    """Makes an evaluator of its saved params: its own keywords have no defaults, which PySpark's reader asks for."""

    def load(self, path: str) -> QueryEvaluator:
        saved = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        found = QueryEvaluator(**saved["paramMap"])
        found._resetUid(saved["uid"])  # noqa: SLF001 - as PySpark's own readers do
        return found
