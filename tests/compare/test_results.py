"""Tables of results: what they are made of, what is refused, and how they are given on."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.compare import Results, winning_numbers
from rankadapters.core.errors import IncomparableScoresError, InputError

CELLS = {("a", "D1", "MAP"): 0.5, ("b", "D1", "MAP"): 0.4, ("a", "D2", "MAP"): 0.3}
COLUMNS = {
    "method": ["a", "b", "a"], "dataset": ["D1", "D1", "D2"], "measure": ["MAP"] * 3, "value": [0.5, 0.4, 0.3],
}  # fmt: skip
ROWS = list(zip(*COLUMNS.values(), strict=True))


def pandas_frame():
    return pytest.importorskip("pandas").DataFrame(COLUMNS)


def polars_frame():
    return pytest.importorskip("polars").DataFrame(COLUMNS)


def arrow_table():
    return pytest.importorskip("pyarrow").table(COLUMNS)


def told(results):
    return [
        (results.methods[m], results.datasets[d], results.measures[e], v)
        for m, d, e, v in zip(results.method, results.dataset, results.measure, results.values.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    "make", [lambda: CELLS, lambda: COLUMNS, lambda: ROWS, pandas_frame, polars_frame, arrow_table]
)
def test_tables_mappings_and_rows_are_the_same_results(make):
    assert told(Results(make(), higher_is_better=True)) == ROWS


def test_files_keep_the_decimals_of_their_values(tmp_path):
    (tmp_path / "r.csv").write_text(
        "method,dataset,measure,value,source,higher_is_better\na,D1,MAP,0.500,table 3,true\nb,D1,RMSE,4e-1,,False\n"
    )
    found = Results.read(tmp_path / "r.csv")
    assert found.decimals.tolist() == [3, 1]
    assert (found.higher, found.sources) == ((True, False), ("table 3", None))
    pytest.importorskip("pyarrow.parquet").write_table(arrow_table(), tmp_path / "r.parquet")
    assert told(Results.read(tmp_path / "r.parquet", higher_is_better=True)) == ROWS


def test_parquet_whose_text_is_not_utf_8_is_refused(tmp_path):
    parquet, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    text = pa.array([b"\xff"], pa.binary()).view(pa.string())
    table = pa.table({"method": text, "dataset": ["D"], "measure": ["MAP"], "value": [0.5]})
    parquet.write_table(table, tmp_path / "r.parquet")
    with pytest.raises(ra.InputError, match=r"r\.parquet: it cannot be read as Parquet: .*utf-8"):
        Results.read(tmp_path / "r.parquet", higher_is_better=True)


def test_decimals_of_a_text():
    for text, decimals in [("0.41", 2), ("1", 0), ("-0.5", 1), ("4.12e-2", 4), (".5", 1), ("1.5e1", 0), ("2.", 0)]:
        found = Results({("a", "D", "m"): text}, higher_is_better=True)
        assert (found.decimals.tolist(), found.values.tolist()) == ([decimals], [float(text)])


def scores(*conventions, labels=(1, 0, 0, 1), predictions=(2, 1, 1, 2)):
    return [ra.evaluate(list(labels), list(predictions), c, group_sizes=[2, 2]) for c in conventions]


def test_scores_bring_their_measure_direction_and_convention():
    [score] = scores("letor4@10")
    [loss] = scores("catboost.query_rmse")
    found = Results([("a", "D", score), ("a", "D", loss)])
    assert found.measures[0] == "ndcg@10"
    assert found.conventions == (score.convention, loss.convention)
    assert found.higher == (True, False)


def test_one_measure_under_two_conventions_is_refused():
    first, second = scores("letor4@10", "yahoo@10")
    with pytest.raises(IncomparableScoresError, match=r"ndcg@10 was computed under 2 conventions: ndcg@10/letor4, "):
        Results([("a", "D", first), ("b", "D", second)])


def test_a_convention_and_the_bare_name_of_its_measure_are_refused():
    [score] = scores("letor4@10")
    with pytest.raises(IncomparableScoresError, match=r"ndcg@10/letor4, 'NDCG@10' \(undeclared\)"):
        Results([("a", "D", score), ("b", "D", "NDCG@10", 0.5)], higher_is_better=True)


def test_or_they_are_two_measures():
    first, second = scores("letor4@10", "yahoo@10")
    found = Results([("a", "D", first), ("b", "D", second)], on_mixed="separate")
    assert found.measures == ("ndcg@10/letor4", "ndcg@10/yahoo")
    assert winning_numbers(found).n_pairs == 0


def test_texts_of_conventions_are_conventions():
    cells = {("a", "D", "letor4@10"): 0.5, ("b", "D", "ndcg@10/letor4"): 0.4}
    found = Results(cells)
    assert (found.measures, found.conventions) == (("ndcg@10",), (ra.parse("letor4@10"),))
    with pytest.raises(IncomparableScoresError, match="2 conventions"):
        Results({**cells, ("c", "D", "yahoo@10"): 0.3})


def test_scores_over_other_queries_are_refused():
    [first] = scores("letor4@10")
    [second] = scores("letor4@10", labels=(1, 1, 0, 1))
    with pytest.raises(IncomparableScoresError, match=r"the scores of data set 'D' are over different queries.*row 1"):
        Results([("a", "D", first), ("b", "D", second)])
    assert len(Results([("a", "D", first), ("b", "E", second)])) == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "there are no results"),
        ({}, "there are no results"),
        (5, "results are a int; allowed are a data frame"),
        ([("a", "D", "m")], r"results\[0\] is \('a', 'D', 'm'\); allowed are"),
        ({**COLUMNS, "color": [1, 2, 3]}, "the results have a column 'color'; the columns are 'method'"),
        ({"method": ["a"]}, "the results have no column 'dataset'"),
        ({**COLUMNS, "value": [0.5]}, "the columns have different lengths"),
        ([("a", "D", "m", float("nan"))], r"value\[0\] is nan; allowed are finite numbers"),
        ([("a", "D", "m", "inf")], r"value\[0\] is 'inf'"),
        ([("a", "D", "m", "0,5")], r"value\[0\] is '0,5'"),
        ([("a", "D", "m", True)], r"value\[0\] is True"),
        ([("a", "D", "m", "\u0661")], r"value\[0\] is"),
        ([("", "D", "m", 1.0)], r"method\[0\] is ''; allowed are texts"),
        ([("a", None, "m", 1.0)], r"dataset\[0\] is None"),
        (
            [("a", "D", "m", 1.0, "x"), ("a", "D", "m", 2.0, "y")],
            r"'a' has two values of 'm' on 'D': 1 \(x\) and 2 \(y\)",
        ),
    ],
)
def test_what_is_not_a_table_of_results(data, message):
    with pytest.raises(InputError, match=message):
        Results(data, higher_is_better=True)


def test_a_bad_cell_says_its_row():
    with pytest.raises(InputError) as caught:
        Results([*ROWS, ("c", "D", "MAP", None)], higher_is_better=True)
    assert caught.value.row == 3


def test_directions_are_not_guessed():
    with pytest.raises(InputError, match="measure 'MAP': nothing says whether higher is better"):
        Results(CELLS)
    with pytest.raises(InputError, match="measure 'MAP': nothing says"):
        Results(CELLS, higher_is_better={"NDCG": True})
    with pytest.raises(InputError, match="higher and lower are both said to be better"):
        Results({**COLUMNS, "higher_is_better": [True, False, True]})
    with pytest.raises(InputError, match="higher and lower are both"):
        Results({("a", "D", "letor4@10"): 0.5}, higher_is_better={"ndcg@10": False})
    with pytest.raises(InputError, match=r"higher_is_better\[1\] is 'yes'; allowed are True and False"):
        Results({**COLUMNS, "higher_is_better": [True, "yes", True]})


def test_unknown_words():
    with pytest.raises(InputError, match="on_mixed='merge'; allowed are 'error', 'separate'"):
        Results(CELLS, higher_is_better=True, on_mixed="merge")
    with pytest.raises(InputError, match="form='wide'; allowed are"):
        Results(CELLS, higher_is_better=True).to_frame(form="wide")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("method,dataset,measure\na,D,m\n", "no column 'value'"),
        ("method,dataset,measure,value\na,D,m\n", "row 0 has 3 fields, the header 4"),
        ("method,dataset,measure,value,value\na,D,m,1,2\n", "its header names a column twice"),
        ('method,dataset,measure,value\n"a,D,m,1\n', "it is not CSV in UTF-8"),
        ("method,dataset,measure,value\na\0,D,m,1\n", "it is not CSV in UTF-8: line contains NUL"),
    ],
)
def test_files_that_are_not_such_a_table(tmp_path, text, message):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(InputError, match=f"r.csv: .*{message}"):
        Results.read(tmp_path / "r.csv", higher_is_better=True)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        Results.read(tmp_path / "none.csv")


def test_frames_sparse_and_dense():
    pd = pytest.importorskip("pandas")
    results = Results(CELLS, higher_is_better=True)
    pd.testing.assert_frame_equal(results.to_frame(), pd.DataFrame(COLUMNS))
    with pytest.raises(InputError, match="'b' has no value of 'MAP' on 'D2', and a dense table has no gaps"):
        results.to_frame(form="dense")
    dense = results.only(datasets=["D1"]).to_frame(form="dense")
    assert (dense.columns.tolist(), dense.to_numpy().tolist()) == (["a", "b"], [[0.5, 0.4]])


def test_a_part_of_the_results():
    [score] = scores("letor4@10")
    results = Results([("a", "D", score), ("b", "D", "MAP", 0.5), ("b", "E", "MAP", "0.25")], higher_is_better=True)
    part = results.only(methods=["b"], datasets=["E"])
    assert told(part) == [("b", "E", "MAP", 0.25)]
    assert (part.conventions, part.higher, part.decimals.tolist()) == ((None,), (True,), [2])
    assert results.only(methods=["a"]).conventions == (score.convention,)
    with pytest.raises(InputError, match="'z' is not in the results"):
        results.only(methods=["z"])
    with pytest.raises(InputError, match="no cell is left"):
        results.only(methods=["a"], datasets=["E"])


def test_of_many_names_the_first_twenty_are_told():
    results = Results({(f"m{place}", "D", "MAP"): 0.5 for place in range(25)}, higher_is_better=True)
    with pytest.raises(InputError, match=r"\nHint: there are 'm0', .*, 'm18', 'm19'\.$"):
        results.only(methods=["z"])


def test_reports_are_plain_json():
    found = winning_numbers(Results({**CELLS, ("c", "D3", "MAP"): 1.0}, higher_is_better=True))
    assert json.loads(found.to_json())["groups"]["all"]["c"] == {"wn": 0, "iwn": 0, "nwn": None, "n_datasets": 1}
    assert "Without opponents, so that no number is defined: c." in str(found)


def test_the_input_is_not_changed():
    values = np.array([0.5, 0.4, 0.3])
    results = Results({**COLUMNS, "value": values}, higher_is_better=False)
    assert results.worth.tolist() == [-0.5, -0.4, -0.3]
    assert values.tolist() == [0.5, 0.4, 0.3]
