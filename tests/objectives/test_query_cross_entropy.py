"""QueryCrossEntropy against CatBoost: which queries have a single class, and how far the shift reaches.

CatBoost trains this loss on GPUs only, so we compare with finite differences of its metric. Metric and training differ
in the labels that count as equal: within 1e-20 in the metric and within 1e-5 in the training, both in float32.
"""

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.objectives import QueryCrossEntropy

pytestmark = pytest.mark.long

SCORES = [0.3, -0.2, 1.0]


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


def test_the_best_shift_is_exact_to_the_last_bit_of_the_gradients():
    rng = np.random.default_rng(5)
    for size in (2, 3, 8, 100):
        for _ in range(20):
            labels, scores, low, high = rng.random(size), 4 * rng.normal(size=size), -20.0, 20.0
            for _ in range(70):
                middle = (low + high) / 2
                excess = log_loss_parts(labels, scores + middle)[0].sum()
                low, high = (low, middle) if excess > 0 else (middle, high)
            expected = log_loss_parts(labels, scores + middle)[0].astype(np.float32)
            np.testing.assert_array_equal(gradients(labels, scores, alpha=1.0)[0], expected)


@pytest.mark.parametrize(
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


EQUAL_LABELS = [[0.5] * 3, [0.5, 0.5, 0.5 + 1e-9], [0.0] * 3, [1.0] * 3, [1, 1, 1 - 1e-9]]
FAR_SCORES = (-100.0, -25.0, -19.0, 19.0, 21.0, 25.0, 100.0)  # the shift reaches about this far


@pytest.mark.parametrize(
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
