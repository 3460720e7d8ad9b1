"""`Results`, the table of compared values: accepted inputs, refused inputs, and conversion to frames and text."""

from __future__ import annotations

import json
import sys
from decimal import Decimal

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.compare import Results, front, leave_one_out, winning_numbers
from rankadapters.core.errors import IncomparableScoresError, InputError

CELLS = {("a", "D1", "MAP"): 0.5, ("b", "D1", "MAP"): 0.4, ("a", "D2", "MAP"): 0.3}
COLUMNS = {
    "method": ["a", "b", "a"], "dataset": ["D1", "D1", "D2"], "measure": ["MAP"] * 3, "value": [0.5, 0.4, 0.3],
}  # fmt: skip
ROWS = list(zip(*COLUMNS.values(), strict=True))


def frame_maker(package, constructor):
    return lambda: getattr(pytest.importorskip(package), constructor)(COLUMNS)


def rows_of(results):
    return list(results.to_frame().itertuples(index=False, name=None))


def column(results, name):
    return results.frame[name].tolist()


def score_of(convention, labels=(1, 0, 0, 1)):
    return ra.evaluate(list(labels), [2, 1, 1, 2], convention, group_sizes=[2, 2])


LETOR, YAHOO, LOSS = (score_of(text) for text in ("letor4@10", "yahoo@10", "catboost.query_rmse"))


# Accepted inputs


@pytest.mark.parametrize(
    "make",
    [
        lambda: CELLS, lambda: COLUMNS, lambda: ROWS, frame_maker("pandas", "DataFrame"),
        frame_maker("polars", "DataFrame"), frame_maker("pyarrow", "table"),
    ],
)  # fmt: skip
def test_tables_mappings_and_rows_give_the_same_results(make):
    results = Results(make(), higher_is_better=True)
    assert (rows_of(results), column(results, "decimals")) == (ROWS, [-1] * 3)


def test_files_keep_the_decimals_of_their_values(tmp_path):
    (tmp_path / "r.csv").write_text(
        "\ufeffmethod,dataset,measure,value,source,higher_is_better\n"
        "a,D1,MAP,0.500,table 3,true\n\nb,D1,RMSE,4e-1,,False\n\n",
        encoding="utf-8",
    )
    results = Results.read(tmp_path / "r.csv")
    assert column(results, "decimals") == [3, 1]
    assert (results.higher, column(results, "source")) == ((True, False), ["table 3", None])
    pytest.importorskip("pyarrow.parquet").write_table(frame_maker("pyarrow", "table")(), tmp_path / "r.parquet")
    assert rows_of(Results.read(tmp_path / "r.parquet", higher_is_better=True)) == ROWS


@pytest.mark.parametrize(
    ("text", "decimals"),
    [
        ("0.41", 2), ("1", 0), ("-0.5", 1), ("4.12e-2", 4), (".5", 1), ("1.5e1", 0), ("2.", 0),
        (Decimal("0.410"), 3), (Decimal("4E-1"), 1),
    ],
)  # fmt: skip
def test_decimals_are_counted_in_the_text_of_a_value(text, decimals):
    results = Results({("a", "D", "m"): text}, higher_is_better=True)
    assert (column(results, "decimals"), column(results, "value")) == ([decimals], [float(text)])


def test_a_score_sets_the_measure_the_direction_and_the_convention():
    results = Results([("a", "D", LETOR), ("a", "D", LOSS)])
    assert results.measures[0] == "ndcg@10"
    assert results.conventions == (LETOR.convention, LOSS.convention)
    assert results.higher == (True, False)


def test_a_measure_under_two_conventions_is_refused_or_separated():
    cells = [("a", "D", LETOR), ("b", "D", YAHOO)]
    with pytest.raises(IncomparableScoresError, match=r"ndcg@10 was computed under 2 conventions: ndcg@10/letor4, "):
        Results(cells)
    results = Results(cells, on_mixed="separate")
    assert results.measures == ("ndcg@10/letor4", "ndcg@10/yahoo")
    assert winning_numbers(results).n_pairs == 0
    with pytest.raises(IncomparableScoresError, match=r"ndcg@10/letor4, 'NDCG@10' \(undeclared\)"):
        Results([("a", "D", LETOR), ("b", "D", "NDCG@10", 0.5)], higher_is_better=True)


def test_a_measure_that_names_a_convention_is_parsed():
    cells = {("a", "D", "letor4@10"): 0.5, ("b", "D", "ndcg@10/letor4"): 0.4}
    results = Results(cells)
    assert (results.measures, results.conventions) == (("ndcg@10",), (ra.parse("letor4@10"),))
    with pytest.raises(IncomparableScoresError, match="2 conventions"):
        Results({**cells, ("c", "D", "yahoo@10"): 0.3})


def test_scores_over_different_queries_of_a_data_set_are_refused():
    other_labels = score_of("letor4@10", labels=(1, 1, 0, 1))
    with pytest.raises(IncomparableScoresError, match=r"the scores of data set 'D' are over different queries.*row 1"):
        Results([("a", "D", LETOR), ("b", "D", other_labels)])
    assert len(Results([("a", "D", LETOR), ("b", "E", other_labels)])) == 2


def test_a_score_in_a_column_keeps_its_convention():
    score = ra.evaluate([1, 0], [2, 1], "letor4@2", group_sizes=[2])
    table = {"method": ["a"], "dataset": ["D"], "value": [score]}
    assert Results({**table, "measure": ["letor4@2"]}).conventions == (score.convention,)
    for measure in ("MAP", "yahoo@2"):
        message = rf"measure\[0\] is '{measure}', but value\[0\] is a Score of ndcg@2/letor4"
        with pytest.raises(InputError, match=message):
            Results({**table, "measure": [measure]}, higher_is_better=True)


@pytest.mark.parametrize("empty", [None, float("nan"), np.float64("nan"), ""])
def test_empty_cells_of_a_frame_are_missing_values(empty):
    results = Results({**COLUMNS, "higher_is_better": [True, empty, True], "source": ["table 3", empty, empty]})
    assert (results.higher, column(results, "source")) == ((True,), ["table 3", None, None])


def test_pandas_na_is_a_missing_value():
    pd = pytest.importorskip("pandas")
    columns = {
        "higher_is_better": pd.array([None, False, None], "boolean"),
        "source": pd.array([None, "x", "y"], "string"),
    }
    results = Results(pd.DataFrame(COLUMNS).assign(**columns))
    assert (results.higher, column(results, "source")) == ((False,), [None, "x", "y"])


def test_the_input_is_not_changed():
    values = np.array([0.5, 0.4, 0.3])
    results = Results({**COLUMNS, "value": values}, higher_is_better=False)
    frame = results.frame
    frame["value"] = 0.0
    assert column(results, "value") == [0.5, 0.4, 0.3]
    assert values.tolist() == [0.5, 0.4, 0.3]


# Refused inputs


def test_the_error_of_a_bad_cell_has_its_row():
    with pytest.raises(InputError) as caught:
        Results([*ROWS, ("c", "D", "MAP", None)], higher_is_better=True)
    assert caught.value.row == 3


CELL = ("a", "D", "m")
SHORT_SCORE = ra.evaluate([1, 0], [2, 1], "letor4@2", group_sizes=[2])


@pytest.mark.parametrize(
    ("data", "message", "row"),
    [
        ([ROWS[0], (*CELL, 10**400)], r"value\[1\] is 10{79};", 1),
        ([ROWS[0], (*CELL, True)], r"value\[1\] is True; allowed are finite numbers", 1),
        ([ROWS[0], (*CELL, "1e9999")], r"value\[1\] is '1e9999'; allowed are finite numbers", 1),
        ([ROWS[0], ("a", " ", "m", 0.5)], r"dataset\[1\] is ' '; allowed are texts that are not empty", 1),
        ([ROWS[0], ("a", "D", 0.5)], r"results\[1\] is \('a', 'D', 0.5\); allowed are", 1),
        ([ROWS[0], (*CELL, SHORT_SCORE)], r"results\[1\] is \('a', 'D', 'm', Score", 1),
        ([ROWS[0], (*CELL, 0.5, "table 3", True)], r"results\[1\] is .* True\); allowed are", 1),
        ([(*CELL, 0.5, "table 3"), (*CELL, 0.4)], r"two values of 'm' on 'D': 0.5 \(table 3\) and 0.4\.", 1),
        ({**COLUMNS, "value": 5}, "column=5; allowed are lists and arrays", None),
    ],
    ids=str,
)
def test_a_refused_cell_or_column_is_named(data, message, row):
    with pytest.raises(InputError, match=message) as caught:
        Results(data, higher_is_better=True)
    assert caught.value.row == row


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\0", "line contains NUL"), (b"\xe9", "'utf-8' codec"), (b'"a"b', "',' expected after"),
        (b"a,D", "row 0 has 2 fields, the header 4"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_csv_is_refused(content, message, tmp_path):
    (tmp_path / "r.csv").write_bytes(b"method,dataset,measure,value\n" + content + b"\n")
    with pytest.raises(InputError, match=message):
        Results.read(tmp_path / "r.csv")
    with pytest.raises(InputError, match=r"none\.csv: cannot be read: No such file"):
        Results.read(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"path=5; allowed are texts and pathlib\.Path"):
        Results.read(5)


def test_a_changed_byte_of_a_parquet_file_is_found_by_its_checksum(tmp_path):
    frame, parquet = frame_maker("pyarrow", "table"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "r.parquet"
    parquet.write_table(frame(), path, write_page_checksum=True, compression="none", use_dictionary=False)
    content = path.read_bytes()
    path.write_bytes(content.replace(np.float64(0.4).tobytes(), np.float64(0.5).tobytes(), 1))
    with pytest.raises(InputError, match="CRC checksum verification failed"):
        Results.read(path, higher_is_better=True)


def test_a_parquet_file_without_pyarrow_names_the_extra(monkeypatch, tmp_path):
    (tmp_path / "r.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ra.MissingToolkitError, match=r'pyarrow is not installed\.\nHint: .*"rankadapters\[files\]"'):
        Results.read(tmp_path / "r.parquet")


@pytest.mark.parametrize("compare", [winning_numbers, leave_one_out, front])
def test_other_types_than_results_are_refused(compare):
    with pytest.raises(InputError, match="of type list"):
        compare([1])


def test_undeclared_measures_that_differ_in_case_are_two():
    results = Results([("a", "D", "MAP", 0.5), ("a", "D", "map", 0.4)], higher_is_better=True)
    assert results.measures == ("MAP", "map")


def test_a_direction_may_name_a_measure_by_any_of_its_texts():
    cells = [("a", "D", "letor4@10", 0.5), ("a", "D", "MAP", 0.4)]
    for name in ("letor4@10", "ndcg@10/letor4", "ndcg@10"):
        results = Results(cells, higher_is_better={name: True, "MAP": False})
        assert dict(zip(results.measures, results.higher, strict=True)) == {"ndcg@10": True, "MAP": False}
    with pytest.raises(InputError, match="'ndcg@10': higher and lower are both said to be better"):
        Results(cells, higher_is_better={"letor4@10": True, "ndcg@10": False, "MAP": True})
    with pytest.raises(InputError, match="'MAP': nothing says whether higher is better"):
        Results(cells, higher_is_better={"MAP": None})
    with pytest.raises(InputError, match="higher_is_better names 'NDCG', which is not a measure of the results"):
        Results(cells, higher_is_better={"MAP": True, "NDCG": True})


# Conversion to frames and text


def test_a_table_keeps_printed_decimals_and_marks_the_best_value_by_the_direction():
    results = Results([("a", "D", "m", "1"), ("b", "D", "m", 0.5)], higher_is_better=False)
    assert results.to_markdown().splitlines()[-2:] == ["| a | 1 |", "| b | **0.5000** |"]


def test_results_become_sparse_and_dense_frames():
    pd = pytest.importorskip("pandas")
    results = Results(CELLS, higher_is_better=True)
    pd.testing.assert_frame_equal(results.to_frame(), pd.DataFrame(COLUMNS))
    with pytest.raises(InputError, match="'b' has no value of 'MAP' on 'D2', and a dense table has no gaps"):
        results.to_frame(form="dense")
    dense = results.only(datasets=["D1"]).to_frame(form="dense")
    assert (dense.columns.tolist(), dense.to_numpy().tolist()) == (["a", "b"], [[0.5, 0.4]])
    unsorted = Results({(m, d, "MAP"): 0.5 for d in ("D2", "D1") for m in "ba"}, higher_is_better=True)
    dense = unsorted.to_frame(form="dense")
    assert dense.index.tolist() == [("D2", "MAP"), ("D1", "MAP")]
    assert dense.columns.tolist() == ["b", "a"]


@pytest.mark.parametrize(
    ("n_cells", "remark"),
    [(1, "Results(1 method, 1 dataset, 1 measure, 1 cell)"), (20, "20 cells)"), (21, ", the first 20")],
)
def test_a_notebook_shows_twenty_cells(n_cells, remark):
    results = Results({(f"m{row}", "D", "MAP"): row / 8 for row in range(n_cells)}, higher_is_better=True)
    caption, _, _, _, *lines = results._repr_markdown_().splitlines()
    assert caption.strip("*").endswith(remark)
    assert lines == [f"| m{row} | D | MAP | {row / 8:g} |" for row in range(min(n_cells, 20))]
    assert results._repr_html_().count("<tr>") == 1 + min(n_cells, 20)


def test_only_selects_methods_and_data_sets():
    rows = [("a", "D", LETOR), ("BM25", "D", "MAP", 0.5), ("BM25", "E", "MAP", "0.25")]
    rows[1:] = [(*rows[1], "table 3"), (*rows[2], "table 4")]
    results = Results(rows, higher_is_better=True)
    part = results.only(methods="BM25", datasets=["E"])  # a text is one method
    assert rows_of(part) == [("BM25", "E", "MAP", 0.25)]
    assert (part.conventions, part.higher, column(part, "decimals")) == ((None,), (True,), [2])
    assert (column(part, "source"), column(results.only(methods=["a"]), "source")) == (["table 4"], [None])
    assert results.only(methods=["a"]).conventions == (LETOR.convention,)
    many = Results([(f"m{number}", "D", "MAP", 0.5) for number in range(21)], higher_is_better=True)
    with pytest.raises(InputError, match=r"'z' is not in the results.\nHint: there are 'm0', .*, 'm19'[.]$"):
        many.only(methods=["z"])
    with pytest.raises(InputError, match="no cell is left"):
        results.only(methods=["a"], datasets=["E"])


def test_a_method_without_opponents_is_null_in_json_and_named_in_text():
    report = winning_numbers(Results({**CELLS, ("c", "D3", "MAP"): 1.0}, higher_is_better=True))
    assert json.loads(report.to_json())["groups"]["all"]["c"] == {"wn": 0, "iwn": 0, "nwn": None, "n_datasets": 1}
    assert "Without opponents, so that no number is defined: c." in str(report)


def test_without_pandas_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ra.MissingToolkitError, match=r'pandas is not installed\.\nHint: .*"rankadapters\[compare\]"'):
        Results(CELLS, higher_is_better=True)


def test_measures_may_have_the_names_of_columns_and_any_letters():
    names = ["method", "dataset", "measure", "value", "\udc80"]
    results = Results([("\udc81", "\udc82", name, 0.5) for name in names], higher_is_better=True)
    assert (results.measures, results.methods) == (tuple(names), ("\udc81",))
    assert winning_numbers(results).groups == (*names, "all")


def test_words_for_missing_values_are_names(tmp_path):
    (tmp_path / "r.csv").write_text("method,dataset,measure,value\nNA,null,nan,0.5\nNone,null,nan,0.25\n")
    results = Results.read(tmp_path / "r.csv", higher_is_better=True)
    assert (results.methods, results.datasets, results.measures) == (("NA", "None"), ("null",), ("nan",))
