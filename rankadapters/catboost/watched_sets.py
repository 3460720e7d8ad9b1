"""Evaluate every set after every round of a training, to find the best round and to stop early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import catboost as cb
import numpy as np

from rankadapters.callbacks.arguments import display_names
from rankadapters.callbacks.dataset_columns import DatasetColumns
from rankadapters.callbacks.metrics import evaluated, evaluators_of
from rankadapters.catboost.boosted_pool import baseline_of, predicted, query_weights_of_pool, without_baseline
from rankadapters.catboost.training_params import TrainingParams
from rankadapters.core.arrays import Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.table import fixed
from rankadapters.presets.texts import Conventions


@dataclass(eq=False)
class WatchedSet:
    """The rows of a set, and their scores so far.

    The baseline is added to the sum of the trees, as CatBoost does for the predictions of a whole model.
    """

    name: str
    features: cb.Pool
    baseline: Floats | None
    evaluators: Sequence[Evaluator]
    predictions: Floats  # sum of the trees so far

    @classmethod
    def of(
        cls, name: str, pool: cb.Pool, columns: DatasetColumns, conventions: Sequence[Convention], n_threads: int | None
    ) -> WatchedSet:
        """Bind the conventions to a Pool, and start the scores from the Pool's baseline."""
        try:
            bind = partial(columns.queries, query_weights=query_weights_of_pool)
            evaluators = evaluators_of(conventions, bind, n_threads)
        except InputError as error:
            raise error.about(name) from None
        return cls(name, without_baseline(pool), baseline_of(pool), evaluators, np.zeros(pool.num_row()))

    @property
    def scores(self) -> Floats:
        """The scores so far: the baseline and the predictions of the trees."""
        return self.predictions if self.baseline is None else self.baseline + self.predictions

    def add(self, tree: cb.CatBoost) -> None:
        """Add a tree to the scores."""
        try:
            self.predictions += predicted(tree, self.features)
        except InputError as error:
            raise error.about(self.name) from None


@dataclass(eq=False)
class Watch:
    """The values of all sets so far, and the round with the best value of the first convention on the last set."""

    sets: Sequence[WatchedSet]  # the training set first
    names: dict[Convention, str]
    params: TrainingParams
    callbacks: Sequence[Any]
    rounds: int = 0
    best: tuple[int, float] | None = None  # the round, counted from 0, and its value
    log: dict[str, dict[str, list[float]]] = field(default_factory=dict)  # by set and name, as in `evals_result_`

    def after_round(self) -> bool:
        """Evaluate every set; return whether training continues."""
        self.rounds += 1
        if self.names:
            self._evaluate()
        info = SimpleNamespace(iteration=self.rounds, metrics=self.log)
        answers = [bool(callback.after_iteration(info)) for callback in self.callbacks]
        patience = self.params.patience
        waited = patience is not None and self.best is not None and self.rounds - 1 - self.best[0] >= patience
        return all(answers) and not waited

    def kept(self) -> int:
        """Return the number of rounds that the model keeps."""
        if self.best is None or self.params.use_best_model is False:
            return self.rounds
        return self.best[0] + 1

    def best_values(self) -> dict[str, dict[str, float]]:
        """Return the best value of each set and name, as in `best_score_`."""
        worth = {name: convention.worth for convention, name in self.names.items()}
        return {key: {name: max(by[name], key=worth[name]) for name in by} for key, by in self.log.items()}

    def _evaluate(self) -> None:
        for watched_set in self.sets:
            values_by_convention = evaluated(watched_set.evaluators, watched_set.scores)
            for convention, name in self.names.items():
                self.log.setdefault(watched_set.name, {}).setdefault(name, []).append(values_by_convention[convention])
        watched, value = next(iter(self.names)), values_by_convention[next(iter(self.names))]
        if len(self.sets) > 1 and (self.best is None or watched.worth(value) > watched.worth(self.best[1])):
            self.best = (self.rounds - 1, value)
        if self.params.verbose and not (self.rounds - 1) % self.params.verbose:
            values = [f"{dataset} {name}: {fixed(by[name][-1], 6)}" for dataset, by in self.log.items() for name in by]
            print("\t".join([f"{self.rounds - 1}:", *values]))  # noqa: T201 - verbose= asks for it


def set_names(n_eval_sets: int) -> list[str]:
    """Return the names of a training's sets in CatBoost's log: the training set, then the eval sets."""
    if n_eval_sets == 1:
        return ["learn", "validation"]
    return ["learn", *(f"validation_{index}" for index in range(n_eval_sets))]


def names_of(
    convention: Convention | str | Conventions | None,
    params: TrainingParams,
    *,
    watches: bool,
) -> dict[Convention, str]:
    """Return the display name of each convention; a set to watch requires a convention."""
    if not watches and (params.patience is not None or params.use_best_model):
        name = "early_stopping_rounds" if params.patience is not None else "use_best_model"
        raise InputError(f"{name} has no validation set.", hint="eval_set=catboost.Pool(X, labels, group_id=qid)")
    if convention is None:
        if watches:
            raise InputError("eval_set has no convention.", hint="convention=ra.presets.textbook(10)")
        return {}
    return display_names(convention)
