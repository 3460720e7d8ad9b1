"""LambdaLoss, ApproxNDCG and ListMLE: special cases by hand, and refused input."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives

NDCG_AT_5 = ra.presets.textbook(5)


def test_lambda_loss_without_the_ndcg2_term_is_lambdarank_in_base_2():
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 5, 200).astype(float), rng.standard_normal(200)
    lambdarank = objectives.lightgbm.lambdarank().replace(sigmoid="exact", normalization="none")
    value = objectives.LambdaLoss(convention=lambdarank.convention, scheme="ndcg2++_0", truncation=30, sigma=1)
    derivatives = objectives.gradients(labels, scores, value, group_sizes=[150, 50])
    expected = objectives.gradients(labels, scores, lambdarank, group_sizes=[150, 50])
    for part, expected_part in zip(derivatives, expected, strict=True):
        np.testing.assert_allclose(part * math.log(2), expected_part, rtol=1e-5, atol=1e-9)


def test_pairs_of_equal_labels_count_only_in_schemes_that_weigh_single_rows():
    for scheme, weighs_rows in (("arp1", True), ("ndcg1", True), ("arp2", False), ("ndcg2", False)):
        value = objectives.LambdaLoss(convention=NDCG_AT_5, scheme=scheme, truncation=None, sigma=1)
        grad, hess = objectives.gradients([1, 1], [1.0, 0.0], value, group_sizes=[2])
        assert bool(hess.all()) is weighs_rows
        assert bool(grad[0] != 0) is weighs_rows


@pytest.mark.parametrize("value", [
    objectives.LambdaLoss(convention=NDCG_AT_5, scheme="ndcg2", truncation=None, sigma=1),
    objectives.ApproxNDCG(convention=NDCG_AT_5, temperature=1, hessian=1),
], ids=lambda value: value.kind)  # fmt: skip
def test_queries_that_are_short_or_have_no_relevant_row_have_no_gradient(value):
    short = value.replace(convention=value.convention.replace(short="zero"))
    derivatives = objectives.gradients([0, 0, 1, 0, 2, 0, 0, 1], np.arange(8.0), short, group_sizes=[2, 5, 1])
    for part in derivatives:
        assert not part[[0, 1, 7]].any()
        assert part[2:7].any()


@pytest.mark.parametrize("value", [
    objectives.LambdaLoss(convention=NDCG_AT_5, scheme="ndcg2++_3", truncation=None, sigma=1),
    objectives.LambdaLoss(convention=NDCG_AT_5, scheme="ndcg1", truncation=150, sigma=1),
    objectives.ApproxNDCG(convention=NDCG_AT_5, temperature=0.01, hessian=1),
])  # fmt: skip
def test_a_query_split_over_kernel_calls_has_the_gradients_of_one_call(value, monkeypatch):
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 3, 300), rng.standard_normal(300) * 100
    single_call = objectives.gradients(labels, scores, value, group_sizes=[300])
    monkeypatch.setattr(ra.core.evaluation.threads, "WORK_PER_CALL", 7 * 300)
    np.testing.assert_array_equal(objectives.gradients(labels, scores, value, group_sizes=[300]), single_call)
    assert np.abs(single_call[0]).max() > 0


def test_list_mle_ranks_rows_of_equal_labels_in_row_order():
    """Once the first of two rows is drawn, the second is drawn with probability 1 and adds nothing."""
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
def test_lambda_loss_and_approxndcg_refuse_measures_other_than_ndcg(cls):
    fields = {"scheme": "ndcg2", "truncation": 3, "sigma": 1, "temperature": 1, "hessian": 1}
    declared = {name: value for name, value in fields.items() if name in cls.fields()}
    with pytest.raises(ra.ConventionError, match=rf"{cls.__name__} needs a convention of NDCG, not ap@5/"):
        cls(**declared, convention="lightgbm.map@5")
