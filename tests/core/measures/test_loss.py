"""Losses as measures: their values, and the input that they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.measures.losses import best_shifts

PLAIN = {"missing": "error", "unjudged": "error", "average": "uniform"}
PAIRS = ra.PairLogit(pairs="label", **PLAIN)
SQUARES = ra.QueryRMSE(**PLAIN)
SOFTMAX = ra.QuerySoftMax(beta=1, **PLAIN)
ENTROPY = ra.QueryCrossEntropy(alpha=0.5, **PLAIN)
LOSSES = [PAIRS, SQUARES, SOFTMAX, ENTROPY]


def value(convention, labels, scores, **data):
    return ra.evaluate(labels, scores, convention, **data).value


def log_loss(label, score):
    return math.log1p(math.exp(score)) - label * score


@pytest.mark.parametrize(
    ("convention", "labels", "scores", "expected"),
    [
        (PAIRS, [2, 1, 0], [1, 3, 3], (2 * math.log1p(math.exp(2)) + math.log(2)) / 3),
        (PAIRS, [1, 0], [0, 500], math.log1p(1 / 1e-38)),  # the largest loss of a pair
        (SQUARES, [3, 0, 0], [4, 2, 3], math.sqrt(2 / 3)),
        (SOFTMAX.replace(beta=2), [2, 1, -5], [0, 1, 0], math.log(2 + math.exp(2)) - 2 / 3),
        (SOFTMAX, [1, 0], [0, 900], 900.0),  # CatBoost overflows here
        (ENTROPY.replace(alpha=0), [1, 0, 0.25], [1, 2, 3], (log_loss(1, 1) + log_loss(0, 2) + log_loss(0.25, 3)) / 3),
        (ENTROPY.replace(alpha=1), [1, 0], [9, 9], math.log(2)),
        (ENTROPY.replace(alpha=1), [1, 0], [50, 50], (log_loss(1, 30) + log_loss(0, 30)) / 2),  # largest shift: 20
        (ENTROPY, [1, 1], [2, 3], (log_loss(1, 2) + log_loss(1, 3)) / 4),  # one class only, so the second part is 0
        (PAIRS.replace(pairs="given", average="pair"), [0, 0, 0], [0, 1, 3],
         (3 * math.log1p(math.e) + math.log1p(math.exp(2))) / 4),
    ],
)  # fmt: skip
def test_values_equal_the_formulas(convention, labels, scores, expected):
    pairs = {"pairs": ([0, 1], [1, 2], [3.0, 1.0])} if convention.average == "pair" else {}
    loss = value(convention, labels, scores, group_sizes=[len(labels)], **pairs)
    assert loss == pytest.approx(expected, rel=1e-8)


def test_a_query_without_weight_adds_nothing():
    labels, scores, sizes = [1, 0, 0, 0], [0.1, 0.4, 5.0, 9.0], [2, 2]
    for convention in (PAIRS, SOFTMAX):
        evaluator = ra.Evaluator(labels, convention, group_sizes=sizes)
        score = evaluator.evaluate(scores)
        assert score.value == value(convention, labels[:2], scores[:2], group_sizes=[2])
        assert (score.n_empty, score.n_scored) == (1, 1)
        assert np.isnan(evaluator.per_query(scores)[1])
        with pytest.raises(ra.InputError, match="nothing is left to average"):
            value(convention, [0, 0], [1, 2], group_sizes=[2])


def test_the_root_mean_square_has_no_shares_but_a_standard_error():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, 400), rng.standard_normal(400)
    evaluator = ra.Evaluator(labels, SQUARES, group_sizes=[4] * 100)
    with pytest.raises(ra.UnsupportedConventionError, match="is not a sum over the queries"):
        _ = evaluator.measure(scores).shares
    squares = evaluator.per_query(scores)
    expected = squares.std(ddof=1) / math.sqrt(100) / (2 * math.sqrt(squares.mean()))  # the delta method
    assert evaluator.standard_error(scores) == pytest.approx(expected)


def bisected_shift(inverse, labels, weights):
    """Return the shift that CatBoost's bisection finds by summing the errors at each of its 30 steps."""
    low, high, middle = -20.0, 20.0, 0.0
    for _ in range(30):
        factor, excess = math.exp(-middle), 0.0
        for inverse_exponential, label, weight in zip(inverse, labels, weights, strict=True):
            excess += weight * (label - 1.0 / (1.0 + inverse_exponential * factor))
        low, high = (middle, high) if excess > 0 else (low, middle)
        middle = (low + high) / 2
    return middle


def mirrored_query(rng):
    """Return a query whose best shift is 0, so that rounding decides the sign of the sum of errors there."""
    scores, weights, labels = rng.standard_normal(100), rng.random(100), rng.random(100)
    rows = rng.permutation(200)
    return [np.concatenate(halves)[rows] for halves in ((scores, -scores), (labels, 1 - labels), (weights, weights))]


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("seed", range(4))
def test_the_shift_has_the_bits_of_a_bisection_row_by_row(seed, scale):
    rng = np.random.default_rng(seed)
    queries = [mirrored_query(rng) for _ in range(5)] + [[np.zeros(2), np.array([1.0, 0.0]), np.ones(2)]]
    for n in rng.integers(1, 200, 5):
        labels = [rng.random(n), (rng.random(n) < 0.02).astype(float), np.full(n, 0.25), rng.integers(0, 2, n)][seed]
        weights = rng.integers(0, 3, n) * 10.0 ** rng.integers(-9, 9)
        queries.append([rng.standard_normal(n) * scale, labels, weights])
    indptr = np.cumsum([0, *(len(scores) for scores, _, _ in queries)])
    with np.errstate(all="ignore"):
        shifts = best_shifts(*map(np.concatenate, zip(*queries, strict=True)), indptr)
    for shift, (scores, labels, weights) in zip(shifts.tolist(), queries, strict=True):
        inverse = np.exp(np.minimum(-scores, 700.0)).tolist()
        assert shift == bisected_shift(inverse, labels.tolist(), weights.tolist())
