"""What explains a function's answers: how many answers it takes, of which cases, and how near to which values."""

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
    """The answers of a function to cases, and the values of one convention on them."""
    grid = {name: (getattr(RR, name),) for name in RR.fields() if name != "k"}
    elimination = Elimination(Function(None, "groups"), Pool.over(cases, [(ra.RR, grid)], 3), 3, tolerance)
    elimination.answers = {i: Reply(answer) for i, answer in enumerate(answers)}
    return elimination


def case(relevant, purpose, scores=TIED):
    return Case(tuple(float(rank == relevant) for rank in range(1, 5)), scores, (4,), purpose)


@pytest.mark.parametrize(
    ("more", "is_special"),
    [
        (case(3, PLAIN), True),
        (case(3, UNTIED, DISTINCT), False),
        (case(3, NEGATIVE, (0.4, 0.3, -0.2, -0.2)), False),
        (case(3, ANY), False),
        (Case((0.0,) * 4, TIED, (4,), PLAIN), False),
    ],
)
def test_a_special_rule_is_told_from_three_plain_cases_with_ties_or_more(more, is_special):
    cases = [case(1, PLAIN), case(2, PLAIN), case(2, UNTIED, DISTINCT), case(0, EMPTY), more]
    values = [ra.evaluate(one.queries, one.scores, RR).value for one in cases]
    answers = [-1.0 if not any(one.labels) else value for one, value in zip(cases, values, strict=True)]
    found = explain(eliminated(cases, answers))
    assert (getattr(found, "text", "") == mistakes.EXCEPTIONS[EMPTY]) == is_special


def test_mistakes_are_tried_on_the_first_cases_of_each_purpose(monkeypatch):
    tried = []
    monkeypatch.setattr(mistakes, "make_mistakes", lambda _, cases: tried.extend(cases) or ())
    cases = CaseMaker((0.0, 1.0), 3, 1).make_all()
    assert explain(eliminated(cases, np.linspace(0.123, 0.321, len(cases)))) is None
    most = {PLAIN: 3, UNTIED: 2, EMPTY: 1, SHORT: 1, ONE_DOCUMENT: 1}
    expected = [one for purpose, n in most.items() for one in [c for c in cases if c.purpose == purpose][:n]]
    assert sorted(tried, key=cases.index) == sorted(expected, key=cases.index)


@pytest.mark.parametrize(("lower", "higher"), [(0.5, 0.5), (-0.5, -0.5), (2, 0), (0, 2)])
def test_an_unstable_sort_answers_from_the_worst_to_the_best_order_of_ties(lower, higher):
    untied, tied = ([case(rank, *kind) for rank in (1, 2)] for kind in ((UNTIED, DISTINCT), (PLAIN, (0.5,) * 4)))
    found = explain(eliminated([*untied, *tied], [1, 0.5, 0 - lower * 1e-3, 1 + higher * 1e-3], tolerance=1e-3))
    assert ("unstable sort" in getattr(found, "text", "")) == (max(lower, higher) <= 1)
