"""`ra.audit.order` compares models by the values of queries, which streams and clusters compute."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.audit.test_order import make_models

pd = pytest.importorskip("pandas")
CONVENTIONS = ["textbook@5", "letor4@5", "letor4.p@5"]


def make_rows():
    queries, scores = make_models()
    numbers = np.arange(queries.n_queries)
    market = queries.per_row(np.array(["de", "fr", "us"])[numbers % 3])
    device = queries.per_row(np.array(["phone", "desk"])[numbers % 2])
    columns = {"qid": queries.query_of_row, "label": queries.labels, "market": market, "device": device}
    return queries, scores, pd.DataFrame({**columns, **scores})


def order(*arguments, **options):
    return ra.audit.order(*arguments, n_resamples=99, **options).to_dict()


@pytest.mark.parametrize("package_name", ["pandas", "polars", "pyarrow", "dict"])
def test_a_table_of_values_gives_the_report_of_the_rows(package_name):
    queries, scores, _ = make_rows()
    values = ra.per_query(queries, scores, CONVENTIONS, frame=True)
    columns = {name: values[name].to_numpy() for name in values}
    if package_name != "dict":
        package = pytest.importorskip(package_name)
        columns = package.table(columns) if package_name == "pyarrow" else package.DataFrame(columns)
    assert order(columns) == order(queries, scores, CONVENTIONS)
    assert order(columns, convention="letor4@5") == order(queries, scores, "letor4@5")


def test_a_table_for_each_model_gives_the_report_of_the_rows():
    queries, scores, _ = make_rows()
    tables = {name: ra.per_query(queries, column, CONVENTIONS, frame=True) for name, column in scores.items()}
    assert order(tables) == order(queries, scores, CONVENTIONS)
    tables["noise"] = tables["noise"][::-1]  # the queries of the first table decide the order
    assert order(tables) == order(queries, scores, CONVENTIONS)


@pytest.mark.parametrize("kind", ["frame", "batches", "parquet"])
@pytest.mark.parametrize("by", [None, "market", ["market", "device"]])
def test_a_stream_gives_the_report_of_the_rows(tmp_path, kind, by):
    queries, scores, frame = make_rows()
    table = frame
    if kind == "batches":
        table = [frame[:13], frame[13:101], frame[101:]]
    elif kind == "parquet":
        frame.to_parquet(table := tmp_path / "rows.parquet")
    values = ra.per_query_table(table, CONVENTIONS, score=list(scores), by=by)
    columns = frame[by] if isinstance(by, str) else None if by is None else {name: frame[name] for name in by}
    assert order(values, by=by) == order(queries, scores, CONVENTIONS, by=columns)


def test_a_stream_returns_the_frame_of_memory():
    queries, scores, frame = make_rows()
    expected = ra.per_query(queries, scores["good"], CONVENTIONS, frame=True)
    pd.testing.assert_frame_equal(ra.per_query_table(frame, CONVENTIONS, score="good"), expected)
    with_market = ra.per_query_table(frame, CONVENTIONS, score="good", by="market")
    assert with_market["market"].tolist() == frame.groupby("qid")["market"].first().tolist()


def test_unsorted_rows_are_sorted_first():
    pytest.importorskip("duckdb")
    _, scores, frame = make_rows()
    values = ra.per_query_table(frame.sample(frac=1, random_state=0), "textbook@5", score=list(scores), unsorted=True)
    assert order(values) == order(ra.per_query_table(frame, "textbook@5", score=list(scores)))


def test_dask_computes_the_values_of_each_model():
    dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    queries, scores, frame = make_rows()
    with dask.config.set(scheduler="synchronous"):
        parts = dd.from_pandas(frame, npartitions=3)
        tables = {
            name: ra.dask.per_query(parts, "textbook@5", score=name, partitions="shuffle").compute().sort_values("qid")
            for name in scores
        }
    assert order(tables) == order(queries, scores, "textbook@5")


def test_weights_and_skipped_queries_count_as_in_the_rows():
    queries, scores, frame = make_rows()
    frame["weight"] = queries.per_row(1 + np.arange(queries.n_queries) % 4)
    conventions = ["textbook@5+average=query+empty=skip"]
    values = ra.per_query_table(frame, conventions, score=list(scores), query_weight="weight")
    weighted = queries.with_weights(1.0 + np.arange(queries.n_queries) % 4)
    assert np.isnan(values[ra.parse(conventions[0]).name]).any()
    assert order(values, by={query: query % 2 for query in range(60)}) == order(
        weighted, scores, conventions, by={query: query % 2 for query in range(60)}
    )


VALUES = pd.DataFrame({"qid": [1, 2, 1, 2], "model": list("aabb"), "ndcg@5/textbook": [1.0, 0.5, 0.5, 0.5]})


@pytest.mark.parametrize(
    ("values", "options", "error", "message"),
    [
        (VALUES.drop(columns="qid"), {}, ra.InputError, "values of queries have a column 'qid', but a DataFrame has"),
        (VALUES.drop(columns="model"), {}, ra.InputError, "the values have no column 'model'; they have 'qid', 'ndcg"),
        (VALUES[["qid", "model"]], {}, ra.InputError, "the values have no column of a convention; they have 'qid'"),
        (VALUES.rename(columns={"ndcg@5/textbook": "ndcg@5/1234567"}), {}, ra.InputError, "is unknown.\nHint: conv"),
        (VALUES, {"convention": "yahoo@5"}, ra.InputError, "the values have no column 'ndcg@5/yahoo'"),
        (VALUES, {"by": "market"}, ra.InputError, "the values have no column 'market'"),
        (VALUES, {"by": ["market", "qid"]}, ra.InputError, "the values have no column 'market'"),
        (VALUES.assign(qid=[1, 1, 1, 2]), {}, ra.InputError, "model 'a' has several rows of query 1"),
        (VALUES[:3], {}, ra.InputError, "model 'b' and the first model have different queries"),
        (VALUES[:2], {}, ra.InputError, "scores has 1 model; at least 2 must be given"),
        (VALUES, {"qid": [1, 2]}, ra.InputError, "'qid' is not an accepted column"),
        (VALUES.replace(1.0, np.inf), {}, ra.InputError, "is inf, but values are finite"),
        (
            VALUES.rename(columns={"ndcg@5/textbook": "auc/lightgbm.auc"}), {}, ra.UnsupportedConventionError,
            "is not the mean of the queries' values, so it needs the rows",
        ),
    ],
)  # fmt: skip
def test_values_that_cannot_be_compared_are_refused(values, options, error, message):
    with pytest.raises(error, match=message):
        ra.audit.order(values, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(([1, 0],), "has no scores and no convention"), (([1, 0], {"a": [1, 2], "b": [2, 1]}), "has no convention")],
)
def test_missing_arguments_show_the_call(arguments, message):
    with pytest.raises(ra.InputError, match=rf"order\(\) {message}\.\nHint: ra\.audit\.order\(labels"):
        ra.audit.order(*arguments)


def test_a_column_that_varies_within_a_query_is_refused():
    _, _, frame = make_rows()
    frame.loc[1, "market"] = "xx"
    with pytest.raises(ra.InputError, match=r"row 2: by\['market'\]\[1\] is 'xx', but query 0 began with 'de'"):
        ra.per_query_table(frame, "textbook@5", score="good", by="market")


def test_a_column_that_the_result_has_already_is_refused():
    _, _, frame = make_rows()
    for name in ("model", "empty", "n_rows"):
        with pytest.raises(ra.InputError, match=f"by='{name}' is the name of another column of the result"):
            ra.per_query_table(frame.rename(columns={"market": name}), "textbook@5", score=["good"], by=name)
