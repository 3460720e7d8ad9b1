"""Random gradients: their mean over many draws against the exact expectation over all possible draws."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np

import rankadapters as ra
from tests.helpers.random_losses_by_hand import filtered_value, measure_value
from tests.helpers.random_objectives import CATBOOST_ERR, simple_stochastic_rank, simple_yetirank
from tests.helpers.tables import for_each
from tests.oracles.rows import Row

DRAWS, SEED = 20_000, 1_000_000
LABELS, SCORES = [2.0, 0.0, 1.0], [0.3, 0.5, -0.4]
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(200)
MEASURES = [
    ra.presets.textbook(2).replace(ties="input"),
    ra.presets.catboost.dcg(None, type="Exp", use_weights=False),
    CATBOOST_ERR.replace(scale=4),
    ra.presets.catboost.pfound(2, use_weights=False).replace(scale=4),
    ra.presets.catboost.mrr(2, border=1, use_weights=False),
    ra.presets.catboost.map(2, border=0),
    ra.presets.catboost.map(2, border=0).replace(divisor="found"),
]
EACH_MEASURE = for_each("convention", MEASURES)
ROWS = [Row(label, score) for label, score in zip(LABELS, SCORES, strict=True)]


def draw_gradients(value, labels, scores):
    """Return the gradients of the same query in DRAWS independent draws."""
    n = len(labels)
    grad, _ = ra.objectives.gradients(labels * DRAWS, scores * DRAWS, value, group_sizes=[n] * DRAWS)
    return grad.astype(float).reshape(DRAWS, n)


def assert_within_three_errors(estimates, expected):
    errors = estimates.std(axis=0, ddof=1) / math.sqrt(len(estimates))
    assert (np.abs(estimates.mean(axis=0) - expected) <= 3 * errors + 1e-7).all()


def integral(function, low, high):
    return (high - low) / 2 * (WEIGHTS * function((low + high) / 2 + (high - low) / 2 * POINTS)).sum()


def distribution(x):
    return np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in np.atleast_1d(x)])


def density(x):
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def normal_order(means, sigma):
    """Return the probability that three normal numbers have the order 0, 1, 2: an integral over the middle number."""
    high, middle, low = np.asarray(means) / sigma
    return integral(
        lambda x: density(x - middle) * distribution(high - x) * distribution(x - low), middle - 10, middle + 10
    )


def expected_measure(convention, means, sigma):
    return sum(
        measure_value(ROWS, convention, order) * normal_order([means[i] for i in order], sigma)
        for order in permutations(range(3))
    )


def expected_gradient(value):
    """Return finite differences of the expected measure, minus a share of their part along the centered scores."""
    means = np.array(SCORES) - value.sigma * value.mu * np.array(LABELS)
    derivatives = np.array([
        (expected_measure(value.convention, means + step, value.sigma)
         - expected_measure(value.convention, means - step, value.sigma)) / 2e-4
        for step in 1e-4 * np.eye(3)
    ])  # fmt: skip
    centered = np.array(SCORES) - np.mean(SCORES)
    projection = derivatives @ centered / (np.linalg.norm(centered) + value.nu) ** 2
    return -(derivatives - value.lambda_ * projection * centered)


@EACH_MEASURE
@for_each("fields", [{}, {"sigma": 0.5, "mu": 0.3}, {"sigma": 2, "lambda_": 1, "nu": 0.1}])
def test_stochastic_rank_estimates_the_gradient_of_the_expected_measure(convention, fields):
    value = simple_stochastic_rank(convention, seed=SEED, **fields)
    assert_within_three_errors(draw_gradients(value, LABELS, SCORES), expected_gradient(value))


def logistic_order(scores):
    """Return the probability that three scores with logistic noise have the order 0, 1, 2."""

    def cdf(x):
        return 1 / (1 + np.exp(-x))

    high, middle, low = scores
    inner = lambda x: cdf(x) * cdf(-x) * cdf(high - middle - x) * cdf(x + middle - low)  # noqa: E731 - used once
    return sum(integral(inner, start, start + 10) for start in range(-50, 50, 10))


@EACH_MEASURE
@for_each(
    ("noise", "order_of"),
    [
        ({"noise": "logistic"}, logistic_order),
        ({"noise": "gauss", "noise_power": 0.7}, lambda scores: normal_order(scores, 0.7)),
    ],
)
def test_yetirank_weighs_a_pair_by_the_mean_change_over_all_orders(convention, noise, order_of):
    """Here with three rows and one neighbor. CatBoost's u / (1.000001 - u) lowers probabilities by a millionth."""
    expected = np.zeros(3)
    for order in permutations(range(3)):
        probability = order_of([SCORES[i] for i in order])
        for rank in (0, 1):
            swapped = list(order)
            swapped[rank], swapped[rank + 1] = order[rank + 1], order[rank]
            weight = abs(measure_value(ROWS, convention, swapped) - measure_value(ROWS, convention, order))
            winner, loser = sorted((order[rank], order[rank + 1]), key=lambda i: -LABELS[i])
            push = probability * weight / (1 + math.exp(SCORES[winner] - SCORES[loser]))
            expected[[winner, loser]] += [-push, push]
    value = simple_yetirank(convention, permutations=1, seed=SEED, **noise)
    assert_within_three_errors(draw_gradients(value, LABELS, SCORES), expected)


@for_each("sigma", [0.5, 2])
@for_each("changes", [{}, {"gain": "exp2", "discount": "log2", "k": 2, "retrieve": "above_0.2"}])
def test_stochastic_filter_estimates_the_derivative_of_the_expected_sum(sigma, changes):
    """The derivative by sigma * score, of the sum over all subsets of kept rows times their probabilities."""
    convention = ra.presets.catboost.filtered_dcg().replace(**changes)
    border = 0.2 if changes else 0.0

    def expectation(scores):
        probabilities = 1 / (1 + np.exp(-sigma * (scores - border)))
        return sum(
            math.prod(p if keep else 1 - p for p, keep in zip(probabilities, subset, strict=True))
            * filtered_value(ROWS, convention, subset)
            for subset in product([True, False], repeat=3)
        )

    steps = 1e-5 * np.eye(3)
    expected = [(expectation(SCORES - step) - expectation(SCORES + step)) / (2e-5 * sigma) for step in steps]
    value = ra.objectives.StochasticFilter(convention=convention, sigma=sigma, estimations=1, seed=SEED)
    assert_within_three_errors(draw_gradients(value, LABELS, SCORES), np.array(expected))
