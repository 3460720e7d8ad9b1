"""`ra.evaluate_table`: batches may cut queries, and values equal those of all rows at once to the bit."""

from __future__ import annotations

import datetime as dt
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.io import streams
from tests.helpers import stream_batches
from tests.helpers.conventions import conventions
from tests.helpers.parameters import examples, short
from tests.helpers.stream_batches import cut_at, even_bounds, random_bounds


@pytest.fixture
def one_row_at_once(monkeypatch):
    """Evaluate one row at a time if possible, so that small data have many parts."""
    monkeypatch.setattr(streams, "ROWS_AT_ONCE", 1)


def evaluate_whole(columns, convention, *names, score="score"):
    return ra.evaluate(columns["label"], columns[score], convention, **stream_batches.evaluate_columns(columns, *names))


def facts_or_message(evaluate):
    try:
        return evaluate().to_dict()
    except ra.InputError as error:
        return str(error)


@pytest.mark.parametrize("measure", MEASURES)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1), n_parts=st.integers(1, 40), n_at_once=st.integers(1, 400))
@settings(max_examples=examples(15))
def test_a_stream_has_the_bits_of_the_whole_table_for_every_measure(measure, data, seed, n_parts, n_at_once):
    convention = data.draw(conventions(lenient=True, measures=[MEASURES[measure]]))
    assume(convention.over != "rows" and getattr(convention, "pairs", "") != "given")
    columns = stream_batches.rows(seed, n_queries=8, longest=12, text=data.draw(st.booleans()))
    if getattr(convention, "pairs", "") == "unit" or measure == "query-cross-entropy":
        columns["label"] = columns["label"] / 4
    weights = {"query_weight": "weight", "row_weight": "row_weight"}
    names = {"docid": "docid"} | {role: name for role, name in weights.items() if role == convention.weighting}
    batches = cut_at(columns, random_bounds(columns["label"].size, n_parts, seed))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(streams, "ROWS_AT_ONCE", n_at_once)
        assert facts_or_message(lambda: ra.evaluate_table(iter(batches), convention, **names)) == facts_or_message(
            lambda: evaluate_whole(columns, convention, *names)
        )


def test_each_score_column_is_one_model(one_row_at_once):
    columns = stream_batches.rows(5)
    batches = cut_at(columns, even_bounds(columns["label"].size, 3))
    scores = ra.evaluate_table(batches, "lightgbm@10", score=["score", "other"])
    assert {name: score.to_dict() for name, score in scores.items()} == {
        name: evaluate_whole(columns, "lightgbm@10", score=name).to_dict() for name in ("score", "other")
    }
    two_conventions = ra.evaluate_table(batches, ["mslr@3", "lightgbm@10"], score=["other"])
    assert two_conventions[ra.parse("lightgbm@10")] == {"other": scores["other"]}


def arrow(columns):
    return pytest.importorskip("pyarrow").table(dict(columns))


def record_batch(columns):
    [batch] = arrow(columns).to_batches() or [pytest.importorskip("pyarrow").RecordBatch.from_pydict(columns)]
    return batch


FORMS = {
    "mapping": dict,
    "lists": lambda columns: {name: column.tolist() for name, column in columns.items()},
    "pandas": lambda columns: pytest.importorskip("pandas").DataFrame(columns),
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "arrow table": arrow,
    "record batch": record_batch,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("text", [False, True])
def test_a_batch_or_a_whole_table_may_have_any_form(one_row_at_once, form, text):
    columns = stream_batches.rows(4, text=text)
    batches = map(form, cut_at(columns, [0, 0, *even_bounds(columns["label"].size, 5), columns["label"].size]))
    names = {"query_weight": "weight", "docid": "docid"}
    convention = ra.parse("trec_eval_9@5").replace(average="query")
    expected = evaluate_whole(columns, convention, *names).to_dict()
    for stream in (batches, form(columns), [form(columns)]):
        assert ra.evaluate_table(stream, convention, **names).to_dict() == expected


BATCH = {"label": [1.0, 0.0], "score": [0.5, 0.25], "qid": [7, 7]}


def batch_of(ids):
    """Return a batch of two rows per query; the first is relevant and has the lower score."""
    n = len(ids)
    return {"label": np.tile([1.0, 0.0], n), "score": np.tile([0.25, 0.5], n), "qid": np.repeat(ids, 2)}


def object_array(*items):
    column = np.empty(len(items), object)
    column[:] = items
    return column


@pytest.mark.parametrize(
    ("first", "returning"),
    [
        (object_array(7, 8), object_array(np.int64(7), 9)),
        (np.array([7, 8], np.int8), object_array(np.uint16(7), 9)),
        (np.array([0.5, 2], np.float32), np.array([0.5, 3])),
        (object_array("a", "b"), ["a", "c"]),
    ],
    ids=short,
)
def test_a_query_that_returns_with_an_equal_id_of_another_type_is_refused(one_row_at_once, first, returning):
    batches = [batch_of(first), batch_of([first[1]]), batch_of(returning)]
    with pytest.raises(ra.InputError, match=r"batch 3, row 1: query .* returns after it began in batch 1, row 1"):
        ra.evaluate_table(batches, "lightgbm@10")


@pytest.mark.parametrize(
    ("first", "second", "match"),
    [
        (object_array(7), object_array("7"), "qid has type large_string, but int64 in earlier rows"),
        (np.array([7]), np.array([7], np.uint64), "qid has type uint64, but int64 in earlier rows"),
        (np.array([7]), np.array([7.0]), "qid has type double, but int64 in earlier rows"),
        (np.array(["2026-01-01"], "M8[D]"), np.array(["2026-01-01"], "M8[s]"), r"qid has type timestamp.*, but date32"),
    ],
    ids=short,
)
def test_a_batch_whose_ids_have_another_kind_is_refused(first, second, match):
    with pytest.raises(ra.InputError, match=f"batch 2, row 1: {match}"):
        ra.evaluate_table([batch_of(first), batch_of(second)], "lightgbm@10")


@pytest.mark.parametrize(
    "ids", [object_array(7, "7"), object_array(2**64, 1), object_array((1, 2), (3, 4)), object_array(7, 8j)]
)
def test_ids_that_arrow_cannot_hold_are_refused(ids):
    with pytest.raises(ra.InputError, match=r"^batch 1: .*\nHint: "):
        ra.evaluate_table([batch_of(ids)], "lightgbm@10")


def test_a_lazy_polars_frame_is_refused_and_its_batches_are_read():
    columns = stream_batches.rows(4)
    lazy = pytest.importorskip("polars").LazyFrame(columns)
    for batches, what in (([lazy], "batch 1"), (lazy, "table")):
        with pytest.raises(ra.InputError, match=rf"{what} is of type LazyFrame; allowed .*\nHint: collect\(\) or coll"):
            ra.evaluate_table(batches, "lightgbm@10")
    if not hasattr(lazy, "collect_batches"):
        pytest.skip("this polars has no collect_batches")
    expected = evaluate_whole(columns, "lightgbm@10").to_dict()
    assert ra.evaluate_table(lazy.collect_batches(chunk_size=7), "lightgbm@10").to_dict() == expected
    scattered = lazy.reverse().sort("qid", maintain_order=True).collect_batches()
    assert ra.evaluate_table(scattered, "textbook@10").n_queries == expected["n_queries"]


def test_a_duckdb_relation_is_read_and_may_sort_the_rows(one_row_at_once):
    columns = stream_batches.rows(4)
    order = np.random.default_rng(0).permutation(columns["label"].size)
    scattered = arrow({name: column[order] for name, column in columns.items()} | {"row": np.arange(order.size)})
    relation = pytest.importorskip("duckdb").connect().register("scattered", scattered)
    expected = ra.evaluate(
        *(np.asarray(scattered[name]) for name in ("label", "score")), "lightgbm@10", qid=np.asarray(scattered["qid"])
    )
    sorted_rows = relation.sql("FROM scattered ORDER BY qid, row")
    assert ra.evaluate_table(sorted_rows, "lightgbm@10").to_dict() == expected.to_dict()


def test_the_row_of_an_error_is_counted_over_all_batches():
    nan_label = BATCH | {"label": [1.0, np.nan]}
    for batches, row in (([BATCH, BATCH, nan_label], 5), ([BATCH, BATCH | {"label": [-1.0, 0.0]}], 2)):
        with pytest.raises(ra.InputError) as caught:
            ra.evaluate_table(batches, "lightgbm@10")
        assert caught.value.row == row


@pytest.mark.parametrize("as_iterator", [False, True])
@pytest.mark.parametrize("text", [False, True])
def test_a_query_that_returns_is_refused_with_both_rows(one_row_at_once, as_iterator, text):
    columns = stream_batches.rows(6, text=text)
    n, first = columns["label"].size, columns["qid"][0]
    returning = {name: np.append(column, column[:1]) for name, column in columns.items()}
    batches = cut_at(returning, [0, n // 2, n, n + 1])
    began = "others followed it" if as_iterator else "it began in batch 1, row 1"
    with pytest.raises(
        ra.InputError, match=f"batch 3, row 1: query {first} returns after {began}.\nHint: sort"
    ) as caught:
        ra.evaluate_table(iter(batches) if as_iterator else batches, "lightgbm@10")
    assert caught.value.row == n


@pytest.mark.parametrize(("cuts", "row"), [([0, 4], "batch 1, row 3"), ([0, 1, 2, 3, 4], "batch 3, row 1")])
def test_a_weight_that_changes_within_a_cut_query_is_refused(one_row_at_once, cuts, row):
    columns = {"label": [1, 0, 1, 0], "score": [1, 2, 3, 4], "qid": [1, 1, 1, 2], "weight": [2.0, 2.0, 3.0, 1.0]}
    columns = {name: np.asarray(column) for name, column in columns.items()}
    convention = ra.parse("lightgbm@10").replace(average="query")
    with pytest.raises(ra.InputError, match=f"{row}: weight varies within query .*: one row has .*, another 3"):
        ra.evaluate_table(cut_at(columns, cuts), convention, query_weight="weight")
    columns["weight"] = np.ones(4)
    with pytest.raises(ra.InputError, match="query_weight was given but the convention says average='uniform'"):
        ra.evaluate_table(cut_at(columns, cuts), "mslr@10", query_weight="weight")
    columns["weight"] = np.array([1.0, 1.0, 1.0, -2.0])
    with pytest.raises(ra.InputError, match=r"row \d: weight is -2.0, but weights are >= 0"):
        ra.evaluate_table(cut_at(columns, cuts), convention, query_weight="weight")


def test_a_document_twice_in_a_cut_query_is_refused(one_row_at_once):
    batches = [{**BATCH, "docid": ["a", "b"]}, {**BATCH, "docid": ["c", "a"]}]
    with pytest.raises(ra.InputError, match=r"batch 2, row 2: document 'a' of query '7' is also in batch 1, row 1\."):
        ra.evaluate_table(batches, "trec_eval_9@5", docid="docid")
    with pytest.raises(ra.InputError, match=r"batch 1: .*'int' object"):
        ra.evaluate_table([{**BATCH, "docid": ["a", 5]}], "trec_eval_9@5", docid="docid")
    with pytest.raises(ra.InputError, match="ties='docid-descending' needs docid="):
        ra.evaluate_table([BATCH], "trec_eval_9@5")


@pytest.mark.parametrize("role", ["label", "score", "qid", "query_weight", "row_weight", "docid"])
@pytest.mark.parametrize("name", [0.5, [["score"]], True])
def test_a_column_name_that_is_not_a_text_is_refused(role, name):
    with pytest.raises(ra.InputError, match=f"{role}=.*; allowed are names of columns"):
        ra.evaluate_table([BATCH], "lightgbm@10", **{role: name})


AT_FIVE = dt.datetime(2026, 1, 1, 5, tzinfo=dt.UTC).replace(tzinfo=None)


@pytest.mark.parametrize(
    "ids",
    [
        object_array(b"a", "a"), object_array("a", b"a"), object_array(dt.date(2026, 1, 1), AT_FIVE),
        object_array(AT_FIVE, dt.date(2026, 1, 1)), object_array(dt.date(2026, 1, 1), None),
    ],
    ids=short,
)  # fmt: skip
def test_objects_that_arrow_would_merge_are_refused(ids):
    """Arrow makes bytes of the text and a date of the time if these come second, so two queries would be one."""
    with pytest.raises(ra.InputError, match=r"^batch 1: qid( is missing in row 3| holds values of several)"):
        ra.evaluate_table([batch_of(ids)], "lightgbm@10")


def test_nanoseconds_of_objects_are_kept():
    pd = pytest.importorskip("pandas")
    ids = object_array(pd.Timestamp("2026-01-01T00:00:00.000000001"), pd.Timestamp("2026-01-01"))
    assert ra.evaluate_table([batch_of(ids)], "lightgbm@10").n_queries == 2


def test_categories_of_polars_and_runs_of_arrow_are_read(arrow):
    polars = pytest.importorskip("polars")
    columns = stream_batches.rows(4, text=True)
    expected = evaluate_whole(columns, "lightgbm@10").to_dict()
    frame = polars.DataFrame(columns)
    enum = polars.Enum(sorted(set(columns["qid"])))
    runs = arrow.compute.run_end_encode(arrow.array(columns["qid"]))
    tables = [frame.with_columns(qid=frame["qid"].cast(kind)) for kind in (polars.Categorical, enum)]
    for table in (*tables, {**columns, "qid": runs}):
        assert ra.evaluate_table(table, "lightgbm@10").to_dict() == expected


def test_a_frame_of_dask_is_sent_to_the_function_for_it():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    df = dd.from_pandas(pd.DataFrame({"grade": [1, 0], "pred": [1, 2], "query": [7, 7]}), npartitions=1)
    call = r'ra\.dask\.evaluate\(df, "letor4@5", partitions="shuffle", label="grade", score="pred", qid="query"\)'
    with pytest.raises(ra.InputError, match=rf"table is a DataFrame of dask, which .* not read\.\nHint: {call}"):
        ra.evaluate_table(df, "letor4@5")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"progress": False}, r"unexpected keyword argument 'progress'\.\nHint: a bar shows on a terminal alone"),
        ({"label_col": "y"}, r"unexpected keyword argument 'label_col'\.\nHint: label=, score= and qid= name the col"),
        ({"k": 10}, r"unexpected keyword argument 'k'\.\nHint: the cutoff is in the convention"),
        ({"convention": None}, r"multiple values for argument 'convention'\.\nHint: ra"),
    ],
)
def test_arguments_that_python_refuses_show_the_call(arguments, message):
    with pytest.raises(ra.InputError, match=message) as error:
        ra.evaluate_table({"label": [1], "score": [1], "qid": [7]}, "letor4@5", **arguments)
    assert 'ra.evaluate_table(df, "lightgbm@10", label="label", score="score", qid="qid")' in str(error.value)
    with pytest.raises(ra.InputError, match="missing 1 required positional argument: 'convention'"):
        ra.evaluate_table({"label": [1], "score": [1], "qid": [7]})


def test_scores_of_ids_of_other_types_say_so(tmp_path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"label": [1, 0], "score": [1, 2], "qid": [7, 7]})
    table.to_csv(tmp_path / "t.csv")
    table.to_parquet(tmp_path / "t.parquet")
    scores = [ra.evaluate_table(tmp_path / name, "letor4@5") for name in ("t.csv", "t.parquet")]
    with pytest.raises(ra.IncomparableScoresError, match="ids of a CSV are texts, and '7' is not the 7 of a Parquet"):
        scores[0] - scores[1]
