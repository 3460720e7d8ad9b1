"""AdaRank: boosting that uses single features as weak rankers and reweights the queries that are ranked badly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Floats
from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.learners.base import FeatureColumns, Judge, LinearLearner, round_to_float32
from rankadapters.sklearn.rows import LabeledRows


class AdaRank(LinearLearner):
    """Boosting with single features, for any measure whose per-query values are in [-1, 1].

    A weak ranker sorts the rows by one feature, descending. Its per-query values E never change, so they are computed
    once. Each round picks the feature with the highest weighted mean value, gives it the weight
    alpha = 1/2 ln(sum w (1 + E) / sum w (1 - E)), and then raises the weights w of the queries that the model ranks
    badly. The model is linear.

    Parameters
    ----------
    convention : Convention or str
        The measure to maximize, validate and score by. Higher must be better, and each query must have a value.
    max_iter : int
        Maximum number of rounds in a fit (RankLib: `-round`).
    tol : float
        If a round lowers the mean value of the training queries by at least this much, training undoes the round and
        stops (RankLib: `-tolerance`).
    max_consecutive : int or None
        How many rounds in a row may pick the same feature without changing the mean value. After that, the feature is
        excluded until another feature has been picked (RankLib: `-max`). None excludes no feature.
    variant : {"xu-li", "ranklib"}
        `xu-li` weights queries as in the paper: w is proportional to exp(-M), where M is the model's value of the
        query. `ranklib` replays RankLib 2.10.1: its weights, which shrink until they underflow; its queue of features
        picked twice in a row; its order of ties in weak rankers; and features and labels as float32.
    n_iter_no_change : int or None
        With validation queries: stop after this many rounds without an improvement.
    validation_fraction : float in (0, 1), optional
        Share of the queries held out for validation: the queries whose ids have the smallest hashes.
    warm_start : bool
        Continue from the model of the last fit, which stays the model unless one of the new rounds is better.
        Only with `xu-li`; `ranklib` refuses it, because RankLib cannot continue a training.
    n_threads : int, optional
        None uses all CPUs. The result does not depend on the number.

    Attributes
    ----------
    coef_ : float64 array, shape (n_features,)
        Weight of each feature: the sum of its alphas.
    features_, alphas_ : arrays, shape (n_rounds,)
        The feature and the alpha of each round in the model.
    n_iter_ : int
        Number of rounds in the model since the first fit: up to the best by the first validation set, or all.
    history_ : History
        (set, convention, value), training queries first, for each of the rounds; a warm start's model comes first.

    References
    ----------
    Xu & Li, AdaRank: A Boosting Algorithm for Information Retrieval, SIGIR 2007, figure 1.
    RankLib 2.10.1, ciir/umass/edu/learning/boosting/AdaRank.java.

    Examples
    --------
    >>> import rankadapters as ra
    >>> train, test = ra.datasets.mq2008_like(random_state=0)
    >>> model = ra.learners.AdaRank("ranklib@10", max_iter=50).fit(train.X, train.labels, qid=train.qid)
    >>> value = model.score(test.X, test.labels, qid=test.qid)
    >>> value == ra.evaluate(test.labels, model.predict(test.X), "ranklib@10", qid=test.qid).value
    True
    """

    def __init__(
        self,
        convention: Convention | str,
        *,
        max_iter: int = 500,
        tol: float = 0.002,
        max_consecutive: int | None = 5,
        variant: str = "xu-li",
        n_iter_no_change: int | None = None,
        validation_fraction: float | None = None,
        warm_start: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self.convention = convention
        self.max_iter = max_iter
        self.tol = tol
        self.max_consecutive = max_consecutive
        self.variant = variant
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.n_threads = n_threads

    def _check(self) -> None:
        super()._check()
        convention = self._check_maximizable()
        if convention.over != "queries":
            msg = f"AdaRank weights queries by their values, but {convention.name} has none: pool={convention.over!r}."
            raise UnsupportedConventionError(msg, hint="pool='queries'")
        arguments.number("tol", self.tol, least=0)
        arguments.whole_or_none("max_consecutive", self.max_consecutive, "excludes no feature")
        arguments.word("variant", self.variant, VARIANTS)
        if self.warm_start and self.variant == "ranklib":
            msg = "warm_start=True, but variant='ranklib' cannot continue a training."
            raise InputError(msg, hint="warm_start=False, or variant='xu-li'")

    def _learn(self, train: LabeledRows, judge: Judge) -> None:
        is_ranklib = self.variant == "ranklib"
        columns = [FeatureColumns(rows.X, float32=is_ranklib) for rows in (train, *judge.valid_rows)]
        judge.expect(len(columns[0]) + self.max_iter)
        feature_values = self._feature_values(columns[0], judge)
        rounds = VARIANTS[self.variant](
            np.nan_to_num(feature_values), columns, judge, self._weight(feature_values, train, judge),
            tol=self.tol, max_consecutive=self.max_consecutive,
        )  # fmt: skip
        if self.warm_start and hasattr(self, "alphas_") and self.alphas_.size:
            rounds.resume(self.features_.tolist(), self.alphas_.tolist())
        rounds.run(self.max_iter)
        features, alphas = rounds.model
        self.features_: NDArray[np.intp] = np.array(features, np.intp)
        self.alphas_: Floats = np.array(alphas, np.float64)
        self.coef_ = np.zeros(len(columns[0]))
        np.add.at(self.coef_, self.features_, self.alphas_)
        self.n_iter_ = len(alphas)

    def _weight(self, feature_values: Floats, train: LabeledRows, judge: Judge) -> Floats:
        """Return the initial weight of each query: 0 for queries that the convention skips, except under `ranklib`."""
        weight = np.ones(len(feature_values)) if train.query_weight is None else train.query_weight
        if self.variant != "ranklib":
            weight = np.where(np.isnan(feature_values[:, 0]), 0.0, weight)
        if not weight.any():
            msg = f"sample_weight: all queries that {judge.train.convention.name} does not skip have weight 0."
            raise InputError(msg, hint="give some of them a weight above 0, or choose a policy other than 'skip'")
        return weight

    def _feature_values(self, columns: FeatureColumns, judge: Judge) -> Floats:
        """Return each query's value when a feature ranks its rows, shape (n_queries, n_features); NaN if skipped."""
        values = np.empty((judge.train.queries.n_queries, len(columns)))
        for feature in range(len(columns)):
            scores = columns[feature]
            if self.variant == "ranklib":
                scores = selection_ranks(scores, judge.train.queries.indptr, judge.train.convention.get("k"))
            values[:, feature] = judge.train.per_query([scores])[0]
        largest = float(np.nanmax(np.abs(values)))
        if largest > 1 + 1e-9:
            raise UnsupportedConventionError(
                f"AdaRank needs per-query values in [-1, 1], but {judge.train.convention.name} gives magnitudes up to "
                f"{largest:g}.",
                hint="use a normalized measure, such as NDCG instead of DCG",
            )
        return values

    def _predict(self, X: Any) -> Floats:
        return super()._predict(round_to_float32(X) if self.variant == "ranklib" else X)


class _Rounds:
    """The rounds of AdaRank as in the paper.

    `feature_values` is the value of each query when ranked by each feature, shape (n_queries, n_features). `columns`
    are the features of the training rows, then those of each validation set.
    """

    records_undone = False

    def __init__(
        self, feature_values: Floats, columns: list[FeatureColumns], judge: Judge, weight: Floats,
        *, tol: float, max_consecutive: int | None,
    ) -> None:  # fmt: skip
        self.feature_values, self.columns, self.judge = feature_values, columns, judge
        self.tol, self.max_consecutive = tol, max_consecutive
        self.features: list[int] = []
        self.alphas: list[float] = []
        self.scores = [np.zeros(of_set.n_rows) for of_set in columns]
        self.initial_weights = weight / weight.sum()
        self.weights = self.initial_weights
        self.train_value = -1.0
        self.best_model: tuple[list[int], list[float]] = ([], [])
        self.last_feature = -1
        self.n_repeats = 0  # how many rounds in a row have picked the last feature again without effect
        self.excluded: set[int] = set()
        self.state_before: dict[str, Any] = {}

    def resume(self, features: list[int], alphas: list[float]) -> None:
        """Start from an earlier model instead of an empty one."""
        for feature, alpha in zip(features, alphas, strict=True):
            self.add_feature(feature, alpha)
            self.last_feature = feature
        self.train_value, values = self.measure()
        self.reweight(values)
        self.judge.record_start(len(alphas), self.scores[1:], self.train_value)
        self.best_model = self.features, self.alphas

    def run(self, max_iter: int) -> None:
        """Run up to `max_iter` rounds."""
        for _ in range(max_iter):
            if not self.run_round() or self.judge.stops:
                return

    def run_round(self) -> bool:
        """Add the best feature and reweight the queries; return False if that ends the training."""
        return self.try_feature(*self.choose_feature(self.excluded))

    def choose_feature(self, excluded: set[int]) -> tuple[int, float]:
        """Return the feature with the highest weighted mean value, and its alpha. Of equal features, take the first."""
        means = (self.feature_values * self.weights[:, None]).sum(axis=0)  # summed row by row on every machine
        means[list(excluded)] = -np.inf
        feature = int(means.argmax())
        values = self.feature_values[:, feature]
        numerator = float((self.weights * (1.0 + values)).cumsum()[-1])
        denominator = float((self.weights * (1.0 - values)).cumsum()[-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            return feature, float(0.5 * np.log(np.float64(numerator) / denominator))

    def try_feature(self, feature: int, alpha: float) -> bool:
        """Add a feature and reweight the queries; undo it and return False if the training value fell."""
        is_repeat, self.last_feature = feature == self.last_feature, feature
        if not np.isfinite(alpha):  # the feature ranks every weighted query perfectly
            if not self.alphas:
                self.add_feature(feature, 1.0)
                self.record(self.judge.train.value(self.scores[0]))
            return False
        names = ("scores", "weights", "features", "alphas", "train_value")
        self.state_before = {name: getattr(self, name) for name in names}
        self.add_feature(feature, alpha)
        train_value, values = self.measure()
        self.exclude_repeated(feature, is_repeat=is_repeat and train_value == self.train_value)
        fell = train_value + self.tol <= self.train_value
        if not fell or self.records_undone:
            self.record(train_value)
        if fell:
            self.undo()
            return False
        self.train_value = train_value
        self.reweight(values)
        return True

    def add_feature(self, feature: int, alpha: float) -> None:
        """Add a feature to the model, and update the scores."""
        self.features, self.alphas = [*self.features, feature], [*self.alphas, alpha]
        sets = zip(self.scores, self.columns, strict=True)
        self.scores = [scores + alpha * columns[feature] for scores, columns in sets]

    def measure(self) -> tuple[float, Floats]:
        """Return the mean value of the training queries, and each query's value (0 for a skipped query)."""
        mean, values = self.judge.train.measure(self.scores[0])
        return mean, np.nan_to_num(values)

    def exclude_repeated(self, feature: int, *, is_repeat: bool) -> None:
        """Exclude a feature after `max_consecutive` repeats without effect; a round without a repeat excludes none."""
        self.n_repeats = self.n_repeats + 1 if is_repeat else 0
        if not is_repeat:
            self.excluded.clear()
        elif self.n_repeats == self.max_consecutive:
            self.n_repeats = 0
            self.excluded.add(feature)

    def record(self, train_value: float) -> None:
        """Record a round, and remember the model if it is the best so far."""
        if self.judge.record_round(self.scores[1:], train_value):
            self.best_model = self.features, self.alphas

    def undo(self) -> None:
        """Undo the last round that was tried."""
        self.__dict__.update(self.state_before)

    def reweight(self, values: Floats) -> None:
        """Give more weight to the queries that the model ranks badly."""
        weights = self.initial_weights * np.exp(-values)
        self.weights = weights / weights.cumsum()[-1]

    @property
    def model(self) -> tuple[list[int], list[float]]:
        """The features and alphas of the best model by validation; without validation, of the current model."""
        return self.best_model if self.judge.valid_rows and self.best_model[0] else (self.features, self.alphas)


class _RankLibRounds(_Rounds):
    """The rounds of AdaRank as in RankLib 2.10.1.

    Training has phases. In the first, a feature that is picked twice in a row goes into a queue; the previous round is
    undone and the best model forgotten. At the end of each phase a feature leaves the queue, the last first, and
    training continues. Every round divides the query weights by about their number, until they underflow. An
    infinite alpha ends a phase, as it ends the training in the paper; RankLib itself would then compute scores of
    infinity times 0.
    """

    records_undone = True

    def run(self, max_iter: int) -> None:
        """Run all phases, with up to `max_iter` rounds in total that do not end a phase."""
        self.weights = (self.initial_weights * len(self.weights)) * np.float64(np.float32(1.0 / len(self.weights)))
        self.judge.forget_best()
        self.queue: list[int] = []
        self.is_first_phase = True
        n_rounds = 0
        while n_rounds < max_iter:
            if self.run_round():
                n_rounds += 1
            elif self.queue:
                self.queue.pop()
                self.excluded.clear()
                self.is_first_phase = False
            else:
                return

    def run_round(self) -> bool:
        """Add the best feature, or queue it if it is picked again in the first phase; return False to end the phase."""
        excluded = self.excluded | set(self.queue)
        if len(excluded) == len(self.columns[0]):
            return False
        feature, alpha = self.choose_feature(excluded)
        if not (self.is_first_phase and feature == self.last_feature):
            return self.try_feature(feature, alpha)
        self.queue.append(feature)
        self.undo()
        self.judge.forget_best()
        return True

    def measure(self) -> tuple[float, Floats]:
        """Return the mean over all training queries, with 0 for a skipped query, and each query's value."""
        values = super().measure()[1]
        return float(values.cumsum()[-1] / values.size), values

    def reweight(self, values: Floats) -> None:
        """Give more weight to the queries that the model ranks badly, and less to all queries together."""
        factors = np.exp(-self.alphas[-1] * values)
        self.weights = self.weights * (factors / factors.cumsum()[-1])


VARIANTS = {"xu-li": _Rounds, "ranklib": _RankLibRounds}


def selection_ranks(scores: Floats, indptr: NDArray[np.int64], k: int | None) -> Floats:
    """Return scores in the order of RankLib's selection sort: for i = 0, 1, ... swap the first maximum from i on to i.

    Its swaps order ties differently from any stable sort. Only the first k ranks are in that order, which is enough for
    a measure with cutoff k.

    >>> selection_ranks(np.array([1.0, 1.0, 2.0]), np.array([0, 3]), None).argsort().tolist()  # worst row first
    [0, 1, 2]
    """
    sizes = np.diff(indptr)
    width = int(sizes.max())
    inside = np.arange(width) < sizes[:, None]
    values, rows = np.full(inside.shape, -np.inf), np.full(inside.shape, -1)
    values[inside], rows[inside] = scores, np.arange(scores.size)
    queries = np.arange(sizes.size)
    for i in range(min(k or width, width)):
        best = i + values[:, i:].argmax(axis=1)
        for table in (values, rows):
            table[queries, i], table[queries, best] = table[queries, best], table[queries, i]
    negative_ranks = np.empty(scores.size)
    ranks = np.broadcast_to(np.arange(width), inside.shape)
    is_row = rows >= 0
    negative_ranks[rows[is_row]] = -ranks[is_row]
    return negative_ranks
