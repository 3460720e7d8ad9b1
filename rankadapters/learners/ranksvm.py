"""RankSVM: a linear model with a margin between the rows of every pair."""

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
from rankadapters.sklearn.rows import LabelledRows

Array = NDArray[Any]
Floats = NDArray[np.float64]

LEAST_C, MOST_C = 1e-12, 1e12  # beyond which the weights are 0 or the solver does not end
# Within these bounds no product in the solvers overflows or underflows. On the NaN that would follow, LinearSVC never
# ends, and Ctrl-C does not reach it.
SMALLEST, LARGEST = 1e-50, 1e50  # of the largest feature
LIGHTEST, HEAVIEST = 1e-50, 1e20  # of C times the largest weight


class RankSVM(QueryLearner):
    """A linear model w that keeps a margin between the rows of every pair of different labels of one query.

    It minimises 1/2 ||w||^2 + C sum over the pairs of max(0, 1 - w (x_i - x_j))^2, without an intercept. Up to
    `max_pairs` pairs scikit-learn's LinearSVC solves it on the differences; beyond, where these would not fit, a Newton
    method needs the scores of the rows only, and solves the same problem to the same tolerance.

    Parameters
    ----------
    C : float
        How much a margin counts, from 1e-12 to 1e12.
    convention : Convention or str, optional
        What `history_` and `score` go by; any measure.
    tol : float
        Part of the first gradient's length below which it stops, as in LinearSVC.
    max_iter : int
        Iterations of the solver at most.
    max_pairs : int
        Pairs up to which differences are made, at 8 bytes a feature, and about three times that inside LinearSVC.
    n_threads : int, optional
        Of what `history_` holds; None takes all CPUs.

    Attributes
    ----------
    coef_ : float64 array, shape (n_features,)
        Weights.
    n_iter_ : int
        Iterations of the solver.
    history_ : History
        (set, convention, value) of the training queries and each validation set, where there is a convention.

    Notes
    -----
    The problem is convex and has one solution, so that there is no `warm_start`: another beginning would give the same
    weights, and LinearSVC takes none. Nor are there rounds to stop between: what other learners stop early for, `C`
    does here, which a search or validation queries choose. `eval_set` fills `history_`.

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

    n_iter_no_change = None  # it is no model round after round
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
        """Magnitudes of the weights, by their sum; comparable where features have one scale."""
        return shares(self.coef_)

    def _check(self) -> None:
        super()._check()
        arguments.number("C", self.C, least=LEAST_C, most=MOST_C)
        arguments.number("tol", self.tol, least=0, above=True)
        arguments.whole("max_pairs", self.max_pairs, least=0)

    def _learn(self, train: LabelledRows, judge: Judge) -> None:
        _refuse_extreme(train.X)
        self._refuse_extreme_weights(train.query_weight)
        margins = PairMargins(np.asarray(train.y, np.float64), np.asarray(train.sizes), train.query_weight)
        solve = self._on_differences if margins.n_pairs <= self.max_pairs else self._on_scores
        self.coef_: Floats
        self.coef_, self.n_iter_ = solve(train.X, margins)
        scores = [product(each.X, self.coef_) for each in judge.sets]
        judge.see(scores, judge.train.value(product(train.X, self.coef_)) if judge.convention else None)

    @property
    def _max_rounds(self) -> int:
        """None, since the solver shows no model before the last."""
        return 0

    def _refuse_extreme_weights(self, weight: Floats | None) -> None:
        strength = self.C * (1.0 if weight is None else float(weight.max()))
        if not LIGHTEST <= strength <= HEAVIEST:
            msg = f"C times the largest weight is {strength:g}; allowed are numbers from {LIGHTEST:g} to {HEAVIEST:g}."
            raise InputError(f"{msg}\nHint: rescale sample_weight.")

    def _on_differences(self, X: Any, margins: PairMargins) -> tuple[Floats, int]:
        higher, lower, weight = margins.pairs()
        sign = np.where(np.arange(higher.size) % 2, -1, 1)  # two classes, as the solver needs
        differences = X[higher] - X[lower]
        differences = (
            differences.multiply(sign[:, None]).tocsr() if hasattr(X, "tocsr") else differences * sign[:, None]
        )
        if higher.size == 1:  # of which no two classes can be made
            return self._on_scores(X, margins)
        solver = LinearSVC(C=self.C, dual=False, fit_intercept=False, tol=self.tol, max_iter=self.max_iter)
        solver.fit(differences, sign, sample_weight=weight)
        return solver.coef_[0].astype(np.float64), int(np.max(solver.n_iter_))

    def _on_scores(self, X: Any, margins: PairMargins) -> tuple[Floats, int]:
        return newton(X, margins, C=self.C, tol=self.tol / 2, max_iter=self.max_iter)

    def _predict(self, X: Any) -> Array:
        return product(X, self.coef_)


def _refuse_extreme(X: Any) -> None:
    """Refuse features so large or so small that the solver would not end; features of 0 alone are harmless."""
    largest = max(float(X.max()), -float(X.min()))
    if largest > LARGEST:
        what = f"X has {largest:g}, whose square is beyond all numbers that the solver can multiply"
    elif 0 < largest < SMALLEST:
        what = f"the largest number in X is {largest:g}, whose square is too close to 0 for the solver"
    else:
        return
    raise InputError(f"{what}; allowed are numbers from {SMALLEST:g} to {LARGEST:g}.\nHint: rescale the features.")
