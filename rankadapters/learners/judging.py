"""How a learner's rounds are judged: the declared metric of the training and validation queries, and the best round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankadapters.callbacks.history import Evaluation, History
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.learners.trials import Trials
from rankadapters.sklearn.rows import LabelledRows
from rankadapters.sklearn.tasks import FitTasks

Array = NDArray[Any]
TRAIN, VALID = "train", "valid"


class Judge:
    """Values of every round under a convention; `best` is the round that the first validation set ranks best.

    Without a convention nothing is judged, and every round is as good as the one before. `stops` after `patience`
    rounds without a better one, or when a callback of scikit-learn asks for it.
    """

    def __init__(
        self,
        convention: Convention | None,
        train: LabelledRows,
        sets: list[LabelledRows],
        tasks: FitTasks,
        *,
        patience: int | None,
        n_threads: int | None,
    ) -> None:
        self.convention, self.sets, self.tasks, self.patience = convention, sets, tasks, patience
        self.interrupted = False  # whether a callback asked to stop
        tasks.begin_round()
        self._name = "" if convention is None else convention.name  # which takes longer than to value a round
        self.by_train = False  # whether the training value tells the best round where there is no validation set
        self.history = History()
        self.best, self.worth = -1, -np.inf
        self.rounds = 0
        if convention is not None:
            self.train = bound(train, convention, n_threads)
            self.valid = [bound(each, convention, n_threads) for each in sets]

    def see(self, scores: list[Array], train: float | None = None) -> bool:
        """Value the scores of the validation sets after a round, of which `train` is known; whether it is the best."""
        if self.convention is None:
            return self._take([], None)
        return self._take([trials.value(given) for trials, given in zip(self.valid, scores, strict=True)], train)

    def see_several(self, train: Array, scores: list[Array]) -> None:
        """Value several rounds at once, up to one after which it stops; each array has a row of scores per round."""
        several: list[list[float]] = []
        if self.convention is not None:
            given = zip([self.train, *self.valid], [train, *scores], strict=True)
            several = [trials.values(each).tolist() for trials, each in given]
        for place in range(len(train)):
            values = [each[place] for each in several]
            self._take(values[1:], values[0] if values else None)
            if self.stops:
                break

    def _take(self, valid: list[float], train: float | None) -> bool:
        """Record the values of a round; whether it is the best."""
        self.rounds += 1
        if self.convention is None:
            self.best = self.rounds - 1
            return True
        if train is not None:
            self._record(TRAIN, train)
        for place, found in enumerate(valid):
            self._record(f"{VALID}_{place}", found)
        value = valid[0] if valid else train if self.by_train else None
        worth = float(self.rounds) if value is None else self.convention.worth(value)
        if not worth > self.worth:
            return False
        self.best, self.worth = self.rounds - 1, worth
        return True

    def end_round(self, model: Callable[[], dict[str, Any]]) -> None:
        """Report the end of a round to scikit-learn's callbacks; `model` returns the fitted attributes so far."""
        self.interrupted = self.tasks.end_round(model) or self.interrupted

    def _record(self, name: str, value: float) -> None:
        convention = cast("Convention", self.convention)
        self.history.record([Evaluation(name, convention, value, name=self._name, iteration=self.rounds - 1)])

    def forget(self) -> None:
        """Let the next round be the best so far, as long as its value is above 0."""
        self.worth = 0.0

    @property
    def stops(self) -> bool:
        """Whether a callback asked to stop, or no round was better than the best for as long as it has patience."""
        waits = self.patience is not None and bool(self.sets)
        return self.interrupted or (waits and self.rounds - 1 - self.best >= cast("int", self.patience))


def queries_of_rows(rows: LabelledRows, weighting: str | None) -> Queries:
    """Queries of rows that stand query by query, with their weights where those count."""
    weight = rows.query_weight if weighting == "query_weight" else None
    return Queries(rows.y, group_sizes=rows.sizes, query_weight=weight)


def bound(rows: LabelledRows, convention: Convention, n_threads: int | None) -> Trials:
    """Bind a convention to rows that stand query by query."""
    return Trials(queries_of_rows(rows, convention.weighting), convention, n_threads=n_threads)
