"""QueryCrossEntropy against CatBoost: which queries have a single class, and how far the shift reaches.

CatBoost trains this loss on GPUs only, so we compare with finite differences of its metric. Metric and training differ
in the labels that count as equal: within 1e-20 in the metric and within 1e-5 in the training, both in float32.
"""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.objectives import QueryCrossEntropy
from tests.helpers.tables import for_each

SCORES = [0.3, -0.2, 1.0]
ULP = float(np.spacing(np.float32(0.5)))  # distance from 0.5 to the next float32


def gradients(labels, scores, alpha=0.95, **columns):
    columns = columns or {"group_sizes": [len(labels)]}
    return ra.objectives.gradients(labels, scores, QueryCrossEntropy(alpha=alpha), **columns)


def log_loss_parts(labels, scores):
    """Return gradient and hessian of the log loss of the unshifted scores."""
    p = 1 / (1 + np.exp(-np.asarray(scores)))
    return p - labels, p * (1 - p)


def catboost_derivatives(labels, scores, alpha, qid, weights=None):
    utils = pytest.importorskip("catboost.utils")
    labels, scores, step = np.asarray(labels, float), np.asarray(scores, float), 1e-4
    total = labels.size if weights is None else np.sum(weights)

    def loss(scores):
        metric = f"QueryCrossEntropy:alpha={alpha}"
        return total * utils.eval_metric(labels, scores, metric, weight=weights, group_id=qid, thread_count=1)[0]

    steps = step * np.eye(labels.size)
    return np.array([(loss(scores + shift) - loss(scores - shift)) / (2 * step) for shift in steps])


@for_each(
    "labels",
    [
        [0.5, 0.5, 0.5],
        [0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0],
        [0.5, 0.5, 0.5 + 1e-9],
        [0.5, 0.5 - 9e-6, 0.5 + 9e-6],  # each label is compared with the first one
        [0.0, 0.0, 9e-6],
        [0.0, 0.0, 1e-5],  # in float32 exactly the largest distance that counts as equal
        [0.3],
    ],
    ids=str,
)
def test_a_query_of_equal_labels_has_a_single_class(labels):
    scores = SCORES[: len(labels)]
    grad, hess = gradients(labels, scores)
    log_loss_grad, log_loss_hess = log_loss_parts(labels, scores)
    np.testing.assert_allclose(grad, 0.05 * log_loss_grad, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(hess, 0.05 * log_loss_hess, rtol=1e-6)


@for_each("labels", [[0.5, 0.5, 0.5 + 1.1e-5], [0.5 + 9e-6, 0.5, 0.5 - 9e-6], [1.0, 1 - 1.1e-5, 1.0]], ids=str)
def test_labels_further_than_1e_5_from_the_first_are_different_classes(labels):
    grad, hess = gradients(labels, SCORES, alpha=1.0)
    assert float(grad.sum()) == pytest.approx(0, abs=1e-6)  # after the best shift
    assert np.abs(grad).max() > 1e-6
    assert (hess > 0).all()


@for_each("first", [[0.25, 0.25], [1.0, 0.0, 0.5]], ids=str)
def test_the_labels_of_a_query_alone_decide_whether_it_has_a_single_class(first):
    sizes, qid = [len(first), 3], [7] * len(first) + [3] * 3
    both, _ = gradients([*first, 0.5, 0.5, 0.5], [2.0, -1.0, 0.5][: len(first)] + SCORES, group_sizes=sizes)
    separate = [gradients(first, [2.0, -1.0, 0.5][: len(first)])[0], gradients([0.5] * 3, SCORES)[0]]
    np.testing.assert_array_equal(both, np.concatenate(separate))
    order = np.argsort(np.arange(len(qid)) % 2, kind="stable")
    labels, scores = np.array([*first, 0.5, 0.5, 0.5]), np.array([2.0, -1.0, 0.5][: len(first)] + SCORES)
    grad, _ = gradients(labels[order], scores[order], qid=np.array(qid)[order])
    np.testing.assert_allclose(grad, both[order], rtol=1e-6)


EQUAL_LABELS = [[0.5] * 3, [0.5, 0.5, 0.5 + 1e-9], [0.0] * 3, [1.0] * 3, [1, 1, 1 - 1e-9]]
FAR_SCORES = (-100.0, -25.0, -19.0, 19.0, 21.0, 25.0, 100.0)  # the shift reaches about this far


@for_each(
    ("labels", "alpha", "base"),
    [
        *(
            (labels, alpha, 0.0)
            for labels in [*EQUAL_LABELS, [0.5, 0.5, 0.50002], [0.2, 0.9, 0.4]]
            for alpha in (0.0, 0.3, 0.95, 1.0)
        ),
        *(([1.0, 0.0, 0.3], 1.0, base) for base in FAR_SCORES),
    ],
)
def test_gradients_equal_catboosts(labels, alpha, base):
    scores = base + np.array(SCORES)
    grad, _ = gradients(labels, scores, alpha)
    np.testing.assert_allclose(grad, catboost_derivatives(labels, scores, alpha, [0] * 3), atol=2e-7)


@for_each("base", [-18.0, -15.0, -3.0, 0.0, 8.0, 15.0, 18.0])
@for_each("n", [2, 5, 100])
def test_shifted_probabilities_add_up_to_the_labels(n, base):
    scores, labels = base + np.random.default_rng(n).normal(size=n), np.arange(n) % 5 == 0
    grad, _ = gradients(labels, scores, 1.0)
    assert float(grad.astype(np.float64).sum()) == pytest.approx(0, abs=1e-7 * n)


@for_each("seed", range(20))
def test_gradients_of_random_queries_equal_catboosts(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, 6)
    qid, n = np.repeat(np.arange(6), sizes), int(sizes.sum())
    labels = rng.choice([0, 0.25, 0.5, 1], n) if seed % 2 else np.repeat(rng.choice([0, 0.4, 1], 6), sizes)
    labels = np.where(rng.random(n) < 0.1, rng.random(n), labels)
    scores = rng.normal(0, rng.choice([0.5, 3, 12]), n)
    weights = None if seed % 4 else rng.choice([0.5, 1, 3], 6)
    per_row = None if weights is None else weights[qid]
    grad, _ = gradients(labels, scores, 0.7, qid=qid, query_weight=weights)
    np.testing.assert_allclose(grad, catboost_derivatives(labels, scores, 0.7, qid, per_row), atol=1e-6)


def test_catboosts_metric_separates_labels_that_its_training_does_not():
    """We follow the training. This test shows what following the metric would change."""
    labels = [0.5, 0.5, 0.5 + ULP]
    grad, _ = gradients(labels, SCORES)
    np.testing.assert_allclose(grad, 0.05 * log_loss_parts(labels, SCORES)[0], rtol=1e-5)
    assert np.abs(catboost_derivatives(labels, SCORES, 0.95, [0] * 3) - grad).max() > 0.1
