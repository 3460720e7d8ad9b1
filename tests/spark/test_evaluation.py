"""Spark's partitions: sorted rows, column names, and failures. `tests/partitions` tests what Spark shares with Dask."""

import pytest

import rankadapters as ra
from tests.helpers.engines import failure_of, spark_frame
from tests.helpers.partitioned_rows import AVERAGED_TIES, COLUMNS, expected_scores, partition_rows, rows

pytest.importorskip("pyspark")

DATA = rows()
TIMEOUT = 60  # seconds; even the workers of a busy machine have imported everything and failed by then


def test_executors_exchange_the_rows_of_cut_queries(spark):
    df = spark_frame(spark, partition_rows(DATA, 3, shuffled=True))
    score = ra.spark.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="shuffle")
    assert score.to_dict() == expected_scores(DATA, [AVERAGED_TIES])[AVERAGED_TIES].to_dict()


@pytest.mark.long
def test_sorting_by_spark_and_weights_and_odd_column_names_work(spark):
    weighed = AVERAGED_TIES.replace(average="query")
    names = {"grade": "a grade", "model": "model.score", "query": "search query", "weight": "query weight"}
    df = spark_frame(spark, partition_rows(DATA, 3, shuffled=True)).withColumnsRenamed(names).orderBy("search query")
    columns = {"label": "a grade", "score": "model.score", "qid": "search query", "query_weight": "query weight"}
    expected = expected_scores(DATA, [weighed], weight="weight")[weighed].to_dict()
    assert ra.spark.evaluate(df, weighed, **columns, partitions="whole").to_dict() == expected
    assert ra.spark.evaluate(df, weighed, **columns, partitions="shuffle").to_dict() == expected


@pytest.mark.long
@pytest.mark.parametrize("partitions", ["whole", "shuffle"])
def test_values_come_from_the_partitions_that_were_checked(spark, partitions):
    """Adaptive execution merges the partitions of a sort anew for each job, so their ends move."""
    setting = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", 8)
    try:
        df = spark_frame(spark, partition_rows(DATA, 3, shuffled=True)).orderBy("query")
        values = ra.spark.per_query(df, AVERAGED_TIES, **COLUMNS, partitions=partitions)
        rows = sorted((row[0], row[1]) for row in values.collect())
        assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", setting)
    evaluator = ra.Evaluator(DATA["grade"], AVERAGED_TIES, qid=DATA["query"])
    assert rows == list(zip(evaluator.query_ids.tolist(), evaluator.per_query(DATA["model"]).tolist(), strict=True))
    assert (values.count(), values.orderBy("qid").count()) == (40, 40)


@pytest.mark.long
def test_no_setting_of_the_session_is_changed_while_a_job_runs(spark):
    name, settings = "spark.sql.execution.arrow.maxRecordsPerBatch", []
    df = spark_frame(spark, partition_rows(DATA, 1))
    before = spark.conf.get(name)
    original = type(df).mapInArrow

    def spy(self, *arguments):
        settings.append(spark.conf.get(name))
        return original(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(df), "mapInArrow", spy)
        ra.spark.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="shuffle")
        with pytest.raises(ra.InputError, match="labels"):
            ra.spark.evaluate(df, AVERAGED_TIES, **{**COLUMNS, "label": "model"}, partitions="whole")
    assert settings == [before, before]


@pytest.mark.long
def test_an_error_in_a_worker_is_raised(spark):
    def broken(batches):
        msg = "the disk is gone"
        raise OSError(msg)

    df = spark.range(20).mapInArrow(broken, "query long, grade long, model double")
    error = failure_of(lambda: ra.spark.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="shuffle"), TIMEOUT)
    assert "the disk is gone" in str(error)
