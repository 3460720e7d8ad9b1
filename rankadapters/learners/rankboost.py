"""RankBoost: boosting of decision stumps over all pairs of rows of different labels."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.threads import as_n_threads
from rankadapters.learners.base import QueryLearner
from rankadapters.learners.columns import FeatureColumns
from rankadapters.learners.judging import Judge
from rankadapters.learners.pair_potentials import PairPotentials
from rankadapters.learners.stumps import Bins
from rankadapters.sklearn.rows import LabelledRows

Array = NDArray[Any]
Floats = NDArray[np.float64]

VARIANTS = ("freund", "ranklib")
MOST_THRESHOLDS = 254  # whose bins are uint8
LEAST_R = 1e-12  # of a stump that says something about the pairs, beyond rounding
SCORES_AT_ONCE = 2**18  # of a set of rows, after as many rounds as that makes
MOST_R = 1 - 2.0**-40  # of a stump that is right about all pairs, whose alpha would be infinite


class RankBoost(QueryLearner):
    """Boosting of decision stumps over all pairs of rows of different labels.

    It keeps a distribution over the pairs. A round takes the stump h = [x_f > t] whose r, the sum over the pairs of
    D(i, j) (h_i - h_j), is largest, gives it the weight alpha = 1/2 ln((1 + r) / (1 - r)), and multiplies D(i, j) by
    exp(alpha (h_j - h_i)). No pair is ever made: a round costs O(rows) for the potentials and one pass over the bins.
    No metric enters the training; `convention` judges the rounds.

    Parameters
    ----------
    convention : Convention or str, optional
        What validation, `history_` and `score` go by; any measure.
    max_iter : int
        Rounds at most (RankLib: `-round`).
    n_thresholds : int
        Of each feature, at equal distances over its range, up to 254 (RankLib: `-tc`).
    variant : {"freund", "ranklib"}
        `freund` takes the stump of the largest magnitude of r, so that a feature may count against a row, and stops
        where none says anything. `ranklib` replays RankLib 2.10.1: the largest signed r, a further threshold below all
        values, and features and labels as float32.
    n_iter_no_change : int or None
        With validation queries: rounds without a better one, after which it stops.
    validation_fraction : float in (0, 1), optional
        Share of the queries that is held out for validation, those whose ids have the smallest hashes.
    warm_start : bool
        Go on from the stumps of the last fit.
    n_threads : int, optional
        None takes all CPUs; the result is the same for any number.

    Attributes
    ----------
    features_, thresholds_, alphas_ : arrays, shape (n_rounds,)
        The stump of each round that was kept, and its weight.
    feature_importances_ : float64 array, shape (n_features,)
        Share of each feature in the sum of the magnitudes of the alphas.
    n_iter_ : int
        Rounds in the model: up to the best by the first validation set, or all.
    history_ : History
        (set, convention, value) of each round, where there is a convention.

    References
    ----------
    Freund, Iyer, Schapire & Singer, An Efficient Boosting Algorithm for Combining Preferences, JMLR 4, 2003, figures 1
    and 3, and equation 8 for alpha.
    RankLib 2.10.1, ciir/umass/edu/learning/boosting/RankBoost.java.

    Examples
    --------
    >>> import rankadapters as ra
    >>> train, test = ra.datasets.mq2008_like(random_state=0)
    >>> model = ra.learners.RankBoost("ranklib@10", max_iter=50).fit(train.X, train.labels, qid=train.qid)
    >>> value = model.score(test.X, test.labels, qid=test.qid)
    >>> value == ra.evaluate(test.labels, model.predict(test.X), "ranklib@10", qid=test.qid).value
    True
    """

    features_: Array
    thresholds_: Floats
    alphas_: Floats
    feature_importances_: Floats
    n_iter_: int

    def __init__(
        self,
        convention: Convention | str | None = None,
        *,
        max_iter: int = 300,
        n_thresholds: int = 10,
        variant: str = "freund",
        n_iter_no_change: int | None = None,
        validation_fraction: float | None = None,
        warm_start: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self.convention = convention
        self.max_iter = max_iter
        self.n_thresholds = n_thresholds
        self.variant = variant
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.n_threads = n_threads

    def _check(self) -> None:
        super()._check()
        arguments.whole("n_thresholds", self.n_thresholds, most=MOST_THRESHOLDS)
        arguments.choice("variant", self.variant, VARIANTS)

    def _learn(self, train: LabelledRows, judge: Judge) -> None:
        narrow = self.variant == "ranklib"
        columns = FeatureColumns(train.X, narrow=narrow)
        potentials = PairPotentials(np.asarray(train.y, np.float64), np.asarray(train.sizes), train.query_weight)
        bins = Bins(columns, potentials.rows, self.n_thresholds, with_all=narrow)
        model = self._start()
        rounds = _Rounds(model, judge, [columns, *(FeatureColumns(each.X, narrow=narrow) for each in judge.sets)])
        heights = rounds.scores[0][potentials.rows]
        kept, n_threads = len(model), as_n_threads(self.n_threads)
        for _ in range(self.max_iter):
            stump = bins.best(potentials(heights), signed=narrow, n_threads=n_threads)
            alpha = _alpha(stump.r, narrow=narrow)
            if not alpha:
                break
            heights += alpha * bins.above(stump)
            model.append((stump.feature, stump.threshold, alpha))
            rounds.see(at_once=True)
            judge.end_round(partial(self._attributes, model[: kept + judge.best + 1], len(columns)))
            if judge.stops:
                break
        rounds.see(at_once=False)
        self.__dict__.update(self._attributes(model[: kept + judge.best + 1], len(columns)))

    def _start(self) -> list[tuple[int, float, float]]:
        if not (self.warm_start and hasattr(self, "alphas_")):
            return []
        columns = (self.features_, self.thresholds_, self.alphas_)
        return list(zip(*(each.tolist() for each in columns), strict=True))

    def _attributes(self, model: list[tuple[int, float, float]], n_features: int) -> dict[str, Any]:
        features = np.array([feature for feature, _, _ in model], np.intp)
        thresholds = np.array([threshold for _, threshold, _ in model], np.float64)
        alphas = np.array([alpha for _, _, alpha in model], np.float64)
        importances = np.bincount(features, np.abs(alphas), n_features)
        importances = importances / importances.sum() if importances.any() else importances
        stumps = {"features_": features, "thresholds_": thresholds, "alphas_": alphas}
        return {**stumps, "n_iter_": len(model), "feature_importances_": importances}

    def _predict(self, X: Any) -> Array:
        columns = FeatureColumns(X, narrow=self.variant == "ranklib")
        found = np.zeros(X.shape[0])
        for feature, threshold, alpha in zip(self.features_, self.thresholds_, self.alphas_, strict=True):
            found += alpha * (columns[feature] > threshold)
        return found


class _Rounds:
    """Scores of the training and validation rows after each round, judged many rounds at once where rows are few."""

    def __init__(self, model: list[tuple[int, float, float]], judge: Judge, columns: list[FeatureColumns]) -> None:
        self.model, self.judge, self.columns = model, judge, columns
        self.scores = [np.zeros(each.n_rows) for each in columns]
        self.seen = len(model)
        for place in range(len(columns)):
            for stump in model:
                self.scores[place] += _votes(columns[place], stump)
        most = max(SCORES_AT_ONCE // max(each.n_rows for each in columns), 1)
        self.most = most if judge.patience is None else min(most, judge.patience)
        if judge.tasks.watched:  # by callbacks, which are told of each round when it ends
            self.most = 1

    def see(self, *, at_once: bool) -> None:
        """Let the new rounds be judged; `at_once` only when they are enough for one go."""
        new = self.model[self.seen :]
        if not new or (at_once and len(new) < self.most):
            return
        self.seen = len(self.model)
        train, *valid = (self._after(place, new) for place in range(len(self.columns)))
        self.judge.see_several(train, valid)

    def _after(self, place: int, stumps: list[tuple[int, float, float]]) -> Floats:
        """Scores of a set of rows after each of the new rounds."""
        found = np.empty((len(stumps), self.scores[place].size))
        for scores, stump in zip(found, stumps, strict=True):
            np.add(self.scores[place], _votes(self.columns[place], stump), out=scores)
            self.scores[place] = scores
        return found


def _votes(columns: FeatureColumns, stump: tuple[int, float, float]) -> Floats:
    feature, threshold, alpha = stump
    return np.multiply(alpha, columns[feature] > threshold, dtype=np.float64)


def _alpha(r: float, *, narrow: bool) -> float:
    """Weight of a stump; 0 where there is none to be had."""
    if not narrow:
        r = 0.0 if abs(r) < LEAST_R else min(max(r, -MOST_R), MOST_R)
    elif not r < 1:
        return 0.0
    return float(0.5 * np.log((1.0 + r) / (1.0 - r)))
