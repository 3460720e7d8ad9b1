"""parity.crosscheck: every toolkit's own number for the same scores."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import parity
from tests.tables import for_each

ALL = ["sklearn", "lightgbm", "xgboost", "catboost"]
LABELS, SCORES, SIZES = [2, 0, 1, 1, 0], [0.5, 0.9, 0.1, 0.25, 0.75], [3, 2]

NAMES = ra.presets.names(None)
KINDS_OF_LABELS = [(name, True) for name in NAMES if name.partition(".")[0] in ALL or NAMES.index(name) % 2]
KINDS_OF_LABELS += [(name, False) for name in NAMES if name.partition(".")[0] in ALL or not NAMES.index(name) % 2]


@pytest.fixture
def all_toolkits():
    for toolkit in ALL:
        pytest.importorskip(toolkit)


def check(convention, scores=SCORES, labels=LABELS, **more):
    return parity.crosscheck(labels, scores, convention, group_sizes=SIZES, **more)


def by_toolkit(report):
    rows = {}
    for row in report.rows:
        rows.setdefault(row.source.partition(" ")[0].partition(".")[0], []).append(row.verdict)
    return rows


def test_every_installed_toolkit_is_asked(all_toolkits):
    report = check(ra.presets.textbook(2), require=3)
    assert report.ok
    assert by_toolkit(report) == {
        "sklearn": ["equal", "not-comparable"],  # it has linear gains only
        "lightgbm": ["equal", "equal-on-this-data"],
        "xgboost": ["equal", "equal-on-this-data"],
        "catboost": ["equal", "equal-on-this-data"],
    }
    assert not check(ra.presets.textbook(2), require=4).ok


def test_with_labels_of_one_gain_all_four_agree(all_toolkits):
    report = check(ra.presets.textbook(2), labels=[1, 0, 1, 1, 0], require=4)
    assert report.ok
    assert {verdicts[-1] for verdicts in by_toolkit(report).values()} == {"equal-on-this-data"}


@pytest.mark.parametrize(("measure", "equal"), [("map", 4), ("auc", 4), ("err", 1), ("query-rmse", 1)])
def test_each_toolkit_is_asked_for_its_own_of_a_measure(measure, equal, all_toolkits):
    labels, qid = [1, 0, 1, 0, 0, 1], [0, 0, 0, 1, 1, 1]
    report = parity.crosscheck(labels, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], measure=measure, k=3, qid=qid)
    assert report.ok
    verdicts = by_toolkit(report)
    assert set(verdicts) == set(ALL)
    assert sum("equal" in each for each in verdicts.values()) == equal
    missing = [row.reason for row in report.rows if row.convention is None]
    assert missing == [f"{name} does not compute {measure}." for name in ALL if "equal" not in verdicts[name]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "neither a convention nor a measure was given"),
        ({"convention": "textbook@2", "measure": "map"}, "a convention and a measure were given"),
    ],
)
def test_a_convention_or_a_measure_is_named(given, message):
    with pytest.raises(ra.ConventionError, match=message):
        parity.crosscheck([1, 0], [2, 1], group_sizes=[2], **given)


def test_a_measure_that_is_none_names_those_there_are():
    with pytest.raises(ra.InputError, match="measure='mapp'; allowed are"):
        parity.crosscheck([1, 0], [2, 1], measure="mapp", group_sizes=[2])


def test_too_few_comparable_toolkits_fail_the_report(all_toolkits):
    report = check(ra.presets.letor4(3), toolkits=["sklearn", "xgboost"])
    assert not report.ok
    assert report.unmet == (
        "1 toolkit must be compared under the declared convention, none could be (of: sklearn, xgboost)"
    )
    assert "discount='jk2'" in report.rows[1].reason


def test_a_missing_toolkit_is_a_row_that_names_its_extra(monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.setitem(sys.modules, "catboost", None)
    report = check(ra.presets.sklearn(2), toolkits=["catboost", "sklearn"])
    assert report.ok
    assert report.rows[0].verdict == "not-comparable"
    assert report.rows[0].reason == 'catboost is not installed: pip install "rankadapters[catboost]"'
    assert report.rows[0].our_value == ra.evaluate(LABELS, SCORES, ra.presets.sklearn(2), group_sizes=SIZES).value


def test_what_is_not_installed_is_not_asked_by_default(monkeypatch):
    for toolkit in ALL:
        monkeypatch.setitem(sys.modules, toolkit, None)
    report = check(ra.presets.sklearn(2))
    assert report.rows == ()
    assert not report.ok
    assert report.unmet.endswith('(of: no toolkit is installed); pip install "rankadapters[all]"')


def test_lightgbm_and_xgboost_are_asked_without_scikit_learn(monkeypatch):
    pytest.importorskip("lightgbm")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert check(ra.presets.lightgbm(2), toolkits=["lightgbm"]).ok


def test_a_toolkit_that_refuses_the_data_is_a_row_with_its_reason(all_toolkits):
    report = check(ra.presets.catboost(2), labels=[0.5, 0, 1, 1, 0])
    verdicts = by_toolkit(report)
    assert verdicts["lightgbm"] == ["not-comparable"]
    [refused] = [row for row in report.rows if row.source == "lightgbm"]
    assert refused.reason.startswith("labels[0] is 0.5, but lightgbm takes whole labels")
    assert verdicts["catboost"] == ["equal"]
    assert report.ok


def test_a_difference_fails_the_report(all_toolkits, monkeypatch):
    monkeypatch.setattr("rankadapters.lightgbm.parity.LightGBMToolkit.ask", lambda *given, **words: 0.123)
    report = check(ra.presets.lightgbm(2))
    assert not report.ok
    assert by_toolkit(report)["lightgbm"] == ["different"]
    assert by_toolkit(report)["xgboost"] == ["equal", "equal-on-this-data"]


def test_queries_and_weights_and_docids_pass_through(all_toolkits):
    queries = ra.Queries(LABELS, group_sizes=SIZES, query_weight=[1, 3], docid=list("abcde"))
    report = parity.crosscheck(queries, SCORES, ra.presets.trec_eval_9(3).replace(average="query"), require=2)
    assert report.ok


def test_toolkits_are_asked_once_each_in_the_order_given(all_toolkits):
    report = check(ra.presets.textbook(2), toolkits=["xgboost", "sklearn"])
    assert list(by_toolkit(report)) == ["xgboost", "sklearn"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"toolkits": ["ranklib"]}, "toolkits='ranklib'; allowed are 'sklearn'"),
        ({"toolkits": "ranklib"}, "toolkits='ranklib'; allowed are 'sklearn', 'lightgbm'"),
        ({"toolkits": 3}, "toolkits=3; allowed"),
        ({"require": 0}, "require=0; allowed are whole numbers from 1 to 4"),
        ({"require": 5}, "require=5; allowed"),
        ({"require": 1.5}, "require=1.5; allowed"),
        ({"scores": [1, 2]}, "scores has 2 rows but the queries cover 5"),
        ({"scores": [np.nan] * 5}, r"scores\[0\] is nan"),
        ({"labels": [7, 0, 0, 0, 0], "convention": ra.presets.letor4(2)}, "outside the gain table"),
    ],
)
def test_bad_input_is_refused(more, message):
    given = {"convention": ra.presets.textbook(2), **more}
    with pytest.raises(ra.InputError, match=message):
        check(**given)


@for_each(("name", "binary"), KINDS_OF_LABELS)
def test_no_toolkit_differs_from_what_a_preset_says_of_it(name, binary, all_toolkits):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2 if binary else 3, 60)
    columns = {"qid": np.repeat(np.arange(10), 6), "docid": [f"{row:02d}" for row in rng.permutation(60)]}
    if name in {"catboost.pair_accuracy", "catboost.pair_logit"}:
        columns["pairs"] = ([0, 6], [1, 7])
    conv = ra.presets.make(name, 5)
    if conv.measure == "auc" and conv.empty == "error":
        labels[::6], labels[1::6] = 0, 1
    if "docid" not in str(conv):
        columns.pop("docid")
    scores = rng.permutation(60) / 7
    probabilities = conv.measure == "query-cross-entropy" or getattr(conv, "pairs", "") == "unit"
    if probabilities and not binary:
        with pytest.raises(ra.InputError, match="takes labels in"):
            parity.crosscheck(labels, scores, conv, **columns)
        return
    report = parity.crosscheck(labels, scores, conv, **columns)
    assert {row.source.partition(" ")[0].partition(".")[0] for row in report.rows} == set(ALL)
    assert all(row.verdict != "different" for row in report.rows)
    tool = name.partition(".")[0]
    # What these need is not in the data: classes of samples, pairs, relevant or not.
    elsewhere = {"sklearn.top_k_accuracy_score", "catboost.pair_accuracy", "catboost.pair_logit"}
    elsewhere |= set() if binary else {"xgboost.map", "xgboost.pre"}
    known = tool in ALL and name not in elsewhere
    if known and conv.measure != "rr":  # the tool itself computes its own preset
        assert "equal" in by_toolkit(report)[tool]


@pytest.mark.parametrize("tool", ALL)
def test_another_librarys_keyword_names_ours(tool, all_toolkits):
    checker = __import__(f"rankadapters.{tool}", fromlist=["check_parity"]).check_parity
    with pytest.raises(ra.InputError, match=r"'groups' is not an accepted column; .*\nHint: qid= takes one id"):
        checker(LABELS, SCORES, "textbook@2", groups=SIZES)
    with pytest.raises(ra.InputError, match="allowed are 'qid', 'group_sizes', 'query_weight'"):
        checker(LABELS, SCORES, "textbook@2", group_sizes=SIZES, row_weight=SCORES)
