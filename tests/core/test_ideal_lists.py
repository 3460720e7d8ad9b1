"""Ideal lists that leave out rows which the ranking missed: of the retrieved rows only, of the k top rows only."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NEVER, NOW, kernels

LINEAR = ra.presets.trec_eval_9(2).replace(ties="input", precision="float64", gain="linear")
MISSED = {"group_sizes": [5], "retrieved": [True, True, True, False, True]}  # the row of label 3 is not retrieved
LABELS, SCORES = [0, 1, 0, 3, 2], [5, 4, 3, 2, 1]  # the ranking: gains 0, 1, 0, 2
SECOND = 1 / log2(3)


def value(ideal, k=2, labels=LABELS, **columns):
    convention = LINEAR.replace(ideal=ideal, k=k)
    return ra.evaluate(labels, SCORES, convention, **(columns or MISSED)).value


@pytest.mark.parametrize("choice", [NOW, NEVER])
@pytest.mark.parametrize(
    ("ideal", "k", "expected"),
    [
        ("cutoff", 2, SECOND / (3 + 2 * SECOND)),
        ("retrieved-only", 2, SECOND / (2 + 1 * SECOND)),  # the retrieved rows hold gains 2, 1, 0, 0
        ("top-only", 2, SECOND / 1),  # ranks 1 and 2 hold gains 0 and 1
        ("retrieved-only", None, (SECOND + 2 / log2(5)) / (2 + SECOND)),
        ("top-only", None, (SECOND + 2 / log2(5)) / (2 + SECOND)),
        ("top-only", 1, 0.0),  # rank 1 holds a gain of 0, so its ideal DCG is 0
    ],
)
def test_an_ideal_list_of_the_rows_that_were_ranked(ideal, k, expected, choice):
    with kernels(choice):
        assert value(ideal, k) == pytest.approx(expected, rel=1e-15)


def test_a_query_is_empty_where_its_retrieved_rows_have_no_gain():
    columns = {"group_sizes": [3, 2], "retrieved": [True, True, False, True, True]}
    convention = LINEAR.replace(ideal="retrieved-only", empty=0.5)
    assert ra.evaluate([0, 0, 3, 1, 0], SCORES, convention, **columns).value == (0.5 + 1) / 2


def test_a_query_counts_0_where_the_top_rows_have_no_gain_but_others_do():
    convention = LINEAR.replace(ideal="top-only", empty=1, k=1)
    scored = ra.evaluate([0, 3, 0, 0, 1], SCORES, convention, group_sizes=[2, 2, 1])
    assert scored.value == (0 + 1 + 1) / 3  # nothing found; nothing to find; found


def test_rows_without_judgment_keep_the_label_that_they_have_in_the_ranking():
    """Gains 1 (declared for the row without judgment) and 0 at the top two ranks, 2 below: both lists hold the 1."""
    columns = {"group_sizes": [3], "judged": [False, True, True]}
    convention = LINEAR.replace(unjudged=1, k=2)
    of_all, of_retrieved, of_top = (
        ra.evaluate([9, 0, 2], [3, 2, 1], convention.replace(ideal=ideal), **columns).value
        for ideal in ("cutoff", "retrieved-only", "top-only")
    )
    assert (of_all, of_retrieved, of_top) == pytest.approx((1 / 2, 1 / (2 + SECOND), 1.0), rel=1e-15)


@pytest.mark.parametrize("ties", ["input", "reverse", "worst", "best"])
def test_where_all_rows_are_retrieved_the_retrieved_only_list_is_that_of_all_rows(ties):
    rng = np.random.default_rng(0)
    queries = ra.Queries(rng.integers(0, 4, 300), qid=np.repeat(np.arange(30), 10))
    scores = rng.integers(0, 5, 300)
    convention = ra.presets.textbook(4).replace(ties=ties)
    assert convention.replace(ideal="retrieved-only").all_retrieved() == convention
    one, other = (
        ra.Evaluator(queries, convention.replace(ideal=ideal)).per_query(scores).tolist()
        for ideal in ("cutoff", "retrieved-only")
    )
    assert one == other


def test_the_top_only_list_does_not_see_rows_below_the_cutoff():
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 4, 40), -np.arange(40.0)
    evaluator = [
        ra.Evaluator(np.append(labels[:5], below), "textbook@5+ties=input+ideal=top-only", group_sizes=[40])
        for below in (labels[5:], np.sort(labels[5:]), np.full(35, 3))
    ]
    assert len({one.evaluate(scores).value for one in evaluator}) == 1


def test_without_a_cutoff_the_top_is_all_retrieved_rows():
    assert LINEAR.replace(ideal="top-only", k=None) == LINEAR.replace(ideal="retrieved-only", k=None)


def test_an_open_order_of_ties_is_refused_for_the_top_only():
    with pytest.raises(ra.ConventionError, match=r"'average' leaves open\.\nHint: ties='input', or ideal='retrieved"):
        ra.presets.textbook(10).replace(ideal="top-only")


@pytest.mark.parametrize("ideal", ["retrieved-only", "top-only"])
def test_a_number_of_the_common_mistake_is_identified(ideal):
    rng = np.random.default_rng(2)
    judged_only = rng.random(400) < 0.3
    queries = ra.Queries(rng.integers(0, 4, 400), group_sizes=[10] * 40, retrieved=~judged_only)
    scores = rng.random(400)
    convention = ra.presets.yahoo(3).replace(ideal=ideal, missing="zero")
    printed = f"{ra.evaluate(queries, scores, convention).value:.8f}"
    assert any(match.covers(convention) for match in ra.audit.identify(queries, scores, value=printed, k=3))


def test_the_common_mistake_is_explained():
    a, b = LINEAR, LINEAR.replace(ideal="top-only", gain="exp2")
    parts = ra.audit.explain(LABELS, SCORES, a, b, **MISSED).contributions
    assert parts["ideal"] == pytest.approx(value("top-only") - value("cutoff"), abs=0.1)
    assert sum(parts.values()) == pytest.approx(1 * SECOND - value("cutoff"))


def test_the_ratio_of_sums_is_the_mean_weighted_by_ideal_dcgs():
    """DCGs 3, 1/log2(3) and 0 by ideal DCGs 3, 1 and 0."""
    labels, scores, sizes = [2, 0, 0, 1, 0, 0], [2, 1, 2, 1, 2, 1], [2, 2, 2]
    ideal = ra.Evaluator(labels, "ranklib.dcg@10", group_sizes=sizes).per_query(labels)
    convention = ra.presets.ranklib(10).replace(average="query")
    value = ra.evaluate(labels, scores, convention, group_sizes=sizes, query_weight=ideal).value
    assert value == pytest.approx((3 + SECOND) / (3 + 1))
    assert "query_weight=ideal DCGs" in ra.presets.inexpressible()["ratio_of_sums"]


TOP = ra.presets.lightgbm(10).replace(ideal="top-only")


@pytest.mark.parametrize(
    "make",
    [
        lambda: ra.objectives.lightgbm.lambdarank().replace(convention=TOP),
        lambda: ra.objectives.ApproxNDCG(convention=TOP, temperature=1, hessian=1),
        lambda: ra.objectives.LambdaLoss(convention=TOP, scheme="ndcg2", truncation=None, sigma=1),
        lambda: ra.objectives.catboost.stochastic_rank("NDCG").replace(convention=TOP),
        lambda: ra.objectives.catboost.yetirank(mode="NDCG").replace(convention=TOP),
    ],
)
def test_no_objective_takes_an_ideal_list_that_follows_the_scores(make):
    with pytest.raises(ra.ConventionError, match=r"needs an ideal DCG that no score changes.*\nHint: train under"):
        make()


def test_an_objective_divides_by_the_ideal_list_of_the_retrieved_rows():
    """With delta = (3 - 1) (1 - 1/log2(3)) / ideal, a half of it at equal scores."""
    convention = LINEAR.replace(ideal="retrieved-only", k=None, missing="zero")
    value = ra.objectives.lightgbm.lambdarank().replace(
        convention=convention, sigmoid="exact", normalization="none", sigma=1
    )
    columns = {"group_sizes": [3], "retrieved": [True, True, False]}
    grad, _ = ra.objectives.gradients([3, 1, 4], [0.0, 0.0, 0.0], value, **columns)
    delta = 2 * (1 - SECOND) / (3 + SECOND)
    assert grad.tolist() == pytest.approx([-delta / 2, delta / 2, 0], rel=1e-6)
