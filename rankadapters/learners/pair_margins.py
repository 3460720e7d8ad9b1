"""The squared hinge loss of all pairs of rows with its derivatives, and a Newton method that minimizes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rankadapters.core.errors import warn_caller

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

CG_RESIDUAL = 0.1  # relative residual at which the inner conjugate gradients stop
SHRINK, SUFFICIENT_DECREASE = 0.5, 1e-4  # line search: factor between steps, and the constant of Armijo's condition
MAX_HALVINGS = 50
ROUNDING = 1e-12  # relative increase of the loss that rounding may cause near its minimum


class PairMargins:
    """All pairs of rows i, j of the same query with label(i) > label(j); their loss is max(0, 1 - (s_i - s_j))^2.

    The labels are grouped by query. `weight` multiplies the losses of a query's pairs; weight 0 drops them.
    """

    def __init__(self, labels: Floats, sizes: NDArray[np.int64], weight: Floats | None) -> None:
        ends = np.cumsum(sizes)
        query_weights = weight if weight is not None else np.ones(sizes.size)
        self._queries = [
            (slice(int(end - size), int(end)), labels[end - size : end], float(w))
            for end, size, w in zip(ends, sizes, query_weights, strict=True)
            if w > 0
        ]
        self.n_pairs = sum(_count_pairs(query_labels) for _, query_labels, _ in self._queries)

    def pairs(self) -> tuple[Rows, Rows, Floats]:
        """Return, for every pair, the row with the higher label, the other row and the weight."""
        by_query = [(rows.start, np.nonzero(y[:, None] > y), weight) for rows, y, weight in self._queries]
        higher, lower = (np.concatenate([start + pairs[side] for start, pairs, _ in by_query]) for side in (0, 1))
        return higher, lower, np.concatenate([np.full(pairs[0].size, weight) for _, pairs, weight in by_query])

    def loss(self, scores: Floats) -> float:
        """Return the weighted sum of the pairs' losses."""
        return float(sum(weight * (hinges**2).sum() for _, weight, hinges in self._hinges(scores)))

    def gradient(self, scores: Floats) -> Floats:
        """Return the derivative of the loss with respect to each score."""
        gradient = np.zeros(scores.size)
        for rows, weight, hinges in self._hinges(scores):
            gradient[rows] = 2.0 * weight * (hinges.sum(axis=0) - hinges.sum(axis=1))
        return gradient

    def hessian(self, scores: Floats) -> Callable[[Floats], Floats]:
        """Return a function that multiplies a direction by the Hessian of the loss at these scores."""

        def product(direction: Floats) -> Floats:
            result = np.zeros(scores.size)
            for rows, weight, hinges in self._hinges(scores):
                active, d = (hinges > 0).astype(np.float64), direction[rows]
                diagonal = (active.sum(axis=0) + active.sum(axis=1)) * d
                result[rows] = 2.0 * weight * (diagonal - active @ d - d @ active)
            return result

        return product

    def _hinges(self, scores: Floats) -> Iterator[tuple[slice, float, Floats]]:
        """Yield each query's rows, weight, and matrix of max(0, 1 - (s_i - s_j)); an entry is 0 if i, j is no pair."""
        for rows, labels, weight in self._queries:
            s = scores[rows]
            yield rows, weight, np.maximum(1.0 - (s[:, None] - s), 0.0) * (labels[:, None] > labels)


def newton(X: Any, margins: PairMargins, *, C: float, tol: float, max_iter: int) -> tuple[Floats, int]:
    """Minimize 1/2 ||w||^2 + C loss(X w) to a gradient norm of `tol` x the initial norm; return w and the iterations.

    Each iteration solves the second-order model by conjugate gradients (Chapelle & Keerthi 2010, section 3).
    """
    weights, scores, target = np.zeros(X.shape[1]), np.zeros(X.shape[0]), 0.0
    for iteration in range(max_iter):
        gradient = weights + C * (X.T @ margins.gradient(scores))
        norm = float(np.linalg.norm(gradient))
        target = target if iteration else tol * norm
        if norm <= target:
            return weights, iteration
        hessian = margins.hessian(scores)
        step = _conjugate_gradients(lambda d: d + C * (X.T @ hessian(X @ d)), -gradient)  # noqa: B023 - called here only
        weights, scores = _descend(X, margins, C, (weights, scores), (step, float(gradient @ step)))
    message = f"RankSVM did not converge in {max_iter} iterations; raise max_iter."
    warn_caller(message, ConvergenceWarning)
    return weights, max_iter


def _descend(
    X: Any, margins: PairMargins, C: float, start: tuple[Floats, Floats], direction: tuple[Floats, float]
) -> tuple[Floats, Floats]:
    """Halve a step until it lowers the loss enough; return the new weights and scores."""
    (weights, scores), (step, slope) = start, direction
    score_step, length = X @ step, 1.0
    loss_before = (0.5 * float(weights @ weights) + C * margins.loss(scores)) * (1 + ROUNDING)
    for _ in range(MAX_HALVINGS):
        moved = weights + length * step
        loss = 0.5 * float(moved @ moved) + C * margins.loss(scores + length * score_step)
        if loss <= loss_before + SUFFICIENT_DECREASE * length * slope:
            break
        length *= SHRINK
    return weights + length * step, scores + length * score_step


def _conjugate_gradients(matrix: Callable[[Floats], Floats], target: Floats) -> Floats:
    solution, residual = np.zeros(target.size), target.copy()
    direction, squared_norm = residual.copy(), float(residual @ residual)
    tolerance = CG_RESIDUAL**2 * squared_norm
    for _ in range(2 * target.size):
        if squared_norm <= tolerance:
            break
        image = matrix(direction)
        length = squared_norm / float(direction @ image)
        solution += length * direction
        residual -= length * image
        squared_norm, last_squared_norm = float(residual @ residual), squared_norm
        direction = residual + squared_norm / last_squared_norm * direction
    return solution


def _count_pairs(labels: Floats) -> int:
    """Count the pairs of rows with different labels."""
    counts = np.unique(labels, return_counts=True)[1]
    return int((labels.size**2 - (counts**2).sum()) // 2)
