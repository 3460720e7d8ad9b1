"""RankSVM: a linear model trained for a margin between the rows of every pair; its loss, and a Newton method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from rankadapters.core.arrays import Floats
from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, warn_caller
from rankadapters.learners.base import Judge, LinearLearner, product
from rankadapters.sklearn.rows import LabeledRows

Rows = NDArray[np.intp]

MIN_C, MAX_C = 1e-12, 1e12  # outside these limits, the weights are 0 or the solver never ends
# Within the limits below, no product in the solvers overflows or underflows. An overflow would give NaN, on which
# LinearSVC loops forever and ignores Ctrl-C.
MIN_FEATURE, MAX_FEATURE = 1e-50, 1e50  # for the largest feature
MIN_STRENGTH, MAX_STRENGTH = 1e-50, 1e20  # for C times the largest weight
CG_RESIDUAL = 0.1  # relative residual at which the inner conjugate gradients stop
SHRINK, SUFFICIENT_DECREASE = 0.5, 1e-4  # line search: factor between steps, and the constant of Armijo's condition
MAX_HALVINGS = 50
ROUNDING = 1e-12  # relative increase of the loss that rounding may cause near its minimum


class RankSVM(LinearLearner):
    """A linear model w with a margin between the two rows of every pair with different labels in the same query.

    It minimizes 1/2 ||w||^2 + C sum over the pairs of max(0, 1 - w (x_i - x_j))^2, without an intercept. Up to
    `max_pairs` pairs, scikit-learn's LinearSVC solves this on the differences x_i - x_j. For more pairs, a Newton
    method solves the same problem to the same tolerance, using only the scores of the rows.

    Parameters
    ----------
    C : float
        Weight of the margins against the norm of w, from 1e-12 to 1e12.
    convention : Convention or str, optional
        The measure for `history_` and `score`; any measure.
    tol : float
        The solver stops when the gradient's norm is this part of the initial norm, as in LinearSVC.
    max_iter : int
        Maximum number of solver iterations in a fit.
    max_pairs : int
        Up to this many pairs, differences are stored: 8 bytes per pair and feature, thrice that inside LinearSVC.
    n_threads : int, optional
        None uses all CPUs. They compute only the values of `history_`.

    Attributes
    ----------
    coef_ : float64 array, shape (n_features,)
        Weights.
    n_iter_ : int
        Number of solver iterations.
    history_ : History
        (set, convention, value) for the training queries and each validation set, if there is a convention.

    Notes
    -----
    There is no `warm_start`: the problem is convex, so every start leads to the same weights. There is no early
    stopping either: `C` controls overfitting, and a search can choose it. `eval_set` is only recorded in `history_`.

    References
    ----------
    Joachims, Optimizing Search Engines using Clickthrough Data, KDD 2002.
    Chapelle & Keerthi, Efficient Algorithms for Ranking with SVMs, Information Retrieval 13(3), 2010.

    Examples
    --------
    >>> import rankadapters as ra
    >>> train, test = ra.datasets.mq2008_like(random_state=0, n_train_queries=60)
    >>> model = ra.learners.RankSVM(C=0.01, convention="ranklib@10").fit(train.X, train.labels, qid=train.qid)
    >>> value = model.score(test.X, test.labels, qid=test.qid)
    >>> value == ra.evaluate(test.labels, model.predict(test.X), "ranklib@10", qid=test.qid).value
    True
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        convention: Convention | str | None = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_pairs: int = 500_000,
        n_threads: int | None = None,
    ) -> None:
        self.C = C
        self.convention = convention
        self.tol = tol
        self.max_iter = max_iter
        self.max_pairs = max_pairs
        self.n_threads = n_threads

    n_iter_no_change = None  # there are no rounds to stop after
    validation_fraction = None

    def _check(self) -> None:
        super()._check()
        arguments.number("C", self.C, least=MIN_C, most=MAX_C)
        arguments.number("tol", self.tol, least=0, above=True)
        arguments.whole("max_pairs", self.max_pairs, least=0)

    def _learn(self, train: LabeledRows, judge: Judge) -> None:
        _refuse_extreme(train.X)
        self._refuse_extreme_weights(train.query_weight)
        margins = PairMargins(np.asarray(train.y, np.float64), np.asarray(train.sizes), train.query_weight)
        if 1 < margins.n_pairs <= self.max_pairs:  # LinearSVC needs two classes, and so two pairs
            self.coef_, self.n_iter_ = self._on_differences(train.X, margins)
        else:
            self.coef_, self.n_iter_ = newton(train.X, margins, C=self.C, tol=self.tol / 2, max_iter=self.max_iter)
        valid_scores = [product(rows.X, self.coef_) for rows in judge.valid_rows]
        judge.record_round(valid_scores, judge.train_value(product(train.X, self.coef_)))

    def _refuse_extreme_weights(self, weight: Floats | None) -> None:
        strength = self.C * (1.0 if weight is None else float(weight.max()))
        if not MIN_STRENGTH <= strength <= MAX_STRENGTH:
            allowed = f"allowed are numbers from {MIN_STRENGTH:g} to {MAX_STRENGTH:g}"
            raise InputError(f"C times the largest weight is {strength:g}; {allowed}.", hint="rescale sample_weight")

    def _on_differences(self, X: Any, margins: PairMargins) -> tuple[Floats, int]:
        higher, lower, weight = margins.pairs()
        sign = np.where(np.arange(higher.size) % 2, -1, 1)
        differences = X[higher] - X[lower]
        differences = (
            differences.multiply(sign[:, None]).tocsr() if hasattr(X, "tocsr") else differences * sign[:, None]
        )
        solver = LinearSVC(C=self.C, dual=False, fit_intercept=False, tol=self.tol, max_iter=self.max_iter)
        solver.fit(differences, sign, sample_weight=weight)
        return solver.coef_[0].astype(np.float64), int(np.max(solver.n_iter_))


def _refuse_extreme(X: Any) -> None:
    """Refuse features so large or so small that the solver would never end; features that are all 0 are allowed."""
    largest = max(float(X.max()), -float(X.min()))
    if largest > MAX_FEATURE:
        why = f"X has {largest:g}, whose square is too large for the solver"
    elif 0 < largest < MIN_FEATURE:
        why = f"the largest number in X is {largest:g}, whose square is too close to 0 for the solver"
    else:
        return
    allowed = f"allowed are numbers from {MIN_FEATURE:g} to {MAX_FEATURE:g}"
    raise InputError(f"{why}; {allowed}.", hint="rescale the features")


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
