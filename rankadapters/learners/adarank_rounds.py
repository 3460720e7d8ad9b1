"""The boosting rounds of AdaRank: as in Xu and Li's paper, and as in RankLib 2.10.1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.learners.columns import FeatureColumns
from rankadapters.learners.judging import Judge

Floats = NDArray[np.float64]
Features = NDArray[np.intp]


class AdaRankRounds:
    """AdaRank as in the paper.

    `feature_values` is the value of each query when ranked by each feature, shape (n_queries, n_features). `columns`
    are the features of the training rows, `valid_columns` those of each validation set.
    """

    def __init__(
        self, feature_values: Floats, columns: FeatureColumns, valid_columns: list[FeatureColumns], judge: Judge,
        weight: Floats, *, tol: float, max_consecutive: int | None,
    ) -> None:  # fmt: skip
        self.feature_values, self.judge = feature_values, judge
        self.columns, self.valid_columns = columns, valid_columns
        self.tol, self.max_consecutive = tol, max_consecutive
        self.features: list[int] = []
        self.alphas: list[float] = []
        self.scores = np.zeros(judge.train.queries.n_docs)
        self.valid_scores = [np.zeros(trials.queries.n_docs) for trials in judge.valid]
        self.initial_weights = weight / weight.sum()
        self.weights = self.initial_weights
        self.train_value = -1.0
        self.best_model: tuple[list[int], list[float]] = ([], [])
        self.excluded: set[int] = set()
        self.n_repeats = 0

    def resume(self, features: Features, alphas: Floats) -> None:
        """Start from an earlier model instead of an empty one."""
        for feature, alpha in zip(features.tolist(), alphas.tolist(), strict=True):
            self.add_feature(feature, alpha)
        self.train_value, values = self.measure()
        self.reweight(values)
        self.judge.record_round(self.valid_scores, self.train_value)
        self.remember_best()

    def run(self, max_iter: int) -> None:
        """Run up to `max_iter` rounds."""
        for _ in range(max_iter):
            feature, alpha = self.choose_feature()
            if not np.isfinite(alpha):
                self.finish_with_perfect(feature)
                return
            state_before = self.state()
            self.add_feature(feature, alpha)
            train_value, values = self.measure()
            if train_value + self.tol <= self.train_value:
                self.restore(state_before)
                return
            self.exclude_repeated(feature, changed=train_value != self.train_value)
            self.train_value = train_value
            if self.judge.record_round(self.valid_scores, train_value):
                self.remember_best()
            if self.judge.stops:
                return
            self.reweight(values)

    def choose_feature(self) -> tuple[int, float]:
        """Return the feature with the highest weighted mean value, and its alpha. Of equal features, take the first."""
        means = (self.feature_values * self.weights[:, None]).sum(axis=0)  # summed row by row on every machine
        means[list(self.excluded)] = -np.inf
        feature = int(means.argmax())
        return feature, self.alpha(feature)

    def alpha(self, feature: int) -> float:
        """Return the weight that a feature would get in the model."""
        values = self.feature_values[:, feature]
        numerator = float((self.weights * (1.0 + values)).cumsum()[-1])
        denominator = float((self.weights * (1.0 - values)).cumsum()[-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(0.5 * np.log(np.float64(numerator) / denominator))

    def finish_with_perfect(self, feature: int) -> None:
        """End training at a feature that ranks every weighted query perfectly; its alpha would be infinite."""
        if not self.alphas:
            self.add_feature(feature, 1.0)
            if self.judge.record_round(self.valid_scores, self.measure()[0]):
                self.remember_best()

    def reweight(self, values: Floats) -> None:
        """Give more weight to the queries that the model ranks badly."""
        weights = self.initial_weights * np.exp(-values)
        self.weights = weights / weights.cumsum()[-1]

    def exclude_repeated(self, feature: int, *, changed: bool) -> None:
        """Exclude a feature picked too often in a row without effect; if it changed the value, clear the exclusions."""
        is_repeat = bool(self.features[:-1]) and self.features[-2] == feature
        if changed or not is_repeat:
            self.n_repeats = 0
            self.excluded.clear()
            return
        self.n_repeats += 1
        if self.n_repeats == self.max_consecutive:
            self.excluded.add(feature)

    def add_feature(self, feature: int, alpha: float) -> None:
        """Add a feature to the model, and update the scores."""
        self.features.append(feature)
        self.alphas.append(alpha)
        self.scores = self.scores + alpha * self.columns[feature]
        sets = zip(self.valid_scores, self.valid_columns, strict=True)
        self.valid_scores = [scores + alpha * columns[feature] for scores, columns in sets]

    def measure(self) -> tuple[float, Floats]:
        """Return the mean value of the training queries, and each query's value (0 for a skipped query)."""
        mean, values = self.judge.train.measure(self.scores)
        return mean, np.nan_to_num(values)

    def state(self) -> dict[str, Any]:
        """Return the attributes that a round changes, so that `restore` can undo it."""
        arrays = {"scores": self.scores, "valid_scores": self.valid_scores, "weights": self.weights}
        return {**arrays, "features": self.features[:], "alphas": self.alphas[:], "train_value": self.train_value}

    def restore(self, state: dict[str, Any]) -> None:
        """Undo the rounds since `state` was saved."""
        self.__dict__.update(state)

    def remember_best(self) -> None:
        """Remember the current model as the best so far."""
        self.best_model = (self.features[:], self.alphas[:])

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of the best model by validation; without validation, of the current model."""
        model = self.best_model if self.judge.valid_rows and self.best_model[0] else (self.features, self.alphas)
        features, alphas = np.array(model[0], np.intp), np.array(model[1], np.float64)
        coef = np.zeros(len(self.columns))
        np.add.at(coef, features, alphas)
        return {"features_": features, "alphas_": alphas, "coef_": coef, "n_iter_": len(alphas)}


class RankLibAdaRankRounds(AdaRankRounds):
    """AdaRank as in RankLib 2.10.1.

    Training has two phases. In the first, a feature that is picked twice in a row goes into a queue; the previous round
    is undone and the best model forgotten. In the second, the features leave the queue one at a time, the last first,
    and training continues. Every round divides the query weights by about their number, until they underflow. As in the
    paper, an infinite alpha ends the training; RankLib itself would then compute scores of infinity times 0.
    """

    def run(self, max_iter: int) -> None:
        """Run both phases of RankLib's training."""
        self.weights = (self.initial_weights * len(self.weights)) * np.float64(np.float32(1.0 / len(self.weights)))
        self.judge.forget_best()
        self.queue: list[int] = []
        self.last_feature = -1
        iteration = self._first_phase(max_iter)
        while self.queue:
            self.queue.pop()
            iteration = self._second_phase(iteration, max_iter)

    def _first_phase(self, max_iter: int) -> int:
        state_before = self.state()
        iteration = 1
        while iteration <= max_iter:
            self.excluded = set(self.queue)
            if len(self.excluded) == len(self.columns):
                break
            feature, alpha = self.choose_feature()
            if feature == self.last_feature:
                self.queue.append(feature)
                self.restore(state_before)
                self.judge.forget_best()
                iteration += 1
                continue
            self.last_feature, state_before = feature, self.state()
            if not self._round(feature, alpha):
                break
            iteration += 1
        return iteration

    def _second_phase(self, iteration: int, max_iter: int) -> int:
        idle: set[int] = set()
        while iteration <= max_iter:
            self.excluded = idle | set(self.queue)
            if len(self.excluded) == len(self.columns):
                break
            feature, alpha = self.choose_feature()
            continues = self._round(feature, alpha, idle)
            self.last_feature = feature
            if not continues:
                break
            iteration += 1
        return iteration

    def _round(self, feature: int, alpha: float, idle: set[int] | None = None) -> bool:
        """Add a feature and reweight the queries; undo it and return False if the training value fell."""
        if not np.isfinite(alpha):
            self.finish_with_perfect(feature)
            return False
        state_before = self.state()
        self.add_feature(feature, alpha)
        _, values = self.measure()
        train_value = float(values.cumsum()[-1] / values.size)
        if idle is not None:
            self._update_idle(feature, idle, changed=train_value != self.train_value)
        if self.judge.record_round(self.valid_scores, train_value):
            self.remember_best()
        if train_value + self.tol - self.train_value <= 0:
            self.restore(state_before)
            return False
        self.train_value = train_value
        factors = np.exp(-alpha * values)
        self.weights = self.weights * (factors / factors.cumsum()[-1])
        return True

    def _update_idle(self, feature: int, idle: set[int], *, changed: bool) -> None:
        if changed or feature != self.last_feature:
            self.n_repeats = 0
            idle.clear()
            return
        self.n_repeats += 1
        if self.n_repeats == self.max_consecutive:
            self.n_repeats = 0
            idle.add(feature)
