"""`ra.spark.evaluate` and `per_query` give the exact values of one process, and refuse invalid rows and arguments."""

import re

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.engines import failure_of, spark_frame
from tests.helpers.partitioned_rows import (
    AVERAGED_TIES,
    COLUMNS,
    conventions,
    expected_scores,
    partition_rows,
    rows,
    score_dicts,
)

pytest.importorskip("pyspark")
pytestmark = pytest.mark.long

DATA = rows()
ORDER_AND_DOCID = {"order": "position", "docid": "document"}
TIMEOUT = 60  # seconds; even the workers of a busy machine have imported everything and failed by then


@pytest.mark.parametrize(
    ("n_partitions", "partitions", "layout"),
    [(3, "whole", {"whole_queries": True, "with_empty": True}), (2, "shuffle", {"shuffled": True})],
)
def test_every_measure_has_the_exact_value_of_one_process(spark, n_partitions, partitions, layout):
    all_conventions = [*conventions(), AVERAGED_TIES]
    df = spark_frame(spark, partition_rows(DATA, n_partitions, **layout))
    scores = ra.spark.evaluate(df, all_conventions, **COLUMNS, **ORDER_AND_DOCID, partitions=partitions)
    assert score_dicts(scores) == score_dicts(expected_scores(DATA, all_conventions))


def test_sorting_by_spark_and_weights_and_odd_column_names_work(spark):
    weighed = AVERAGED_TIES.replace(average="query")
    names = {"grade": "a grade", "model": "model.score", "query": "search query", "weight": "query weight"}
    df = spark_frame(spark, partition_rows(DATA, 3, shuffled=True)).withColumnsRenamed(names).orderBy("search query")
    columns = {"label": "a grade", "score": "model.score", "qid": "search query", "query_weight": "query weight"}
    expected = expected_scores(DATA, [weighed], weight="weight")[weighed].to_dict()
    assert ra.spark.evaluate(df, weighed, **columns, partitions="whole").to_dict() == expected
    assert ra.spark.evaluate(df, weighed, **columns, partitions="shuffle").to_dict() == expected


def test_per_query_returns_a_frame_of_values(spark):
    conventions = [AVERAGED_TIES, ra.presets.textbook(3).replace(ties="docid-ascending", empty="skip")]
    data = {**DATA, "query": np.array([f"q{query + 20:03}" for query in DATA["query"]])}
    df = spark_frame(spark, partition_rows(data, 3, with_empty=True, shuffled=True))
    values = ra.spark.per_query(df, conventions, **COLUMNS, docid="document", partitions="shuffle")
    facts = ["n_rows", "n_retrieved", "empty"]
    assert values.columns == ["qid", *(convention.name for convention in conventions), *facts]
    table = {row[0]: row[1:3] for row in values.collect()}
    assert sorted(table) == np.unique(data["query"]).tolist()
    evaluator = ra.Evaluator(
        data["grade"], conventions, qid=data["query"], docid=[str(document) for document in data["document"]]
    )
    expected = np.transpose(list(evaluator.per_query(data["model"]).values()))
    np.testing.assert_array_equal([table[query] for query in evaluator.query_ids], expected)
    assert np.isnan(expected).any()


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


NULL = np.array([None if row == 5 else value for row, value in enumerate(DATA["grade"].tolist())], object)
REFUSED = {
    "a missing label": ({"grade": NULL}, "^partition 0: row 5: grade is missing"),
    "a missing qid": ({"query": NULL}, "^partition 0: row 5: query is missing"),
    "no finite score": ({"model": np.where(DATA["position"] == 3, np.inf, 0)}, r"partition \d: row \d+: model is inf"),
}


@pytest.mark.parametrize(("columns", "message"), REFUSED.values(), ids=REFUSED)
def test_invalid_rows_are_refused_with_their_partition(spark, columns, message):
    df = spark_frame(spark, partition_rows({**DATA, **columns}, 2))
    error = failure_of(lambda: ra.spark.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="whole"), TIMEOUT)
    with pytest.raises(ra.InputError, match=message):
        raise error
    row = re.match(r"partition \d+: row (\d+)", str(error))
    assert error.row == (int(row[1]) if row else None)


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


def test_an_error_in_a_worker_is_raised(spark):
    def broken(batches):
        msg = "the disk is gone"
        raise OSError(msg)

    df = spark.range(20).mapInArrow(broken, "query long, grade long, model double")
    error = failure_of(lambda: ra.spark.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="shuffle"), TIMEOUT)
    assert "the disk is gone" in str(error)


def test_a_frame_of_another_library_is_refused():
    with pytest.raises(ra.InputError, match=r"df is a dict, but a pyspark\.sql\.DataFrame is needed"):
        ra.spark.evaluate(DATA, AVERAGED_TIES, **COLUMNS, partitions="whole")
