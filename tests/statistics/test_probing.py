"""Probing a function: finding its cutoff, asking only the cases that are needed, and shrinking a case."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.statistics.probing.answers import Function
from rankadapters.statistics.probing.case_maker import CaseMaker
from rankadapters.statistics.probing.cases import ANY, EMPTY, PLAIN, UNTIED, Case
from rankadapters.statistics.probing.elimination import Conventions, Elimination, Pool
from rankadapters.statistics.probing.examination import MOST_RANKS, find_cutoff
from rankadapters.statistics.probing.shrinking import shrink
from tests.helpers.ndcg_grid import GRID

GRADES = (0.0, 1.0, 2.0)


def function(convention):
    return Function(lambda y, s, n: ra.evaluate(y, s, convention, group_sizes=n).value, "groups")


def make_elimination(values, answers, *, purpose=PLAIN, tolerance=1e-9):
    """Return an elimination for a function with these answers; each row of values is that of one convention."""
    cases = [Case((float(number), 1.0), (1.0, 2.0), (2,), purpose) for number in range(len(answers))]
    by_labels = dict(zip([case.labels for case in cases], answers, strict=True))
    pool = Pool(cases, [Conventions(ra.NDCG, [])] * len(values), np.array(values, float))
    return Elimination(Function(lambda labels, _: by_labels[tuple(labels)], "query"), pool, None, tolerance)


@pytest.mark.parametrize(("k", "cutoff"), [(1, 1), (2, 2), (7, 7), (MOST_RANKS - 2, MOST_RANKS - 2), (None, None)])
def test_a_cutoff_is_the_last_rank_that_counts(k, cutoff):
    assert find_cutoff(function(ra.presets.textbook(k)), GRADES) == cutoff


def test_a_constant_function_has_no_cutoff():
    assert find_cutoff(Function(lambda _y, _s: 0.5, "query"), GRADES) is None


def test_cases_are_asked_until_the_remaining_conventions_agree():
    convention = ra.NDCG(k=3, **{name: values[0] for name, values in GRID.items()})
    cases = CaseMaker(GRADES, 3, 5).make_all()
    elimination = Elimination(function(convention), Pool.over(cases, [(ra.NDCG, GRID)], 3), 3, 1e-9)
    elimination.run([PLAIN, UNTIED, ANY])
    assert convention in elimination.pool.members(elimination.remaining)
    columns = [i for i, case in enumerate(cases) if case.purpose in {PLAIN, UNTIED, ANY}]
    assert {cases[i].purpose for i in elimination.answers} == {PLAIN, UNTIED, ANY}
    values = elimination.pool.values[elimination.remaining][:, columns]
    assert np.ptp(values, axis=0) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "row", "asked_cases"),
    [
        ([[0, 0], [1, 0], [1, 1]], 2, [0, 1]),
        ([[0, 0], [1, 0], [1, 0]], 2, [0]),
        ([[0, 0], [0, 1], [0, 1]], 1, [1]),
    ],
)
def test_a_case_is_asked_only_if_remaining_conventions_differ_on_it(values, row, asked_cases):
    elimination = make_elimination(values, values[row])
    elimination.run([PLAIN])
    assert list(elimination.answers) == asked_cases


def test_ask_more_asks_cases_of_a_purpose_up_to_the_least_number_of_answers():
    elimination = make_elimination([[0, 1, 2, 3]], [0, 1, 2, 3])
    n_answers = []
    for least in (0, 1, 1, 3, 2, 9):
        elimination.ask_more(PLAIN, least)
        elimination.ask_more(UNTIED, 5)
        n_answers.append(len(elimination.answers))
    assert n_answers == [0, 1, 1, 3, 3, 4]


def test_conventions_remain_within_the_tolerance_relative_to_answers_above_1():
    answers = [0.5, 8.0]
    changes = np.array([[0.001, 0.008], [-0.0009, -0.0079], [0.0011, 0], [0, 0.0081], [np.nan, 0]]) * 0.9999
    elimination = make_elimination(answers + changes, answers, tolerance=1e-3)
    elimination.ask_more(PLAIN, 2)
    assert elimination.remaining == [0, 1]
    assert elimination.fits


@pytest.mark.parametrize(
    ("purpose", "values", "remaining"),
    [(EMPTY, [np.nan, 1, np.nan], [0, 2]), (EMPTY, [0, 1, 2], [0, 1, 2]), (PLAIN, [np.nan, 1, 0], [0, 1, 2])],
)
def test_nan_rules_out_conventions_with_a_number_only_in_cases_without_relevant_rows(purpose, values, remaining):
    elimination = make_elimination([[value] for value in values], [np.nan], purpose=purpose)
    elimination.ask_more(purpose, 1)
    assert elimination.remaining == remaining
    assert not elimination.fits
    assert elimination.nearest() is None


@pytest.mark.parametrize(
    ("values", "nearest"),
    [([[1, 9, 9], [1, 2, 9], [2, 2, 2]], 1), ([[1, 1, np.nan], [1, 1, 1000], [1, 1, 1001]], 1)],
)
def test_the_nearest_convention_matches_the_most_answers_then_the_closest(values, nearest):
    elimination = make_elimination(values, [1, 1, 1])
    elimination.ask_more(PLAIN, 3)
    assert elimination.nearest() == nearest


@pytest.mark.parametrize("sizes", [(2, 2), (1, 3)])
def test_the_smallest_case_has_one_query_and_one_relevant_row(sizes):
    case = Case((2.0, 1.0, 0.0, 1.0), (0.3, 0.3, 0.2, 0.1), sizes)
    smallest = shrink(case, lambda smaller: max(smaller.labels) > 0, 1000)
    assert (smallest.labels, len(smallest.sizes)) == ((1.0,), 1)
    one_query = shrink(case, lambda smaller: len(smaller.sizes) < 2 or smaller == case, 1000)
    assert len(one_query.sizes) == 1
    assert shrink(case, lambda smaller: len(smaller.labels) == 4, 1000).labels == (0, 0, 0, 0)
    assert shrink(case, lambda _: True, 0) == case
    assert len(shrink(case, lambda _: True, 1).sizes) == 1
