"""Squared hinge losses of all pairs of rows, from their scores: value, gradient and curvature without differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rankadapters.core.errors import warn_caller

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

CURVATURE = 0.1  # relative residual at which the inner conjugate gradients stop
SHRINK, ENOUGH = 0.5, 1e-4  # of a step that does not lower the loss by this part of what its slope promises
MOST_HALVINGS = 50
ROUNDING = 1e-12  # of the loss, by which near its minimum a good step may seem to raise it


class PairMargins:
    """Pairs of rows i, j of one query with label(i) > label(j), whose loss is max(0, 1 - (s_i - s_j))^2.

    The labels are in the order of the queries; `weight` multiplies the pairs of each, and one of weight 0 has none.
    """

    def __init__(self, labels: Floats, sizes: NDArray[np.int64], weight: Floats | None) -> None:
        ends = np.cumsum(sizes)
        several = weight if weight is not None else np.ones(sizes.size)
        self._queries = [
            (slice(int(end - size), int(end)), labels[end - size : end], float(w))
            for end, size, w in zip(ends, sizes, several, strict=True)
            if w > 0
        ]
        self.n_pairs = sum(_count(own) for _, own, _ in self._queries)

    def pairs(self) -> tuple[Rows, Rows, Floats]:
        """The higher and the lower row of every pair, and its weight."""
        found = [(rows.start, np.nonzero(own[:, None] > own), weight) for rows, own, weight in self._queries]
        higher, lower = (np.concatenate([start + pair[side] for start, pair, _ in found]) for side in (0, 1))
        return higher, lower, np.concatenate([np.full(pair[0].size, weight) for _, pair, weight in found])

    def loss(self, scores: Floats) -> float:
        """Weighted sum of the losses."""
        return float(sum(weight * (gaps**2).sum() for _, weight, gaps in self._gaps(scores)))

    def slopes(self, scores: Floats) -> Floats:
        """Derivative of the loss by each score."""
        found = np.zeros(scores.size)
        for rows, weight, gaps in self._gaps(scores):
            found[rows] = 2.0 * weight * (gaps.sum(axis=0) - gaps.sum(axis=1))
        return found

    def bends(self, scores: Floats) -> Callable[[Floats], Floats]:
        """Second derivative at these scores, as what it makes of a direction."""

        def along(direction: Floats) -> Floats:
            found = np.zeros(scores.size)
            for rows, weight, gaps in self._gaps(scores):
                short, own = (gaps > 0).astype(np.float64), direction[rows]
                both = (short.sum(axis=0) + short.sum(axis=1)) * own
                found[rows] = 2.0 * weight * (both - short @ own - own @ short)
            return found

        return along

    def _gaps(self, scores: Floats) -> Iterator[tuple[slice, float, Floats]]:
        """What the margin of each pair lacks, by query: rows, weight, and a matrix of higher and lower rows."""
        for rows, labels, weight in self._queries:
            own = scores[rows]
            yield rows, weight, np.maximum(1.0 - (own[:, None] - own), 0.0) * (labels[:, None] > labels)


def newton(X: Any, margins: PairMargins, *, C: float, tol: float, max_iter: int) -> tuple[Floats, int]:
    """Minimise 1/2 ||w||^2 + C loss(X w) until the gradient is `tol` of the first one; weights, and iterations.

    Chapelle & Keerthi 2010, section 3: each iteration solves the second-order model by conjugate gradients.
    """
    weights, scores, enough = np.zeros(X.shape[1]), np.zeros(X.shape[0]), 0.0
    for iteration in range(max_iter):
        gradient = weights + C * (X.T @ margins.slopes(scores))
        size = float(np.linalg.norm(gradient))
        enough = enough if iteration else tol * size
        if size <= enough:
            return weights, iteration
        bends = margins.bends(scores)
        step = _conjugate_gradients(lambda d: d + C * (X.T @ bends(X @ d)), -gradient)  # noqa: B023 - used at once
        weights, scores = _descend(X, margins, C, (weights, scores), (step, float(gradient @ step)))
    message = f"RankSVM did not converge in {max_iter} iterations; raise max_iter."
    warn_caller(message, ConvergenceWarning)
    return weights, max_iter


def _descend(
    X: Any, margins: PairMargins, C: float, here: tuple[Floats, Floats], along: tuple[Floats, float]
) -> tuple[Floats, Floats]:
    """Halve a step until it lowers the loss enough."""
    (weights, scores), (step, slope) = here, along
    moves, length = X @ step, 1.0
    before = (0.5 * float(weights @ weights) + C * margins.loss(scores)) * (1 + ROUNDING)
    for _ in range(MOST_HALVINGS):
        moved = weights + length * step
        if 0.5 * float(moved @ moved) + C * margins.loss(scores + length * moves) <= before + ENOUGH * length * slope:
            break
        length *= SHRINK
    return weights + length * step, scores + length * moves


def _conjugate_gradients(matrix: Callable[[Floats], Floats], target: Floats) -> Floats:
    found, residual = np.zeros(target.size), target.copy()
    direction, size = residual.copy(), float(residual @ residual)
    enough = CURVATURE**2 * size
    for _ in range(2 * target.size):
        if size <= enough:
            break
        image = matrix(direction)
        length = size / float(direction @ image)
        found += length * direction
        residual -= length * image
        size, before = float(residual @ residual), size
        direction = residual + size / before * direction
    return found


def _count(labels: Floats) -> int:
    """Pairs of different labels."""
    several = np.unique(labels, return_counts=True)[1]
    return int((labels.size**2 - (several**2).sum()) // 2)
