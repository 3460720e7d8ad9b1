"""LambdaLoss, ApproxNDCG and ListMLE against differences of their losses, and what each refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives

NDCG_AT_5 = ra.presets.textbook(5)
SCHEMES = ("arp1", "arp2", "ndcg1", "ndcg2", "ndcg2++_3")
DISCOUNTS = {
    "log2": lambda r: 1 / np.log2(1 + r),
    "log_10": lambda r: 1 / np.log10(1 + r),
    "reciprocal": lambda r: 1 / r,
    "power_0.7": lambda r: 0.7 ** (r - 1),
    "jk2": lambda r: 1 / np.log2(np.maximum(r, 2)),
}
SIGMA, TRUNCATION = 2, 4


def ideal_dcg(gains, discount):
    return (np.sort(gains)[::-1] * DISCOUNTS[discount](np.arange(1.0, gains.size + 1)))[:5].sum()


def ranks_of(scores):
    ranks = np.empty(scores.size, int)
    ranks[np.argsort(-scores)] = np.arange(1, scores.size + 1)
    return ranks


def list_mle_loss(labels, scores):
    ordered = scores[np.argsort(-labels, kind="stable")]
    return sum(np.log(np.exp(ordered[k:]).sum()) - ordered[k] for k in range(ordered.size))


def approx_ndcg_loss(labels, scores, temperature, discount):
    soft = 0.5 + (1 / (1 + np.exp((scores[:, None] - scores[None, :]) / temperature))).sum(axis=1)
    gains = 2**labels - 1
    return -(gains * DISCOUNTS[discount](soft)).sum() / ideal_dcg(gains, discount)


def lambda_loss(scheme, discount, labels, scores, at):
    """The loss, its weights taken at the ranks of other scores; of each ordered pair the first row should be above."""
    gains, ranks, d = 2**labels - 1, ranks_of(at), DISCOUNTS[discount]
    apart = np.abs(ranks[:, None] - ranks[None, :])
    gap, others = np.maximum(gains[:, None] - gains[None, :], 0), 1 - np.eye(gains.size)
    steps = np.where(apart > 0, d(np.maximum(apart, 1)) - d(apart + 1), 0)
    change = np.abs(d(ranks)[:, None] - d(ranks)[None, :])
    weights = {
        "arp1": gains[:, None] * others,
        "arp2": gap,
        "ndcg1": (gains * d(ranks))[:, None] * others,
        "ndcg2": gap * steps,
        "ndcg2++_3": gap * (3 * steps + change),
    }[scheme] / (1 if scheme.startswith("arp") else ideal_dcg(gains, discount))
    kept = np.minimum(ranks[:, None], ranks[None, :]) <= TRUNCATION
    return (weights * kept * np.log2(1 + np.exp(-SIGMA * (scores[:, None] - scores[None, :])))).sum()


def first_differences(loss, scores, step=1e-5):
    return [(loss(scores + step * unit) - loss(scores - step * unit)) / (2 * step) for unit in np.eye(scores.size)]


def second_differences(loss, scores, step=1e-3):
    return [
        (loss(scores + step * unit) - 2 * loss(scores) + loss(scores - step * unit)) / step**2
        for unit in np.eye(scores.size)
    ]


def drawn(seed):
    """Labels, not all 0, and scores so far apart that no difference changes their order."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, 9).astype(float)
    labels[rng.integers(9)] = 3
    return labels, rng.permutation(9) / 4 + rng.uniform(0, 0.1, 9)


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("scheme", SCHEMES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_lambda_loss_has_the_derivatives_of_its_loss(scheme, discount, seed):
    labels, scores = drawn(seed)
    convention = NDCG_AT_5.replace(discount=discount)
    value = objectives.LambdaLoss(convention=convention, scheme=scheme, truncation=TRUNCATION, sigma=SIGMA)
    grad, hess = objectives.gradients(labels, scores, value, group_sizes=[9])

    def loss(moved):
        return lambda_loss(scheme, discount, labels, moved, scores)

    np.testing.assert_allclose(grad, first_differences(loss, scores), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(hess, second_differences(loss, scores), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("temperature", [0.05, 0.5, 2])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_approx_ndcg_has_the_gradient_of_its_loss_and_the_declared_hessian(discount, temperature, seed):
    labels, scores = drawn(seed)
    convention = NDCG_AT_5.replace(discount=discount)
    value = objectives.ApproxNDCG(convention=convention, temperature=temperature, hessian=0.25)
    grad, hess = objectives.gradients(labels, scores, value, group_sizes=[9])
    expected = first_differences(lambda moved: approx_ndcg_loss(labels, moved, temperature, discount), scores)
    np.testing.assert_allclose(grad, expected, rtol=1e-5, atol=1e-6)
    assert hess.tolist() == [0.25] * 9


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_list_mle_has_the_derivatives_of_its_loss(seed):
    labels, scores = drawn(seed)
    grad, hess = objectives.gradients(labels, scores, objectives.ListMLE(), group_sizes=[9])
    np.testing.assert_allclose(
        grad, first_differences(lambda moved: list_mle_loss(labels, moved), scores), rtol=1e-5, atol=1e-7
    )
    np.testing.assert_allclose(
        hess, second_differences(lambda moved: list_mle_loss(labels, moved), scores), rtol=1e-4, atol=1e-5
    )


def test_lambda_loss_without_steps_is_lambdarank_in_base_2():
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 5, 200).astype(float), rng.standard_normal(200)
    lambdarank = objectives.lightgbm.lambdarank().replace(sigmoid="exact", normalization="none")
    value = objectives.LambdaLoss(convention=lambdarank.convention, scheme="ndcg2++_0", truncation=30, sigma=1)
    one, other = (objectives.gradients(labels, scores, each, group_sizes=[150, 50]) for each in (value, lambdarank))
    for ours, part in zip(one, other, strict=True):
        np.testing.assert_allclose(ours * math.log(2), part, rtol=1e-5, atol=1e-9)


def test_rows_of_equal_labels_count_in_both_directions_where_each_row_weighs_by_itself():
    for scheme, both in (("arp1", True), ("ndcg1", True), ("arp2", False), ("ndcg2", False)):
        value = objectives.LambdaLoss(convention=NDCG_AT_5, scheme=scheme, truncation=None, sigma=1)
        grad, hess = objectives.gradients([1, 1], [1.0, 0.0], value, group_sizes=[2])
        assert bool(hess.all()) is both
        assert bool(grad[0] != 0) is both


@pytest.mark.parametrize("value", [
    objectives.LambdaLoss(convention=NDCG_AT_5, scheme="ndcg2", truncation=None, sigma=1),
    objectives.ApproxNDCG(convention=NDCG_AT_5, temperature=1, hessian=1),
], ids=lambda value: value.kind)  # fmt: skip
def test_a_query_of_nothing_relevant_or_ruled_out_as_short_has_no_gradient(value):
    short = value.replace(convention=value.convention.replace(short="zero"))
    found = objectives.gradients([0, 0, 1, 0, 2, 0, 0, 1], np.arange(8.0), short, group_sizes=[2, 5, 1])
    for part in found:
        assert not part[[0, 1, 7]].any()
        assert part[2:7].any()


@pytest.mark.parametrize("value", [
    objectives.LambdaLoss(convention=NDCG_AT_5, scheme="ndcg2++_3", truncation=None, sigma=1),
    objectives.LambdaLoss(convention=NDCG_AT_5, scheme="ndcg1", truncation=150, sigma=1),
    objectives.ApproxNDCG(convention=NDCG_AT_5, temperature=0.01, hessian=1),
], ids=str)  # fmt: skip
def test_a_query_in_several_calls_has_the_gradients_of_one(value, monkeypatch):
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 3, 300), rng.standard_normal(300) * 100
    at_once = objectives.gradients(labels, scores, value, group_sizes=[300])
    monkeypatch.setattr(ra.core.evaluation.threads, "WORK_PER_CALL", 7 * 300)
    np.testing.assert_array_equal(objectives.gradients(labels, scores, value, group_sizes=[300]), at_once)
    assert np.abs(at_once[0]).max() > 0


def test_rows_of_list_mle_with_equal_labels_stand_in_row_order():
    """The second of two rows of one label is drawn for certain once the first is gone."""
    grad, hess = objectives.gradients([1, 1], [0.0, math.log(3)], objectives.ListMLE(), group_sizes=[2])
    np.testing.assert_allclose(grad, [1 / 4 - 1, 3 / 4], rtol=1e-6)
    np.testing.assert_allclose(hess, [3 / 16, 3 / 16], rtol=1e-6)


@pytest.mark.parametrize("scheme", ["arp1", "ndcg1"])
def test_a_negative_gain_that_weighs_a_row_is_refused(scheme):
    convention = NDCG_AT_5.replace(gain="linear")
    value = objectives.LambdaLoss(convention=convention, scheme=scheme, truncation=None, sigma=1)
    message = rf"labels\[2\] has the gain -1, but scheme='{scheme}' weighs a row by its gain\.\nHint: .*scheme='arp2'"
    with pytest.raises(ra.InputError, match=message) as error:
        objectives.gradients([1, 0, -1], np.zeros(3), value, qid=["b", "a", "b"])
    assert error.value.row == 2


@pytest.mark.parametrize("cls", [objectives.LambdaLoss, objectives.ApproxNDCG])
def test_only_ndcg_has_the_gains_and_ideals_that_they_need(cls):
    fields = {"scheme": "ndcg2", "truncation": 3, "sigma": 1, "temperature": 1, "hessian": 1}
    given_ = {name: value for name, value in fields.items() if name in cls.fields()}
    with pytest.raises(ra.ConventionError, match=rf"{cls.__name__} needs a convention of NDCG, not ap@5/"):
        cls(**given_, convention="lightgbm.map@5")
