"""CoordinateAscent: a linear model that maximizes a declared measure directly, one weight at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Floats
from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.learners.base import FeatureColumns, Judge, LinearLearner, product
from rankadapters.sklearn.estimator import generator
from rankadapters.sklearn.metrics import refuse_ignored_weights
from rankadapters.sklearn.rows import LabeledRows

FIRST_STEP = 0.001
MAX_DOUBLINGS = 500  # log2 of the longest step; float64 ends at 2**1024, so features can be as large as steps


class CoordinateAscent(LinearLearner):
    """A linear model that maximizes any measure directly, changing one weight at a time.

    A pass visits the features in random order. For each feature it tries to raise the weight in `n_steps` steps, each
    `step_scale` times as long as the previous one. If the training queries' measure improves, it keeps the best step;
    otherwise it tries to lower the weight in the same way. After each change, the weights are divided by the sum of
    their magnitudes. Every restart begins at equal weights and uses new random orders.

    Parameters
    ----------
    convention : Convention or str
        The measure to maximize, validate and score by; higher must be better.
    n_restarts : int
        Number of restarts; the model is that of the best pass in any of them (RankLib: `-r`).
    n_steps : int
        Number of steps tried in each direction (RankLib: `-i`).
    step_base : float
        First step for small weights, relative to the weight; for others it is 0.001 (RankLib: `stepBase`).
    step_scale : float
        Ratio of each step to the previous one (RankLib: `stepScale`).
    max_iter : int
        Maximum number of passes per restart.
    tol : float
        A restart ends when a pass gains less than this (RankLib: `-tolerance`, compared with the gain of all passes).
    alpha : float
        Penalty per unit of distance between the weights and equal weights (RankLib: `-reg`).
    validation_fraction : float in (0, 1), optional
        Share of the queries held out for validation: the queries whose ids have the smallest hashes.
    random_state : int, Generator, RandomState or None
        Seed for the orders of the features.
    warm_start : bool
        Continue from the model of the last fit, which stays the model unless one of the new passes is better.
        Each restart begins at the weights of the last fit instead of equal weights.
    n_threads : int, optional
        None uses all CPUs. The result does not depend on the number.

    Attributes
    ----------
    coef_ : float64 array, shape (n_features,)
        Weights; their magnitudes add up to 1.
    n_iter_ : int
        Number of passes in the model since the first fit: up to the best by the first validation set, or all.
        The passes of all restarts are counted, one restart after another.
    history_ : History
        (set, convention, value), training queries first, for each of the passes; a warm start's model comes first.

    Notes
    -----
    Three defects of RankLib since 2.7 are not copied. For small weights, RankLib's downward search loses its sign. It
    searches a third direction that changes no score, and then undoes it. Its cached scores drift from the model's;
    here, each pass recomputes the scores from the weights.

    References
    ----------
    Metzler & Croft, Linear feature-based models for information retrieval, Information Retrieval 10(3), 2007.
    RankLib 2.10.1, ciir/umass/edu/learning/CoorAscent.java.

    Examples
    --------
    >>> import rankadapters as ra
    >>> train, test = ra.datasets.mq2008_like(random_state=0, n_train_queries=60)
    >>> model = ra.learners.CoordinateAscent("ranklib@10", n_restarts=1, n_steps=10, max_iter=1, random_state=0)
    >>> value = model.fit(train.X, train.labels, qid=train.qid).score(test.X, test.labels, qid=test.qid)
    >>> value == ra.evaluate(test.labels, model.predict(test.X), "ranklib@10", qid=test.qid).value
    True
    """

    def __init__(
        self,
        convention: Convention | str,
        *,
        n_restarts: int = 5,
        n_steps: int = 25,
        step_base: float = 0.05,
        step_scale: float = 2.0,
        max_iter: int = 100,
        tol: float = 0.001,
        alpha: float = 0.0,
        validation_fraction: float | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self.convention = convention
        self.n_restarts = n_restarts
        self.n_steps = n_steps
        self.step_base = step_base
        self.step_scale = step_scale
        self.max_iter = max_iter
        self.tol = tol
        self.alpha = alpha
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_threads = n_threads

    n_iter_no_change = None  # no early stopping: `tol` ends the training

    def _check(self) -> None:
        super()._check()
        self._check_maximizable()
        for name in ("n_restarts", "n_steps"):
            arguments.whole(name, getattr(self, name))
        for name in ("step_base", "step_scale", "tol", "alpha"):
            arguments.number(name, getattr(self, name), least=0, above=name.startswith("step"))
        if self.n_steps * np.log2(max(self.step_scale, 1.0)) > MAX_DOUBLINGS:
            msg = f"n_steps={self.n_steps} with step_scale={self.step_scale!r} makes steps too large for float64."
            raise InputError(msg, hint=f"step_scale ** n_steps may be at most 2 ** {MAX_DOUBLINGS}")

    def _learn(self, train: LabeledRows, judge: Judge) -> None:
        if train.row_weight is not None:
            refuse_ignored_weights(judge.train.convention)
        judge.train_decides_best = True
        columns, rng = FeatureColumns(train.X), generator(self.random_state)
        judge.expect(len(columns) * self.n_steps * self.n_restarts)
        is_warm = self.warm_start and hasattr(self, "coef_")
        coef = start = self.coef_ if is_warm else np.full(len(columns), 1.0 / len(columns))
        for index in range(self.n_restarts):
            restart = _Restart(self, columns, judge, start)
            if is_warm and index == 0:
                judge.record_start(getattr(self, "n_iter_", 0), restart.valid_scores, restart.train_value)
            for _ in range(self.max_iter):
                gain = restart.run_pass(rng.permutation(len(columns)))
                if judge.record_round(restart.valid_scores, restart.train_value):
                    coef = restart.weights
                if gain < self.tol or restart.failures >= max(len(columns) - 1, 1):
                    break
        self.coef_, self.n_iter_ = coef, judge.best_round + 1 if judge.valid_rows else judge.rounds


class _Restart:
    """One run of passes from the start weights."""

    def __init__(self, settings: CoordinateAscent, columns: FeatureColumns, judge: Judge, start: Floats) -> None:
        self.settings, self.columns, self.trials = settings, columns, judge.train
        self.valid_rows = judge.valid_rows
        self.weights = start
        self.failures = 0  # how many features in a row have not improved the value
        self._compute_from_weights()

    def _compute_from_weights(self) -> None:
        """Compute the training scores, the measure, and the value to maximize: the measure minus the penalty."""
        self.scores = np.zeros(self.columns.n_rows)
        for feature in np.flatnonzero(self.weights).tolist():
            self.scores += self.weights[feature] * self.columns[feature]
        self.train_value = self.trials.value(self.scores)
        self.value = self.train_value - float(np.max(self._penalty(0, np.zeros(1))))

    @property
    def valid_scores(self) -> list[Floats]:
        """The scores of each validation set."""
        return [product(rows.X, self.weights) for rows in self.valid_rows]

    def run_pass(self, order: NDArray[np.intp]) -> float:
        """Visit each feature once; return the gain."""
        start_value = self.value
        for feature in order.tolist():
            self.failures = 0 if self._improve(feature) else self.failures + 1
        gain = self.value - start_value
        self._compute_from_weights()
        return gain

    def _improve(self, feature: int) -> bool:
        """Raise a weight by the best step or, if none is better, lower it; return False if no step is better."""
        column = self.columns[feature]
        for step in self._first_steps(float(self.weights[feature])):
            steps = step * self.settings.step_scale ** np.arange(self.settings.n_steps)
            totals = steps.cumsum()
            values = self.trials.along(self.scores, column, totals) - self._penalty(feature, totals)
            best = int(values.argmax())
            if values[best] > self.value:
                weights = self.weights.copy()
                weights[feature] += totals[best]
                norm = float(np.abs(weights).sum())
                if norm:
                    self.weights, self.value = weights / norm, float(values[best])
                    self.scores = (self.scores + totals[best] * column) / norm
                    return True
        return False

    def _first_steps(self, weight: float) -> tuple[float, float]:
        """Return the first steps up and down: 0.001, or relative to the weight if this is below 0.002 but not 0."""
        is_small = weight != 0 and abs(weight) / 2 < FIRST_STEP
        step = self.settings.step_base * abs(weight) if is_small else FIRST_STEP
        return step, -step

    def _penalty(self, feature: int, totals: Floats) -> Floats | float:
        """Return the penalty after each total is added to a feature's weight: alpha x distance from equal weights."""
        if not self.settings.alpha:
            return 0.0
        moved = np.repeat(self.weights[None, :], totals.size, axis=0)
        moved[:, feature] += totals
        moved /= np.maximum(np.abs(moved).sum(axis=1, keepdims=True), np.finfo(float).tiny)
        penalties: Floats = self.settings.alpha * np.sqrt(((moved - 1.0 / self.weights.size) ** 2).sum(axis=1))
        return penalties
