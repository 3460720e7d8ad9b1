"""Dask's partitions: types of query ids, and clusters. `tests/partitions` tests what Dask shares with Spark."""

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.engines import OnDask, dask_frame, failure_of
from tests.helpers.partitioned_rows import (
    AVERAGED_TIES,
    COLUMNS,
    ORDER_AND_DOCID,
    as_texts,
    conventions,
    expected_scores,
    partition_rows,
    rows,
    score_dicts,
)

pd = pytest.importorskip("pandas")

DATA = rows()
TIMEOUT = 60  # seconds; even the workers of a busy machine have imported everything and failed by then


@pytest.fixture
def synchronous(request):
    """Run tasks in this thread."""
    return OnDask(request)


def check_values(df, all_conventions, partitions, data=DATA):
    scores = ra.dask.evaluate(df, all_conventions, **COLUMNS, **ORDER_AND_DOCID, partitions=partitions)
    assert score_dicts(scores) == score_dicts(expected_scores(data, all_conventions))


# On a cluster


def test_workers_exchange_the_rows_of_cut_queries(cluster2):
    with cluster2.as_current():
        df = dask_frame(partition_rows(DATA, 3, shuffled=True))
        check_values(df, [AVERAGED_TIES, ra.presets.textbook(3)], "shuffle")


@pytest.mark.long
@pytest.mark.parametrize(
    ("partitions", "layout"),
    [("whole", {"whole_queries": True}), ("shuffle", {}), ("shuffle", {"shuffled": True})],
    ids=["whole", "cut", "shuffle"],
)
def test_every_measure_has_the_exact_value_of_one_process_on_a_cluster(cluster3, partitions, layout):
    with cluster3.as_current():
        df = dask_frame(partition_rows(DATA, 17, with_empty=True, **layout))
        check_values(df, [*conventions(), AVERAGED_TIES], partitions)


def fail_on_last_query(table):
    if (table["query"] == DATA["query"][-1]).any():
        msg = "the disk is gone"
        raise OSError(msg)
    return table


@pytest.mark.long
def test_an_error_in_a_worker_is_raised(cluster2):
    def evaluate():
        with cluster2.as_current():
            df = dask_frame(partition_rows(DATA, 17))
            df = df.map_partitions(fail_on_last_query, meta=pd.DataFrame(DATA).iloc[:0])
            ra.dask.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="shuffle")

    assert "the disk is gone" in str(failure_of(evaluate, TIMEOUT))


@pytest.mark.long
def test_an_invalid_row_in_a_worker_is_named(cluster2):
    grades = np.where(np.arange(DATA["query"].size) == 5, np.nan, DATA["grade"])

    def evaluate():
        with cluster2.as_current():
            df = dask_frame(partition_rows({**DATA, "grade": grades}, 3))
            ra.dask.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="whole")

    error = failure_of(evaluate, TIMEOUT)
    assert isinstance(error, ra.InputError)
    assert str(error).startswith("partition 0: row 5: grade is missing")
    assert error.row == 5


# Types of query ids


@pytest.mark.parametrize("dtype", ["str", "category", "int32", "Int64", "object"])
def test_query_ids_may_be_integers_or_texts_of_any_type(synchronous, dtype):
    text = dtype in {"str", "category", "object"}
    data = {**DATA, "query": as_texts(DATA["query"])} if text else DATA
    check_values(dask_frame(partition_rows(data, 3), query=dtype), [AVERAGED_TIES], "shuffle", data)


@pytest.mark.parametrize(("names", "is_cut"), [("ab", False), ("aba", True), ("abca", True)])
def test_texts_with_the_same_hash_are_two_queries_and_a_cut_one_is_still_refused(
    synchronous, monkeypatch, names, is_cut
):
    monkeypatch.setattr("rankadapters.core.data.queries.hash_ids", lambda ids: np.zeros(ids.size, np.uint64))
    three_rows = {name: column[:3] for name, column in DATA.items()}
    df = dask_frame([{**three_rows, "query": np.full(3, name)} for name in names])
    if is_cut:
        with pytest.raises(ra.InputError, match=r"^query [abc] is in partitions 0 and \d"):
            ra.dask.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="whole")
    else:
        assert ra.dask.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="whole").n_queries == 2


def test_qids_of_two_kinds_in_a_partition_are_refused(synchronous):
    ids = np.array([1, "1"] * DATA["query"].size, object)[: DATA["query"].size]
    df = dask_frame(partition_rows({**DATA, "query": ids}, 3))
    with pytest.raises(ra.InputError, match="partition 0: query cannot become an Arrow column"):
        ra.dask.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="whole")


@pytest.mark.parametrize(("dtype", "type_name"), [(str, "text"), (np.uint64, "unsigned integer")])
def test_qid_types_that_differ_between_partitions_are_refused(synchronous, dtype, type_name):
    parts = partition_rows({**DATA, "query": DATA["query"] + 20}, 2, whole_queries=True)
    parts[1]["query"] = parts[1]["query"].astype(dtype)
    with pytest.raises(ra.InputError, match=f"qid holds {type_name} in some partitions and integer in others"):
        ra.dask.evaluate(dask_frame(parts), AVERAGED_TIES, **COLUMNS, partitions="whole")
