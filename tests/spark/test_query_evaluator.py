"""`ra.spark.QueryEvaluator` is an evaluator for PySpark's cross-validation."""

import gc

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.engines import spark_frame
from tests.helpers.partitioned_rows import AVERAGED_TIES, rows

pytest.importorskip("pyspark")
pytestmark = pytest.mark.long

DATA = rows()
FOLDS = {**DATA, "fold": DATA["query"] % 2}
COLUMNS = {"label": "grade", "score": "prediction", "qid": "query", "partitions": "shuffle"}
LOSS = ra.presets.catboost.query_rmse().replace(average="uniform")


def make_estimator():
    """Return an estimator that predicts a multiple of a column; factors of opposite sign rank in opposite orders."""
    from pyspark.ml import Estimator, Model
    from pyspark.ml.param import Param, Params, TypeConverters

    class Multiplied(Model):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        def _transform(self, dataset):
            return dataset.withColumn("prediction", dataset["model"] * self.factor)

    class Multiplying(Estimator):
        factor = Param(Params._dummy(), "factor", "what to multiply by", TypeConverters.toFloat)

        def _fit(self, dataset):
            return Multiplied(self.getOrDefault(self.factor))

    return Multiplying()


def mean_over_folds(convention, factor):
    fold_values = []
    for fold in (0, 1):
        part = {name: column[FOLDS["fold"] == fold] for name, column in FOLDS.items()}
        fold_values.append(ra.evaluate(part["grade"], factor * part["model"], convention, qid=part["query"]).value)
    return np.mean(fold_values)


# PySpark 4.3 leaves the pool to the garbage collector: CrossValidator._fit of pyspark/ml/tuning.py.
@pytest.mark.filterwarnings("ignore:unclosed running multiprocessing pool:ResourceWarning")
def test_cross_validation_chooses_the_lowest_value_of_a_loss(spark):
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    evaluator = ra.spark.QueryEvaluator(LOSS, **COLUMNS)
    estimator = make_estimator()
    grid = ParamGridBuilder().addGrid(estimator.factor, [1.0, -0.5]).build()
    search = CrossValidator(
        estimator=estimator, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, foldCol="fold"
    )
    fitted = search.fit(spark_frame(spark, [FOLDS]))
    gc.collect()
    expected = [mean_over_folds(LOSS, factor) for factor in (1.0, -0.5)]
    assert fitted.avgMetrics == expected
    assert fitted.bestModel.factor == (1.0, -0.5)[np.argmin(expected)]
    assert not evaluator.isLargerBetter()
    assert ra.spark.QueryEvaluator(AVERAGED_TIES, **COLUMNS).isLargerBetter()


def test_an_evaluator_takes_params_and_survives_saving(spark, tmp_path):
    evaluator = ra.spark.QueryEvaluator(AVERAGED_TIES, **{**COLUMNS, "score": "model"})
    df = spark_frame(spark, [DATA])
    expected = ra.evaluate(DATA["grade"], DATA["model"], AVERAGED_TIES, qid=DATA["query"]).value
    assert evaluator.evaluate(df) == expected
    changed = evaluator.evaluate(df, {evaluator.convention: AVERAGED_TIES.at(1)})
    assert (
        changed == ra.evaluate(DATA["grade"], DATA["model"], AVERAGED_TIES.at(1), qid=DATA["query"]).value != expected
    )
    evaluator.save(str(tmp_path / "evaluator"))
    loaded = ra.spark.QueryEvaluator.load(str(tmp_path / "evaluator"))
    assert (loaded.uid, loaded.extractParamMap()) == (evaluator.uid, evaluator.extractParamMap())
    assert loaded.getOrDefault(loaded.convention) == str(AVERAGED_TIES)


def test_an_invalid_convention_and_missing_partitions_are_refused(spark):
    with pytest.raises(ra.ConventionError, match="'ndgc@10' is neither a preset"):
        ra.spark.QueryEvaluator("ndgc@10", **COLUMNS)
    with pytest.raises(ra.InputError, match="partitions=None; allowed are 'whole', 'shuffle'"):
        ra.spark.QueryEvaluator(AVERAGED_TIES, label="grade", score="prediction", qid="query")
