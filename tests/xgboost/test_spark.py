"""`xgboost.eval_metric` in SparkXGBRanker, in a Spark session with two threads."""

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.rankings import ranking

xgb = pytest.importorskip("xgboost")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyspark")
pytest.importorskip("sklearn")
pytestmark = pytest.mark.long

TRAIN, VALID = ranking(1, 61), ranking(2, 43)


def rows_of(data, validation):
    columns = {"label": data.y, "qid": data.qid + 1000 * validation, "validation": validation}
    return pd.DataFrame(columns).assign(features=data.X.tolist())


def fit(spark, metric, *callbacks, **settings):
    from xgboost.spark import SparkXGBRanker

    frame = spark.createDataFrame(pd.concat([rows_of(TRAIN, validation=False), rows_of(VALID, validation=True)]))
    ranker = SparkXGBRanker(
        features_col="features", label_col="label", qid_col="qid", validation_indicator_col="validation",
        num_workers=2, force_repartition=True, n_estimators=30, learning_rate=0.5, disable_default_eval_metric=True,
        custom_metric=metric, callbacks=[metric, *callbacks], **settings,
    )  # fmt: skip
    return ranker.fit(frame)


def test_the_log_covers_all_rows_and_stops_all_workers(spark):
    metric = ra.xgboost.eval_metric([LETOR, TEXTBOOK], n_queries={"training": 61, "validation": 43})
    model = fit(spark, metric, ra.xgboost.early_stopping(TEXTBOOK, rounds=3))
    booster, log = model.get_booster(), model.training_summary
    values = log.validation_objective_history[TEXTBOOK.name]
    assert booster.best_iteration == int(np.argmax(values))
    assert len(values) == booster.best_iteration + 1 + 3
    for data, history in ((TRAIN, log.train_objective_history), (VALID, log.validation_objective_history)):
        scores = booster.predict(xgb.DMatrix(data.X), iteration_range=(0, len(values)))
        for convention in (LETOR, TEXTBOOK):
            assert history[convention.name][-1] == ra.evaluate(data.y, scores, convention, qid=data.qid).value


def test_queries_cut_between_arrow_batches_are_refused(spark):
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 100)
    metric = ra.xgboost.eval_metric(TEXTBOOK, n_queries={"training": 61, "validation": 43})
    try:
        with pytest.raises(Exception, match=r"queries on 2 workers, not n_queries=\d+: some are cut"):
            fit(spark, metric)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
