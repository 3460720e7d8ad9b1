"""`crosscheck`, `check_value`, `compare_numbers`: our number against every toolkit, a printed number, any number."""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.errors import brief
from rankadapters.parity import check_value, crosscheck
from rankadapters.parity.checks import compare_numbers
from rankadapters.statistics.printed import as_printed

ALL = ["sklearn", "lightgbm", "xgboost", "catboost"]
LABELS, SCORES, SIZES = [2, 0, 1, 1, 0], [0.5, 0.9, 0.1, 0.25, 0.75], [3, 2]
TEXTBOOK = ra.presets.textbook(2)


@pytest.fixture
def all_toolkits():
    for toolkit in ALL:
        pytest.importorskip(toolkit)


def check(convention, scores=SCORES, labels=LABELS, **options):
    return crosscheck(labels, scores, convention, group_sizes=SIZES, **options)


def verdicts_by_toolkit(report):
    rows = {}
    for row in report.rows:
        rows.setdefault(row.source.partition(" ")[0].partition(".")[0], []).append(row.verdict)
    return rows


def test_every_installed_toolkit_is_compared(all_toolkits):
    report = check(TEXTBOOK, require=3)
    assert report.ok
    assert verdicts_by_toolkit(report) == {
        "sklearn": ["equal", "not-comparable"],  # scikit-learn has linear gains only
        "lightgbm": ["equal", "equal-on-this-data"],
        "xgboost": ["equal", "equal-on-this-data"],
        "catboost": ["equal", "equal-on-this-data"],
    }
    assert not check(TEXTBOOK, require=4).ok
    binary_report = check(TEXTBOOK, labels=[1, 0, 1, 1, 0], require=4)
    assert binary_report.ok
    assert {verdicts[-1] for verdicts in verdicts_by_toolkit(binary_report).values()} == {"equal-on-this-data"}
    assert list(verdicts_by_toolkit(check(TEXTBOOK, toolkits=["xgboost", "sklearn"]))) == ["xgboost", "sklearn"]


@pytest.mark.parametrize(("measure", "n_equal"), [("map", 4), ("auc", 4), ("err", 1), ("query-rmse", 1)])
def test_each_toolkit_is_compared_under_its_own_convention_of_a_measure(measure, n_equal, all_toolkits):
    labels, qid = [1, 0, 1, 0, 0, 1], [0, 0, 0, 1, 1, 1]
    report = crosscheck(labels, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], measure=measure, k=3, qid=qid)
    assert report.ok
    verdicts = verdicts_by_toolkit(report)
    assert set(verdicts) == set(ALL)
    assert sum("equal" in toolkit_verdicts for toolkit_verdicts in verdicts.values()) == n_equal
    missing = [row.reason for row in report.rows if row.convention is None]
    assert missing == [f"{name} does not compute {measure}." for name in ALL if "equal" not in verdicts[name]]


def test_too_few_comparable_toolkits_fail_the_report(all_toolkits):
    report = check(ra.presets.letor4(3), toolkits=["sklearn", "xgboost"])
    assert not report.ok
    assert report.unmet == (
        "1 toolkit must be compared under the declared convention, none could be (of: sklearn, xgboost); "
        "declare what was compared instead: 'sklearn@3+average=uniform', 'xgboost@3+empty=0'"
    )
    assert "discount='jk2'" in report.rows[1].reason


def test_a_requested_toolkit_that_is_missing_is_a_row_that_names_its_extra(monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.setitem(sys.modules, "catboost", None)
    report = check(ra.presets.sklearn(2), toolkits=["catboost", "sklearn"])
    assert report.ok
    assert report.rows[0].verdict == "not-comparable"
    assert report.rows[0].reason == 'catboost is not installed: pip install "rankadapters[catboost]"'
    assert report.rows[0].our_value == ra.evaluate(LABELS, SCORES, ra.presets.sklearn(2), group_sizes=SIZES).value
    for toolkit in ALL:
        monkeypatch.setitem(sys.modules, toolkit, None)
    report = check(ra.presets.sklearn(2))
    assert (report.rows, report.ok) == ((), False)
    assert report.unmet.endswith('(of: no toolkit is installed); pip install "rankadapters[all]"')


def test_lightgbm_is_compared_without_scikit_learn(monkeypatch):
    pytest.importorskip("lightgbm")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert check(ra.presets.lightgbm(2), toolkits=["lightgbm"]).ok


def test_a_toolkit_that_refuses_the_data_is_a_row_with_its_reason(all_toolkits):
    report = check(ra.presets.catboost(2), labels=[0.5, 0, 1, 1, 0])
    verdicts = verdicts_by_toolkit(report)
    assert verdicts["lightgbm"] == ["not-comparable"]
    [lightgbm_row] = [row for row in report.rows if row.source == "lightgbm"]
    assert lightgbm_row.reason.startswith("labels[0] is 0.5, but lightgbm takes whole labels")
    assert verdicts["catboost"] == ["equal"]
    assert report.ok


@pytest.mark.parametrize(
    ("toolkit", "convention", "label", "allowed"),
    [
        ("xgboost", ra.presets.xgboost(2), 31, ""),
        ("xgboost", ra.presets.xgboost(2), 32, "from 0 to 31 under its exponential gain"),
        ("xgboost", ra.presets.xgboost(2).replace(gain="linear"), 32, ""),
        ("lightgbm", ra.presets.lightgbm(2), 30, ""),
        ("lightgbm", ra.presets.lightgbm(2), 31, "from 0 to 30"),
    ],
)
def test_labels_are_accepted_up_to_the_largest_of_a_toolkit(toolkit, convention, label, allowed, all_toolkits):
    [row] = check(convention, labels=[label, 0, 1, 1, 0], toolkits=[toolkit]).rows
    assert row.verdict == ("not-comparable" if allowed else "equal")
    assert allowed in row.reason
    assert bool(row.reason) == bool(allowed)


def test_queries_and_weights_and_docids_pass_through(all_toolkits):
    queries = ra.Queries(LABELS, group_sizes=SIZES, query_weight=[1, 3], docid=list("abcde"))
    assert crosscheck(queries, SCORES, ra.presets.trec_eval_9(3).replace(average="query"), require=2).ok


# A printed number.

DECLARED = ra.presets.ranklib(3).replace(ties="input")
DATA = [2, 0, 1, 0, 0, 3, 1], [0.3, 0.5, 0.5, 0.1, 0.2, 0.9, 0.4]
COLUMNS = {"group_sizes": [3, 4]}
OUR_VALUE = ra.evaluate(*DATA, DECLARED, **COLUMNS).value


def short_id(value):
    return brief(value)[:20]


@pytest.mark.parametrize(("shift", "ok"), [(0, True), (9e-7, False), (-1.1e-6, False)])
def test_the_tolerance_of_a_printed_number_is_half_its_last_decimal(shift, ok):
    report = check_value(*DATA, DECLARED, value=f"{OUR_VALUE + shift:.6f}", source="log", version="2", **COLUMNS)
    [row] = report.rows
    assert (report.ok, row.tolerance, row.source, row.version) == (ok, 5e-7, "log", "2")


@pytest.mark.parametrize("value", ["0.5", ".5", "5e-1", Decimal("0.5"), Fraction(1, 2), np.array(0.5)], ids=short_id)
def test_a_number_is_read_in_every_form_that_python_prints(value):
    assert check_value(*DATA, DECLARED, value=value, **COLUMNS).rows[0].value == 0.5
    assert check_value(*DATA, DECLARED, value=OUR_VALUE + 0.01, tolerance=0.02, **COLUMNS).ok


def agrees_with_ndcg_of_two_rows(value):
    """Return whether a value agrees with our NDCG of two rows, the second one relevant: 1 / log2(3) = 0.63093."""
    return check_value([0, 1], [2, 1], ra.presets.yahoo(2), value=value, group_sizes=[2]).ok


@pytest.mark.parametrize("printed", ["0.64", "0.7", "0.62", "0.6310", "0.63094", "0.63092", "0.630929753571", "1"])
def test_our_value_must_round_to_the_printed_number(printed):
    agrees = printed in {"0.630929753571", "1"}
    assert agrees_with_ndcg_of_two_rows(printed) is agrees
    assert agrees_with_ndcg_of_two_rows(Decimal(printed)) is agrees
    assert as_printed(printed).holds(1 / np.log2(3)) is agrees


def test_a_float32_has_a_wider_tolerance_and_decimals_after_the_twelfth_are_ignored():
    value = 1 / np.log2(3)
    assert agrees_with_ndcg_of_two_rows(np.float32(value))
    assert not agrees_with_ndcg_of_two_rows(np.float32(value + 1e-6))
    digits = f"{value:.16f}"
    assert agrees_with_ndcg_of_two_rows(digits + "999")
    assert not agrees_with_ndcg_of_two_rows(digits[:11] + "9" + digits[12:])


@pytest.mark.parametrize(("printed", "ok"), [("0.12", True), ("0.13", True), ("0.11", False), ("0.14", False)])
def test_a_value_exactly_between_two_printed_numbers_rounds_to_both(printed, ok):
    columns = {"group_sizes": [8], "docid": list("abcdefgh")}
    report = check_value([0] * 7 + [1], -np.arange(8.0), ra.presets.trec_eval_9.recip_rank(), value=printed, **columns)
    assert (report.rows[0].our_value, report.ok) == (0.125, ok)


def test_a_named_cause_must_round_to_the_printed_number():
    data, linear = ([1, 0, 2], [1, 2, 3]), ra.presets.yahoo(3).replace(gain="linear")
    value = ra.evaluate(*data, linear, group_sizes=[3]).value
    for error, is_named in ((0, True), (1e-4, False)):
        report = check_value(*data, ra.presets.yahoo(3), value=f"{value + error:.4f}", group_sizes=[3])
        assert ("gain='linear' in place of" in report.rows[0].reason) is is_named


@pytest.mark.parametrize("column", ["retrieved", "judged"])
def test_queries_with_rows_left_out_are_refused_by_every_toolkit(column):
    pytest.importorskip("sklearn")
    queries = ra.Queries([1, 0, 1], group_sizes=[3], **{column: [True, True, False]})
    with pytest.raises(ra.InputError, match=f"have {column}=, but to scikit-learn every row is retrieved and judged"):
        ra.sklearn.check_parity(queries, [3, 2, 1], "sklearn@2+missing=zero+unjudged=drop")


# Any two numbers.

THREE = ra.Queries([1, 0, 2], group_sizes=[3])


@pytest.mark.parametrize(
    ("a", "b", "verdict", "difference"),
    [
        (math.inf, math.inf, "equal", 0),
        (math.inf, -math.inf, "different", math.inf),
        (math.inf, 0.5, "different", math.inf),
    ],
)
def test_infinities_are_compared_without_a_warning(a, b, verdict, difference):
    [row] = compare_numbers(a, b).rows
    assert (row.verdict, row.difference) == (verdict, difference)


def test_scores_of_different_conventions_or_queries_are_not_compared():
    score = ra.evaluate(THREE, [1, 2, 3], ra.presets.yahoo(3))
    others = {
        "the conventions differ in empty=1": ra.evaluate(THREE, [1, 2, 3], ra.presets.ranklib(3)),
        "over different queries": ra.evaluate([1, 0], [1, 2], ra.presets.yahoo(3), group_sizes=[2]),
    }
    for reason, other in others.items():
        with pytest.raises(ra.IncomparableScoresError, match=reason):
            compare_numbers(score, other)
    data = {"labels": LABELS, "scores": [1, 1, 2, 2, 3], "group_sizes": SIZES}
    a, b = (ra.evaluate(convention=name, **data) for name in ("sklearn@2", "yahoo@2"))
    with pytest.raises(ra.IncomparableScoresError, match="differ in gain='linear' against 'exp2', ties="):
        compare_numbers(a, b, **data)


def test_equal_numbers_have_no_reason_even_if_the_data_would_differ():
    score = ra.evaluate(THREE, [1, 2, 3], ra.presets.yahoo(3))
    for number in (score, score.value):
        [row] = compare_numbers(number, score, labels=THREE, scores=[3, 2, 1]).rows
        assert (row.verdict, row.reason) == ("equal", "")


@pytest.mark.parametrize(("scores", "verdict"), [([3, 2, 1], "different"), ([1, 2, 3], "equal-on-this-data")])
def test_scores_of_two_conventions_that_cannot_differ_here_must_be_equal(scores, verdict):
    a, b = ra.evaluate(THREE, [1, 2, 3], ra.presets.yahoo(3)), ra.evaluate(THREE, scores, ra.presets.ranklib(3))
    [row] = compare_numbers(a, b, labels=THREE, scores=[1, 2, 3]).rows
    assert (row.verdict, row.tolerance) == (verdict, 0)


@pytest.mark.parametrize("data", [{"labels": LABELS}, {"scores": SCORES}, {"group_sizes": SIZES}])
def test_a_part_of_the_data_is_refused(data):
    with pytest.raises(ra.InputError, match="labels= and scores= go together, and the keywords of Queries with them"):
        compare_numbers(0.25, 0.5, **data)


def test_the_convention_is_that_of_the_second_score_or_else_of_the_first_or_else_declared():
    yahoo, ranklib = (ra.evaluate(THREE, [1, 2, 3], name) for name in ("yahoo@3", "ranklib@3"))
    options = {"convention": TEXTBOOK, "labels": THREE, "scores": [1, 2, 3]}
    rows = [compare_numbers(*pair, **options).rows[0] for pair in ((yahoo, ranklib), (yahoo, yahoo.value), (1, 1))]
    assert [row.convention for row in rows] == [ranklib.convention, yahoo.convention, TEXTBOOK]


@pytest.mark.parametrize("column", ["query_weight", "row_weight"])
def test_weights_that_the_convention_does_not_count_are_refused_in_comparisons(column):
    queries = ra.Queries(LABELS, group_sizes=SIZES, **{column: [1, 2] if column == "query_weight" else SCORES})
    for comparison in (
        lambda: check_value(queries, SCORES, TEXTBOOK, value=0.5),
        lambda: crosscheck(queries, SCORES, TEXTBOOK, toolkits=[]),
        lambda: compare_numbers(0.25, 0.5, convention=TEXTBOOK, labels=queries, scores=SCORES),
    ):
        with pytest.raises(ra.InputError, match=f"{column} .*would ignore it"):
            comparison()
