import json
import math
import pickle

import pytest

import rankadapters as ra
from rankadapters.core.presets.tool import differing, require_expressible
from rankadapters.parity import ParityError, ParityReport, ParityRow
from rankadapters.parity.checks import compare_numbers
from rankadapters.parity.rows import FLOAT32, FULL_DOUBLE, relative
from tests.tables import for_each

SIX_DECIMALS = 1e-6
LIGHTGBM = ra.presets.lightgbm(10)


def compared(value, our_value, tolerance=SIX_DECIMALS, reason=""):
    return ParityRow.compare(
        "log", "4.7.0", LIGHTGBM, value=value, our_value=our_value, tolerance=tolerance, reason=reason
    )


def stated(reason="it has no averaged ties"):
    return ParityRow.not_comparable("log", "4.7.0", ra.presets.textbook(10), our_value=0.25, reason=reason)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (0.5, "equal"),
        (0.5 + 2.0**-20, "equal"),  # 9.5e-7
        (0.5 - 2.0**-20, "equal"),
        (0.5 + 2.0**-19, "different"),  # 1.9e-6
        (math.nan, "different"),
        (math.inf, "different"),
    ],
)
def test_values_are_equal_within_the_tolerance_and_nan_never(value, verdict):
    assert compared(value, 0.5).verdict == verdict


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


@pytest.mark.parametrize("number", [True, "0.5", b"0.5", None, 10**400], ids=lambda number: f"{number!r:.20}")
def test_what_is_no_number_is_not_compared(number):
    with pytest.raises(ra.InputError, match=r"b=.*; allowed are Scores and numbers"):
        compare_numbers(0.5, number)


def test_difference_is_theirs_less_ours():
    assert compared(0.75, 0.5).difference == 0.25


def test_a_value_under_another_convention_is_stated_and_not_compared():
    row = stated()
    assert (row.verdict, row.value, row.difference, row.tolerance) == ("not-comparable", None, None, None)
    assert row.our_value == 0.25


@pytest.mark.parametrize(
    ("rows", "ok"),
    [
        ((compared(0.5, 0.5),), True),
        ((compared(0.5, 0.5), stated()), True),
        ((compared(0.5, 0.5), compared(0.5, 0.25)), False),
        ((stated(),), False),
        ((), False),
    ],
    ids=["equal", "equal and stated", "one different", "nothing compared", "no rows"],
)
def test_parity_holds_when_something_was_compared_and_nothing_differs(rows, ok):
    assert ParityReport(rows).ok is ok


def test_text_gives_values_difference_convention_and_reason():
    text = str(ParityReport((compared(0.75, 0.5, reason="query 7 was cut"), stated())))
    assert text.splitlines() == [
        "parity fails: 1 different, 1 not-comparable",
        "different: log 4.7.0: 0.75, ours 0.5, difference 0.25 (<= 1e-06)",
        f"    {LIGHTGBM}",
        "    query 7 was cut",
        "not-comparable: log 4.7.0: ours 0.25",
        f"    {ra.presets.textbook(10)}",
        "    it has no averaged ties",
    ]


def test_a_failed_report_raises_itself():
    report = ParityReport((compared(0.75, 0.5),))
    with pytest.raises(ParityError, match=r"difference 0\.25") as caught:
        report.raise_if_failed()
    assert str(caught.value) == str(report)


@pytest.mark.parametrize("base", [ra.RankAdaptersError, AssertionError])
def test_the_failure_is_ours_and_an_assertion(base):
    assert issubclass(ParityError, base)


def test_a_report_that_holds_raises_nothing():
    report = ParityReport((compared(0.5, 0.5),))
    report.raise_if_failed()
    assert report.ok


def test_json_holds_every_field_and_the_signature():
    report = json.loads(json.dumps(ParityReport((compared(0.75, 0.5, reason="cut"),)).to_dict(), allow_nan=False))
    assert report == {
        "ok": False,
        "unmet": "",
        "rows": [
            {
                "source": "log",
                "version": "4.7.0",
                "convention": str(LIGHTGBM),
                "value": 0.75,
                "our_value": 0.5,
                "difference": 0.25,
                "tolerance": SIX_DECIMALS,
                "verdict": "different",
                "reason": "cut",
                "per_query": None,
            }
        ],
    }


def test_json_writes_nan_as_null():
    row = json.loads(json.dumps(compared(math.nan, 0.5).to_dict(), allow_nan=False))
    assert (row["value"], row["difference"], row["verdict"]) == (None, None, "different")


def test_reports_survive_pickling():
    report = ParityReport((compared(0.5, 0.5), stated()))
    assert pickle.loads(pickle.dumps(report)) == report


@for_each("precision", [FULL_DOUBLE, FLOAT32])
@for_each(("value", "size"), [(0.0, 1), (-0.5, 1), (1.0, 1), (-8.0, 8), (1024.0, 1024)])
def test_tolerance_grows_with_values_above_one(precision, value, size):
    assert relative(precision, value) == precision * size


def test_a_toolkits_own_convention_is_expressible():
    require_expressible("LightGBM", LIGHTGBM, ra.presets.lightgbm(10))
    assert differing(LIGHTGBM, ra.presets.lightgbm(10)) == {}


@pytest.mark.parametrize("change", [{"missing": "zero"}, {"unjudged": "drop"}, {"ideal": "retrieved"}])
def test_what_cannot_occur_inside_a_toolkit_makes_no_difference(change):
    require_expressible("LightGBM", LIGHTGBM.replace(**change), LIGHTGBM)
    assert differing(LIGHTGBM.replace(**change), LIGHTGBM) == {}


def test_fields_that_are_equal_in_canonical_form_make_no_difference():
    wanted = LIGHTGBM.replace(empty=0)  # query-except-empty is then query
    require_expressible("LightGBM", wanted, LIGHTGBM.replace(empty=0.0, average="query"))
    assert differing(wanted, LIGHTGBM.replace(empty=0.0, average="query")) == {}


def test_every_differing_field_and_the_nearest_convention_are_named():
    with pytest.raises(ra.UnsupportedConventionError) as caught:
        require_expressible("LightGBM", ra.presets.textbook(5), ra.presets.lightgbm(5))
    assert str(caught.value) == (
        "LightGBM cannot express ties='average', empty=0, average='uniform', "
        "only ties='input', empty=1, average='query-except-empty'.\n"
        f"Hint: the nearest it can express is {ra.presets.lightgbm(5)}."
    )


def test_another_measure_is_named_without_the_fields_that_it_does_not_have():
    dcg = ra.DCG(
        k=10, gain="exp2", discount="log2", ties="input", precision="float64", short="pad",
        missing="error", unjudged="error", average="query",
    )  # fmt: skip
    assert differing(dcg, LIGHTGBM) == {
        "measure": ("dcg", "ndcg"),
        "average": ("query", "query-except-empty"),
    }


def test_what_is_no_convention_is_refused():
    with pytest.raises(ra.ConventionError, match=r"10 is not a convention.\nHint: ra\.presets"):
        require_expressible("LightGBM", 10, LIGHTGBM)
