"""Gradients and hessians against finite differences of the losses that they are derivatives of."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.core.gradient_data import SHARES
from tests.random_loss_data import unrounded


def log_softmax(scores):
    return scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())


def ranknet_loss(labels, scores):
    above = labels[:, None] > labels[None, :]
    return np.log1p(np.exp(-(scores[:, None] - scores[None, :])))[above].sum()


def cross_entropy_loss(labels, scores, alpha=0.95):
    from scipy.optimize import brentq

    def loss(margin):
        return (np.logaddexp(0, margin) - labels * margin).sum()

    shift = brentq(lambda c: (1 / (1 + np.exp(-scores - c))).sum() - labels.sum(), -50, 50, xtol=1e-15)
    return (1 - alpha) * loss(scores) + alpha * loss(scores + shift)


LOSSES = {
    "pair_logit": (objectives.catboost.pair_logit(), ranknet_loss),
    "listnet": (objectives.ListNet(), lambda y, s: -(np.exp(log_softmax(y)) * log_softmax(s)).sum()),
    "softmax": (objectives.catboost.query_soft_max(beta=2), lambda y, s: -(y * log_softmax(2 * s)).sum()),
    "rmse": (objectives.QueryRMSE(), lambda y, s: ((s - y - (s - y).mean()) ** 2).sum() / 2),
    "cross entropy": (SHARES, cross_entropy_loss),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_finite_differences_of_the_loss(name):
    if name == "cross entropy":
        pytest.importorskip("scipy", reason="the best shift is found by scipy")
    value, loss = LOSSES[name]
    rng = np.random.default_rng(2)
    labels = rng.random(9) if value is SHARES else rng.integers(0, 4, 9).astype(float)
    scores, step = rng.standard_normal(9), 1e-5
    grad, _ = objectives.gradients(labels, scores, value, group_sizes=[9])
    for i, unit in enumerate(np.eye(9)):
        difference = (loss(labels, scores + step * unit) - loss(labels, scores - step * unit)) / (2 * step)
        assert grad[i] == pytest.approx(difference, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", ["pair_logit", "listnet"])
def test_hessians_are_second_differences_of_the_loss(name):
    value, loss = LOSSES[name]
    rng = np.random.default_rng(2)
    labels, scores, step = rng.integers(0, 4, 9).astype(float), rng.standard_normal(9), 1e-4
    _, hess = objectives.gradients(labels, scores, value, group_sizes=[9])
    for i, unit in enumerate(np.eye(9)):
        around = loss(labels, scores + step * unit) - 2 * loss(labels, scores) + loss(labels, scores - step * unit)
        assert hess[i] == pytest.approx(around / step**2, rel=1e-4)


def test_xendcg_divides_by_the_last_bit_of_1_where_a_probability_rounds_to_1():
    labels, scores, seed = np.array([1.0, 1.0]), np.array([38.0, 0.0]), 5
    states = [seed * 214013 + 2531011]
    states.append(states[0] * 214013 + 2531011)
    terms = 2**labels - [(state >> 16 & 0x7FFF) / 2**15 for state in states]
    rho = np.exp(scores - 38) / np.exp(scores - 38).sum()
    rest = [2.0**-53, 1 - rho[1]]
    grad = first = rho - terms / terms.sum()
    for _ in range(2):
        parts = first / rest
        first = rho * (parts.sum() - parts)  # in which LightGBM rounds off most of the second one
        grad = grad + first
    found, _ = unrounded(objectives.lightgbm.xendcg(objective_seed=seed), ra.Queries(labels, group_sizes=[2]), scores)
    np.testing.assert_allclose(found, grad, rtol=1e-6)
