"""How a report is shown: Markdown, HTML, JSON and back, the queries that contribute most, the plot."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity import ParityReport, ParityRow, QueryDifferences
from rankadapters.parity.report import rendered
from rankadapters.parity.rows import OurNumber

CONVENTION = ra.presets.lightgbm(10)
PARTS = [0.0, 0.5, -0.25, 0.125, 0.0625, -0.03125, 0.015625]


def differences():
    return QueryDifferences(
        query_ids=np.array([f"q{i}" for i in range(7)]),
        values=np.linspace(0, 0.75, 7),
        our_values=np.array([0.5] * 6 + [np.nan]),
        contributions=np.array(PARTS),
    )


def compared(value, **more):
    return ParityRow.compare("a|b <log>", "1.0", CONVENTION, value=value, our_value=0.5, tolerance=1e-6, **more)


def report():
    rows = (
        compared(0.5),
        compared(0.75, reason="query *7* was cut\n& more", per_query=differences()),
        ParityRow.not_comparable("other", "", CONVENTION, our_value=None, value=0.25, reason="no value"),
    )
    return ParityReport(rows, unmet="one is missing")


def test_the_five_queries_that_contribute_most_are_named_by_size():
    assert [(name, part) for name, _, _, part in differences().largest()] == [
        ("q1", 0.5), ("q2", -0.25), ("q3", 0.125), ("q4", 0.0625), ("q5", -0.03125),
    ]  # fmt: skip
    assert len(differences().largest(100)) == 6  # q0 contributes nothing


def test_text_names_them_after_the_reason():
    lines = str(compared(0.75, reason="cut", per_query=differences())).splitlines()
    assert lines[2:5] == [
        "    cut",
        "    the queries that contribute most:",
        "      query q1: 0.125, ours 0.5, contributes +0.5",
    ]
    assert len(lines) == 9


@pytest.mark.parametrize(
    ("verdict", "more"), [("equal", {}), ("equal-on-this-data", {"inert": ("ties",)})], ids=["same", "inert"]
)
def test_inert_fields_make_a_verdict_of_its_own(verdict, more):
    assert compared(0.5, **more).verdict == verdict
    assert compared(0.6, **more).verdict == "different"
    assert ParityReport((compared(0.5, **more),)).ok


def test_what_is_required_and_missing_fails_a_report_without_differences():
    assert not ParityReport((compared(0.5),), unmet="2 toolkits must be compared").ok
    assert "2 toolkits must be compared" in str(ParityReport((compared(0.5),), unmet="2 toolkits must be compared"))


def test_json_reads_back():
    given = report()
    found = ParityReport.from_dict(json.loads(given.to_json()))
    assert found == given
    assert found.rows[1].per_query.largest() == given.rows[1].per_query.largest()
    assert math.isnan(found.rows[1].per_query.our_values[-1])
    assert str(found) == str(given)


def test_markdown_has_a_row_each_and_escapes_what_would_be_markup():
    lines = report().to_markdown().splitlines()
    assert lines[0] == "parity fails: 1 equal, 1 different, 1 not-comparable; one is missing"
    assert lines[6].startswith(r"| equal | a\|b \<log> | 1.0 | 0.5 | 0.5 | 0 | 1e-06 |")
    assert lines[8] == "| not-comparable | other |  | 0.25 |  |  |  |"
    unescaped = {len(re.findall(r"(?<!\\)\|", line)) for line in lines[4:9]}
    assert unescaped == {8}
    assert any(r"query \*7\* was cut" in line for line in lines)
    assert any("query q1: 0.125" in line for line in lines)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in {"br", "meta"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_html_is_well_formed_and_escapes_text():
    parser = Tags()
    parser.feed(report().to_html())
    assert parser.open == []
    assert parser.seen.count("tr") == 4
    assert parser.seen.count("th") == 7 + 3  # heads of columns and of rows
    assert "log" not in parser.seen
    assert "a|b <log>" in parser.text
    assert report()._repr_html_() == report().to_html()


@pytest.mark.parametrize("form", ["txt", "md", "html", "json"])
def test_several_reports_are_written_under_their_names(form):
    text = rendered("2 reports", [("test <one>", report()), ("two", ParityReport(()))], form)
    assert text.endswith("\n")
    if form == "json":
        found = json.loads(text)
        assert found["ok"] is False
        assert [part["name"] for part in found["reports"]] == ["test <one>", "two"]
    elif form == "html":
        parser = Tags()
        parser.feed(text)
        assert parser.open == []
        assert "test <one>" in parser.text
    else:
        assert "one is missing" in text
        assert "two" in text


def test_an_unknown_form_is_refused():
    with pytest.raises(ra.InputError, match="form='pdf'; allowed are 'txt', 'md', 'html', 'json'"):
        rendered("", [], "pdf")


def test_contributions_add_up_to_the_gap_of_two_conventions():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 8, 30)
    queries = ra.Queries(
        rng.integers(0, 3, sizes.sum()) * np.repeat(rng.random(30) < 0.7, sizes),
        group_sizes=sizes, query_weight=rng.uniform(0.5, 2, 30),
    )  # fmt: skip
    scores = rng.integers(0, 5, sizes.sum()) / 5
    one, other = ra.presets.lightgbm(3), ra.presets.sklearn(3).replace(short="skip")
    found = OurNumber.of(queries, scores, one).gap(OurNumber.of(queries, scores, other))
    expected = ra.evaluate(queries, scores, one).value - ra.evaluate(queries, scores, other).value
    assert found.contributions.sum() == pytest.approx(expected, rel=1e-12)
    assert np.isnan(found.our_values).any()


# The plot.


def test_the_plot_shows_the_queries_of_the_row_that_differs():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    first = compared(
        0.5,
        per_query=QueryDifferences(
            **dict.fromkeys(("query_ids", "values", "our_values", "contributions"), np.array([1.0]))
        ),
    )
    ax = ParityReport((first, *report().rows)).plot(n=3)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["q1", "q2", "q3"]
    assert [bar.get_width() for bar in ax.patches] == [0.5, -0.25, 0.125]
    assert ax.yaxis_inverted()  # the largest on top
    assert "a|b <log> 1.0 less ours" in ax.get_title()


def test_the_plot_goes_where_it_is_told():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = figure.subplots()
    assert report().plot(ax=ax) is ax


def test_without_differences_by_query_there_is_no_plot():
    with pytest.raises(ra.InputError, match="no row of this report has differences by query"):
        ParityReport((compared(0.5),)).plot()


def test_without_contributions_there_is_no_plot():
    none = QueryDifferences(
        query_ids=np.array([1]), values=np.ones(1), our_values=np.ones(1), contributions=np.zeros(1)
    )
    with pytest.raises(ra.InputError, match="no query contributes"):
        ParityReport((compared(0.75, per_query=none),)).plot()


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "rankadapters.plotting.figures", raising=False)  # of a test before
    with pytest.raises(ra.MissingToolkitError, match=r"matplotlib is not installed.\nHint: .*rankadapters\[plot\]"):
        report().plot()


def test_a_report_needs_neither_numba_nor_a_toolkit():
    code = (
        "import sys, rankadapters.parity as p\n"
        "print(p.ParityReport(()).to_html())\n"
        "print(sorted({'numba', 'matplotlib', 'sklearn', 'lightgbm', 'xgboost', 'catboost'} & set(sys.modules)))"
    )
    root = Path(__file__).parent.parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.endswith("[]\n")
