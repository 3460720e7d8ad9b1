"""Measures of the ranks 1..k: values of closed forms, and averaged ties as the mean over all orders."""

from __future__ import annotations

from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from tests.helpers.conventions import field_values
from tests.helpers.parameters import examples

SHARED = {
    "k": 3, "relevant": "from_1", "ties": "input", "precision": "float64", "retrieve": "all", "short": "pad",
    "empty": 0, "missing": "error", "unjudged": "error", "pool": "queries", "average": "uniform",
}  # fmt: skip
FIELDS = {
    "precision": {"divisor": "k"},
    "recall": {},
    "success": {},
    "rr": {"count": "first"},
    "err": {"gain": "linear", "scale": 4, "discount": "reciprocal"},
    "rbp": {"gain": "linear", "persistence": 0.5},
    "r-precision": {},
    "f-measure": {"divisor": "k", "beta_squared": 1},
    "fall-out": {},
    "ap": {"divisor": "relevant"},
}
PLAIN = {
    name: MEASURES[name](
        **{field: value for field, value in {**SHARED, **fields}.items() if field in MEASURES[name].fields()}
    )
    for name, fields in {**FIELDS, "coverage": {}, "bpref": {}}.items()
}


def value(labels, scores, convention, **columns):
    return ra.evaluate(labels, scores, convention, **{"group_sizes": [len(labels)], **columns}).value


@pytest.mark.parametrize(
    ("measure", "changes", "expected"),
    [
        ("precision", {}, 2 / 3),
        ("precision", {"k": 10}, 3 / 10),
        ("precision", {"k": 10, "divisor": "retrieved"}, 3 / 5),
        ("precision", {"k": None, "divisor": "k"}, 3 / 5),
        ("precision", {"k": 2, "divisor": "relevant"}, 1 / 2),
        ("precision", {"k": None, "divisor": "relevant"}, 3 / 3),
        ("precision", {"divisor": "one"}, 2),
        ("precision", {"relevant": "label"}, (2 + 0 + 1) / 3),
        ("precision", {"relevant": "judged"}, 1),
        ("precision", {"retrieve": "above_3"}, 1 / 3),
        ("precision", {"retrieve": "from_3"}, 2 / 3),
        ("recall", {}, 2 / 3),
        ("recall", {"relevant": "above_1"}, 1),
        ("rr", {"count": "all"}, (1 + 1 / 3) / 3),
        ("rr", {"count": "found"}, (1 + 1 / 3) / 2),
        ("rr", {"count": "found", "k": None}, (1 + 1 / 3 + 1 / 5) / 3),
        ("rr", {"count": "found", "relevant": "from_3"}, 0),
        ("success", {"k": 1}, 1),
        ("success", {"k": 2, "relevant": "from_3"}, 0),
        ("err", {}, 2 / 4 + (1 / 2) * (1 / 4) / 3),
        ("err", {"discount": "power_0.5"}, 2 / 4 + (1 / 2) * (1 / 4) / 4),
        ("err", {"gain": "exp2", "k": None}, 3 / 4 + (1 / 4) * (1 / 4) / 3 + (1 / 4) * (3 / 4) * (1 / 4) / 5),
        ("err", {"gain": "from_2"}, 1 / 4),
        ("err", {"scale": 1}, 2 + (-1) * 1 / 3),  # a chance above 1 is not clipped
        ("rbp", {}, (2 + 1 / 4) / 2),
        ("rbp", {"gain": "from_1"}, (1 + 1 / 4) / 2),
        ("rbp", {"gain": "linear-from_2"}, 2 / 2),
        ("rbp", {"persistence": 0, "k": None}, 2),
        ("r-precision", {}, 2 / 3),
        ("r-precision", {"relevant": "from_2"}, 1),
        ("f-measure", {}, 2 / 3),
        ("f-measure", {"beta_squared": 0}, 2 / 3),
        ("f-measure", {"k": 1}, 2 * 1 * (1 / 3) / (1 + 1 / 3)),
        ("f-measure", {"k": 1, "beta_squared": 4}, 5 * 1 * (1 / 3) / (4 * 1 + 1 / 3)),
        ("f-measure", {"k": 10, "divisor": "retrieved"}, 2 * (3 / 5) / (3 / 5 + 1)),
        ("coverage", {}, 5),
        ("coverage", {"relevant": "from_2"}, 1),
        ("bpref", {}, (1 + (1 - 1 / 2) + (1 - 2 / 2)) / 3),
        ("bpref", {"relevant": "from_2"}, 1),
        ("fall-out", {}, 1 / 2),
        ("fall-out", {"relevant": "from_2"}, 2 / 4),
    ],
)
@pytest.mark.filterwarnings("ignore:.*a chance to stop of 2:rankadapters.LabelsWarning")
def test_values_equal_the_formulas(measure, changes, expected):
    score = value([2, 0, 1, 0, 1], [5, 4, 3, 2, 1], PLAIN[measure].replace(**changes))
    assert score == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 1 / 2),
        ({"k": 2}, 1 / 2),
        ({"k": 1}, 0),
        ({"relevant": "above_1"}, 1 / 4),
        ({"retrieve": "above_0.4"}, 0),
        ({"retrieve": "from_0.4"}, 1 / 2),
    ],
)
def test_reciprocal_rank_is_1_over_the_rank_of_the_first_relevant_row(changes, expected):
    assert value([0, 1, 0, 2], [0.5, 0.4, 0.3, 0.2], PLAIN["rr"].replace(**{"k": None, **changes})) == expected


@pytest.mark.parametrize("form", [NEVER, NOW])
@pytest.mark.parametrize("measure", FIELDS)
@settings(max_examples=examples(25), deadline=None)
@given(data=st.data())
def test_averaged_ties_are_the_mean_over_all_orders(form, measure, data):
    labels = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=6))
    n, names = len(labels), set(FIELDS[measure]) | {"k", "relevant", "retrieve"}
    field_kinds = {name: kind for name, kind in MEASURES[measure].declared().items() if name in names}
    fields = {
        name: data.draw(field_values(kind)) for name, kind in field_kinds.items() if name not in {"gain", "scale"}
    }
    try:
        convention = PLAIN[measure].replace(**fields)
        of_averaged_ties = convention.replace(ties="average")
    except ra.ConventionError:
        return
    scores = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), float)
    orders = np.array(list(permutations(range(n))))  # each order is a query
    all_labels, sizes = np.array(labels)[orders].ravel(), [n] * len(orders)
    with kernels(form):
        mean = value(all_labels, scores[orders].ravel(), convention, group_sizes=sizes)
        averaged = value(labels, scores, of_averaged_ties)
    assert averaged == pytest.approx(mean, abs=1e-12, rel=1e-12)


@pytest.mark.parametrize("form", [NEVER, NOW])
def test_long_ties_neither_overflow_nor_lose_a_digit(form):
    n, r = 100_000, 3
    labels, ranks = (np.arange(n) < r).astype(float), np.arange(1, n - r + 2)
    # P(first relevant is the j-th) = r/n * product of (n - r - i) / (n - 1 - i), i < j - 1.
    chances = r / n * np.cumprod(np.concatenate([[1.0], (n - r - ranks[:-1] + 1) / (n - ranks[:-1])]))
    with kernels(form):
        reciprocal_rank = value(labels, np.ones(n), PLAIN["rr"].replace(k=None, ties="average"))
        success = value(labels[:5000], np.ones(5000), PLAIN["success"].replace(k=10, ties="average"))
        # Added up, the chances that the first relevant row is the 1st, ..., 27th round to 1 + 2e-16.
        certain = value(np.arange(56) < 29, np.ones(56), PLAIN["success"].replace(k=27, ties="average"))
    assert reciprocal_rank == pytest.approx((chances / ranks).sum(), rel=1e-12)
    assert success == pytest.approx(1 - comb(5000 - r, 10) / comb(5000, 10), rel=1e-12)
    assert certain == 1


def test_averaged_ties_of_integers_beyond_float64_do_not_depend_on_the_order_of_rows():
    """The sum of the four gains is between 2^53 and 2^54, where float64 has only even integers."""
    gains = [2.0**52 - 1, 2.0**52 - 1, 2.0**52 - 1, 2.0**52 - 2]
    convention = ra.presets.sklearn.dcg(None).replace(ties="average")
    assert len({value(order, [0] * 4, convention) for order in permutations(gains)}) == 1


@pytest.mark.parametrize(
    ("measure", "changes", "expected"),
    [
        ("recall", {}, (1 + 0) / (2 + 1)),
        ("recall", {"average": "query", "query_weight": [3, 1, 1]}, 3 / 7),
        ("recall", {"k": 3, "short": "zero"}, 2 / 3),
        ("precision", {"divisor": "relevant"}, (1 + 0) / (1 + 1)),
        ("precision", {"divisor": "retrieved", "k": None}, (2 + 1) / (3 + 2 + 1)),
        ("f-measure", {}, 2 * (1 / 3) * (1 / 3) / (1 / 3 + 1 / 3)),
    ],
)
def test_a_micro_average_divides_the_hits_of_all_queries_by_the_sum_of_their_divisors(measure, changes, expected):
    labels, scores, sizes = [1, 1, 0, 0, 1, 0], [3, 2, 1, 2, 1, 1], [3, 2, 1]  # the last query has nothing to find
    weights = {"query_weight": changes.pop("query_weight")} if "query_weight" in changes else {}
    convention = PLAIN[measure].replace(**{"k": 1, "pool": "sums", **changes})
    evaluator = ra.Evaluator(labels, convention, group_sizes=sizes, **weights)
    assert evaluator.evaluate(scores).value == pytest.approx(expected, rel=1e-15)
    assert ra.parse(str(convention)) == convention


def test_a_micro_average_without_any_divisor_is_decided_by_empty():
    recall = PLAIN["recall"].replace(pool="sums", empty=0.5)
    assert value([0, 0, 0], [3, 2, 1], recall, group_sizes=[2, 1]) == 0.5
    with pytest.raises(ra.InputError, match="nothing is left to average"):
        value([0, 0, 0], [3, 2, 1], recall.replace(empty="skip"), group_sizes=[2, 1])


def test_a_later_field_is_left_out_of_signatures_at_its_first_value():
    for measure, field in (("rr", "count"), ("recall", "pool"), ("precision", "pool"), ("f-measure", "pool")):
        assert f"{field}=" not in str(PLAIN[measure])
        assert ra.parse(str(PLAIN[measure])) == PLAIN[measure]


def test_equal_meanings_have_one_spelling():
    for changes in ({"divisor": "k"}, {"divisor": "one"}):
        precision = PLAIN["precision"].replace(empty=1, **changes)
        assert precision.empty == 1
        assert precision.replace(pool="sums") == precision.replace(empty=0)
    binary = ra.parse("textbook@3").replace(gain="from_2")
    assert binary.replace(unjudged=1).unjudged == "zero"
    assert binary.replace(unjudged=3) == binary.replace(unjudged=2)
    assert binary.replace(unjudged=2) != binary.replace(unjudged="zero")
    assert PLAIN["precision"].replace(k=None).divisor == "retrieved"
    assert PLAIN["f-measure"].replace(k=None).divisor == "retrieved"
    assert PLAIN["err"].replace(discount="log_2").discount == "log2"
    assert PLAIN["err"].replace(discount="power_0.850").discount == "power_0.85"


@pytest.mark.parametrize(
    ("discount", "expected"), [("power_0.5", [1, 0.5, 0.25]), ("log_4", [2, 1.2618595071429148, 1])]
)
def test_discounts_with_a_number_equal_their_formulas(discount, expected):
    convention = ra.parse("sklearn.dcg@3").replace(discount=discount)
    for rank, expected_discount in enumerate(expected):
        assert value(np.eye(3)[rank], [3, 2, 1], convention) == pytest.approx(expected_discount, rel=1e-15)


@pytest.mark.parametrize(
    ("sort", "expected"),
    [("None", 0 + 1 / 2 + 3 / 3), ("ByPrediction", 3 + 0 / 2 + 1 / 3), ("ByTarget", 3 + 1 / 2)],
)
def test_filtered_dcg_counts_only_rows_that_their_scores_let_through(sort, expected):
    convention = ra.presets.catboost.filtered_dcg(sort=sort)
    for form in (NEVER, NOW):
        with kernels(form):
            assert value([0, 9, 1, 3], [1, -1, 0, 2], convention) == pytest.approx(expected, rel=1e-15)
            assert value([0, 9, 1, 3], [1, -1, 0, 2], convention.replace(k=1)) == (0 if sort == "None" else 3)


def test_filtered_dcg_refuses_averaged_ties_and_infinite_scores():
    with pytest.raises(ra.ConventionError, match="ties='average' is a mean over rows of equal scores"):
        ra.presets.catboost.filtered_dcg().replace(ties="average")
    for form in (NEVER, NOW):
        with kernels(form), pytest.raises(ra.InputError, match=r"scores\[1\] is inf"):
            value([0, 1], [0, np.inf], ra.presets.catboost.filtered_dcg())


@pytest.mark.parametrize(("ties", "expected"), [("worst", -1), ("best", 0)])
def test_a_gain_that_falls_has_its_own_tie_order(ties, expected):
    """Label -2 is below the level, so that its gain is 0. Label -1 has a gain of -1."""
    rbp = PLAIN["rbp"].replace(k=1, persistence=0, ties=ties)
    conventions = [rbp.replace(gain=gain) for gain in ("linear-from_-1", "linear")]
    scores = ra.evaluate([-2, -1], [0.5, 0.5], conventions, group_sizes=[2])
    assert [score.value for score in scores.values()] == [expected, -1 if ties == "best" else -2]


@pytest.mark.parametrize(
    ("measure", "changes", "expected"),
    [
        ("fall-out", {"unjudged": "zero"}, 1),
        ("fall-out", {"unjudged": "drop"}, 1),
        ("precision", {"relevant": "judged", "unjudged": "zero"}, 1 / 2),
        ("precision", {"relevant": "judged", "unjudged": "drop"}, 1),
    ],
)
def test_unjudged_rows_are_neither_relevant_nor_irrelevant(measure, changes, expected):
    columns = {"judged": [True, False, True], "group_sizes": [3]}
    assert value([0, 0, 1], [3, 2, 1], PLAIN[measure].replace(k=2, **changes), **columns) == expected


@pytest.mark.parametrize(("ideal", "expected"), [("retrieved", 1 / (1 + 1 / 2)), ("cutoff", 6 / 11), ("all", 6 / 11)])
def test_the_ideal_list_has_the_retrieved_rows_or_all_judged_rows(ideal, expected):
    changes = {"precision": "float64", "ties": "input", "discount": "reciprocal"}
    convention = ra.parse("trec_eval_9@3").replace(ideal=ideal, **changes)
    columns = {"group_sizes": [4], "retrieved": [True, True, False, False]}
    assert ra.evaluate([1, 0, 1, 1], [4.0, 3, 2, 1], convention, **columns).value == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("ideal", ["cutoff", "retrieved", "all"])
@pytest.mark.parametrize(("unjudged", "expected"), [("drop", 1), ("zero", (2 - 1 / 3 - 2 / 4) / (2 - 1 / 2 - 2 / 3))])
def test_an_unjudged_row_is_not_in_the_ideal_list_above_negative_gains(ideal, unjudged, expected):
    changes = {"gain": "linear", "discount": "reciprocal", "ideal": ideal, "unjudged": unjudged}
    convention = ra.parse(str(ra.parse("sklearn@4").replace(**changes)))
    columns = {"judged": [True, False, True, True], "group_sizes": [4]}
    assert value([2, 9, -1, -2], [4, 3, 2, 1], convention, **columns) == pytest.approx(expected, rel=1e-15)


def test_bpref_ignores_unjudged_rows_and_counts_unretrieved_relevant_rows_as_0():
    columns = {"judged": [False, True, True, True], "group_sizes": [4]}
    convention = PLAIN["bpref"].replace(unjudged="zero")
    assert value([0, 1, 0, 1], [4, 3, 2, 1], convention, **columns) == (1 + (1 - 1 / 1)) / 2
    # One of the two relevant rows is not retrieved and adds 0.
    score = value([1, 0, 1], [3, 2, 1], PLAIN["bpref"], retrieved=[True, True, False], group_sizes=[3])
    assert score == 1 / 2
