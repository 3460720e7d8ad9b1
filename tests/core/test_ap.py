"""AP: closed forms, the expectation over all orders of ties, divisors, weights, all rows as one query."""

from __future__ import annotations

from itertools import permutations
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NEVER, NOW, kernels

PLAIN = ra.AP(
    k=None, relevant="from_1", divisor="relevant", ties="input", precision="float64", retrieve="all", short="pad",
    empty=0, missing="error", unjudged="error", pool="queries", average="uniform",
)  # fmt: skip


def value(labels, scores, convention, **columns):
    return ra.evaluate(labels, scores, convention, **{"group_sizes": [len(labels)], **columns}).value


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (1 / 2 + 2 / 4 + 3 / 5) / 3),
        ({"k": 4}, (1 / 2 + 2 / 4) / 3),
        ({"k": 2, "divisor": "cutoff"}, (1 / 2) / 2),
        ({"k": 4, "divisor": "found"}, (1 / 2 + 2 / 4) / 2),
        ({"k": 1, "divisor": "found"}, 0),
        ({"retrieve": "above_0.35"}, (1 / 2) / 3),
        ({"retrieve": "from_0.2"}, (1 / 2 + 2 / 4) / 3),
        ({"relevant": "above_1"}, (1 / 4) / 1),
    ],
)
def test_precisions_at_the_relevant_ranks_by_the_divisor(changes, expected):
    found = value([0, 1, 0, 2, 1], [0.5, 0.4, 0.3, 0.2, 0.1], PLAIN.replace(**changes))
    assert found == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 10])
@pytest.mark.parametrize("n_queries", [1, 40])
def test_a_tie_of_relevant_rows_alone_has_no_order(n, n_queries):
    labels, scores = ([1] * n + [0]) * n_queries, ([0.5] * n + [0.1]) * n_queries
    found = value(labels, scores, PLAIN.replace(ties="average"), group_sizes=[n + 1] * n_queries)
    assert found == pytest.approx(1, abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(
    labels=st.lists(st.integers(0, 1), min_size=1, max_size=6), seed=st.integers(0, 10**6),
    k=st.sampled_from([None, 1, 2, 3, 4]), divisor=st.sampled_from(["relevant", "cutoff"]),
)  # fmt: skip
def test_averaged_ties_are_the_mean_over_all_orders(labels, seed, k, divisor):
    if not any(labels):
        return
    n = len(labels)
    scores = np.random.default_rng(seed).integers(0, 3, n).astype(float)
    convention = PLAIN.replace(k=k, divisor=divisor)
    orders = np.array(list(permutations(range(n))))  # each of them a query
    mean = value(np.array(labels)[orders].ravel(), scores[orders].ravel(), convention, group_sizes=[n] * len(orders))
    averaged = value(labels, scores, convention.replace(ties="average"))
    assert averaged == pytest.approx(mean, abs=1e-13)


def test_a_tie_retrieved_together_stands_at_its_last_rank():
    together = PLAIN.replace(ties="together")
    assert value([0, 1, 1, 0], [2, 1, 1, 0], together) == pytest.approx(2 * (2 / 3) / 2)
    assert value([1, 1, 0], [1, 1, 1], together) == pytest.approx(2 / 3)
    assert value([1, 1, 0], [1, 1, 1], together.replace(k=2)) == 0  # the tie ends beyond the cut


def test_row_weights_count_in_place_of_ones():
    rows = PLAIN.replace(average="row")
    expected = (2 * 2 / 2.5 + 1 * 3 / 6.5) / 3
    assert value([0, 1, 0, 1], [4, 3, 2, 1], rows, row_weight=[0.5, 2, 3, 1]) == pytest.approx(expected)
    assert value([0, 1, 0, 1], [4, 3, 2, 1], rows) == value([0, 1, 0, 1], [4, 3, 2, 1], PLAIN)


@given(st.integers(0, 10**6), st.sampled_from([None, 1, 2]))
@settings(max_examples=60, deadline=None)
def test_worst_and_best_ties_go_by_what_a_row_counts(seed, k):
    """Within a tie the rows that count less stand first, or last: relevant rows by their weights, the others 0."""
    rng = np.random.default_rng(seed)
    labels, weights, scores = rng.integers(0, 2, 5), rng.integers(0, 4, 5) + 0.5, rng.integers(0, 2, 5)
    columns = {"k": k, "average": "row"}
    for ties, sign in (("worst", 1), ("best", -1)):
        order = np.lexsort([sign * labels * weights, -scores])
        expected = value(labels[order], -np.arange(5.0), PLAIN.replace(**columns), row_weight=weights[order])
        found = value(labels, scores, PLAIN.replace(**columns, ties=ties), row_weight=weights)
        assert found == pytest.approx(expected, abs=1e-14)


def test_all_rows_are_one_query_whose_rows_have_the_weights_of_their_queries():
    rows = PLAIN.replace(pool="rows", average="query")
    labels, scores, sizes = [1, 0, 0, 1], [4, 2, 3, 1], [2, 2]
    weighted = value(labels, scores, rows, group_sizes=sizes, query_weight=[2, 1])
    assert weighted == pytest.approx((2 * 1 + 1 * 3 / 6) / 3)
    assert weighted == value(labels, scores, PLAIN.replace(average="row"), row_weight=[2, 2, 1, 1])


def test_a_geometric_mean_takes_small_values_as_the_floor():
    conv = PLAIN.replace(average="geometric_0.001")
    found = value([1, 0, 0, 1, 0], [3, 2, 3, 1, 2], conv, group_sizes=[2, 2, 1])
    assert found == pytest.approx(exp((log(1) + log(0.5) + log(0.001)) / 3), rel=1e-14)


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_tallies_of_any_partition_merge_into_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, 12)
    qid, n = np.repeat(np.arange(12), sizes), int(sizes.sum())
    labels, scores = rng.integers(0, 3, n), rng.integers(0, 5, n).astype(float)
    for convention in (PLAIN.replace(ties="average"), PLAIN.replace(average="geometric_1e-05"), "lightgbm.map@3"):
        whole = ra.evaluate(labels, scores, convention, qid=qid)
        parts = [qid % 3 == part for part in range(3)]
        tallies = [ra.Evaluator(labels[p], convention, qid=qid[p]).tally(scores[p]) for p in parts]
        assert sum(tallies[::-1]).score().value == whole.value


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"ties": "average", "divisor": "found"}, "has no closed form under divisor='found'"),
        ({"ties": "average", "average": "row"}, "has no closed form under average='row'"),
        ({"ties": "average", "pool": "rows", "average": "query"}, "has no closed form"),
        ({"k": 5, "divisor": "cutoff", "average": "row"}, "divisor='cutoff' counts rows"),
        ({"pool": "rows", "average": "query-except-empty", "empty": 1}, "means nothing with pool='rows'"),
        ({"pool": "rows", "ties": "docid-ascending"}, "pool='rows' takes all rows as one"),
        ({"pool": "pairs"}, "allowed are 'queries', 'rows'"),
        ({"relevant": "above"}, "relevant='above' is not a choice; allowed are 'above_<number>'"),
        ({"relevant": "from_nan"}, "is not a choice"),
        ({"divisor": "k"}, "allowed are 'relevant', 'cutoff', 'found'"),
        ({"average": "geometric_0"}, "the floor, above 0 and at most 1"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(changes, problem):
    with pytest.raises(ra.ConventionError, match=problem):
        PLAIN.replace(**changes)


def test_equal_meanings_have_one_spelling():
    assert PLAIN.replace(divisor="cutoff").divisor == "relevant"
    assert PLAIN.replace(relevant="above_0.50").relevant == "above_0.5"
    assert PLAIN.replace(pool="rows", empty="skip").empty == "error"


@pytest.mark.parametrize("choice", [NOW, NEVER])
@pytest.mark.parametrize("ties", ["input", "average"])
def test_a_rounded_score_is_compared_with_the_bound_itself(choice, ties):
    """In float32 0.1 is 0.100000001, which is above 0.1; a bound that is rounded too would leave the row out."""
    convention = ra.parse("catboost.map@3").replace(retrieve="above_0.1", precision="float32", ties=ties, empty=0)
    with kernels(choice):
        assert ra.evaluate([1, 0], [0.1, 0.05], convention, group_sizes=[2]).value == 1
