"""CoordinateAscent: a linear model, one weight at a time, by the declared measure itself."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.kernels import dispatch
from rankadapters.learners.base import QueryLearner, maximised
from rankadapters.learners.columns import FeatureColumns, product, shares
from rankadapters.learners.judging import Judge
from rankadapters.sklearn.estimator import generator
from rankadapters.sklearn.rows import LabelledRows

Array = NDArray[Any]
Floats = NDArray[np.float64]

SMALLEST_STEP = 0.001
MOST_DOUBLINGS = 500  # of a step, which leaves as much room again for the features


class CoordinateAscent(QueryLearner):
    """A linear model that climbs any measure by one weight at a time.

    A pass goes through the features in random order. For each it tries `n_steps` steps up, each `step_scale` times as
    long as the one before, and takes the best where the measure of the training queries rises; else it tries as many
    down. The weights are then divided by the sum of their magnitudes. A restart begins from equal weights again, in
    other orders.

    Parameters
    ----------
    convention : Convention or str
        What is maximised, validated and scored; any measure of which higher is better.
    n_restarts : int
        Beginnings, of which the best pass is kept (RankLib: `-r`).
    n_steps : int
        Steps tried in each direction (RankLib: `-i`).
    step_base : float
        Part of a small weight that the first step is; otherwise it is 0.001 (RankLib: `stepBase`).
    step_scale : float
        How much longer each step is than the one before (RankLib: `stepScale`).
    max_iter : int
        Passes of a restart at most.
    tol : float
        A restart ends when a pass gains less (RankLib: `-tolerance`, which it compares with the gain of all passes).
    alpha : float
        Taken from the measure for each unit of distance between the weights and equal ones (RankLib: `-reg`).
    validation_fraction : float in (0, 1), optional
        Share of the queries that is held out for validation, those whose ids have the smallest hashes.
    random_state : int, Generator, RandomState or None
        Seed of the orders.
    warm_start : bool
        Begin from the weights of the last fit instead of equal ones.
    n_threads : int, optional
        None takes all CPUs; the result is the same for any number.

    Attributes
    ----------
    coef_ : float64 array, shape (n_features,)
        Weights, whose magnitudes add up to 1.
    n_iter_ : int
        Passes of all restarts.
    history_ : History
        (set, convention, value) of each pass: the training queries, then each validation set.

    Notes
    -----
    Three defects of RankLib since 2.7 are not copied: the direction down that loses its sign for small weights, the
    third direction that changes no score and yet is taken back, and cached scores that drift from the model's. Scores
    are computed anew from the weights before each pass.

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

    n_iter_no_change = None  # it ends by `tol`

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

    @property
    def feature_importances_(self) -> Floats:
        """Magnitudes of the weights, by their sum."""
        return shares(self.coef_)

    def _check(self) -> None:
        super()._check()
        maximised("CoordinateAscent", self.convention)
        for name in ("n_restarts", "n_steps"):
            arguments.whole(name, getattr(self, name))
        for name in ("step_base", "step_scale", "tol", "alpha"):
            arguments.number(name, getattr(self, name), least=0, above=name.startswith("step"))
        if self.n_steps * np.log2(max(self.step_scale, 1.0)) > MOST_DOUBLINGS:
            msg = (
                f"n_steps={self.n_steps} with step_scale={self.step_scale!r} makes steps beyond all numbers.\n"
                f"Hint: step_scale ** n_steps of at most 2 ** {MOST_DOUBLINGS}."
            )
            raise InputError(msg)

    @property
    def _max_rounds(self) -> int:
        """Passes of all restarts at most."""
        return self.n_restarts * self.max_iter

    def _learn(self, train: LabelledRows, judge: Judge) -> None:
        if train.row_weight is not None and judge.train.convention.weighting is None:
            average = judge.train.convention.average
            msg = (
                f"sample_weight was given but the convention says average={average!r}, which would ignore it.\n"
                "Hint: convention.replace(average='query'), or leave sample_weight out."
            )
            raise InputError(msg)
        judge.by_train = True
        columns, rng = FeatureColumns(train.X), generator(self.random_state)
        dispatch.expect_rows(columns.n_rows * len(columns) * self.n_steps * self.n_restarts)
        begin = np.full(len(columns), 1.0 / len(columns))
        if self.warm_start and hasattr(self, "coef_"):
            begin = self.coef_
        coef = begin
        for _ in range(self.n_restarts):
            climb = _Climb(self, columns, judge, begin)
            for _ in range(self.max_iter):
                gain, fails = climb.go(rng.permutation(len(columns)))
                if judge.see([product(each.X, climb.weights) for each in judge.sets], climb.trained):
                    coef = climb.weights
                judge.end_round(partial(dict, coef_=coef, n_iter_=judge.rounds))
                if judge.stops or gain < self.tol or fails >= max(len(columns) - 1, 1):
                    break
            if judge.stops:
                break
        self.coef_: Floats = coef
        self.n_iter_ = judge.rounds

    def _predict(self, X: Any) -> Array:
        return product(X, self.coef_)


class _Place(NamedTuple):
    """Weights, their scores of the training rows, and how good they are: the measure without what distance costs."""

    weights: Floats
    scores: Floats
    worth: float


class _Climb:
    """One restart."""

    def __init__(self, settings: CoordinateAscent, columns: FeatureColumns, judge: Judge, begin: Floats) -> None:
        self.settings, self.columns, self.trials = settings, columns, judge.train
        self.weights = begin
        self.fails = 0

    @property
    def trained(self) -> float:
        """Measure of the training queries, of scores computed anew."""
        return self.trials.value(self._scores())

    def go(self, order: NDArray[np.intp]) -> tuple[float, int]:
        """Go through the features once: what it gained, and how many features in a row gained nothing."""
        here = self._here()
        before = here.worth
        for feature in order.tolist():
            better = self._along(here, feature)
            self.fails = 0 if better else self.fails + 1
            here = better or here
        self.weights = here.weights
        return here.worth - before, self.fails

    def _along(self, here: _Place, feature: int) -> _Place | None:
        """Find the best step along a feature, up or else down; None where none is better."""
        column = self.columns[feature]
        for step in self._first_steps(float(here.weights[feature])):
            steps = step * self.settings.step_scale ** np.arange(self.settings.n_steps)
            totals = steps.cumsum()
            worths = self.trials.along(here.scores, column, totals) - self._cost(here.weights, feature, totals)
            best = int(worths.argmax())
            if worths[best] > here.worth:
                weights = here.weights.copy()
                weights[feature] += totals[best]
                size = float(np.abs(weights).sum())
                if size:
                    scores = (here.scores + totals[best] * column) / size
                    return _Place(weights / size, scores, float(worths[best]))
        return None

    def _first_steps(self, weight: float) -> tuple[float, float]:
        """First step up and down: a part of the weight where 0.001 is more than half of it."""
        small = weight != 0 and abs(weight) / 2 < SMALLEST_STEP
        step = self.settings.step_base * abs(weight) if small else SMALLEST_STEP
        return step, -step

    def _cost(self, weights: Floats, feature: int, totals: Floats) -> Floats | float:
        """What the distance of moved weights from equal ones takes away."""
        if not self.settings.alpha:
            return 0.0
        moved = np.repeat(weights[None, :], totals.size, axis=0)
        moved[:, feature] += totals
        moved /= np.maximum(np.abs(moved).sum(axis=1, keepdims=True), np.finfo(float).tiny)
        found: Floats = self.settings.alpha * np.sqrt(((moved - 1.0 / weights.size) ** 2).sum(axis=1))
        return found

    def _here(self) -> _Place:
        scores = self._scores()
        cost = np.max(self._cost(self.weights, 0, np.zeros(1)))
        return _Place(self.weights, scores, self.trials.value(scores) - float(cost))

    def _scores(self) -> Floats:
        found = np.zeros(self.columns.n_rows)
        for feature in np.flatnonzero(self.weights).tolist():
            found += self.weights[feature] * self.columns[feature]
        return found
