"""AUC: which pairs count, what a tie counts, and what the sums run over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra

PLAIN = ra.AUC(
    pairs="label", complement="float64", ties="average", precision="float64", empty="skip", missing="error",
    unjudged="error", pool="queries", average="uniform",
)  # fmt: skip
LABELS, SCORES, SIZES = [2, 0, 1, 1, 0], [0.3, 0.3, 0.5, 0.1, 0.2], [3, 2]


def value(convention, labels=LABELS, scores=SCORES, **columns):
    return ra.evaluate(labels, scores, convention, **{"group_sizes": SIZES, **columns}).value


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ((0.5 + 0 + 1) / 3 + 0) / 2),  # pairs of the first query: 2 over 0 tied, 2 over 1 wrong, 1 over 0 right
        ({"ties": "worst"}, (1 / 3 + 0) / 2),
        ({"ties": "best"}, (2 / 3 + 0) / 2),
        ({"pairs": "from_1"}, ((0.5 + 1) / 2 + 0) / 2),
        ({"pairs": "above_1"}, (0.5 + 0) / 2),  # of the second query no row is relevant, so that it is left out
        ({"pool": "pairs"}, 1.5 / 4),
        ({"pool": "rows"}, (0.5 + 0 + 1 + 1 + 1 + 1 + 0 + 0) / 8),
    ],
)
def test_the_share_of_pairs_in_the_right_order(changes, expected):
    convention = PLAIN.replace(**changes)
    if changes.get("pairs") == "above_1":
        expected = 0.25  # 2 over 0 tied, 2 over 1 wrong
    assert value(convention) == pytest.approx(expected, abs=1e-15)


def test_a_label_may_be_a_probability():
    unit = PLAIN.replace(pairs="unit")
    labels, scores = np.array([0.8, 0.3, 0.5]), np.array([2.0, 1.0, 1.0])
    weights = np.outer(labels, 1 - labels)
    right = np.where(scores[:, None] > scores, 1.0, 0.5 * (scores[:, None] == scores))
    assert value(unit, labels, scores, group_sizes=[3]) == pytest.approx((weights * right).sum() / weights.sum())
    with pytest.raises(ra.InputError, match=r"labels\[1\] is 2, but pairs='unit' takes labels in \[0, 1\]"):
        value(unit, [1, 2], [1, 2], group_sizes=[2])


def test_given_pairs_count_by_their_weights():
    given_ = PLAIN.replace(pairs="given", pool="pairs", average="pair", ties="worst", empty=0)
    pairs = ([2, 0, 3], [1, 2, 4], [2.0, 1.0, 0.5])  # right, wrong, wrong
    assert value(given_, pairs=pairs) == pytest.approx(2 / 3.5)
    assert value(given_.replace(average="uniform"), pairs=pairs[:2]) == pytest.approx(1 / 3)
    with pytest.raises(ra.InputError, match="pairs='given' needs pairs=, but none were given"):
        value(given_)


def test_where_no_query_has_a_pair_the_value_is_that_of_empty():
    pooled = PLAIN.replace(pool="pairs", empty=0.5)
    assert value(pooled, [1, 1], [1, 2], group_sizes=[1, 1]) == 0.5
    with pytest.raises(ra.InputError, match="nothing is left to average"):
        value(pooled.replace(empty="error"), [1, 1], [1, 2], group_sizes=[1, 1])
    alone = ra.Panel([1, 1], [pooled], group_sizes=[1, 1]).measure([1, 2])
    assert alone.shares[pooled].tolist() == [0.25, 0.25]
    parts = [ra.Evaluator([1, 0], pooled, qid=[q, q]).tally([1.0, 2.0]) for q in "ab"]
    assert sum(parts).score().value == 0
    assert ra.Evaluator([1, 1], pooled, qid=["c", "c"]).tally([1, 2]).score().value == 0.5


@pytest.mark.parametrize("pairs", ["label", "from_1"])
def test_where_nothing_is_retrieved_there_is_no_pair(pairs):
    nothing = PLAIN.replace(pairs=pairs, missing="zero", empty=0.25)
    assert value(nothing, [0, 1], [0, 1], group_sizes=[2], retrieved=[False, False]) == 0
    dropped = PLAIN.replace(pairs=pairs, unjudged="drop", empty=0.25)
    assert value(dropped, [0, 0], [0, 1], group_sizes=[2], judged=[False, False]) == 0.25


def test_per_query_values_of_a_pooled_measure_are_the_querys_own():
    pooled = PLAIN.replace(pool="pairs", empty="error")
    found = ra.Evaluator([1, 0, 1, 1, 0], pooled, group_sizes=[2, 1, 2]).per_query([1, 2, 3, 2, 1])
    np.testing.assert_array_equal(found, [0, np.nan, 1])


@given(st.integers(0, 10**6), st.sampled_from(["label", "above_0", "unit", "every-two"]))
@settings(max_examples=60, deadline=None)
def test_turning_all_scores_round_turns_the_value_round(seed, pairs):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    labels, scores = rng.integers(0, 3, n) / 2, rng.integers(0, 8, n).astype(float)
    convention = PLAIN.replace(pairs=pairs, empty=0.5)
    if pairs == "unit":
        convention = convention.replace(average="row")
    values = [value(convention, labels, sign * scores, group_sizes=[n]) for sign in (1, -1)]
    assert sum(values) == pytest.approx(1, abs=1e-12)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_many_rows_give_what_their_ranks_give(seed):
    from scipy.stats import mannwhitneyu

    rng = np.random.default_rng(seed)
    labels, scores = rng.integers(0, 2, 3000), rng.integers(0, 500, 3000).astype(float)
    convention = PLAIN.replace(pairs="from_1", pool="rows", empty="error")
    found = value(convention, labels, scores, qid=rng.integers(0, 30, 3000), group_sizes=None)
    statistic = mannwhitneyu(scores[labels == 1], scores[labels == 0]).statistic
    assert found == pytest.approx(statistic / (labels.sum() * (labels == 0).sum()), rel=1e-14)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"average": "pair"}, "means nothing with pool='queries'"),
        ({"average": "pair", "pool": "pairs"}, "average='pair' needs pairs='given'"),
        ({"average": "row", "pairs": "given"}, "has weights of pairs"),
        ({"average": "row", "pool": "pairs"}, "means nothing with pool='pairs'"),
        ({"ties": "input"}, "allowed are 'average', 'worst', 'best'"),
        ({"pairs": "all"}, "allowed are 'label', 'unit', 'every-two', 'given', 'above_<number>'"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(changes, problem):
    with pytest.raises(ra.ConventionError, match=problem):
        PLAIN.replace(**changes)


def test_equal_meanings_have_one_spelling():
    assert PLAIN.replace(complement="float32") == PLAIN
    assert PLAIN.replace(pool="rows").empty == "error"
    assert str(PLAIN).startswith("auc/pairs=label/complement=float64/ties=average/")
