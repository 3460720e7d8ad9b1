"""RankBoost: boosting with decision stumps over all pairs of rows with different labels."""

from __future__ import annotations

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
from rankadapters.sklearn.rows import LabeledRows

Array = NDArray[Any]
Floats = NDArray[np.float64]

VARIANTS = ("freund", "ranklib")
MAX_THRESHOLDS = 254  # so that bin numbers fit into uint8
MIN_R = 1e-12  # a smaller |r| is rounding error: the stump is no better than chance
MAX_R = 1 - 2.0**-40  # a larger |r| (all pairs right, or all wrong) is lowered to this, to keep alpha finite
SCORES_PER_BATCH = 2**18  # scores that one batch of rounds may hold for the largest set of rows
ModelStump = tuple[int, float, float]  # feature, threshold, alpha


class RankBoost(QueryLearner):
    """Boosting with decision stumps over all pairs of rows with different labels.

    Training keeps a distribution D over the pairs. Each round picks the stump h = [x_f > t] with the largest r, the sum
    over the pairs of D(i, j) (h_i - h_j). It gives the stump the weight alpha = 1/2 ln((1 + r) / (1 - r)), and
    multiplies D(i, j) by exp(alpha (h_j - h_i)). The pairs are never listed: a round takes O(rows) for the potentials
    and one pass over the bins. Training uses no metric; `convention` only judges the rounds.

    Parameters
    ----------
    convention : Convention or str, optional
        The measure for validation, `history_` and `score`; any measure.
    max_iter : int
        Maximum number of rounds (RankLib: `-round`).
    n_thresholds : int
        Number of thresholds per feature, evenly spaced over its range, up to 254 (RankLib: `-tc`).
    variant : {"freund", "ranklib"}
        `freund` picks the stump with the largest `abs(r)`, so a feature may lower scores, and stops when every r is 0.
        `ranklib` replays RankLib 2.10.1: the largest signed r, a further threshold below all values, and features and
        labels as float32.
    n_iter_no_change : int or None
        With validation queries: stop after this many rounds without an improvement.
    validation_fraction : float in (0, 1), optional
        Share of the queries held out for validation: the queries whose ids have the smallest hashes.
    warm_start : bool
        Continue from the stumps of the last fit.
    n_threads : int, optional
        None uses all CPUs. The result does not depend on the number.

    Attributes
    ----------
    features_, thresholds_, alphas_ : arrays, shape (n_rounds,)
        The stump of each round in the model, and its weight.
    feature_importances_ : float64 array, shape (n_features,)
        Share of each feature's alphas in the sum of all alphas' magnitudes.
    n_iter_ : int
        Number of rounds in the model: up to the best round by the first validation set, or all rounds.
    history_ : History
        (set, convention, value) for each round, if there is a convention.

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
        arguments.whole("n_thresholds", self.n_thresholds, most=MAX_THRESHOLDS)
        arguments.choice("variant", self.variant, VARIANTS)

    def _learn(self, train: LabeledRows, judge: Judge) -> None:
        is_ranklib = self.variant == "ranklib"
        columns = FeatureColumns(train.X, float32=is_ranklib)
        valid_columns = [FeatureColumns(rows.X, float32=is_ranklib) for rows in judge.valid_rows]
        potentials = PairPotentials(np.asarray(train.y, np.float64), np.asarray(train.sizes), train.query_weight)
        bins = Bins(columns, potentials.rows, self.n_thresholds, with_all=is_ranklib)
        model = self._start()
        batches = _RoundBatches(model, judge, [columns, *valid_columns])
        heights = batches.scores[0][potentials.rows]
        n_start, n_threads = len(model), as_n_threads(self.n_threads)
        for _ in range(self.max_iter):
            stump = bins.best(potentials(heights), signed=is_ranklib, n_threads=n_threads)
            alpha = _alpha(stump.r, is_ranklib=is_ranklib)
            if not alpha:
                break
            heights += alpha * bins.above(stump)
            model.append((stump.feature, stump.threshold, alpha))
            batches.judge_new(full_batch_only=True)
            if judge.stops:
                break
        batches.judge_new(full_batch_only=False)
        self.__dict__.update(self._attributes(model[: n_start + judge.best_round + 1], len(columns)))

    def _start(self) -> list[ModelStump]:
        if not (self.warm_start and hasattr(self, "alphas_")):
            return []
        return list(zip(self.features_.tolist(), self.thresholds_.tolist(), self.alphas_.tolist(), strict=True))

    def _attributes(self, model: list[ModelStump], n_features: int) -> dict[str, Any]:
        features = np.array([feature for feature, _, _ in model], np.intp)
        thresholds = np.array([threshold for _, threshold, _ in model], np.float64)
        alphas = np.array([alpha for _, _, alpha in model], np.float64)
        importances = np.bincount(features, np.abs(alphas), n_features)
        importances = importances / importances.sum() if importances.any() else importances
        stumps = {"features_": features, "thresholds_": thresholds, "alphas_": alphas}
        return {**stumps, "n_iter_": len(model), "feature_importances_": importances}

    def _predict(self, X: Any) -> Array:
        columns = FeatureColumns(X, float32=self.variant == "ranklib")
        scores = np.zeros(X.shape[0])
        for feature, threshold, alpha in zip(self.features_, self.thresholds_, self.alphas_, strict=True):
            scores += alpha * (columns[feature] > threshold)
        return scores


class _RoundBatches:
    """Evaluates rounds in batches, which is faster for small data, and keeps the scores after the latest round."""

    def __init__(self, model: list[ModelStump], judge: Judge, columns: list[FeatureColumns]) -> None:
        self.model, self.judge, self.columns = model, judge, columns
        self.scores = [np.zeros(features.n_rows) for features in columns]
        self.n_judged = len(model)
        for index in range(len(columns)):
            for stump in model:
                self.scores[index] += _weighted_stump(columns[index], stump)
        batch_size = max(SCORES_PER_BATCH // max(features.n_rows for features in columns), 1)
        self.batch_size = batch_size if judge.patience is None else min(batch_size, judge.patience)

    def judge_new(self, *, full_batch_only: bool) -> None:
        """Evaluate the rounds since the previous call; with `full_batch_only`, only if they fill a batch."""
        new = self.model[self.n_judged :]
        if not new or (full_batch_only and len(new) < self.batch_size):
            return
        self.n_judged = len(self.model)
        train_scores, *valid_scores = (self._scores_after(index, new) for index in range(len(self.columns)))
        self.judge.record_rounds(train_scores, valid_scores)

    def _scores_after(self, index: int, stumps: list[ModelStump]) -> Floats:
        """Return the scores of a set of rows after each of the new rounds."""
        scores_by_round = np.empty((len(stumps), self.scores[index].size))
        for scores, stump in zip(scores_by_round, stumps, strict=True):
            np.add(self.scores[index], _weighted_stump(self.columns[index], stump), out=scores)
            self.scores[index] = scores
        return scores_by_round


def _weighted_stump(columns: FeatureColumns, stump: ModelStump) -> Floats:
    feature, threshold, alpha = stump
    return np.multiply(alpha, columns[feature] > threshold, dtype=np.float64)


def _alpha(r: float, *, is_ranklib: bool) -> float:
    """Return the weight of a stump; 0 ends the training."""
    if not is_ranklib:
        r = 0.0 if abs(r) < MIN_R else min(max(r, -MAX_R), MAX_R)
    elif not r < 1:
        return 0.0
    return float(0.5 * np.log((1.0 + r) / (1.0 - r)))
