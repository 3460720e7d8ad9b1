"""Explanations of a function's answers: which cases they use, how many they need, and how close answers must be."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.statistics.probing import mistakes
from rankadapters.statistics.probing.answers import Function, Reply
from rankadapters.statistics.probing.case_maker import CaseMaker
from rankadapters.statistics.probing.cases import ANY, EMPTY, NEGATIVE, ONE_DOCUMENT, PLAIN, SHORT, UNTIED, Case
from rankadapters.statistics.probing.elimination import Elimination, Pool
from rankadapters.statistics.probing.mistakes import explain

RR = ra.parse("ranx.mrr@3")
TIED, DISTINCT = (0.4, 0.3, 0.2, 0.2), (0.4, 0.3, 0.2, 0.1)


def eliminated(cases, answers, tolerance=1e-9):
    """Return an elimination with one convention and these answers of a function to the cases."""
    grid = {name: (getattr(RR, name),) for name in RR.fields() if name != "k"}
    elimination = Elimination(Function(None, "groups"), Pool.over(cases, [(ra.RR, grid)], 3), 3, tolerance)
    elimination.answers = {i: Reply(answer) for i, answer in enumerate(answers)}
    return elimination


def make_case(relevant, purpose, scores=TIED):
    """Return a case of one query, whose relevant row has this rank; 0 for none."""
    return Case(tuple(float(rank == relevant) for rank in range(1, 5)), scores, (4,), purpose)


@pytest.mark.parametrize(
    ("third", "is_special"),
    [
        (make_case(3, PLAIN), True),
        (make_case(3, UNTIED, DISTINCT), False),
        (make_case(3, NEGATIVE, (0.4, 0.3, -0.2, -0.2)), False),
        (make_case(3, ANY), False),
        (Case((0.0,) * 4, TIED, (4,), PLAIN), False),
    ],
)
def test_a_special_rule_needs_three_plain_cases_with_ties(third, is_special):
    cases = [make_case(1, PLAIN), make_case(2, PLAIN), make_case(2, UNTIED, DISTINCT), make_case(0, EMPTY), third]
    values = [ra.evaluate(case.queries, case.scores, RR).value for case in cases]
    answers = [-1.0 if not any(case.labels) else value for case, value in zip(cases, values, strict=True)]
    explanation = explain(eliminated(cases, answers))
    assert (getattr(explanation, "text", "") == mistakes.EXCEPTIONS[EMPTY]) == is_special


def test_mistakes_are_tried_on_the_first_cases_of_each_purpose(monkeypatch):
    used_cases = []
    monkeypatch.setattr(mistakes, "make_mistakes", lambda _, cases: used_cases.extend(cases) or ())
    cases = CaseMaker((0.0, 1.0), 3, 1).make_all()
    assert explain(eliminated(cases, np.linspace(0.123, 0.321, len(cases)))) is None
    n_cases = {PLAIN: 3, UNTIED: 2, EMPTY: 1, SHORT: 1, ONE_DOCUMENT: 1}
    first_cases = [[case for case in cases if case.purpose == purpose][:n] for purpose, n in n_cases.items()]
    expected = [case for group in first_cases for case in group]
    assert sorted(used_cases, key=cases.index) == sorted(expected, key=cases.index)


@pytest.mark.parametrize(("lower", "higher"), [(0.5, 0.5), (-0.5, -0.5), (2, 0), (0, 2)])
def test_an_unstable_sort_may_answer_between_the_worst_and_the_best_order_of_ties(lower, higher):
    untied, tied = ([make_case(rank, *kind) for rank in (1, 2)] for kind in ((UNTIED, DISTINCT), (PLAIN, (0.5,) * 4)))
    explanation = explain(eliminated([*untied, *tied], [1, 0.5, 0 - lower * 1e-3, 1 + higher * 1e-3], tolerance=1e-3))
    assert ("unstable sort" in getattr(explanation, "text", "")) == (max(lower, higher) <= 1)
