"""A parity report: its verdicts, its forms as text, Markdown, HTML, JSON and pickle, and its plot."""

from __future__ import annotations

import json
import math
import pickle
import re
from html import unescape

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.evaluation.table import Table
from rankadapters.parity import ParityError, ParityReport, ParityRow, QueryDifferences
from rankadapters.presets.vocabulary import differing, require_expressible
from rankadapters.statistics.rivals import OurNumber

LIGHTGBM = ra.presets.lightgbm(10)
PARTS = [0.0, 0.5, -0.25, 0.125, 0.0625, -0.03125, 0.015625]
DIFFERENCES = QueryDifferences(
    query_ids=np.array([f"q{i}" for i in range(7)]), values=np.linspace(0, 0.75, 7),
    our_values=np.array([0.5] * 6 + [np.nan]), contributions=np.array(PARTS),
)  # fmt: skip


def compared_row(value, **options):
    return ParityRow.compare("a|b <log>", "1.0", LIGHTGBM, value=value, our_value=0.5, tolerance=1e-6, **options)


STATED = ParityRow.not_comparable("other", "", ra.presets.textbook(10), our_value=0.25, reason="no averaged ties")
VALUED = ParityRow.not_comparable("other", "", LIGHTGBM, our_value=None, value=0.25, reason="no value")
REPORT = ParityReport(
    (compared_row(0.5), compared_row(0.75, reason="query *7* was cut\n& more", per_query=DIFFERENCES), VALUED),
    unmet="one is missing",
)


# Verdicts.


@pytest.mark.parametrize(
    ("value", "verdict", "options"),
    [
        (0.5, "equal", {}),
        (0.5 + 2.0**-20, "equal", {}),  # 9.5e-7
        (0.5 - 2.0**-20, "equal", {}),
        (0.5 + 2.0**-19, "different", {}),  # 1.9e-6
        (math.nan, "different", {}),
        (math.inf, "different", {}),
        (0.5, "equal-on-this-data", {"inert": ("ties",)}),
        (0.6, "different", {"inert": ("ties",)}),
    ],
)
def test_values_are_equal_within_the_tolerance_and_nan_is_never_equal(value, verdict, options):
    row = compared_row(value, **options)
    assert row.verdict == verdict
    assert math.isnan(value) or row.difference == value - 0.5
    assert ParityReport((row,)).ok is (verdict != "different")


@pytest.mark.parametrize(
    ("rows", "unmet", "ok"),
    [
        ((compared_row(0.5), STATED), "", True),
        ((compared_row(0.5), compared_row(0.25)), "", False),
        ((STATED,), "", False),
        ((), "", False),
        ((compared_row(0.5),), "2 toolkits must be compared", False),
    ],
)
def test_parity_holds_if_something_was_compared_and_nothing_differs_or_is_missing(rows, unmet, ok):
    report = ParityReport(rows, unmet=unmet)
    assert report.ok is ok
    assert unmet in str(report)
    if ok:
        report.raise_if_failed()
        return
    with pytest.raises(ParityError) as raised:
        report.raise_if_failed()
    assert isinstance(raised.value, AssertionError)
    assert isinstance(raised.value, ra.RankAdaptersError)
    assert str(raised.value) == str(report)


# Text, JSON, Markdown and HTML.


def test_the_five_queries_that_contribute_most_are_named_by_size_after_the_reason():
    assert [(name, part) for name, _, _, part in DIFFERENCES.largest()] == [
        ("q1", 0.5), ("q2", -0.25), ("q3", 0.125), ("q4", 0.0625), ("q5", -0.03125),
    ]  # fmt: skip
    assert len(DIFFERENCES.largest(100)) == 6  # q0 contributes nothing
    lines = str(compared_row(0.75, reason="cut", per_query=DIFFERENCES)).splitlines()
    assert lines[2:5] == [
        "    cut",
        "    the queries that contribute most:",
        "      query q1: 0.125, ours 0.5, contributes +0.5",
    ]
    assert len(lines) == 9


def test_a_report_is_the_same_after_pickling_and_a_nan_is_null_in_json():
    loaded = pickle.loads(pickle.dumps(REPORT))
    assert loaded == REPORT
    assert str(loaded) == str(REPORT)
    differences = json.loads(REPORT.to_json())["rows"][1]["per_query"]
    assert list(differences) == ["query_ids", "values", "our_values", "contributions"]
    assert differences["our_values"][-2:] == [0.5, None]


def test_markdown_and_html_have_every_cell_and_escape_markup():
    [table] = [block for block in REPORT.blocks() if isinstance(block, Table)]
    cells = [cell for line in (table.head, *table.lines) for cell in line]
    page = REPORT.to_html()
    assert list(map(unescape, re.findall(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", page))) == cells
    assert "a|b &lt;log&gt;" in page
    assert REPORT._repr_html_() == page
    lines = REPORT.to_markdown().splitlines()
    assert lines[6].startswith(r"| equal | a\|b \<log> | 1.0 | 0.5 | 0.5 | 0 | 1e-06 |")
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines[4:9]} == {len(table.head) + 1}
    assert any(r"query \*7\* was cut" in line for line in lines)


def test_contributions_add_up_to_the_gap_of_two_conventions():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 8, 30)
    labels = rng.integers(0, 3, sizes.sum()) * np.repeat(rng.random(30) < 0.7, sizes)
    queries = ra.Queries(labels, group_sizes=sizes, query_weight=rng.uniform(0.5, 2, 30))
    scores = rng.integers(0, 5, sizes.sum()) / 5
    first, second = (
        OurNumber.of(queries, scores, convention)
        for convention in (ra.presets.lightgbm(3), ra.presets.sklearn(3).replace(short="skip"))
    )
    gap = QueryDifferences.between(first, second)
    values = [ra.evaluate(queries, scores, number.convention).value for number in (first, second)]
    assert gap.contributions.sum() == pytest.approx(values[0] - values[1], rel=1e-12)
    assert np.isnan(gap.our_values).any()


def test_a_number_that_is_no_sum_has_no_difference_by_query():
    queries = ra.Queries([1, 0, 0, 1], group_sizes=[2, 2])
    whole, total = (
        OurNumber.of(queries, np.arange(4.0), ra.parse(name)) for name in ("sklearn.roc_auc_score", "yahoo@2")
    )
    assert QueryDifferences.between(total, total) is not None
    for pair in ((whole, total), (total, whole), (whole, whole)):
        assert QueryDifferences.between(*pair) is None


def test_csv_has_a_line_for_each_row():
    assert ParityReport((compared_row(0.75), VALUED)).to_csv().splitlines() == [
        "verdict,source,version,its value,our value,difference,tolerance",
        "different,a|b <log>,1.0,0.75,0.5,0.25,1e-06",
        "not-comparable,other,,0.25,,,",
    ]


# The plot.


def differences_of_one_query(contribution):
    columns = dict.fromkeys(("query_ids", "values", "our_values"), np.ones(1))
    return QueryDifferences(**columns, contributions=np.array([contribution]))


def test_the_plot_shows_the_queries_of_the_row_that_differs():
    figure_module = pytest.importorskip("matplotlib.figure")
    figure = ParityReport((compared_row(0.5, per_query=differences_of_one_query(1.0)), *REPORT.rows)).plot(n=3)
    assert isinstance(figure, figure_module.Figure)
    [ax] = figure.axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["q1", "q2", "q3"]
    assert [bar.get_width() for bar in ax.patches] == [0.5, -0.25, 0.125]
    assert ax.yaxis_inverted()  # the largest on top
    assert "a|b <log> 1.0 less ours" in ax.get_title()
    assert REPORT.plot(ax=ax) is figure


@pytest.mark.parametrize(
    ("report", "n", "message"),
    [
        (ParityReport((compared_row(0.5),)), 20, "no row of this report has differences by query"),
        (ParityReport((compared_row(0.75, per_query=differences_of_one_query(0.0)),)), 20, "no query contributes"),
        *((REPORT, n, "allowed are whole numbers from 1 on") for n in ("x", 1.5, 0, True)),
    ],
    ids=str,
)
def test_a_plot_without_differences_or_with_a_bad_n_is_refused(report, n, message):
    with pytest.raises(ra.InputError, match=message):
        report.plot(n=n)


# What a tool can express.


@pytest.mark.parametrize(
    ("changes", "own_convention"),
    [
        ({}, LIGHTGBM),
        *(
            ({name: value}, LIGHTGBM)
            for name, value in {"missing": "zero", "unjudged": "drop", "ideal": "retrieved"}.items()
        ),
        ({"empty": 0}, LIGHTGBM.replace(empty=0.0, average="query")),  # then query-except-empty means query
    ],
)
def test_fields_that_cannot_matter_inside_a_toolkit_do_not_differ(changes, own_convention):
    require_expressible("LightGBM", LIGHTGBM.replace(**changes), own_convention)
    assert differing(LIGHTGBM.replace(**changes), own_convention) == {}


def test_every_differing_field_and_the_nearest_convention_are_named():
    with pytest.raises(ra.UnsupportedConventionError) as raised:
        require_expressible("LightGBM", ra.presets.textbook(5), ra.presets.lightgbm(5))
    assert str(raised.value) == (
        "LightGBM cannot express ties='average', empty=0, average='uniform', "
        "only ties='input', empty=1, average='query-except-empty'.\n"
        f"Hint: the nearest it can express is {ra.presets.lightgbm(5)}."
    )


def test_a_different_measure_is_named_but_not_the_fields_that_it_lacks():
    fields = {name: value for name, value in LIGHTGBM.to_dict().items() if name in ra.DCG.fields()}
    assert differing(ra.DCG(**{**fields, "average": "query"}), LIGHTGBM) == {
        "measure": ("dcg", "ndcg"),
        "average": ("query", "query-except-empty"),
    }
