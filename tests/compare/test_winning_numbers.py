"""Winning numbers against published tables, a case worked by hand, and counts over all pairs."""

from __future__ import annotations

import csv
import json
import math
import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankadapters.compare import MixedDecimalsWarning, Results, front, leave_one_out, winning_numbers
from rankadapters.core.errors import InputError
from tests.helpers.checkout import GOLDEN
from tests.helpers.parameters import examples

HAND = json.loads((GOLDEN / "compare_hand_case.json").read_text(encoding="utf-8"))
METHODS, DATASETS, MEASURES = "ABCDEF", ["D1", "D2", "D3"], ["m1", "m2"]


def published_table(name):
    """Return a table of chapter 11 of Liu (2011): the measures, and the printed numbers of each method."""
    with (GOLDEN / f"compare_{name}.csv").open(encoding="utf-8", newline="") as file:
        (_, *measures), *lines = list(csv.reader(file))
    return measures, {method: numbers for method, *numbers in lines}


def hand_results():
    return Results([tuple(row) for row in HAND["rows"]], higher_is_better=True)


def numbers_of_group(numbers, group):
    row = numbers.groups.index(group)
    return {
        method: {
            "wn": int(numbers.wn[row, column]),
            "iwn": int(numbers.iwn[row, column]),
            "nwn": None if math.isnan(numbers.nwn[row, column]) else float(numbers.nwn[row, column]),
        }
        for column, method in enumerate(numbers.methods)
    }


def test_the_case_worked_by_hand():
    numbers = winning_numbers(hand_results())
    for group in ("m1", "all"):
        assert numbers_of_group(numbers, group) == HAND["answers"][group]
    for over, name in (("measure", "m1"), ("dataset", "D1")):
        left_out = leave_one_out(hand_results(), over=over).to_dict()["left_out"]
        assert left_out[name] == HAND["answers"][f"without_{name}"]
    assert [block.caption for block in numbers.blocks()[:-1]] == [
        numbers.table().caption,
        numbers.group_table().caption,
    ]
    assert list(front(numbers, group="m1").first) == HAND["front_m1"]["weak"]
    strict = front(numbers, group="m1", strict=True)
    assert list(strict.first) == HAND["front_m1"]["strict"]
    assert list(strict.second) == HAND["front_m1"]["strict_rank2"]


def test_winning_numbers_of_mq2007_follow_from_the_published_values():
    # Liu (2011), Learning to Rank for Information Retrieval, Table 11.9; RankSVM and ListNet tie at NDCG@10.
    measures, lines = published_table("letor4_mq2007")
    cells = {
        (method, "MQ2007", measure): value
        for method, values in lines.items()
        for measure, value in zip(measures, values, strict=True)
    }
    numbers = winning_numbers(Results(cells, higher_is_better=True))
    assert numbers.methods == ("RankSVM", "RankBoost", "ListNet", "AdaRank")
    assert numbers.wn[numbers.groups.index("NDCG@10")].tolist() == [1, 3, 1, 0]
    assert numbers.iwn[:-1].tolist() == [[3] * 4] * 7
    assert (numbers.n_ties, numbers.n_pairs) == (1, 42)
    assert numbers.wn[-1].sum() == 42 - 1


def count_all_pairs(cells):
    methods = list(dict.fromkeys(method for method, _, _ in cells))
    wn, iwn = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0)
    for (method_1, dataset, measure), value in cells.items():
        for method_2 in methods:
            if method_2 != method_1 and (method_2, dataset, measure) in cells:
                iwn[method_1] += 1
                wn[method_1] += value > cells[method_2, dataset, measure]
    return wn, iwn


tables = st.dictionaries(
    st.tuples(st.sampled_from(METHODS), st.sampled_from(DATASETS), st.sampled_from(MEASURES)),
    st.sampled_from([0.1, 0.2, 0.3, 0.4]),
    min_size=1,
)


@given(tables, st.booleans(), st.sampled_from(["measure", "dataset"]))
@settings(deadline=None, max_examples=examples(100))
def test_winning_numbers_equal_counts_over_all_pairs_of_every_group(cells, higher_is_better, by):
    numbers = winning_numbers(Results(cells, higher_is_better=higher_is_better), by=by)
    assert numbers.groups == (*dict.fromkeys(key[1 if by == "dataset" else 2] for key in cells), "all")
    for row, group in enumerate(numbers.groups):
        group_cells = {key: value for key, value in cells.items() if group in {*key[1:], "all"}}
        wn, iwn = count_all_pairs({key: value if higher_is_better else -value for key, value in group_cells.items()})
        assert numbers.wn[row].tolist() == [wn.get(method, 0) for method in numbers.methods]
        assert numbers.iwn[row].tolist() == [iwn.get(method, 0) for method in numbers.methods]
        assert numbers.n_datasets[row].tolist() == [
            len({dataset for name, dataset, _ in group_cells if name == method}) for method in numbers.methods
        ]
    with np.errstate(invalid="ignore"):  # NaN for a method without opponents
        np.testing.assert_array_equal(numbers.nwn, numbers.wn / numbers.iwn)
    assert numbers.n_pairs - numbers.n_ties == sum(wn.values())
    assert 2 * numbers.n_pairs == sum(iwn.values())


@given(tables)
@settings(deadline=None, max_examples=examples(100))
def test_leave_one_out_equals_counting_the_remaining_cells(cells):
    results = Results(cells, higher_is_better=True)
    for over, axis in (("dataset", 1), ("measure", 2)):
        left_out = leave_one_out(results, over=over).to_dict()["left_out"]
        for name in left_out:
            rest = {key: value for key, value in cells.items() if key[axis] != name}
            wn, iwn = count_all_pairs(rest)
            for method, numbers in left_out[name].items():
                assert (numbers["wn"], numbers["iwn"]) == (wn.get(method, 0), iwn.get(method, 0))


@given(tables, st.booleans(), st.sampled_from(["iwn", "n_datasets"]))
@settings(deadline=None, max_examples=examples(100))
def test_fronts_equal_those_found_by_comparing_all_pairs(cells, strict, against):
    fronts = front(winning_numbers(Results(cells, higher_is_better=True)), strict=strict, against=against)

    def beats(a, b):
        (x, high), (other_x, other_high) = fronts.points[a], fronts.points[b]
        if strict:
            return x > other_x and high > other_high
        return x >= other_x and high >= other_high and (x, high) != (other_x, other_high)

    beaten = dict.fromkeys(fronts.points, 0)
    assert set(beaten) == {method for method, opponents in count_all_pairs(cells)[1].items() if opponents}
    for a, b in permutations(fronts.points, 2):
        beaten[b] += beats(a, b)
    assert set(fronts.first) == {name for name, count in beaten.items() if count == 0}
    assert set(fronts.second) == {name for name, count in beaten.items() if count == 1}


ONE_PAIR = "^1 pair of values differs, but is equal in the decimals"
TWO_PAIRS = "2 pairs of values differ, but are equal in the decimals"


@pytest.mark.parametrize(
    ("values", "warning", "n_ties", "wins"),
    [
        (["0.41", "0.413", "0.420", "0.41"], TWO_PAIRS, 1, [0, 2, 3, 0]),
        (["0.41", 0.4134, 0.4135], TWO_PAIRS, 0, [0, 1, 2]),  # a float is not rounded
        (["0.41", "0.414"], ONE_PAIR, 0, [0, 1]),
        (["0.41", "0.406"], ONE_PAIR, 0, [1, 0]),
        (["1e-98", 1.04e-98], ONE_PAIR, 0, [0, 1]),  # 98 decimals, the most that are compared
    ],
)
def test_values_that_are_equal_in_the_printed_decimals_warn(values, warning, n_ties, wins):
    results = Results([(f"m{index}", "D", "m", value) for index, value in enumerate(values)], higher_is_better=True)
    with pytest.warns(MixedDecimalsWarning, match=warning) as caught:
        numbers = winning_numbers(results)
    assert [message.filename for message in caught] == [__file__]
    assert (numbers.n_ties, numbers.n_undecided) == (n_ties, 1 if warning is ONE_PAIR else 2)
    assert numbers.wn[-1].tolist() == wins


@pytest.mark.parametrize(
    "values", [("0.41", "0.42"), ("0.41", "0.410", 0.41), ("1e-90", 1e300), ("1e-99", 1.04e-99)]
)  # 1e300 is too large to round to 90 decimals
def test_values_that_differ_in_the_printed_decimals_do_not_warn(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = Results([(f"m{index}", "D", "m", value) for index, value in enumerate(values)], higher_is_better=True)
        numbers = winning_numbers(results)
    assert numbers.n_undecided == 0


def test_tables_print_the_numbers_of_every_method():
    wins = {"D1": "ab", "D2": "ba", "D3": "ab"}  # the better method first
    cells = {(m, d, "MAP"): 1.0 - rank for d, order in wins.items() for rank, m in enumerate(order)}
    results = Results({**cells, ("c", "D1", "MAP"): 0.0, ("alone", "D9", "MAP"): 0.5}, higher_is_better=True)
    numbers = winning_numbers(results)
    a, b, c = ("a", "0.7500"), ("b", "0.2500"), ("c", "0.0000")
    assert numbers.table().lines == (
        (*a, "3", "4", "3"), (*b, "1", "4", "3"), (*c, "0", "2", "1"), ("alone", "-", "0", "0", "1")
    )  # fmt: skip
    assert len(numbers.blocks()) == 2
    assert numbers.group_table().lines == ((*a, a[1]), (*b, b[1]), (*c, c[1]), ("alone", "-", "-"))
    assert front(numbers).blocks()[0].lines == (("a", "1", "0.7500", "4"), ("b", "2", "0.2500", "4"))
    ranges = ((*a, "0.5000", "1.0000", "D1"), (*b, "0.0000", "0.5000", "D1"), (*c, "0.0000", "0.0000", "-"))
    assert leave_one_out(results).blocks()[0].lines == ranges
    without_ranges = (("a", "1.0000", "-", "-", "-"), ("b", "0.0000", "-", "-", "-"), ("c", "0.0000", "-", "-", "-"))
    assert leave_one_out(results.only(datasets="D1")).blocks()[0].lines == without_ranges


def test_methods_without_opponents_are_left_out_wherever_they_are():
    cells = {("alone", "D9", "MAP"): 0.5, ("a", "D1", "MAP"): 0.5, ("b", "D1", "MAP"): 0.4}
    results = Results(cells, higher_is_better=True)
    loo = leave_one_out(results)
    assert [line[0] for line in loo.blocks()[0].lines] == ["a", "b"]
    alone = results.only(methods="alone")
    with pytest.raises(InputError, match="'alone' has no opponents, so it has no points"):
        loo.bagplot("alone")
    pytest.importorskip("matplotlib")
    assert [panel.get_title() for panel in loo.plot().axes if panel.get_title()] == ["a", "b"]
    for report in (winning_numbers(alone), leave_one_out(alone)):
        with pytest.raises(InputError, match="no method has an opponent, so there is no number to draw"):
            report.plot()


def test_tied_methods_keep_their_order_and_the_plot_shows_twenty():
    methods = [f"m{21 - index}" for index in range(22)]
    numbers = winning_numbers(Results({(method, "D", "MAP"): 0.5 for method in methods}, higher_is_better=True))
    assert [line[0] for line in numbers.table().lines] == methods
    pytest.importorskip("matplotlib")
    assert [label.get_text() for label in numbers.plot().axes[0].get_yticklabels()] == methods[:20]
