"""`rankadapters compare`: its output, its HTML page, and the plots of `rankadapters.compare`."""

from __future__ import annotations

import csv
import io
import json
import runpy
import sys
import warnings

import pytest

import rankadapters as ra
from rankadapters.cli import main
from rankadapters.compare import Results, front, leave_one_out, page, winning_numbers
from tests.helpers.checkout import CHECKOUT

LINES = """method,dataset,measure,value
a,D1,letor4@10,0.5
b,D1,letor4@10,0.4
a,D2,letor4@10,0.3
b,D2,letor4@10,0.6
c,D2,letor4@10,0.2
a,D3,letor4@10,0.3
b,D3,letor4@10,0.2
a,D1,MAP,0.1
c,D1,MAP,0.2
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(LINES)
    return path


def compare(capsys, *arguments):
    code = main(["compare", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_json_equals_the_report_and_csv_lists_the_best_method_first(capsys, file):
    code, out, _ = compare(capsys, file, "--better", "higher", "--format", "json", "--by", "dataset")
    expected = winning_numbers(Results.read(file, higher_is_better=True), by="dataset").to_dict()
    assert (code, json.loads(out)) == (0, expected)
    code, out, _ = compare(capsys, file, "--better", "higher", "--format", "csv")
    assert code == 0
    assert list(csv.reader(io.StringIO(out))) == [
        ["method", "NWN", "WN", "IWN", "data sets"],
        ["a", "0.6000", "3", "5", "3"],
        ["b", "0.5000", "2", "4", "3"],
        ["c", "0.3333", "1", "3", "2"],
    ]


def test_the_warning_about_undecided_pairs_is_printed_once(capsys, tmp_path):
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("method,dataset,measure,value\na,D,MAP,0.41\nb,D,MAP,0.413\n")
    warning = "1 pair of values differs, but is equal in the decimals"
    for output_format, n_out, n_err in (("csv", 0, 1), ("markdown", 1, 0)):
        code, out, err = compare(capsys, mixed, "--better", "higher", "--format", output_format)
        assert (code, out.count(warning), err.count(warning)) == (0, n_out, n_err)


def test_a_missing_direction_is_refused_and_a_table_is_printed(capsys, file):
    code, out, err = compare(capsys, file, "--format", "json")
    assert (code, out) == (2, "")
    assert "measure 'MAP': nothing says whether higher is better" in err
    pytest.importorskip("rich")
    code, out, _ = compare(capsys, file, "--better", "higher")
    assert code == 0
    assert "Winning numbers" in out
    assert "0 of 6 pairs of methods tie" in out


def test_the_page_is_valid_self_contained_html(capsys, file, tmp_path):
    html5lib = pytest.importorskip("html5lib")
    for package in ("adjustText", "matplotlib"):
        pytest.importorskip(package)
    out = tmp_path / "deep" / "page.html"
    code, _, err = compare(capsys, file, "--better", "higher", "--format", "json", "--out", out, "--title", "A <title>")
    assert (code, err.strip()) == (0, str(out))
    text = out.read_text(encoding="utf-8")
    html5lib.HTMLParser(strict=True).parse(text)
    assert "A &lt;title&gt;" in text
    assert "http" not in text.replace("http://www.w3.org", "")
    for heading in ("Winning numbers", "Fronts", "One data set left out", "One measure left out", "Signatures"):
        assert f">{heading}<" in text
    assert "3 methods on 3 data sets by 2 measures: 9 values." in text
    assert "Normalized winning numbers by measure" in text
    assert text.count("Rank 1: no other method is as high in both and higher in one. Rank 2: exactly one is.") == 2
    results = Results.read(file, higher_is_better=True)
    assert text == page(results, title="A <title>")
    for over in ("dataset", "measure"):
        bags = {method: leave_one_out(results, over=over).bagplot(method) for method in ("a", "b")}
        medians = ", ".join(f"{method} {bag.median[1]:.4f} at {bag.median[0]:g}" for method, bag in bags.items())
        assert f"A panel per method; medians: {medians}." in text


@pytest.mark.parametrize(
    ("cells", "size"),
    [
        ([("a", "D1")], "1 method on 1 data set by 1 measure: 1 value."),
        ([("a", "D1"), ("a", "D2")], "1 method on 2 data sets by 1 measure: 2 values."),
        ([("a", "D1"), ("b", "D1")], "2 methods on 1 data set by 1 measure: 2 values."),
    ],
)
def test_the_page_of_one_method_or_data_set_omits_comparisons(cells, size):
    for package in ("adjustText", "matplotlib"):
        pytest.importorskip(package)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        written = page(Results({(*cell, "MAP"): 0.5 for cell in cells}, higher_is_better=True))
    assert size in written
    assert "left out" not in written
    assert "by measure<" not in written


def test_the_plot_of_a_front_names_the_methods_of_both_ranks():
    pytest.importorskip("adjustText")
    cells = {(name, "D", "m"): -rank for rank, name in enumerate(["first", "second", "third", "fourth"])}
    numbers = winning_numbers(Results(cells, higher_is_better=True))
    [axes] = front(numbers, against="n_datasets").plot().axes
    assert [text.get_text() for text in axes.texts] == ["first", "second"]
    assert axes.get_xlabel() == "number of data sets"
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not boxes[0].overlaps(boxes[1])


def test_the_error_without_adjusttext_names_the_extra(monkeypatch):
    numbers = winning_numbers(Results({("a", "D", "m"): 1.0, ("b", "D", "m"): 2.0}, higher_is_better=True))
    monkeypatch.setitem(sys.modules, "adjustText", None)
    with pytest.raises(ra.MissingToolkitError, match=r"adjustText is not installed.\nHint: .*rankadapters\[compare\]"):
        front(numbers).plot()


@pytest.mark.long
def test_labels_that_would_overlap_are_moved_apart():
    pytest.importorskip("adjustText")
    from rankadapters.plotting.plots import fronts

    points = {f"a method with a long name {n}": (10 + 0.01 * n, 0.5 - 0.001 * n) for n in range(6)}
    [axes] = fronts({**points, "far": (0.0, 0.0)}, [list(points)], "x", "y").axes
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    n_overlaps = sum(box.overlaps(earlier) for index, box in enumerate(boxes) for earlier in boxes[:index])
    assert n_overlaps == 0


@pytest.mark.long
def test_the_example_prints_the_front_under_every_convention_and_all_methods(capsys, monkeypatch):
    for toolkit in ("lightgbm", "xgboost", "catboost", "sklearn"):
        pytest.importorskip(toolkit)
    monkeypatch.setattr(sys, "argv", ["compare_learners.py"])
    runpy.run_path(str(CHECKOUT / "examples" / "compare_learners.py"), run_name="__main__")
    printed = capsys.readouterr().out
    for measure in ("ndcg@10/letor4", "ndcg@10/yahoo", "ap@10"):
        assert f"front under {measure}: " in printed
    for method in ("LightGBM", "XGBoost", "CatBoost", "regression", "best feature", "chance"):
        assert method in printed
