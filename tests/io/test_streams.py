"""`ra.evaluate_stream`: batches may cut queries, and values equal those of all rows at once to the bit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from rankadapters.io import cut_queries
from rankadapters.io.stream_batches import stream_rows
from rankadapters.io.stream_rows import StreamColumns
from tests.helpers import stream_batches
from tests.helpers.convention_strategies import conventions
from tests.helpers.depth import examples
from tests.helpers.stream_batches import cut_at, even_bounds, random_bounds
from tests.helpers.tables import for_each, short

CONVENTIONS = ["lightgbm@10", "mslr@5", "sklearn@3", "lightgbm.map@5", "xgboost.auc", "textbook@all"]


@pytest.fixture
def one_row_at_once(monkeypatch):
    """Evaluate one row at a time if possible, so that small data have many parts."""
    monkeypatch.setattr(cut_queries, "ROWS_AT_ONCE", 1)


def evaluate_whole(columns, convention, *names, score="score"):
    return ra.evaluate(columns["label"], columns[score], convention, **stream_batches.evaluate_columns(columns, *names))


def facts_or_message(evaluate):
    """Return the facts of a score, or the message of an InputError."""
    try:
        return evaluate().to_dict()
    except ra.InputError as error:
        return str(error)


@pytest.mark.parametrize("measure", MEASURES)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1), n_parts=st.integers(1, 40), n_at_once=st.integers(1, 400))
@settings(max_examples=examples(25))
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
        patch.setattr(cut_queries, "ROWS_AT_ONCE", n_at_once)
        assert facts_or_message(lambda: ra.evaluate_stream(iter(batches), convention, **names)) == facts_or_message(
            lambda: evaluate_whole(columns, convention, *names)
        )


@for_each("choice", [NEVER, NOW])
def test_several_conventions_have_the_bits_of_the_whole_table(one_row_at_once, choice):
    columns = stream_batches.rows(3)
    with kernels(choice):
        scores = ra.evaluate_stream(cut_at(columns, even_bounds(columns["label"].size, 17)), CONVENTIONS)
    expected = [(ra.parse(convention), evaluate_whole(columns, convention).to_dict()) for convention in CONVENTIONS]
    assert [(convention, score.to_dict()) for convention, score in scores.items()] == expected


def test_each_score_column_is_one_model(one_row_at_once):
    columns = stream_batches.rows(5)
    batches = cut_at(columns, even_bounds(columns["label"].size, 3))
    scores = ra.evaluate_stream(batches, "lightgbm@10", score=["score", "other"])
    assert {name: score.to_dict() for name, score in scores.items()} == {
        name: evaluate_whole(columns, "lightgbm@10", score=name).to_dict() for name in ("score", "other")
    }
    two_conventions = ra.evaluate_stream(batches, ["mslr@3", "lightgbm@10"], score=["other"])
    assert two_conventions[ra.parse("lightgbm@10")] == {"other": scores["other"]}


def test_one_query_may_be_larger_than_every_batch(one_row_at_once):
    columns = stream_batches.rows(1, n_queries=1, longest=1)
    columns = {name: np.repeat(column, 2500) for name, column in columns.items()}
    columns["label"], columns["score"] = np.arange(2500) % 4, np.arange(2500) * 7 % 100
    score = ra.evaluate_stream(cut_at(columns, [*range(0, 2500, 7), 2500]), "lightgbm@10")
    assert score.to_dict() == evaluate_whole(columns, "lightgbm@10").to_dict()


def arrow(columns):
    return pytest.importorskip("pyarrow").table(dict(columns))


def record_batch(columns):
    [batch] = arrow(columns).to_batches() or [pytest.importorskip("pyarrow").RecordBatch.from_pydict(columns)]
    return batch


def structured_array(columns):
    array = np.empty(len(columns["label"]), [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        array[name] = column
    return array


FORMS = {
    "mapping": dict,
    "lists": lambda columns: {name: column.tolist() for name, column in columns.items()},
    "structured array": structured_array,
    "pandas": lambda columns: pytest.importorskip("pandas").DataFrame(columns),
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "arrow table": arrow,
    "record batch": record_batch,
}


@for_each("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("text", [False, True])
def test_a_batch_or_a_whole_table_may_have_any_form(one_row_at_once, form, text):
    columns = stream_batches.rows(4, text=text)
    batches = map(form, cut_at(columns, [0, 0, *even_bounds(columns["label"].size, 5), columns["label"].size]))
    names = {"query_weight": "weight", "docid": "docid"}
    convention = ra.parse("trec_eval_9@5").replace(average="query")
    expected = evaluate_whole(columns, convention, *names).to_dict()
    for stream in (batches, form(columns), [form(columns)]):
        assert ra.evaluate_stream(stream, convention, **names).to_dict() == expected


def test_columns_of_tuples_are_named_by_index(one_row_at_once):
    columns = stream_batches.rows(4)
    batches = [tuple(batch.values()) for batch in cut_at(columns, even_bounds(columns["label"].size, 5))]
    score = ra.evaluate_stream(batches, "lightgbm@10", label=0, score=2, qid=3)
    assert score.to_dict() == evaluate_whole(columns, "lightgbm@10", score="other").to_dict()


BATCH = {"label": [1.0, 0.0], "score": [0.5, 0.25], "qid": [7, 7]}


@for_each(
    ("batches", "match"),
    [
        ([], "no batch has any rows"),
        ([{"label": [], "score": [], "qid": []}], "no batch has any rows"),
        (7, "batches is of type int"),
        ([7], "batch 1: it is of type int, which has no columns"),
        ([BATCH, {"label": [1]}], r"batch 2: it has no column 'score'\.\nHint: its columns are 'label'"),
        ([BATCH, BATCH | {"score": [1.0]}], "batch 2: scores has 1 rows but labels has 2"),
        ([BATCH, BATCH | {"label": [1.0, np.nan]}], r"batch 2: labels\[1\] is nan"),
        ([BATCH, BATCH | {"score": [1.0, np.inf]}], r"batch 2: scores\[1\] is inf"),
        ([BATCH, BATCH | {"qid": [7, None]}], r"batch 2: qid\[1\] is None, but every row belongs to a query"),
        ([BATCH, BATCH | {"qid": ["7", "7"]}], "batch 2, row 1: qid has type text, but integer in the batches before"),
        (
            [BATCH, BATCH | {"score": np.ones(2, np.float32)}],
            "batch 2, row 1: scores has type float32, but float64 in the batches before",
        ),
        ([BATCH, BATCH | {"label": [1.0, -1.0]}], r"batch 2, row 2: labels\[3\] is -1, negative"),
        (
            iter([{"label": [1, 0, 1, 0], "score": [1, 2, 3, 4], "qid": ["x", "a", "b", "a"]}]),
            "batch 1, row 4: query a returns after it began in batch 1, row 2",
        ),
    ],
)
def test_an_error_names_its_batch(batches, match):
    with pytest.raises(ra.InputError, match=match):
        ra.evaluate_stream(batches, "lightgbm@10")


def batch_of(ids):
    """Return a batch of two rows per query; the first is relevant and has the lower score."""
    n = len(ids)
    return {"label": np.tile([1.0, 0.0], n), "score": np.tile([0.25, 0.5], n), "qid": np.repeat(ids, 2)}


def object_array(*items):
    column = np.empty(len(items), object)
    column[:] = items
    return column


@for_each(
    ("first", "returning"),
    [
        (object_array(7, 8), object_array(np.int64(7), 9)),
        (np.array([7, 8], np.int8), object_array(np.uint16(7), 9)),
        (np.array([0.5, 2], np.float32), np.array([0.5, 3])),
        (object_array("a", "b"), ["a", "c"]),
        (np.array(["2026-01-01", "2026-01-02"], "M8[us]"), np.array(["2026-01-01", "2026-01-03"], "M8[ns]")),
    ],
    ids=short,
)
def test_a_query_that_returns_with_an_equal_id_of_another_type_is_refused(one_row_at_once, first, returning):
    batches = [batch_of(first), batch_of([first[1]]), batch_of(returning)]
    with pytest.raises(ra.InputError, match=r"batch 3, row 1: query .* returns after it began in batch 1, row 1"):
        ra.evaluate_stream(batches, "lightgbm@10")


@for_each(
    ("first", "second", "match"),
    [
        (object_array(7), object_array("7"), "qid has type text, but integer in the batches before"),
        (object_array(7, 8), object_array("7", 9), "qid has type integer and text, but integer in the batches before"),
        (object_array((1, 2)), object_array("x"), "qid has type text, but tuple in the batches before"),
        (np.array([7]), np.array([7], np.uint64), "qid has type unsigned integer, but integer in the batches before"),
        (np.array([7]), np.array([7.0]), "qid has type float, but integer in the batches before"),
        (np.array(["2026-01-01"], "M8[D]"), np.array(["2026-01-01"], "M8[s]"), "qid has type datetime, but date"),
    ],
    ids=short,
)
def test_a_batch_whose_ids_have_another_kind_is_refused(first, second, match):
    with pytest.raises(ra.InputError, match=f"batch 2, row 1: {match}"):
        ra.evaluate_stream([batch_of(first), batch_of(second)], "lightgbm@10")


@pytest.mark.parametrize(
    "ids", [[object_array(-1, 2**64 - 1, -(2**63) - 1)], [["a"], object_array("a\0"), ["b"]]], ids=short
)
def test_similar_ids_are_different_queries(one_row_at_once, ids):
    assert ra.evaluate_stream(list(map(batch_of, ids)), "lightgbm@10").n_queries == 3


def test_a_cut_query_may_have_ids_of_another_width_in_the_next_batch(one_row_at_once):
    batches = [batch_of(np.array([7, 8], np.int8)), batch_of(np.array([8, 9], np.int64)), batch_of(object_array(9, 10))]
    expected = ra.evaluate(
        np.tile([1.0, 0.0], 6), np.tile([0.25, 0.5], 6), "lightgbm@10", qid=np.repeat([7, 8, 8, 9, 9, 10], 2)
    )
    assert ra.evaluate_stream(batches, "lightgbm@10").to_dict() == expected.to_dict()


@pytest.mark.parametrize("frame", ["polars", "duckdb"])
def test_a_lazy_frame_is_refused(frame):
    package = pytest.importorskip(frame)
    lazy = package.sql("SELECT 1 AS label, 1 AS score, 1 AS qid") if frame == "duckdb" else package.LazyFrame(BATCH)
    with pytest.raises(
        ra.InputError, match=r"batch 1: it is of type \w+, which has not computed its rows yet.\nHint: "
    ):
        ra.evaluate_stream([lazy], "lightgbm@10")
    with pytest.raises(ra.InputError, match=r"batches is of type \w+, but .* is needed.\nHint: collect\(\) of polars"):
        ra.evaluate_stream(lazy, "lightgbm@10")


def test_a_pyarrow_scanner_is_refused():
    dataset = pytest.importorskip("pyarrow.dataset")
    scanner = dataset.dataset(arrow(BATCH)).scanner()
    with pytest.raises(ra.InputError, match="batches is of type Scanner"):
        ra.evaluate_stream(scanner, "lightgbm@10")


def test_the_rows_of_a_cut_query_do_not_keep_the_rows_before_alive():
    batch = {"label": np.ones(100), "score": np.ones(100), "qid": np.repeat([1, 2], [98, 2])}
    [rows] = stream_rows([batch], StreamColumns("label", ("score",), "qid", None, None, None))
    whole_queries, cut_query = rows.split_last_query()
    assert (whole_queries.n_rows, cut_query.n_rows) == (98, 2)
    for column, cut_column in ((rows.labels, cut_query.labels), (rows.scores[0], cut_query.scores[0])):
        assert not np.shares_memory(column, cut_column)


def test_the_row_of_an_error_is_counted_over_all_batches():
    nan_label = BATCH | {"label": [1.0, np.nan]}
    for batches, row in (([BATCH, BATCH, nan_label], 5), ([BATCH, BATCH | {"label": [-1.0, 0.0]}], 2)):
        with pytest.raises(ra.InputError) as caught:
            ra.evaluate_stream(batches, "lightgbm@10")
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
        ra.evaluate_stream(iter(batches) if as_iterator else batches, "lightgbm@10")
    assert caught.value.row == n


@pytest.mark.parametrize(("cuts", "row"), [([0, 4], "batch 1, row 3"), ([0, 1, 2, 3, 4], "batch 3, row 1")])
def test_a_weight_that_changes_within_a_cut_query_is_refused(one_row_at_once, cuts, row):
    columns = {"label": [1, 0, 1, 0], "score": [1, 2, 3, 4], "qid": [1, 1, 1, 2], "weight": [2.0, 2.0, 3.0, 1.0]}
    columns = {name: np.asarray(column) for name, column in columns.items()}
    convention = ra.parse("lightgbm@10").replace(average="query")
    with pytest.raises(ra.InputError, match=f"{row}: weight is 3, but another row of its query has a different weight"):
        ra.evaluate_stream(cut_at(columns, cuts), convention, query_weight="weight")
    columns["weight"] = np.array([1.0, 1.0, 1.0, -2.0])
    with pytest.raises(ra.InputError, match=r"query_weight\[1\] is -2.0, but weights are >= 0"):
        ra.evaluate_stream(cut_at(columns, cuts), convention, query_weight="weight")
    with pytest.raises(ra.InputError, match="query_weight was given but the convention says average='uniform'"):
        ra.evaluate_stream(cut_at(columns, cuts), "mslr@10", query_weight="weight")


def test_a_document_twice_in_a_cut_query_is_refused(one_row_at_once):
    batches = [{**BATCH, "docid": ["a", "b"]}, {**BATCH, "docid": ["c", "a"]}]
    with pytest.raises(ra.InputError, match=r"batch 2, row 2: document 'a' of query '7' is also in batch 1, row 1\."):
        ra.evaluate_stream(batches, "trec_eval_9@5", docid="docid")
    with pytest.raises(ra.InputError, match=r"batch 1: docid\[1\] is 5, but docids are strings"):
        ra.evaluate_stream([{**BATCH, "docid": ["a", 5]}], "trec_eval_9@5", docid="docid")
    with pytest.raises(ra.InputError, match="ties='docid-descending' needs docid="):
        ra.evaluate_stream([BATCH], "trec_eval_9@5")


@for_each("role", ["label", "score", "qid", "query_weight", "row_weight", "docid"])
@pytest.mark.parametrize("name", [0.5, [["score"]], True])
def test_a_column_name_that_is_neither_text_nor_index_is_refused(role, name):
    with pytest.raises(ra.InputError, match=f"{role}=.*; allowed are names of columns"):
        ra.evaluate_stream([BATCH], "lightgbm@10", **{role: name})


@pytest.mark.parametrize("score", [[], ["score", "score"]])
def test_missing_or_repeated_score_columns_are_refused(score):
    with pytest.raises(ra.InputError, match="does not name each model's column once"):
        ra.evaluate_stream([BATCH], "lightgbm@10", score=score)


@pytest.mark.parametrize("text", ["sklearn.roc_auc_score", "sklearn.average_precision_score"])
def test_conventions_over_all_rows_are_refused(text):
    convention = ra.parse(text)
    assert convention.over == "rows"
    with pytest.raises(ra.UnsupportedConventionError, match=r"says pool='rows'.*\nHint: ra.evaluate, which holds all"):
        ra.evaluate_stream([BATCH], ["lightgbm@10", convention])
