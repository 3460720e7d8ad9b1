"""Judge the rounds of a learner: compute the metric on training and validation queries, and find the best round."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankadapters.callbacks.history import Evaluation, History
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.learners.trials import Trials
from rankadapters.sklearn.rows import LabeledRows

Array = NDArray[Any]
TRAIN, VALID = "train", "valid"


class Judge:
    """Computes each round's value under a convention; `best_round` is the best round by the first validation set.

    Without a convention, no values are computed and every round counts as the best so far. `stops` is True after
    `patience` rounds without an improvement.
    """

    def __init__(
        self,
        convention: Convention | None,
        train: LabeledRows,
        valid_rows: list[LabeledRows],
        *,
        patience: int | None,
        n_threads: int | None,
    ) -> None:
        self.convention, self.valid_rows, self.patience = convention, valid_rows, patience
        self._name = "" if convention is None else convention.name  # cached: building a name takes longer than a round
        self.train_decides_best = False  # has an effect only without validation sets
        self.history = History()
        self.best_round, self.best_worth = -1, -np.inf
        self.rounds = 0
        if convention is not None:
            self.train = bind_trials(train, convention, n_threads)
            self.valid = [bind_trials(rows, convention, n_threads) for rows in valid_rows]

    def record_round(self, valid_scores: list[Array], train_value: float | None = None) -> bool:
        """Evaluate and record a round from its validation scores; return whether it is the best so far."""
        if self.convention is None:
            return self._record_values([], None)
        values = [trials.value(scores) for trials, scores in zip(self.valid, valid_scores, strict=True)]
        return self._record_values(values, train_value)

    def record_rounds(self, train_scores: Array, valid_scores: list[Array]) -> None:
        """Record a batch of rounds until training stops; each array has one row of scores per round."""
        values_by_set: list[list[float]] = []
        if self.convention is not None:
            sets = zip([self.train, *self.valid], [train_scores, *valid_scores], strict=True)
            values_by_set = [trials.values(scores).tolist() for trials, scores in sets]
        for index in range(len(train_scores)):
            values = [set_values[index] for set_values in values_by_set]
            self._record_values(values[1:], values[0] if values else None)
            if self.stops:
                break

    def _record_values(self, valid_values: list[float], train_value: float | None) -> bool:
        """Record the values of a round; return whether it is the best so far."""
        self.rounds += 1
        if self.convention is None:
            self.best_round = self.rounds - 1
            return True
        if train_value is not None:
            self._add_to_history(TRAIN, train_value)
        for index, value in enumerate(valid_values):
            self._add_to_history(f"{VALID}_{index}", value)
        decisive = valid_values[0] if valid_values else train_value if self.train_decides_best else None
        worth = float(self.rounds) if decisive is None else self.convention.worth(decisive)
        if not worth > self.best_worth:
            return False
        self.best_round, self.best_worth = self.rounds - 1, worth
        return True

    def _add_to_history(self, dataset: str, value: float) -> None:
        convention = cast("Convention", self.convention)
        self.history.append(Evaluation(dataset, convention, value, name=self._name, iteration=self.rounds - 1))

    def forget_best(self) -> None:
        """Forget the best round: any later round with a value above 0 becomes the best so far."""
        self.best_worth = 0.0

    @property
    def stops(self) -> bool:
        """Whether `patience` rounds have passed since the best round, if there are validation sets."""
        if self.patience is None or not self.valid_rows:
            return False
        return self.rounds - 1 - self.best_round >= self.patience


def queries_of_rows(rows: LabeledRows, weighting: str | None) -> Queries:
    """Return `Queries` of rows that are grouped by query; with weights only if `weighting` uses them."""
    weight = rows.query_weight if weighting == "query_weight" else None
    return Queries(rows.y, group_sizes=rows.sizes, query_weight=weight)


def bind_trials(rows: LabeledRows, convention: Convention, n_threads: int | None) -> Trials:
    """Bind a convention to rows that are grouped by query."""
    return Trials(queries_of_rows(rows, convention.weighting), convention, n_threads=n_threads)
