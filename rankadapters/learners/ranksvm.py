"""RankSVM: a linear model trained for a margin between the rows of every pair."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.learners.base import QueryLearner
from rankadapters.learners.columns import product, shares
from rankadapters.learners.judging import Judge
from rankadapters.learners.pair_margins import PairMargins, newton
from rankadapters.sklearn.rows import LabeledRows

Array = NDArray[Any]
Floats = NDArray[np.float64]

MIN_C, MAX_C = 1e-12, 1e12  # outside these limits, the weights are 0 or the solver never ends
# Within the limits below, no product in the solvers overflows or underflows. An overflow would give NaN, on which
# LinearSVC loops forever and ignores Ctrl-C.
MIN_FEATURE, MAX_FEATURE = 1e-50, 1e50  # for the largest feature
MIN_STRENGTH, MAX_STRENGTH = 1e-50, 1e20  # for C times the largest weight


class RankSVM(QueryLearner):
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
        Maximum number of solver iterations.
    max_pairs : int
        Up to this many pairs, differences are stored: 8 bytes per pair and feature, thrice that inside LinearSVC.
    n_threads : int, optional
        Threads for the values in `history_`; None uses all CPUs.

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

    n_iter_no_change = None  # there are no rounds to stop after
    validation_fraction = None

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

    @property
    def feature_importances_(self) -> Floats:
        """Share of each weight's magnitude in the sum of all; comparable only for features of the same scale."""
        return shares(self.coef_)

    def _check(self) -> None:
        super()._check()
        arguments.number("C", self.C, least=MIN_C, most=MAX_C)
        arguments.number("tol", self.tol, least=0, above=True)
        arguments.whole("max_pairs", self.max_pairs, least=0)

    def _learn(self, train: LabeledRows, judge: Judge) -> None:
        _refuse_extreme(train.X)
        self._refuse_extreme_weights(train.query_weight)
        margins = PairMargins(np.asarray(train.y, np.float64), np.asarray(train.sizes), train.query_weight)
        solve = self._on_differences if margins.n_pairs <= self.max_pairs else self._on_scores
        self.coef_: Floats
        self.coef_, self.n_iter_ = solve(train.X, margins)
        valid_scores = [product(rows.X, self.coef_) for rows in judge.valid_rows]
        judge.record_round(valid_scores, judge.train.value(product(train.X, self.coef_)) if judge.convention else None)

    def _refuse_extreme_weights(self, weight: Floats | None) -> None:
        strength = self.C * (1.0 if weight is None else float(weight.max()))
        if not MIN_STRENGTH <= strength <= MAX_STRENGTH:
            allowed = f"allowed are numbers from {MIN_STRENGTH:g} to {MAX_STRENGTH:g}"
            raise InputError(f"C times the largest weight is {strength:g}; {allowed}.\nHint: rescale sample_weight.")

    def _on_differences(self, X: Any, margins: PairMargins) -> tuple[Floats, int]:
        higher, lower, weight = margins.pairs()
        sign = np.where(np.arange(higher.size) % 2, -1, 1)  # LinearSVC needs two classes
        differences = X[higher] - X[lower]
        differences = (
            differences.multiply(sign[:, None]).tocsr() if hasattr(X, "tocsr") else differences * sign[:, None]
        )
        if higher.size == 1:  # a single pair cannot make two classes
            return self._on_scores(X, margins)
        solver = LinearSVC(C=self.C, dual=False, fit_intercept=False, tol=self.tol, max_iter=self.max_iter)
        solver.fit(differences, sign, sample_weight=weight)
        return solver.coef_[0].astype(np.float64), int(np.max(solver.n_iter_))

    def _on_scores(self, X: Any, margins: PairMargins) -> tuple[Floats, int]:
        return newton(X, margins, C=self.C, tol=self.tol / 2, max_iter=self.max_iter)

    def _predict(self, X: Any) -> Array:
        return product(X, self.coef_)


def _refuse_extreme(X: Any) -> None:
    """Refuse features so large or so small that the solver would never end; features that are all 0 are allowed."""
    largest = max(float(X.max()), -float(X.min()))
    if largest > MAX_FEATURE:
        msg = f"X has {largest:g}, whose square is too large for the solver"
    elif 0 < largest < MIN_FEATURE:
        msg = f"the largest number in X is {largest:g}, whose square is too close to 0 for the solver"
    else:
        return
    raise InputError(
        f"{msg}; allowed are numbers from {MIN_FEATURE:g} to {MAX_FEATURE:g}.\nHint: rescale the features."
    )
