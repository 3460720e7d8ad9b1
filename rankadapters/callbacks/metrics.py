"""The shared part of metric callbacks: evaluators bound to a toolkit's data sets, and the trainings under way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from rankadapters.callbacks.arguments import display_names
from rankadapters.callbacks.dataset_columns import DatasetColumns
from rankadapters.core.arrays import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import choices, warn_caller
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.tally import Tally
from rankadapters.evaluation.threads import as_n_threads
from rankadapters.presets.texts import Conventions

T = TypeVar("T")

KEPT = 8  # data sets whose evaluators are kept
COUNTED = ("query_weight", "row_weight")  # weightings that use a toolkit's weights


class Monitor:
    """Conventions evaluated on the data sets that a toolkit passes.

    The evaluators of the last few data sets are kept, and found by the content of the columns. A copy or pickle starts
    without them.

    `query_weights` turns a toolkit's weights and group sizes into weights by query; None if they are by query already.
    """

    def __init__(
        self,
        convention: Convention | str | Conventions,
        n_threads: int | None,
        query_weights: Callable[[Array, Array], Array] | None = None,
    ) -> None:
        self.names = display_names(convention)
        self.n_threads = None if n_threads is None else as_n_threads(n_threads)
        self._query_weights = query_weights
        self._has_warned = False
        self._bound: tuple[tuple[DatasetColumns, list[Evaluator]], ...] = ()  # replaced, as threads may share it

    @property
    def is_new(self) -> bool:
        """Whether no data set is bound yet."""
        return not self._bound

    def evaluate(
        self, columns: DatasetColumns, scores: Array, refuse: Callable[[], None] | None = None
    ) -> list[tuple[str, float, bool]]:
        """Evaluate one data set; return (name, value, higher is better) per convention.

        `refuse` raises an error about a data set that is not to be evaluated; it is called before evaluators are bound.
        """
        values = evaluated(self._evaluators(columns, refuse), scores)
        return [(name, values[convention], convention.higher_is_better) for convention, name in self.names.items()]

    def tally(self, columns: DatasetColumns, scores: Array) -> dict[Convention, Tally]:
        """Return exact tallies of one data set, which can be added to other workers' tallies."""
        evaluators = self._evaluators(columns)
        return {convention: tally for evaluator in evaluators for convention, tally in evaluator.tally(scores).items()}

    def _evaluators(self, columns: DatasetColumns, refuse: Callable[[], None] | None = None) -> list[Evaluator]:
        for bound_columns, evaluators in self._bound:
            if bound_columns.equals(columns):
                return evaluators
        if refuse is not None:
            refuse()
        if columns.weights is not None and not self._has_warned:
            self._has_warned = warn_of_ignored_weights(self.names)
        bind = partial(columns.queries, query_weights=self._query_weights)
        evaluators = evaluators_of(self.names, bind, self.n_threads)
        copied = deepcopy(columns)  # because the caller may change the arrays
        self._bound = ((copied, evaluators), *self._bound[: KEPT - 1])
        return evaluators

    def __getstate__(self) -> dict[str, Any]:
        """Copy the settings without the data sets."""
        return {**self.__dict__, "_bound": ()}


def evaluators_of(
    conventions: Iterable[Convention], bind: Callable[[str | None], Queries], n_threads: int | None
) -> list[Evaluator]:
    """Bind conventions to the queries that `bind` returns for each convention's weighting."""
    parts: dict[str | None, list[Convention]] = {}
    for convention in conventions:
        parts.setdefault(convention.weighting, []).append(convention)
    return [Evaluator.of(bind(weighting), group, n_threads=n_threads) for weighting, group in parts.items()]


def evaluated(evaluators: Iterable[Evaluator], scores: Array) -> dict[Convention, float]:
    """Return the value of scores under each convention of the evaluators."""
    return {
        convention: score.value for evaluator in evaluators for convention, score in evaluator.evaluate(scores).items()
    }


def warn_of_ignored_weights(conventions: Iterable[Convention]) -> bool:
    """Warn if some conventions ignore the weights that a dataset has; return whether they do.

    `ra.evaluate` refuses such weights, but here the training may need them.
    """
    ignoring = [convention for convention in conventions if convention.weighting not in COUNTED]
    if ignoring:
        averages = choices(dict.fromkeys(convention.average for convention in ignoring))
        names = ", ".join(convention.name for convention in ignoring)
        warn_caller(
            f"the data has weights, but {names} ignores them (average={averages}).",
            hint="convention.replace(average='query') where the measure has it, or evaluation sets without weights",
        )
    return bool(ignoring)


class Trainings(WeakKeyDictionary[Any, T]):
    """What a callback keeps of each training under way, by its model or its thread; empty in a pickle or deep copy.

    One callback may then serve trainings in several threads. What a failed training leaves is freed with its key.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the trainings."""
        return Trainings, ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Trainings[T]:
        """Copy without the trainings."""
        del memo
        return Trainings()
