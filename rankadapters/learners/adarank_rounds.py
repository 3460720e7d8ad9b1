"""The rounds of AdaRank: as Xu and Li wrote them down, and as RankLib 2.10.1 runs them."""

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

    `weak` has the value of each query under each feature, shape (n_queries, n_features), and `weight` that of each
    query; `columns` are those of the training queries, and `valid` those of each validation set.
    """

    def __init__(
        self, weak: Floats, columns: FeatureColumns, valid: list[FeatureColumns], judge: Judge, weight: Floats,
        *, tol: float, max_consecutive: int | None,
    ) -> None:  # fmt: skip
        self.weak, self.columns, self.valid, self.judge = weak, columns, valid, judge
        self.tol, self.max_consecutive = tol, max_consecutive
        self.features: list[int] = []
        self.alphas: list[float] = []
        self.scores = np.zeros(judge.train.queries.n_docs)
        self.valid_scores = [np.zeros(each.queries.n_docs) for each in judge.valid]
        self.own = weight / weight.sum()  # what each query counts before any round
        self.weights = self.own
        self.trained = -1.0
        self.kept: tuple[list[int], list[float]] = ([], [])
        self.left_out: set[int] = set()
        self.in_a_row = 0

    def resume(self, features: Features, alphas: Floats) -> None:
        """Go on from a model."""
        for feature, alpha in zip(features.tolist(), alphas.tolist(), strict=True):
            self.add(feature, alpha)
        self.trained, values = self.measure()
        self.weigh(values)
        self.judge.see(self.valid_scores, self.trained)
        self.keep()
        self.judge.end_round(self.attributes)

    def run(self, max_iter: int) -> None:
        """Go through the rounds."""
        for _ in range(max_iter):
            feature, alpha = self.choose()
            if not np.isfinite(alpha):
                self.finish(feature)
                return
            before = self.state()
            self.add(feature, alpha)
            trained, values = self.measure()
            if trained + self.tol <= self.trained:
                self.restore(before)
                return
            self.leave_out(feature, changed=trained != self.trained)
            self.trained = trained
            if self.judge.see(self.valid_scores, trained):
                self.keep()
            self.judge.end_round(self.attributes)
            if self.judge.stops:
                return
            self.weigh(values)

    def choose(self) -> tuple[int, float]:
        """Feature of the highest weighted mean, the first of equal ones, and its alpha."""
        means = (self.weak * self.weights[:, None]).sum(axis=0)  # row by row, in one order on every machine
        means[list(self.left_out)] = -np.inf
        feature = int(means.argmax())
        return feature, self.alpha(feature)

    def alpha(self, feature: int) -> float:
        """Weight of a feature in the model."""
        values = self.weak[:, feature]
        above = float((self.weights * (1.0 + values)).cumsum()[-1])
        below = float((self.weights * (1.0 - values)).cumsum()[-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(0.5 * np.log(np.float64(above) / below))

    def finish(self, feature: int) -> None:
        """End with a feature that ranks every query of any weight perfectly, for which no alpha is large enough."""
        if not self.alphas:
            self.add(feature, 1.0)
            if self.judge.see(self.valid_scores, self.measure()[0]):
                self.keep()
            self.judge.end_round(self.attributes)

    def weigh(self, values: Floats) -> None:
        """Weigh the queries by how badly they are ranked."""
        weights = self.own * np.exp(-values)
        self.weights = weights / weights.cumsum()[-1]

    def leave_out(self, feature: int, *, changed: bool) -> None:
        """Leave a feature out that was chosen again and again and changed nothing, until something else does."""
        again = bool(self.features[:-1]) and self.features[-2] == feature
        if changed or not again:
            self.in_a_row = 0
            self.left_out.clear()
            return
        self.in_a_row += 1
        if self.in_a_row == self.max_consecutive and len(self.left_out) + 1 < len(self.columns):
            self.in_a_row = 0
            self.left_out.add(feature)

    def add(self, feature: int, alpha: float) -> None:
        """Add a feature to the model."""
        self.features.append(feature)
        self.alphas.append(alpha)
        self.scores = self.scores + alpha * self.columns[feature]
        self.valid_scores = [
            scores + alpha * columns[feature] for scores, columns in zip(self.valid_scores, self.valid, strict=True)
        ]

    def measure(self) -> tuple[float, Floats]:
        """Mean value of the training queries under the convention, and that of each query; 0 where it is skipped."""
        mean, values = self.judge.train.measure(self.scores)
        return mean, np.nan_to_num(values)

    def state(self) -> dict[str, Any]:
        """What a round changes, to be restored."""
        held = {"scores": self.scores, "valid_scores": self.valid_scores, "weights": self.weights}
        return {**held, "features": self.features[:], "alphas": self.alphas[:], "trained": self.trained}

    def restore(self, state: dict[str, Any]) -> None:
        """Take a round back."""
        self.__dict__.update(state)

    def keep(self) -> None:
        """Remember the model as the best."""
        self.kept = (self.features[:], self.alphas[:])

    def attributes(self) -> dict[str, Any]:
        """Fitted attributes of the best round by the validation queries, or of the last."""
        kept = self.kept if self.judge.sets and self.kept[0] else (self.features, self.alphas)
        features, alphas = np.array(kept[0], np.intp), np.array(kept[1], np.float64)
        coef = np.zeros(len(self.columns))
        np.add.at(coef, features, alphas)
        return {"features_": features, "alphas_": alphas, "coef_": coef, "n_iter_": len(alphas)}


class RankLibAdaRankRounds(AdaRankRounds):
    """The rounds of RankLib 2.10.1.

    Its queue: at first, a feature chosen twice in a row is put off and the round before taken back, and the best model
    is forgotten; then the features put off come back one at a time, the last first, and it goes on from where it is.
    The weights of the queries shrink by their number every round, until they underflow and the training ends. It ends
    as in the paper too where an alpha is infinite, under which RankLib would score by infinity times 0.
    """

    def run(self, max_iter: int) -> None:
        """Go through both phases."""
        self.weights = (self.own * self.own.size) * np.float64(np.float32(1.0 / self.own.size))
        self.judge.forget()
        self.queue: list[int] = []
        self.last = -1
        t = self._first_phase(max_iter)
        while self.queue and not self.judge.interrupted:
            self.queue.pop()
            t = self._second_phase(t, max_iter)

    def _first_phase(self, max_iter: int) -> int:
        before = self.state()
        t = 1
        while t <= max_iter:
            self.left_out = set(self.queue)
            if len(self.left_out) == len(self.columns):
                break
            feature, alpha = self.choose()
            if feature == self.last:
                self.queue.append(feature)
                self.restore(before)
                self.judge.forget()
                t += 1
                continue
            self.last, before = feature, self.state()
            if not self._round(feature, alpha):
                break
            t += 1
        return t

    def _second_phase(self, t: int, max_iter: int) -> int:
        used: set[int] = set()
        while t <= max_iter:
            self.left_out = used | set(self.queue)
            if len(self.left_out) == len(self.columns):
                break
            feature, alpha = self.choose()
            goes_on = self._round(feature, alpha, used)
            self.last = feature
            if not goes_on:
                break
            t += 1
        return t

    def _round(self, feature: int, alpha: float, used: set[int] | None = None) -> bool:
        """Add a feature, and weigh the queries anew; False where the training value fell, which takes it back."""
        if not np.isfinite(alpha):
            self.finish(feature)
            return False
        before = self.state()
        self.add(feature, alpha)
        _, values = self.measure()
        trained = float(values.cumsum()[-1] / values.size)
        if used is not None:
            self._drop_idle(feature, used, changed=trained != self.trained)
        if self.judge.see(self.valid_scores, trained):
            self.keep()
        self.judge.end_round(self.attributes)
        if trained + self.tol - self.trained <= 0:
            self.restore(before)
            return False
        self.trained = trained
        factors = np.exp(-alpha * values)
        self.weights = self.weights * (factors / factors.cumsum()[-1])
        return not self.judge.interrupted

    def _drop_idle(self, feature: int, used: set[int], *, changed: bool) -> None:
        if changed or feature != self.last:
            self.in_a_row = 0
            used.clear()
            return
        self.in_a_row += 1
        if self.in_a_row == self.max_consecutive:
            self.in_a_row = 0
            used.add(feature)
