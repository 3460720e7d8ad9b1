"""The values that a measure can take on a data set under other scores."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.statistics.attainable import MOST_QUERIES, attainable_values, steps_nearby

N_QUERIES, N_ROWS = 20, 8
RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=N_QUERIES * N_ROWS)
SIZES = [N_ROWS] * N_QUERIES
ONE_EACH = np.tile([0, 0, 1, 0, 0, 0, 0, 0], N_QUERIES)  # one relevant row in each query
THREE_EACH = np.tile([1, 0, 1, 0, 0, 1, 0, 0], N_QUERIES)
GRADED = np.tile([0, 3, 1, 0, 2, 0, 1, 1], N_QUERIES)
MULTIPLES = np.arange(N_QUERIES + 1) / N_QUERIES


def values_of(convention, labels, **columns):
    convention = ra.parse(convention)
    return attainable_values(ra.Queries(labels, group_sizes=SIZES, **columns), SCORES, convention)


@pytest.mark.parametrize(
    ("convention", "labels", "values"),
    [
        ("trec_eval_9.recall@1+ties=input", ONE_EACH, MULTIPLES),
        ("ranx.hit_rate@5", THREE_EACH, MULTIPLES),  # 5 of 8 rows may all be irrelevant
        ("textbook@1", THREE_EACH, MULTIPLES),
        ("trec_eval_9.P@5+ties=input", THREE_EACH, np.arange(3 * N_QUERIES + 1) / (5 * N_QUERIES)),
        ("ranx.hit_rate@6", THREE_EACH, [1.0]),  # at least one of 6 rows is relevant
        ("textbook@5", GRADED, None),
        ("trec_eval_9.gm_map+ties=input", THREE_EACH, None),
        ("sklearn.roc_auc_score", THREE_EACH, None),
        ("textbook@1+empty=error", 0 * ONE_EACH, None),
        ("textbook@1", 0 * ONE_EACH, [0.0]),  # no row is relevant
    ],
)
def test_these_values_can_be_taken(convention, labels, values):
    attainable = values_of(convention, labels)
    assert attainable is None if values is None else attainable == pytest.approx(np.array(values), abs=1e-12)


def test_queries_that_are_left_out_make_the_steps_larger():
    labels = ONE_EACH.copy()
    labels[: 4 * N_ROWS] = 0  # four of 20 queries are empty
    assert values_of("textbook@1+empty=skip", labels) == pytest.approx(np.arange(17) / 16)
    assert values_of("textbook@1+empty=1", labels) == pytest.approx((4 + np.arange(17)) / 20)


def test_ties_stay_ties_and_rows_that_were_not_retrieved_stay_out():
    labels, scores = [1, 0, 0, 1, 0, 0], np.array([2.0, 2, 1, np.nan, 2, 1])
    queries = ra.Queries(labels, group_sizes=[3, 3], retrieved=np.isfinite(scores))
    # In the first query the relevant row is tied at rank 1 or ranks third; in the second it is not retrieved.
    convention = ra.parse("trec_eval_9.P@1+ties=average")
    assert attainable_values(queries, scores, convention) == pytest.approx([0, 0.25])
    queries = ra.Queries(labels, group_sizes=[3, 3], retrieved=np.isfinite(scores[::-1]))
    assert attainable_values(queries, scores[::-1], convention) == pytest.approx([0, 0.25, 0.5, 0.75])


def test_weights_without_a_common_step_allow_too_many_values():
    convention = ra.parse("catboost@1+gain=exp2")
    weights = RNG.uniform(1, 2, N_QUERIES)
    queries = ra.Queries(ONE_EACH, group_sizes=SIZES, query_weight=weights)
    assert attainable_values(queries, SCORES, convention) is None
    equal = ra.Queries(ONE_EACH, group_sizes=SIZES, query_weight=[2] * N_QUERIES)
    assert attainable_values(equal, SCORES, convention) == pytest.approx(MULTIPLES)


def test_queries_beyond_a_limit_are_not_counted(monkeypatch):
    assert MOST_QUERIES >= N_QUERIES
    monkeypatch.setattr("rankadapters.statistics.attainable.MOST_QUERIES", N_QUERIES - 1)
    assert values_of("textbook@1", THREE_EACH) is None


@pytest.mark.parametrize(
    ("number", "unit", "steps"),
    [
        (0.5, 1e-2, np.arange(-25, 26, 5)),  # five on each side
        (0.1, 1e-2, np.arange(-10, 26, 5)),  # two below are all
        (0.52, 1e-2, np.arange(-25, 26, 5)),  # 0.52 is none of the values: they are moved
        (0.5, 0.1, np.arange(-5, 6)),  # several values in one unit count once
    ],
)
def test_at_least_five_values_on_each_side_are_near_a_number(number, unit, steps):
    assert steps_nearby(MULTIPLES, number, unit).tolist() == steps.tolist()


def test_values_within_a_tenth_of_the_number_are_near():
    assert steps_nearby(np.arange(1001) / 1000, 0.5, 1e-3).tolist() == list(range(-50, 51))
