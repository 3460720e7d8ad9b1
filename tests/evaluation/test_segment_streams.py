"""Segments of a stream equal those in memory, wherever the batches cut the queries."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import rankadapters as ra
from tests.evaluation.segment_rows import conventions, rows, segment_results
from tests.helpers.command import error_of, output_of
from tests.helpers.stream_batches import cut_at, even_bounds, random_bounds

DATA = rows(3)
DATA = {name: column[np.argsort(DATA["qid"], kind="stable")] for name, column in DATA.items()}
SEGMENTS = dict(zip(DATA["qid"].tolist(), DATA["segment"].tolist(), strict=True))
MERGEABLE = [
    convention.replace(average="uniform")
    for convention in conventions()
    if getattr(convention, "pool", "") != "rows" and getattr(convention, "pairs", "") != "given"
]


def evaluate_in_memory(convention, scores=DATA["score"], **changes):
    arguments = {"qid": DATA["qid"], "docid": DATA["docid"], "by": DATA["segment"], **changes}
    return ra.evaluate(DATA["label"], scores, convention, **arguments)


@pytest.mark.parametrize("bounds", [even_bounds(DATA["qid"].size, 7), random_bounds(DATA["qid"].size, 40, seed=1)])
@pytest.mark.parametrize("by", ["segment", SEGMENTS], ids=["column", "mapping"])
def test_a_stream_gives_the_same_segments_as_memory(bounds, by):
    segments = ra.evaluate_table(cut_at(DATA, bounds), MERGEABLE, docid="docid", by=by)
    assert segment_results(segments) == segment_results(evaluate_in_memory(MERGEABLE))


def test_unsorted_rows_are_sorted_with_their_segments():
    pytest.importorskip("duckdb")
    scattered = {name: column[np.random.default_rng(0).permutation(DATA["qid"].size)] for name, column in DATA.items()}
    for convert in (np.asarray, lambda column: np.searchsorted(["dk", "no", "se"], column)):
        batch = {**scattered, "segment": convert(scattered["segment"])}
        segments = ra.evaluate_table([batch], ["textbook@3"], unsorted=True, by="segment")
        expected = ra.evaluate(batch["label"], batch["score"], ["textbook@3"], qid=batch["qid"], by=batch["segment"])
        assert segment_results(segments) == segment_results(expected)


def test_models_of_a_stream_give_the_same_results_as_memory():
    segments = ra.evaluate_table(DATA, "letor4@3", score=["score", "other"], by="segment")
    expected = evaluate_in_memory("letor4@3", {name: DATA[name] for name in ("score", "other")})
    assert (repr(segments), segments.to_dict()) == (repr(expected), expected.to_dict())
    assert set(segments["se"]) == {"score", "other"}


def test_a_segment_that_varies_within_a_query_is_refused_by_batch_and_row():
    segment = DATA["segment"].copy()
    row = int(np.flatnonzero(np.diff(DATA["qid"]) == 0)[-1]) + 1
    segment[row] = "xx"
    with pytest.raises(ra.InputError, match=rf"batch 2, row .*: by\[{row}\] is 'xx', but query") as error:
        ra.evaluate_table(cut_at({**DATA, "segment": segment}, [0, row - 5, segment.size]), "letor4@3", by="segment")
    assert error.value.row == row


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ({**SEGMENTS, 1000: "x"}, "by names query 1000, but the data have no such query"),
        ({0: "x"}, "by has no segment for query 1"),
        (1.5, "by=1.5; allowed are names of columns, and a mapping"),
        ("xx", "no column 'xx'"),
    ],
)
def test_bad_segments_are_refused(by, message):
    with pytest.raises(ra.InputError, match=message):
        ra.evaluate_table(cut_at(DATA, [0, 20, DATA["qid"].size]), "letor4@3", by=by)


def test_the_command_reads_a_file_of_queries_and_their_segments(capsys, write):
    files = ("--features", write("2 qid:7 1:1\n0 qid:7 1:2\n1 qid:8 1:1\n", "rows.txt"), "--feature", "1")
    segment_file = write("7 New York\n\n8\tOslo\n", "segments.txt")
    command = ("evaluate", "--convention", "textbook@2", *files, "--per-query", "--format")
    segments = json.loads(output_of(capsys, *command, "json", "--by", segment_file))["segments"]
    assert [(row["segment"], row["n_queries"]) for row in segments] == [("New York", 1), ("Oslo", 1), (None, 2)]
    lines = list(csv.DictReader(io.StringIO(output_of(capsys, *command, "csv", "--by", segment_file))))
    assert [line["qid"] for line in lines] == ["", "", "", "7", "8"]
    for text, message in {
        "7 x\n8\n": "line 2 is '8'; expected a query and its only segment",
        "7 x\n8 y\n7 z\n": "line 3 is '7 z'",
        "7 x\n": "by has no segment for query '8'",
        "7 x\n8 y\n9 z\n": "by names query '9', but the data have no such query",
    }.items():
        assert message in error_of(capsys, *command, "csv", "--by", write(text, "segments.txt"))
    trec = ("--qrels", write("7 0 a 1\n8 0 b 1\n", "qrels"), "--run", write("7 Q0 a 1 1 t\n8 Q0 b 1 1 t\n", "run"))
    segment_file = write("7 x\n8 y\n", "segments.txt")
    command = ("evaluate", "--convention", "trec_eval_9@5", *trec, "--by", segment_file, "--format", "json")
    assert [row["value"] for row in json.loads(output_of(capsys, *command))["segments"]] == [1, 1, 1]


def test_a_series_with_an_entry_per_row_is_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"label": [1, 0, 1], "score": [1, 2, 3], "qid": [2, 1, 0]})
    by_row = pd.Series(["x", "y", "y"])
    by_query = pd.Series(["y", "y", "x"], index=[0, 1, 2])[[2, 1, 0]]
    message = r"by has an entry for each of the 3 rows, .*\nHint: for a segment per row, name a column"
    tables = [frame, [frame], frame.to_dict("list"), frame.set_index(pd.Index([5, 6, 7]))]
    for table in tables:
        series = by_row.set_axis([5, 6, 7]) if table is tables[3] else by_row
        with pytest.raises(ra.InputError, match=message):
            ra.evaluate_table(table, "textbook@2", by=series)
        assert list(ra.evaluate_table(table, "textbook@2", by=by_query)) == ["x", "y"]
        assert list(ra.evaluate_table(table, "textbook@2", by=by_query.to_dict())) == ["x", "y"]
    long = pd.concat([frame, frame]).sort_values("qid", kind="stable", ignore_index=True)
    with pytest.raises(ra.InputError, match="by has an entry for each of the 6 rows"):
        ra.evaluate_table(long, "textbook@2", by=pd.Series(list("xxyyzz")))
    with pytest.raises(ra.InputError, match="name a column of the table"):
        ra.evaluate_table(long.to_dict("list"), "textbook@2", by=pd.Series(list("xxyyzz")))


TWO = {**DATA, "device": np.array(["phone", "desk"])[DATA["qid"] % 2]}


@pytest.mark.parametrize("unsorted", [False, True])
def test_several_columns_of_a_stream_give_the_same_segments_as_memory(unsorted):
    if unsorted:
        pytest.importorskip("duckdb")
    columns = {name: TWO[name] for name in ("segment", "device")}
    batches = cut_at(TWO, even_bounds(DATA["qid"].size, 7))
    segments = ra.evaluate_table(batches, MERGEABLE, docid="docid", by=["segment", "device"], unsorted=unsorted)
    assert segment_results(segments) == segment_results(evaluate_in_memory(MERGEABLE, by=columns))
    assert str(next(iter(segments))) == "segment=dk, device=desk"


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (["segment", "devise"], "no column 'devise'.\nHint: did you mean 'device'"),
        (["segment", 7], "by=7; allowed are names of columns"),
        (["segment", None], "by=None; allowed are names of columns"),
        (["device", "device"], "names a column twice"),
        ([], r"by=\(\); allowed are names of columns"),
        (7, "by=7; allowed are names of columns, and a mapping .*\nHint: by='market', or by=\\['market', 'device'\\]"),
    ],
)
def test_a_wrong_list_of_columns_is_refused(by, message):
    with pytest.raises(ra.InputError, match=message):
        ra.evaluate_table(TWO, "letor4@3", by=by)


def test_an_error_names_the_column_of_segments_that_varies():
    device = TWO["device"].copy()
    device[1] = "watch"
    with pytest.raises(ra.InputError, match=r"row 2: by\['device'\]\[1\] is 'watch', but query"):
        ra.evaluate_table({**TWO, "device": device}, "letor4@3", by=["segment", "device"])


def test_the_command_takes_several_columns(capsys, tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "rows.parquet"
    pd.DataFrame(TWO).to_parquet(path)
    names = ("--by", "segment", "device")
    out = output_of(capsys, "evaluate", "--table", str(path), *names, "--convention", "letor4@3", "--format", "json")
    columns = {name: TWO[name] for name in names[1:]}
    expected = evaluate_in_memory(["letor4@3"], {"score": DATA["score"]}, by=columns, docid=None)
    values = [(row["segment"], row["value"]) for row in json.loads(out)["segments"]]
    assert values == [(row["segment"], row["value"]) for row in expected.to_dict()["segments"]]
    assert values[0][0] == "segment=dk, device=desk"
