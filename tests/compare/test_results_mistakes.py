"""What a newcomer hands to `ra.compare` by mistake, and what frames and files have in odd places."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.compare import Results, front, leave_one_out, page, stratified_tests, winning_numbers
from rankadapters.core.errors import InputError

CELLS = {("a", "D1", "MAP"): 0.5, ("b", "D1", "MAP"): 0.4}
COLUMNS = {"method": ["a", "b"], "dataset": ["D", "D"], "measure": ["MAP", "MAP"], "value": [0.5, 0.4]}
QUERIES = {"D": ra.Queries([1, 0], group_sizes=[2])}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("lower", "higher_is_better='lower'"),
        (0, "higher_is_better=0"),
        ({"MAP": "no"}, r"higher_is_better\['MAP'\]='no'"),
    ],
)
def test_a_word_is_not_a_direction(given, said):
    with pytest.raises(InputError, match=rf"{said}; allowed are True, False\.\nHint: "):
        Results(CELLS, higher_is_better=given)


@pytest.mark.parametrize("name", ["MPA", "yahoo@3", 1])
def test_a_direction_of_a_measure_that_is_not_there(name):
    message = (
        rf"higher_is_better names {name!r}, which is not a measure of the results\.\nHint: the measures are 'MAP'\."
    )
    with pytest.raises(InputError, match=message):
        Results(CELLS, higher_is_better={"MAP": True, name: True})


def test_a_direction_may_name_a_measure_by_the_text_it_was_given_as():
    cells = [("a", "D", "letor4@10", 0.5), ("a", "D", "MAP", 0.4)]
    for name in ("letor4@10", "ndcg@10/letor4", "ndcg@10"):
        results = Results(cells, higher_is_better={name: True, "MAP": False})
        assert dict(zip(results.measures, results.higher, strict=True)) == {"ndcg@10": True, "MAP": False}
    with pytest.raises(InputError, match="'ndcg@10': higher and lower are both said to be better"):
        Results(cells, higher_is_better={"letor4@10": True, "ndcg@10": False, "MAP": True})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda results: results.only(methods=3), "methods=3; allowed are different texts"),
        (lambda results: leave_one_out(results).plot(3), "methods=3; allowed are different texts"),
        (lambda results: results.to_frame(form=["dense"]), r"form=\['dense'\]; allowed are 'sparse', 'dense'"),
        (lambda results: front(winning_numbers(results), against=["iwn"]), r"against=\['iwn'\]; allowed are"),
        (lambda results: winning_numbers(results).plot(n="9"), "n='9'; allowed are whole numbers from 1 on"),
        (lambda results: winning_numbers(results).plot(n=-1), "n=-1; allowed are whole numbers from 1 on"),
        (lambda _: Results.read(None), "path=None; allowed are texts and pathlib.Path"),
    ],
)
def test_an_argument_of_a_wrong_type_or_size(call, message):
    results = Results(
        {(method, dataset, "MAP"): 0.5 for method in "ab" for dataset in ("D1", "D2")}, higher_is_better=True
    )
    with pytest.raises(InputError, match=rf"{message}.*\nHint: "):
        call(results)


def test_a_mode_that_is_not_a_word():
    with pytest.raises(InputError, match=r"on_mixed=\['error'\]; allowed are 'error', 'separate'"):
        Results(CELLS, higher_is_better=True, on_mixed=["error"])


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(10**400, id="400 digits"),
        pytest.param("1e-" + "9" * 5000, id="5000 digits"),
        Decimal("NaN"),
        Decimal("Infinity"),
    ],
)
def test_numbers_beyond_a_float(value):
    with pytest.raises(InputError, match=r"value\[0\] is .*; allowed are finite numbers"):
        Results([("a", "D", "MAP", value)], higher_is_better=True)


def test_a_decimal_keeps_its_decimals():
    results = Results([("a", "D", "MAP", Decimal("0.410")), ("b", "D", "MAP", Decimal("4E-1"))], higher_is_better=True)
    assert (results.values.tolist(), results.decimals.tolist()) == ([0.41, 0.4], [3, 1])


@pytest.mark.parametrize("nothing", [None, float("nan"), np.float64("nan"), ""])
def test_what_a_frame_has_where_there_is_nothing(nothing):
    results = Results({**COLUMNS, "higher_is_better": [True, nothing], "source": ["table 3", nothing]})
    assert (results.higher, results.sources) == ((True,), ("table 3", None))


def test_the_na_of_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COLUMNS).assign(
        higher_is_better=pd.array([None, False], dtype="boolean"), source=pd.array([None, "x"], dtype="string")
    )
    assert (Results(frame).higher, Results(frame).sources) == ((False,), (None, "x"))


@pytest.mark.parametrize("measure", ["MAP", "yahoo@2"])
def test_a_score_in_a_column_keeps_its_convention(measure):
    score = ra.evaluate([1, 0], [2, 1], "letor4@2", group_sizes=[2])
    table = {"method": ["a"], "dataset": ["D"], "measure": [measure], "value": [score]}
    assert Results({**table, "measure": ["letor4@2"]}).conventions == (score.convention,)
    with pytest.raises(InputError, match=rf"measure\[0\] is '{measure}', but value\[0\] is a Score of ndcg@2/letor4"):
        Results(table, higher_is_better=True)


def test_blank_lines_of_a_file(tmp_path):
    (tmp_path / "r.csv").write_text("method,dataset,measure,value\na,D,MAP,0.4\n\nb,D,MAP,0.5\n\n")
    assert Results.read(tmp_path / "r.csv", higher_is_better=True).values.tolist() == [0.4, 0.5]


@pytest.mark.parametrize("call", [winning_numbers, leave_one_out, page])
def test_what_is_not_a_table_of_results(call):
    if call is page:
        pytest.importorskip("jinja2")
    with pytest.raises(InputError, match=r"results are of type dict\.\nHint: ra\.compare\.Results\(results\)"):
        call(CELLS)


def test_a_front_of_something_else():
    with pytest.raises(InputError, match=r"numbers are of type Results\.\nHint: ra\.compare\.winning_numbers"):
        front(Results(CELLS, higher_is_better=True))


@pytest.mark.parametrize(
    ("datasets", "scores", "said"),
    [
        ([QUERIES], {}, "datasets is of type list"),
        (QUERIES, [[1, 2]], "scores is of type list"),
        (QUERIES, {"D": np.zeros((2, 2))}, r"scores\['D'\] is of type ndarray"),
    ],
)
def test_tests_of_what_is_not_a_mapping(datasets, scores, said):
    with pytest.raises(InputError, match=rf"{said}\.\nHint: a mapping "):
        stratified_tests(datasets, scores, "letor4@2")


def test_one_name_alone_is_one_method():
    results = Results({("BM25", "D", "MAP"): 0.5, ("B", "D", "MAP"): 0.4}, higher_is_better=True)
    assert results.only(methods="BM25").methods == ("BM25",)


def test_decimals_beside_values_that_have_no_room_for_them():
    results = Results([("a", "D", "m", "1e-90"), ("b", "D", "m", 1e300)], higher_is_better=True)
    assert winning_numbers(results).n_undecided == 0


def test_one_pair_is_told_in_the_singular():
    results = Results([("a", "D", "MAP", "0.41"), ("b", "D", "MAP", "0.413")], higher_is_better=True)
    with pytest.warns(ra.compare.MixedDecimalsWarning, match="^1 pair of values differs, but is equal in the decimals"):
        winning_numbers(results)


def test_a_page_of_one_method():
    pytest.importorskip("matplotlib")
    pytest.importorskip("adjustText")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        written = page(Results({("a", "D1", "MAP"): 0.5}, higher_is_better=True))
    assert "1 method on 1 data set by 1 measure: 1 value." in written
