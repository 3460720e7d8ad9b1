"""Cases have the properties that their purpose promises, for any seed."""

from __future__ import annotations

import numpy as np
import pytest

from rankadapters.statistics.probing.case_maker import CLOSE, CaseMaker
from rankadapters.statistics.probing.cases import (
    ANY,
    EMPTY,
    LONG,
    LONGEST_STABLE,
    NEARLY_TIED,
    NEGATIVE,
    ONE_DOCUMENT,
    PLAIN,
    SHORT,
    UNTIED,
    Case,
)

GRADES = (0, 1, 2, 3)
N_CASES = {PLAIN: 8, NEARLY_TIED: 8, ONE_DOCUMENT: 1, EMPTY: 2, SHORT: 2, NEGATIVE: 6, ANY: 12, LONG: 3, UNTIED: 3}


def queries_of(case):
    cuts = np.cumsum(case.sizes)[:-1]
    return list(zip(np.split(case.labels, cuts), np.split(case.scores, cuts), strict=True))


def relevant(labels):
    return bool(labels.max() > 0)


PROPERTIES = {  # conditions on the queries of a case
    PLAIN: lambda queries: all(relevant(y) and 5 <= y.size <= 8 and s.min() > 0 for y, s in queries),
    UNTIED: lambda queries: all(relevant(y) and y.size > 3 and np.unique(s).size == s.size for y, s in queries),
    NEARLY_TIED: lambda queries: all((y == 3).sum() == 1 and (y == 0).sum() == y.size - 1 > 3 for y, _ in queries),
    ONE_DOCUMENT: lambda queries: all(relevant(y) and (y.size == 1) == (i == 0) for i, (y, _) in enumerate(queries)),
    EMPTY: lambda queries: all(y.size > 3 and relevant(y) == (i > 0) for i, (y, _) in enumerate(queries)),
    SHORT: lambda queries: all(relevant(y) and y.size == 2 for y, _ in queries),
    NEGATIVE: lambda queries: all(relevant(y) and y.size > 3 for y, _ in queries),
    ANY: lambda queries: len(queries) == 1 or not relevant(queries[0][0]),
    LONG: lambda queries: all(relevant(y) and (y.size, len({*s})) == (3 * LONGEST_STABLE, 2) for y, s in queries),
}  # fmt: skip


@pytest.mark.parametrize("n_queries", [1, 5])
@pytest.mark.parametrize("seed", range(5))
def test_every_case_has_the_properties_of_its_purpose(n_queries, seed):
    cases = CaseMaker(GRADES, 3, n_queries, seed=seed).make_all()
    assert {purpose: sum(case.purpose == purpose for case in cases) for purpose in N_CASES} == N_CASES
    for case in cases:
        assert len(case.sizes) == n_queries
        assert PROPERTIES[case.purpose](queries_of(case)), case
    assert {label for case in cases for label in case.labels} == {*GRADES}
    assert SHORT not in {case.purpose for case in CaseMaker(GRADES, 2, n_queries, seed=seed).make_all()}


@pytest.mark.parametrize("n_queries", [1, 5])
def test_nearly_tied_cases_alternate_which_of_the_two_rows_is_relevant(n_queries):
    maker = CaseMaker(GRADES, 3, n_queries, seed=0)
    cases = [queries_of(case) for case in maker.make_all() if case.purpose == NEARLY_TIED]
    pairs = [queries for queries in cases if all(np.unique(s).size == s.size for _, s in queries)]
    assert len(pairs) >= 2
    for (labels, scores), (second_labels, second_scores) in zip(*pairs[-2:], strict=True):
        assert {labels[scores.argmax()], second_labels[second_scores.argmax()]} == {0, 3}


@pytest.mark.parametrize(("k", "n_rows"), [(3, 3 * LONGEST_STABLE), (60, 68)])
def test_a_long_tie_reaches_beyond_the_cutoff(k, n_rows):
    cases = CaseMaker(GRADES, k, 2, seed=0).make_all()
    assert {case.sizes for case in cases if case.purpose == LONG} == {(n_rows, n_rows)}


def test_cases_of_any_kind_have_the_expected_shares_of_empty_and_negative_queries():
    queries = [query for seed in range(100) for case in CaseMaker(GRADES, 3, 1, seed=seed).make_all()
               if case.purpose == ANY for query in queries_of(case)]  # fmt: skip
    assert np.mean([not relevant(y) for y, _ in queries]) == pytest.approx(0.3, abs=0.05)
    assert np.mean([s.max() < 0 for _, s in queries]) == pytest.approx(0.2, abs=0.06)
    assert {y.size for y, _ in queries} == {1, 2, 3, 4, 5}


def test_long_ties_and_near_ties_have_the_promised_labels_and_scores():
    maker = CaseMaker(GRADES, 3, 5)
    for labels, scores in queries_of(maker.long_tie()):
        tied = labels[scores == scores.max()]
        assert tied.tolist() == [0, *[3] * (tied.size - 2), 0]
    for turn in (0, 1):
        pair = maker.nearly_tied_pair(turn)
        assert len({*pair.scores}) == len(pair.scores)
        for number, (labels, scores) in enumerate(queries_of(pair)):
            lower, top = np.argsort(scores)[-2:]
            assert 0 < scores[top] - scores[lower] < 2 * CLOSE
            assert (labels[top], labels[lower]) == ((3, 0) if (number + turn) % 2 == 0 else (0, 3))


@pytest.mark.parametrize("turn", range(3))
def test_a_case_has_the_traits_of_its_queries_in_any_order(turn):
    sizes, labels = np.roll([3, 2, 1], turn), [[1.0, 0.0, 0.0], [0.0, 0.0], [1.0]]
    rows = [label for query in np.roll(range(3), turn) for label in labels[query]]
    case = Case(tuple(rows), (3.0, 2.0, 1.0, 3.0, 2.0, 1.0), tuple(sizes.tolist()), ANY)
    assert case.traits(3) == {EMPTY, ONE_DOCUMENT, SHORT}
    assert case.traits() == {EMPTY, ONE_DOCUMENT}
    assert Case((1.0, 0.0, 0.0, 1.0), (4.0, 3.0, 2.0, 1.0), (2, 2), ANY).traits(2) == set()
