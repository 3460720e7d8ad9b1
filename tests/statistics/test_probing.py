"""The parts of a probe: the traits of its cases, what a function is given and returns, and what is measured."""

from __future__ import annotations

import math
from collections import Counter
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.errors import InputError
from rankadapters.statistics.probing import cases as kinds
from rankadapters.statistics.probing.answers import FIRST_ID, Function
from rankadapters.statistics.probing.case_maker import CaseMaker
from rankadapters.statistics.probing.cases import Case, shrink, value_of
from rankadapters.statistics.probing.measuring import FORMULAS, GAINS, Measurement, formula_of
from rankadapters.statistics.probing.rare_cases import SPECIAL_SCORES, rare_cases
from rankadapters.statistics.probing.wrong_values import mistaken_means


def query(labels, scores=None, **columns):
    return Case(tuple(map(float, labels)), tuple(scores or range(len(labels), 0, -1)), (len(labels),), **columns)


# Cases.


@pytest.mark.parametrize(
    ("case", "traits"),
    [
        (query([1, 0, 0, 0, 0]), set()),
        (query([1, 0, 0, 0]), {kinds.ONE_MORE}),
        (query([1, 0, 0]), {kinds.EXACT}),
        (query([1, 0]), {kinds.SHORT}),
        (query([1]), {kinds.SHORT, kinds.ONE_DOCUMENT}),
        (query([0, 0, 0, 1, 0]), {kinds.NOT_FOUND}),
        (query([0, 0, 1, 0, 0]), set()),
        (query([0, 0, 0, 0, 0]), {kinds.EMPTY}),
        (query([0, 1, -1, 0, 0]), {kinds.BELOW_ZERO}),
        (query([-1] * 5), {kinds.EMPTY, kinds.BELOW_ZERO}),
        (query([0, 0.5, 0, 0, 0]), {kinds.FRACTIONAL}),
        (query([2, 0.5, 0, 0, 0]), {kinds.FRACTIONAL, kinds.SEVERAL}),
        (query([1, 0, 0, 0, 0], (5.0, 4.0, 2.0, 1.0, 0.0)), {kinds.NEGATIVE}),
        (query([1, 0, 0, 0, 0], (5.0, 4.0, 2.0, 1.0, -1.0)), {kinds.NEGATIVE}),
        (query([1, 0, 0, 0, 0], (5.0, 4.0, 2.0, 2.0, 1.0)), {kinds.TIED}),
        (query([1, 0, 0, 0, 0], (5.0, 4.0, 2.004, 2.0, 1.0)), {kinds.CLOSE}),
        (query([1, 0, 0, 0, 0], (5.0, 4.0, 2.006, 2.0, 1.0)), set()),
        (query([1, 0, 0, 0, 0], (2.0,) * 5), {kinds.TIED, kinds.SAME_SCORES}),
        (query([1] + [0] * 15), set()),
        (query([1] + [0] * 16), {kinds.LONG}),
    ],
)
def test_a_query_has_these_traits_at_a_cutoff_of_3(case, traits):
    assert case.traits(3) == traits
    assert Case.join([query([1, 0, 0, 0, 0]), case], "").traits(3) == traits
    of_cutoffs = {kinds.SHORT, kinds.EXACT, kinds.ONE_MORE, kinds.NOT_FOUND}
    assert case.traits() == traits - of_cutoffs


def test_two_rows_are_one_more_than_a_cutoff_of_1():
    assert query([1, 0]).traits(1) == {kinds.ONE_MORE}
    assert query([1]).traits() == {kinds.ONE_DOCUMENT}


@pytest.mark.parametrize(
    ("k", "ranks", "n_rows", "second_rank"),
    [
        (None, range(1, 9), 10, 3),
        (1, range(1, 3), 3, 2),
        (2, range(1, 4), 4, 2),
        (3, range(1, 5), 5, 3),
        (8, range(1, 10), 10, 3),
        (9, range(1, 11), 11, 3),
        (10, range(1, 12), 12, 3),
        (20, [*range(1, 9), 19, 20, 21], 22, 3),
    ],
)
def test_a_single_relevant_row_is_measured_at_the_first_ranks_and_around_the_cutoff(k, ranks, n_rows, second_rank):
    maker = CaseMaker((0.0, 1.0), k)
    assert (maker.ranks, maker.n_rows, maker.second_rank) == (tuple(ranks), n_rows, second_rank)
    cases = map(maker.at_rank, ranks)
    assert [case.ranking().index(case.labels.index(1)) + 1 for case in cases] == [*ranks]


def test_rows_of_a_case_are_chosen_and_reordered_within_their_queries():
    case = Case((1.0, 2.0, 3.0, 4.0, 5.0), (0.1, 0.2, 0.3, 0.4, 0.4), (2, 1, 2))
    assert case.select([4, 1]) == Case((5.0, 2.0), (0.4, 0.2), (1, 1))
    turned = case.reordered(lambda n: range(n)[::-1])
    assert turned == Case((2.0, 1.0, 3.0, 5.0, 4.0), (0.2, 0.1, 0.3, 0.4, 0.4), (2, 1, 2))
    assert query([1, 2, 3, 4], (0.1, 0.3, 0.3, 0.9), retrieved=(True, True, True, False)).ranking() == [1, 2, 0]
    assert Case((1.0, 0.5), (2, 1), (1, 1)).as_queries() == [
        {"labels": [1], "scores": [2]}, {"labels": [0.5], "scores": [1]}
    ]  # fmt: skip


def test_cases_leave_out_one_three_five_all_or_all_relevant_rows():
    cases = CaseMaker((0.0, 2.0), 3).unretrieved()
    found = [[case.labels[row] for row in case.ranking()] for case in cases]
    by_rank = [2, 0, 2, 0, 0, 2, 2]
    assert found == [by_rank[:6], by_rank[:4], by_rank[:2], [], [0, 0, 0]]


@pytest.mark.parametrize(("k", "rank"), [(1, 1), (2, 2), (3, 2), (None, 2)])
def test_each_fractional_label_is_alone_at_the_second_rank_if_the_cutoff_allows(k, rank):
    cases = CaseMaker((0.0, 1.0, 3.0), k).unusual_labels()
    assert [case.purpose for case in cases] == [*[kinds.FRACTIONAL] * 4, kinds.BELOW_ZERO]
    by_rank = [[case.labels[row] for row in case.ranking()] for case in cases[:3]]
    found = [[(at, label) for at, label in enumerate(labels, 1) if label] for labels in by_rank]
    assert found == [[(rank, 0.5)], [(rank, 2.5)], [(rank, 0.75)]]


KEYS = {"sum": sum, "max": max, "relevant": lambda labels: sum(label > 0 for label in labels), "rows": len}


def test_rare_cases_of_many_queries_have_queries_whose_labels_are_alike_in_some_way():
    cases = rare_cases(CaseMaker((0.0, 1.0, 2.0, 3.0), 3), several=True)
    queries = [[*case.split()] for case in cases if len(case.sizes) > 1]
    alike = [tuple(name for name, key in KEYS.items() if len({key(q.labels) for q in of}) == 1) for of in queries]
    everything = tuple(KEYS)  # the scores or the labels of a query are shifted
    all_empty, all_single = everything[:-1], everything[-1:]
    in_one_way = [("sum", "rows"), ("max", "rows"), ("relevant", "rows")]
    assert Counter(filter(None, alike)) == {
        everything: 2, all_empty: 2, all_single: 1, **dict.fromkeys(in_one_way, 2)
    }  # fmt: skip
    assert alike.count(()) == 10


def test_a_case_shrinks_to_the_rows_and_labels_that_matter():
    case = Case((0.0, 3.0, 1.0, 2.0, 0.0, 4.0), (0.5, 0.1, 0.7, 0.3, 0.2, 0.9), (2, 4))
    assert shrink(case, lambda case: max(case.labels) > 1, 1000) == Case((4.0,), (1.0,), (1,))
    two_rows = shrink(case, lambda case: max(case.labels) > 0 and len(case.labels) > 1, 1000)
    assert two_rows == Case((0.0, 1.0), (1.0, 2.0), (2,))
    n_calls = count()
    shrink(case, lambda _: next(n_calls) > 10**6, 7)
    assert next(n_calls) == 7
    assert shrink(case, lambda _: True, 0) == case


def test_a_convention_without_a_value_has_nan():
    assert value_of(ra.parse("textbook@3"), query([0, 1])) == pytest.approx(1 / math.log2(3))
    assert math.isnan(value_of(ra.parse("textbook@3+empty=error"), query([0, 0])))


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(
    ("at", "change"),
    [
        (4, np.exp),
        (5, np.exp),
        (6, np.exp),
        (7, lambda scores: 1 / (1 + np.exp(-scores))),
        (8, lambda scores: 1 / (1 + np.exp(-np.float32(scores)))),
        (8, lambda scores: np.tanh(np.float32(scores))),
        (11, np.float32),
        (15, np.float32),
        (15, lambda scores: scores.round(8)),
        (16, np.float32),
        (16, lambda scores: scores.round(12)),
    ],
)
def test_special_scores_differ_and_are_equal_after_a_change_that_loses_their_digits(at, change):
    scores = np.array(SPECIAL_SCORES[at])
    assert (np.diff(scores) < 0).all()
    assert len(set(change(scores).tolist())) == 1


# What a function is given, and what it returns.


@pytest.mark.parametrize(
    ("takes", "arguments"),
    [
        ("query", ([0, 2, 1], [0.5, 0.1, 0.9])),
        ("queries", ([0, 2, 1], [0.5, 0.1, 0.9], [0, 0, 0])),
        ("groups", ([0, 2, 1], [0.5, 0.1, 0.9], [3])),
        ("ranked", ([1, 0, 2],)),
        ("items", ([FIRST_ID + 6, FIRST_ID, FIRST_ID + 3], [FIRST_ID + 3, FIRST_ID + 6])),
    ],
)
@pytest.mark.parametrize("k", [None, 7])
def test_a_function_is_given_its_arguments_and_the_cutoff_if_it_has_such_a_parameter(takes, arguments, k):
    received = []
    plain = Function.of(lambda *columns: received.append(columns) or 0.5, takes, k)
    cut = Function.of(lambda *columns, k: received.append((*columns, k)) or 0.25, takes, k)
    case = query([0, 2, 1], (0.5, 0.1, 0.9))
    assert (plain.ask(case).value, cut.ask(case).value, plain.ask(case).value) == (0.5, 0.25, 0.5)
    first, second = received
    assert (plain.calls, [np.asarray(column).tolist() for column in first]) == (1, list(map(list, arguments)))
    assert ([np.asarray(column).tolist() for column in second[:-1]], second[-1]) == (list(map(list, arguments)), k)
    assert isinstance(first[0], list) is (takes == "items")


def test_whole_labels_are_integers_and_others_are_not():
    kinds_of_labels = []
    function = Function.of(lambda labels, _: kinds_of_labels.append(labels.dtype.kind) or 0.5, "query", None)
    for labels in ([0, 1], [0, 0.5], [-1, 2]):
        function.ask(query(labels))
    assert kinds_of_labels == ["i", "f", "i"]


@pytest.mark.parametrize(
    ("returned", "value", "problem"),
    [
        (0.5, 0.5, ""),
        (True, 1.0, ""),
        (np.float32(0.5), 0.5, ""),
        (np.array([[0.5]]), 0.5, ""),
        (SimpleNamespace(item=lambda: 0.5), 0.5, ""),
        (SimpleNamespace(item=lambda: 0.5, size=lambda: (1,)), 0.5, ""),  # as a tensor of PyTorch
        (None, None, "returned None"),
        (math.nan, None, "returned nan"),
        (-math.inf, None, "returned -inf"),
        ("0.5", None, "returned '0.5'"),
        (b"0.5", None, "returned b'0.5'"),
        ("0" * 99, None, "returned '" + "0" * 59),
        ([0.5], None, "returned a list"),
        (10**400, None, "returned a int"),
        (np.array([0.5, 0.5]), None, "returned a ndarray of several numbers"),
        (np.array([]), None, "returned a ndarray"),
    ],
)
def test_only_a_finite_number_is_an_answer(returned, value, problem):
    reply = Function.of(lambda labels, scores: returned, "query", None).ask(query([0, 1]))
    assert reply.problem == problem
    assert math.isnan(reply.value) if value is None else (reply.value, str(reply)) == (value, str(value))


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (ValueError("bad\nrows"), "raised ValueError: bad"),
        (KeyError(), "raised KeyError: "),
        (SystemExit(2), "raised SystemExit: 2"),
    ],
)
def test_an_error_is_an_answer(error, problem):
    def function(labels, scores):
        raise error

    assert Function.of(function, "query", None).ask(query([0, 1])).problem == problem


def test_the_first_form_and_case_that_a_function_accepts_are_found():
    def function(labels, scores):
        return 0.5 if isinstance(labels, list) and len(labels) == 2 else None

    tested, pair, three = Function.of(function, "query", None), query([0, 1]), query([0, 1, 1])
    assert tested.find_accepted([three]) is None
    assert (tested.form, tested.calls) == ("numpy arrays", 3)
    assert tested.find_accepted([three, pair]) is pair
    assert (tested.form, tested.calls) == ("lists", 3 + 4)


def test_a_function_of_items_may_need_the_relevant_ones_as_a_set():
    received = []

    def function(recommended, relevant):
        received.append((recommended, relevant))
        return 0.5 if isinstance(relevant, set) else None

    tested = Function.of(function, "items", None)
    assert tested.find_accepted([query([0, 1, 0])]) is not None
    assert received[-1] == ([FIRST_ID, FIRST_ID + 3, FIRST_ID + 6], {FIRST_ID + 3})


@pytest.mark.parametrize(
    ("values", "differs"), [([0.5, 0.5], False), ([0.5, 0.25], True), ([None, None], False), ([0.5, None], True)]
)
def test_a_repeated_call_with_another_answer_is_a_fault(values, differs):
    answers = iter(values)
    function = Function.of(lambda labels, scores: next(answers), "query", None)
    case = query([0, 1])
    function.ask(case)
    assert (function.repeat(case), function.deterministic) == (differs, not differs)
    texts = ["returned None" if value is None else str(value) for value in values]
    fault = f"it is not deterministic: {texts[0]}, then {texts[1]} for the same data"
    assert function.faults == ([fault] if differs else [])


def test_a_kind_of_fault_is_reported_once():
    numbers = count()

    def function(labels, scores):
        scores[:] = 0
        return float(next(numbers))

    tested, case = Function.of(function, "query", None), query([0, 1])
    tested.ask(case)
    assert [tested.repeat(case), tested.repeat(case)] == [True, True]
    assert tested.faults == [
        "it changes the arrays that it is given", "it is not deterministic: 0.0, then 1.0 for the same data"
    ]  # fmt: skip


def test_a_function_whose_parameters_are_unknown_or_stand_for_many_receives_no_cutoff():
    assert Function.of(max, "query", 3).keywords == {}
    assert Function.of(lambda labels, **k: 0.5, "query", 3).keywords == {}
    assert Function.of(lambda labels, *k: 0.5, "query", 3).keywords == {}
    assert Function.of(lambda labels, scores, k=5: 0.5, "query", "unknown").keywords == {}
    with pytest.raises(InputError, match="k='unknown'"):
        Function.of(lambda labels, scores, k: 0.5, "query", "unknown")


# What is measured.

LOG2 = {rank: 1 / math.log2(rank + 1) for rank in range(1, 6)}
EXP2, LINEAR = {1.0: 1.0, 2.0: 3.0, 3.0: 7.0, 4.0: 15.0}, {1.0: 1.0, 2.0: 2.0, 3.0: 3.0, 4.0: 4.0}


def measured(ranks, gains=None, cutoff=5, top=4.0, of_empty=None):
    return Measurement(cutoff, top, ranks, gains or {}, of_empty)


def test_formulas_have_these_values():
    assert {name: [round(formula(rank), 6) for rank in (1, 2, 3, 10, 100)] for name, formula in FORMULAS.items()} == {
        "1/log2(rank + 1)": [1, 0.63093, 0.5, 0.289065, 0.15019],
        "1/rank": [1, 0.5, 0.333333, 0.1, 0.01],
        "1": [1, 1, 1, 1, 1],
        "1 at rank 1 and 1/log2(rank) from rank 2 on": [1, 1, 0.63093, 0.30103, 0.150515],
        "1/log2(rank + 2)": [0.63093, 0.5, 0.430677, 0.278943, 0.149871],
        "1/(rank + 1)": [0.5, 0.333333, 0.25, 0.090909, 0.009901],
        "1/sqrt(rank)": [1, 0.707107, 0.57735, 0.316228, 0.1],
        "1/rank^2": [1, 0.25, 0.111111, 0.01, 0.0001],
        "1/log2(rank + 1)^2": [1, 0.398072, 0.25, 0.083558, 0.022557],
        "1 up to rank 2 and 1/ln(rank) from rank 3 on": [1, 1, 0.910239, 0.434294, 0.217147],
        "1 up to rank 9 and 1/log10(rank) from rank 10 on": [1, 1, 1, 1, 0.5],
    }


@pytest.mark.parametrize("name", FORMULAS)
def test_values_in_proportion_to_a_formula_have_its_name(name):
    values = {rank: 3 * FORMULAS[name](rank) for rank in range(1, 13)}
    assert formula_of(values) == name
    assert formula_of(values | {12: values[12] * (1 + 5e-8)}) == name
    assert formula_of(values | {12: values[12] * (1 + 5e-7)}) is None


def test_gains_of_a_label_are_these():
    assert {name: [gain(label) for label in (0, 1, 3)] for name, gain in GAINS.items()} == {
        "2^label - 1": [0, 1, 7], "label": [0, 1, 3], "1": [0, 1, 1]
    }  # fmt: skip


@pytest.mark.parametrize("values", [{}, {1: 1.0}, {1: 0.0, 2: 0.0}, {2: 0.5, 3: 0.25}])
def test_too_few_values_have_no_formula(values):
    assert formula_of(values) is None


@pytest.mark.parametrize(
    ("measurement", "sentences"),
    [
        (measured({1: 0.0}), []),
        (measured({1: 2.0, 2: 1.0}, cutoff=1), ["one relevant row counts 1 at the ranks 1"]),
        (measured(LOG2, cutoff=3), ["one relevant row counts 1/log2(rank + 1) at 3 ranks up to 3, to 15 digits"]),
        (
            measured({rank: 2 * value * (1 + 3e-8 * (rank > 1)) for rank, value in LOG2.items()}, cutoff=None),
            ["one relevant row counts 1/log2(rank + 1) at 5 ranks up to 5, to 7 digits"],
        ),
        (measured({1: 0.5, 2: 0.45}), ["one relevant row counts 1, 0.9 at the ranks 1, 2"]),
        (
            measured({1: 0.5, 2: 0.45, 3: 0.405}),
            ["one relevant row counts 0.9^(rank - 1) at 3 ranks up to 3, to 15 digits"],
        ),
        (measured({1: 0.5, 2: 0.45, 4: 0.4}), ["one relevant row counts 1, 0.9, 0.8 at the ranks 1, 2, 4"]),
        (measured({1: 0.5, 2: 0.0, 3: 0.0}), ["one relevant row counts 1, 0, 0 at the ranks 1, 2, 3"]),
        (measured({1: 0.5, 2: 1.0, 3: 2.0}), ["one relevant row counts 1, 2, 4 at the ranks 1, 2, 3"]),
        (
            measured(LOG2, EXP2),
            [
                "gains 0, 1, 3, 7, 15 of the labels 0, 1, 2, 3, 4 (2^label - 1)",
                "discounts 1/log2(rank + 1) at 5 ranks up to 5, to 15 digits",
            ],
        ),
        (
            measured({1: 1.0}, LINEAR),
            ["gains 0, 1, 2, 3, 4 of the labels 0, 1, 2, 3, 4 (label)", "discounts 1 at the ranks 1"],
        ),
        (
            measured({1: 1.0}, {1.0: 1.0, 2.0: 1.0}),
            ["gains 0, 1, 1 of the labels 0, 1, 2 (1)", "discounts 1 at the ranks 1"],
        ),
        (
            measured({1: 1.0}, {1.0: 1.0, 2.0: 2.5}),
            ["gains 0, 1, 2.5 of the labels 0, 1, 2", "discounts 1 at the ranks 1"],
        ),
    ],
)
def test_what_was_measured_is_said_in_sentences(measurement, sentences):
    assert measurement.sentences() == sentences


@pytest.mark.parametrize(
    ("measurement", "measure", "values"),
    [
        (measured(LOG2, EXP2), ra.NDCG, {"gain": "table_0_1_3_7_15", "discount": "power_0.630929753571"}),
        (measured(LOG2, EXP2 | {3.0: 2.0}), ra.DCG, {"discount": "power_0.630929753571"}),  # no gain of a lower label
        (measured({1: 0.0}, {1.0: 1.0, 2.0: 2.0, 3.0: 5.0}, top=3.0), ra.NDCG, {"gain": "table_0_1_2_5"}),
        (measured({1: 0.0}, {0.5: 1.0, 1.0: 2.0}, top=1.0), ra.NDCG, {"gain": "table_1_2"}),
        (measured({1: 0.0}, top=3.0), ra.NDCG, {"gain": "table_1_2_4_8"}),
        (measured({1: 0.0}, top=2.5), ra.NDCG, {}),
        (measured({1: 0.0}, {2.0: 1.0}, top=2.0), ra.DCG, {"gain": "table_1_2_4"}),
        (measured({1: 0.0}, of_empty=0.0), ra.RR, {"empty": 0.0}),
        (measured({1: 0.0}, of_empty=1.0), ra.RR, {"empty": 1.0}),
        (measured({1: 0.0}, of_empty=1.5), ra.RR, {}),
        (measured({1: 0.0}, of_empty=-0.5), ra.RR, {}),
        (measured({1: 0.0}, top=2.0, of_empty=1.0), ra.DCG, {"gain": "table_1_2_4"}),
        (measured({1: 0.5, 2: 0.5}), ra.RBP, {"persistence": 1.0}),
        (measured({1: 0.5, 2: 0.55}), ra.RBP, {}),
        (measured({1: 2.0, 2: 0.0}), ra.ERR, {"scale": (7.5, 2.0, 0.5)}),
    ],
)
def test_measured_values_of_fields_are_tried(measurement, measure, values):
    expected = {name: value if isinstance(value, tuple) else (value,) for name, value in values.items()}
    assert measurement.values(measure) == expected


@pytest.mark.parametrize(
    ("measurement", "fault"),
    [
        (measured(LOG2, EXP2), ""),
        (measured(LOG2, {1.0: 1.0, 2.0: 1.0}), ""),
        (measured(LOG2, EXP2 | {3.0: 2.0}), "its gains are 1, 3, 2, 15 for the labels from 1 on"),
        (
            measured(LOG2 | {3: 0.4}, EXP2 | {3.0: 2.0}),
            "its discount is 1/log2(rank + 1), but 0.4 times that of rank 1 at rank 3",
        ),
        (measured(LOG2 | {3: 0.4, 5: 0.2}, EXP2), ""),  # two ranks are no single mistake
        (measured({1: 1.0, 2: 0.4}, EXP2), ""),  # of two ranks nobody knows which is wrong
        (measured({rank: rank**-0.5 for rank in range(1, 6)}, EXP2), "its discount is 1/sqrt(rank)"),
    ],
)
def test_a_kind_of_dcg_that_no_convention_has_is_named(measurement, fault):
    assert measurement.fault() == fault


def test_a_pooled_measure_has_no_mistaken_mean_where_it_has_no_pairs():
    """And numpy is not asked for the mean of nothing, of which it warns."""
    convention = ra.parse("catboost.query_auc+pool=pairs")
    assert "the value of the first query" in mistaken_means(convention, query([1, 0]))
    assert mistaken_means(convention, query([1, 1])) == {}
    report = ra.parity.check_value([1, 1], [2, 1], convention, value="0.5", qid=[1, 1])
    assert not report.ok
