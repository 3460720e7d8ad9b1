"""`ra.dask.evaluate` and `per_query` give the exact values of one process, and refuse invalid rows and arguments."""

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.engines import failure_of
from tests.helpers.partitioned_rows import (
    AVERAGED_TIES,
    COLUMNS,
    N_PARTITIONS,
    ROW_WEIGHTED,
    conventions,
    expected_scores,
    partition_rows,
    rows,
    score_dicts,
)

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

DATA = rows()
TIMEOUT = 60  # seconds; even the workers of a busy machine have imported everything and failed by then
LONGEST = np.bincount(DATA["query"] + 20).argmax() - 20
ORDER_AND_DOCID = {"order": "position", "docid": "document"}


def frame(parts, **types):
    """Return a Dask DataFrame with exactly these partitions and column types."""
    tables = [pd.DataFrame(part).astype(types) for part in parts]
    return dd.from_delayed([dask.delayed(table) for table in tables], meta=tables[0].iloc[:0], verify_meta=False)


def frame_with(**columns):
    """Return a frame of three partitions with these columns replaced."""
    return frame(partition_rows({**DATA, **columns}, 3))


def check_value(df, data=DATA, **options):
    """Check the value of a convention that does not depend on the order of the rows."""
    score = ra.dask.evaluate(df, AVERAGED_TIES, **COLUMNS, **options)
    assert score.to_dict() == expected_scores(data, [AVERAGED_TIES])[AVERAGED_TIES].to_dict()


@pytest.fixture(autouse=True)
def _synchronous(request):
    """Run tasks in this thread, unless the test uses a cluster."""
    if any("cluster" in name for name in request.fixturenames):
        yield
        return
    with dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}):
        yield


@pytest.mark.long
@pytest.mark.parametrize(
    ("partitions", "layout", "n_partitions"),
    [
        ("whole", {"whole_queries": True}, 1),
        ("whole", {"whole_queries": True}, 3),
        ("whole", {"whole_queries": True}, 17),
        ("shuffle", {}, 2),
        ("shuffle", {}, 3),
        ("shuffle", {"shuffled": True}, 1),
        ("shuffle", {"shuffled": True}, 17),
    ],
)
def test_every_measure_has_the_exact_value_of_one_process(partitions, layout, n_partitions):
    all_conventions = conventions()
    df = frame(partition_rows(DATA, n_partitions, with_empty=n_partitions == 3, **layout))
    scores = ra.dask.evaluate(df, all_conventions, **COLUMNS, **ORDER_AND_DOCID, partitions=partitions)
    assert score_dicts(scores) == score_dicts(expected_scores(DATA, all_conventions))


@pytest.mark.long
@pytest.mark.parametrize(
    ("cluster", "partitions", "layout"),
    [
        ("cluster2", "whole", {"whole_queries": True}),
        ("cluster2", "shuffle", {}),
        ("cluster3", "shuffle", {"shuffled": True}),
    ],
    ids=["whole", "cut", "shuffle"],
)
def test_a_cluster_gives_the_exact_values_of_one_process(request, cluster, partitions, layout):
    all_conventions = [*conventions(), AVERAGED_TIES]
    with request.getfixturevalue(cluster).as_current():
        df = frame(partition_rows(DATA, 17, with_empty=True, **layout))
        scores = ra.dask.evaluate(df, all_conventions, **COLUMNS, **ORDER_AND_DOCID, partitions=partitions)
    assert score_dicts(scores) == score_dicts(expected_scores(DATA, all_conventions))


@pytest.mark.parametrize("n_partitions", N_PARTITIONS)
def test_one_query_may_be_spread_over_all_partitions(n_partitions):
    data = {**DATA, "query": np.full(DATA["query"].size, 7)}
    check_value(frame(partition_rows(data, n_partitions)), data, partitions="shuffle")


@pytest.mark.parametrize("dtype", ["str", "category", "int32", "Int64", "object"])
def test_query_ids_may_be_integers_or_texts_of_any_type(dtype):
    text = dtype in {"str", "category", "object"}
    data = {**DATA, "query": np.array([f"q{query + 20:03}" for query in DATA["query"]]) if text else DATA["query"]}
    check_value(frame(partition_rows(data, 3), query=dtype), data, partitions="shuffle")


@pytest.mark.parametrize("partitions", ["whole", "shuffle"])
@pytest.mark.parametrize(
    ("convention", "columns", "weights"),
    [
        (AVERAGED_TIES.replace(average="query"), {"query_weight": "weight"}, {"weight": "weight"}),
        (ROW_WEIGHTED, {"row_weight": "share", "order": "position"}, {"row_weight": "share"}),
    ],
)
def test_weights_count_by_query_or_by_row(convention, columns, weights, partitions):
    df = frame(partition_rows(DATA, 3, whole_queries=partitions == "whole"))
    score = ra.dask.evaluate(df, convention, **COLUMNS, **columns, partitions=partitions)
    expected = expected_scores(DATA, [convention], **weights)[convention]
    assert score.to_dict() == expected.to_dict()
    unweighted = convention.replace(average="uniform")
    assert expected.value != expected_scores(DATA, [unweighted])[unweighted].value


@pytest.mark.parametrize("partitions", ["whole", "shuffle"])
def test_per_query_returns_a_frame_of_values(partitions):
    conventions = [AVERAGED_TIES, ra.presets.textbook(3).replace(ties="docid-ascending", empty="skip")]
    df = frame(partition_rows(DATA, 3, whole_queries=partitions == "whole", with_empty=True))
    values = ra.dask.per_query(df, conventions, **COLUMNS, docid="document", partitions=partitions)
    assert isinstance(values, dd.DataFrame)
    facts = ["n_rows", "n_retrieved", "empty"]
    assert values.columns.tolist() == ["qid", *(convention.name for convention in conventions), *facts]
    table = values.compute().sort_values("qid")
    assert table["qid"].tolist() == np.unique(DATA["query"]).tolist()
    evaluator = ra.Evaluator(
        DATA["grade"], conventions, qid=DATA["query"], docid=[str(document) for document in DATA["document"]]
    )
    for convention, values in evaluator.per_query(DATA["model"]).items():
        np.testing.assert_array_equal(table[convention.name], values)
    assert table[conventions[1].name].isna().any()


@pytest.mark.parametrize("evaluate", ["evaluate", "per_query"])
def test_a_query_in_two_partitions_is_refused_by_name(evaluate):
    halves = [{name: column[half::2] for name, column in DATA.items()} for half in (0, 1)]
    # Only the longest query has the same id in both halves.
    parts = [
        {**part, "query": part["query"] + 1000 * half * (part["query"] != LONGEST)} for half, part in enumerate(halves)
    ]
    with pytest.raises(
        ra.InputError, match=rf"^query {LONGEST} is in partitions 0 and 1\.\nHint: partitions='shuffle'"
    ):
        getattr(ra.dask, evaluate)(frame(parts), AVERAGED_TIES, **COLUMNS, partitions="whole")
    n_more = np.intersect1d(*(part["query"] for part in halves)).size - 1
    with pytest.raises(
        ra.InputError, match=rf"query -?\d+ is in partitions 0 and 1, and {n_more} more queries are in several"
    ):
        getattr(ra.dask, evaluate)(frame(halves), AVERAGED_TIES, **COLUMNS, partitions="whole")


@pytest.mark.parametrize(("names", "is_cut"), [("ab", False), ("aba", True), ("abca", True)])
def test_texts_with_the_same_hash_are_two_queries_and_a_cut_one_is_still_refused(names, is_cut):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankadapters.core.data.queries.hash_ids", lambda ids: np.zeros(ids.size, np.uint64))
        three_rows = {name: column[:3] for name, column in DATA.items()}
        df = frame([{**three_rows, "query": np.full(3, name)} for name in names])
        if is_cut:
            with pytest.raises(ra.InputError, match=r"^query [abc] is in partitions 0 and \d"):
                ra.dask.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="whole")
        else:
            assert ra.dask.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="whole").n_queries == 2


ONE_NAN = np.where(np.arange(DATA["query"].size) == 5, np.nan, DATA["model"])
NUMBERS_AND_COLUMN = np.full(DATA["query"].size, 1, object)
NUMBERS_AND_COLUMN[1] = pd.Series([1, 2])  # a column, whose text has several lines
TWO_KINDS = np.array([1, "1"] * DATA["query"].size, object)[: DATA["query"].size]
QUERY_WEIGHTS = {"query_weight": "weight", "convention": AVERAGED_TIES.replace(average="query")}
REFUSED = {
    "a missing label": ({"grade": ONE_NAN}, {}, "^partition 0: row 5: grade is missing"),
    "a missing qid": ({"query": ONE_NAN}, {}, "^partition 0: row 5: query is missing"),
    "qid of both": ({"query": TWO_KINDS}, {}, "partition 0: query cannot become an Arrow column"),
    "weights of rows": (
        {"weight": DATA["model"] + 9},
        QUERY_WEIGHTS,
        r"partition 0: row \d+: weight varies within query .*: one row has .*, another ",
    ),
    "a document twice": (
        {"document": DATA["document"] // 99},
        {"docid": "document"},
        "partition 0: row .*: document .* is also in row",
    ),
    "weights that do not count": ({}, {"query_weight": "weight"}, "query_weight"),
}


@pytest.mark.parametrize(("columns", "changes", "message"), REFUSED.values(), ids=REFUSED)
def test_invalid_columns_are_refused_with_their_partition_and_row(columns, changes, message):
    df = frame_with(text=DATA["query"].astype(str), **columns)
    with pytest.raises(ra.InputError, match=message):
        ra.dask.evaluate(df, **{"convention": AVERAGED_TIES, **COLUMNS, "partitions": "whole", **changes})


@pytest.mark.parametrize(("dtype", "type_name"), [(str, "text"), (np.uint64, "unsigned integer")])
def test_qid_types_that_differ_between_partitions_are_refused(dtype, type_name):
    parts = partition_rows({**DATA, "query": DATA["query"] + 20}, 2, whole_queries=True)
    parts[1]["query"] = parts[1]["query"].astype(dtype)
    with pytest.raises(ra.InputError, match=f"qid holds {type_name} in some partitions and integer in others"):
        ra.dask.evaluate(frame(parts), AVERAGED_TIES, **COLUMNS, partitions="whole")


def test_per_query_refuses_the_arguments_that_evaluate_refuses():
    df = frame(partition_rows(DATA, 3, whole_queries=True))
    with pytest.raises(ra.InputError, match="partitions='hash'; allowed are 'whole', 'shuffle'"):
        ra.dask.per_query(df, AVERAGED_TIES, **COLUMNS, partitions="hash")
    with pytest.raises(ra.UnsupportedConventionError, match=r"takes all rows as one query .pool='rows'"):
        ra.dask.per_query(df, "sklearn.roc_auc_score", **COLUMNS, partitions="whole")


def fail_on_last_query(table):
    """Raise in the worker with the last query."""
    if (table["query"] == DATA["query"][-1]).any():
        msg = "the disk is gone"
        raise OSError(msg)
    return table


@pytest.mark.long
def test_an_error_in_a_worker_is_raised(cluster2):
    def evaluate():
        with cluster2.as_current():
            df = frame(partition_rows(DATA, 17)).map_partitions(fail_on_last_query, meta=pd.DataFrame(DATA).iloc[:0])
            ra.dask.evaluate(df, AVERAGED_TIES, **COLUMNS, partitions="shuffle")

    assert "the disk is gone" in str(failure_of(evaluate, TIMEOUT))


@pytest.mark.long
def test_an_invalid_row_in_a_worker_is_named(cluster2):
    def evaluate():
        with cluster2.as_current():
            ra.dask.evaluate(frame_with(grade=ONE_NAN), AVERAGED_TIES, **COLUMNS, partitions="whole")

    error = failure_of(evaluate, TIMEOUT)
    assert isinstance(error, ra.InputError)
    assert str(error).startswith("partition 0: row 5: grade is missing")
    assert error.row == 5
