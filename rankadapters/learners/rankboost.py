"""RankBoost: boosting with decision stumps over all pairs of rows with different labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Floats
from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.ranking.jit import writable
from rankadapters.core.ranking.offsets import offsets
from rankadapters.evaluation.threads import as_n_threads, over_chunks
from rankadapters.learners.base import FeatureColumns, Judge, QueryLearner, shares
from rankadapters.learners.kernels.boosting import add_by_bin, pair_potentials
from rankadapters.sklearn.rows import LabeledRows

VARIANTS = ("freund", "ranklib")
MAX_THRESHOLDS = 254  # so that bin numbers fit into uint8
BELOW_ALL = 1e8  # how far RankLib's last threshold is below the smallest value
MIN_R = 1e-12  # a smaller |r| is rounding error: the stump is no better than chance
MAX_R = 1 - 2.0**-40  # a larger |r| (all pairs right, or all wrong) is lowered to this, to keep alpha finite
ROWS_PER_PART = 2**15  # parts are summed separately, so that the number of threads does not change the bits
MAX_HEIGHT = 300.0  # if no height is larger, sums of exponentials do not overflow
FEW_GRADES = 32  # up to this many distinct labels, labels are numbered once for all queries, which is faster


class Stump(NamedTuple):
    """A weak ranker that is 1 if a feature is above a threshold, else 0, and its weight in the model."""

    feature: int
    threshold: float
    alpha: float

    def votes(self, columns: FeatureColumns) -> Floats:
        """Return what the stump adds to the score of each row."""
        return np.multiply(self.alpha, columns[self.feature] > self.threshold, dtype=np.float64)


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
        Maximum number of rounds in a fit (RankLib: `-round`).
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
        Continue from the model of the last fit, which stays the model unless one of the new rounds is better.
    n_threads : int, optional
        None uses all CPUs. The result does not depend on the number.

    Attributes
    ----------
    features_, thresholds_, alphas_ : arrays, shape (n_rounds,)
        The stump of each round in the model, and its weight.
    feature_importances_ : float64 array, shape (n_features,)
        Share of each feature's alphas in the sum of all alphas' magnitudes.
    n_iter_ : int
        Number of rounds in the model since the first fit: up to the best by the first validation set, or all.
    history_ : History
        (set, convention, value), training queries first, for each of the rounds; a warm start's model comes first.

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
        arguments.word("variant", self.variant, VARIANTS)

    def _learn(self, train: LabeledRows, judge: Judge) -> None:
        is_ranklib = self.variant == "ranklib"
        columns = [FeatureColumns(rows.X, float32=is_ranklib) for rows in (train, *judge.valid_rows)]
        potentials = PairPotentials(np.asarray(train.y, np.float64), np.asarray(train.sizes), train.query_weight)
        bins = Bins(columns[0], potentials.rows, self.n_thresholds, with_all=is_ranklib)
        judge.expect(self.max_iter)
        model = self._model if self.warm_start and hasattr(self, "alphas_") else []
        scores = [np.zeros(of_set.n_rows) for of_set in columns]
        for stump in model:
            _add(stump, scores, columns)
        heights = scores[0][potentials.rows]
        if model:
            judge.record_start(len(model), scores[1:], judge.train_value(scores[0]))
        n_threads = as_n_threads(self.n_threads)
        for _ in range(self.max_iter):
            feature, index, r = bins.best(potentials(heights), signed=is_ranklib, n_threads=n_threads)
            stump = Stump(feature, float(bins.thresholds[feature, index]), _alpha(r, is_ranklib=is_ranklib))
            if not stump.alpha:
                break
            heights += stump.alpha * bins.above(feature, index)
            model.append(stump)
            if judge.convention is not None:
                _add(stump, scores, columns)
            judge.record_round(scores[1:], judge.train_value(scores[0]))
            if judge.stops:
                break
        self._keep(model[: judge.best_round + 1], len(columns[0]))

    @property
    def _model(self) -> list[Stump]:
        stumps = zip(self.features_.tolist(), self.thresholds_.tolist(), self.alphas_.tolist(), strict=True)
        return [Stump(*stump) for stump in stumps]

    def _keep(self, model: list[Stump], n_features: int) -> None:
        self.features_ = np.array([stump.feature for stump in model], np.intp)
        self.thresholds_ = np.array([stump.threshold for stump in model], np.float64)
        self.alphas_ = np.array([stump.alpha for stump in model], np.float64)
        self.feature_importances_ = shares(np.bincount(self.features_, np.abs(self.alphas_), n_features))
        self.n_iter_ = len(model)

    def _predict(self, X: Any) -> Floats:
        columns, scores = FeatureColumns(X, float32=self.variant == "ranklib"), np.zeros(X.shape[0])
        for stump in self._model:
            _add(stump, [scores], [columns])
        return scores


class Bins:
    """Features as bin numbers: thresholds descend, and a row's bin is the index of the first threshold below its value.

    Only `rows` are binned, since rows without pairs have potential 0. The thresholds of a feature start at its maximum
    and descend in equal steps; the last is one step above the minimum. `with_all` adds RankLib's further threshold
    below all values.
    """

    def __init__(self, columns: FeatureColumns, rows: NDArray[np.intp], n_thresholds: int, *, with_all: bool) -> None:
        self.n_thresholds = n_thresholds + 1 if with_all else n_thresholds
        self.thresholds = np.empty((len(columns), self.n_thresholds))
        constant = np.zeros(len(columns), np.bool_)
        for feature in range(len(columns)):
            low, high = float(columns[feature].min()), float(columns[feature].max())
            self.thresholds[feature] = _thresholds(low, high, n_thresholds, with_all=with_all)
            constant[feature] = low == high
        # All constant features have the same bins, so they share one column.
        binned = np.sort(np.concatenate([np.flatnonzero(~constant), np.flatnonzero(constant)[:1]]))
        self._bin_column = np.searchsorted(binned, np.where(constant, constant.argmax(), np.arange(len(columns))))
        self.bins = np.empty((rows.size, binned.size), np.uint8)
        for column, feature in enumerate(binned.tolist()):
            self.bins[:, column] = _bins(columns[feature][rows], self.thresholds[feature])

    def best(self, potentials: Floats, *, signed: bool, n_threads: int) -> tuple[int, int, float]:
        """Return the feature and the index of its threshold with the largest r if `signed`, else |r|, and that r.

        r is the sum of the potentials of the rows above the threshold. The first stump wins if several are equal.
        """
        sums = self._sums(potentials, n_threads)[self._bin_column, : self.n_thresholds].cumsum(axis=1)
        feature, index = np.unravel_index((sums if signed else np.abs(sums)).argmax(), sums.shape)
        return int(feature), int(index), float(sums[feature, index])

    def above(self, feature: int, index: int) -> NDArray[np.bool_]:
        """Return a mask of the rows above a threshold."""
        mask: NDArray[np.bool_] = self.bins[:, self._bin_column[feature]] <= index
        return mask

    def _sums(self, potentials: Floats, n_threads: int) -> Floats:
        n = potentials.size
        starts = np.append(np.arange(0, n, ROWS_PER_PART), n)
        bins, values = writable(self.bins), writable(potentials)

        def run(first: int, last: int) -> Iterator[Any]:
            for part in range(first, last):
                sums = np.zeros((bins.shape[1], self.n_thresholds + 1))
                add_by_bin(bins, values, int(starts[part]), int(starts[part + 1]), sums)
                yield sums

        totals: Floats = np.add.reduce(over_chunks(run, starts, n_threads), axis=0)
        return totals


class PairPotentials:
    """The potential p of each row, under a distribution D over the pairs of rows i, j with label(i) > label(j).

    D(i, j) is proportional to exp(H_j - H_i), where H ("heights") are the scores of the model.
    p_i = sum over j below i of D(i, j) - sum over j above i of D(j, i)
        = (exp(-H_i) S+_i - exp(H_i) S-_i) / Z

    S+_i is the sum of exp(H_j) over the rows of the same query with a lower label, S-_i the sum of exp(-H_j) over those
    with a higher label, and Z the sum over all pairs. Large heights are first centered within each query, which does
    not change D. The labels are grouped by query, and `weight` multiplies the pairs of each query.
    """

    def __init__(self, labels: Floats, sizes: NDArray[np.int64], weight: Floats | None) -> None:
        starts = np.cumsum(sizes) - sizes
        mixed = np.maximum.reduceat(labels, starts) > np.minimum.reduceat(labels, starts)
        if weight is not None:
            mixed &= weight > 0
        self.rows = np.flatnonzero(np.repeat(mixed, sizes))  # rows of queries with pairs
        sizes = sizes[mixed]
        self._indptr = offsets(sizes)
        query = np.repeat(np.arange(sizes.size), sizes)
        self._level = _levels(labels[self.rows], query, self._indptr[:-1])
        self._n_levels = int(self._level.max()) + 1
        self._weight = np.empty(0) if weight is None else weight[mixed].astype(np.float64)

    def __call__(self, heights: Floats) -> Floats:
        """Return the potentials of `rows` at these heights; 0 if the weights of all pairs underflow."""
        if np.abs(heights).max() > MAX_HEIGHT:
            starts = self._indptr[:-1]
            low, high = (extreme.reduceat(heights, starts) for extreme in (np.minimum, np.maximum))
            heights = heights - np.repeat((low + high) / 2, np.diff(self._indptr))
        up, potentials = np.exp(heights), np.empty(heights.size)
        lower, higher = np.empty((2, self._n_levels))
        pair_potentials(up, 1.0 / up, self._level, self._indptr, self._weight, lower, higher, potentials)
        return potentials


def _add(stump: Stump, scores: list[Floats], columns: list[FeatureColumns]) -> None:
    """Add the votes of a stump to the scores of each set of rows, in place."""
    for set_scores, set_columns in zip(scores, columns, strict=True):
        set_scores += stump.votes(set_columns)  # noqa: PLW2901 - in place


def _alpha(r: float, *, is_ranklib: bool) -> float:
    """Return the weight of a stump; 0 ends the training."""
    if not is_ranklib:
        r = 0.0 if abs(r) < MIN_R else min(max(r, -MAX_R), MAX_R)
    elif not r < 1:
        return 0.0
    return float(0.5 * np.log((1.0 + r) / (1.0 - r)))


def _bins(column: Floats, thresholds: Floats) -> NDArray[np.uint8]:
    """Return the index of the first threshold below each row's value; the number of thresholds if there is none."""
    bins = np.full(column.size, thresholds.size, np.uint8)
    for threshold in thresholds:  # one pass per threshold is faster than a binary search
        bins -= column > threshold
    return bins


def _thresholds(low: float, high: float, n: int, *, with_all: bool) -> Floats:
    thresholds = [high]
    for _ in range(n - 1):
        thresholds.append(thresholds[-1] - (high - low) / n)
    return np.array([*thresholds, low - BELOW_ALL] if with_all else thresholds)


def _levels(labels: Floats, query: NDArray[np.intp], starts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Number the distinct labels of each query in ascending order; few labels are numbered once for all queries."""
    grades, grade = np.unique(labels, return_inverse=True)
    if grades.size <= FEW_GRADES:
        return grade
    order = np.lexsort((labels, query))
    ordered = labels[order]
    rises = np.concatenate([[0], np.cumsum((ordered[1:] > ordered[:-1]) & (query[order][1:] == query[order][:-1]))])
    level = np.empty(labels.size, np.intp)
    level[order] = rises - rises[starts][query[order]]
    return level
