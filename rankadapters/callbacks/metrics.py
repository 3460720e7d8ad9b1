"""The shared part of metric callbacks: evaluators bound to a toolkit's datasets."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankadapters.callbacks.arguments import display_names
from rankadapters.callbacks.dataset_columns import DatasetColumns
from rankadapters.core.arrays import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import choices, warn_caller
from rankadapters.evaluation.threads import as_n_threads

if TYPE_CHECKING:
    from rankadapters.evaluation.evaluator import Evaluator
    from rankadapters.evaluation.tally import Tally


COUNTED = ("query_weight", "row_weight")  # weightings that use a toolkit's weights


class Monitor:
    """Conventions evaluated on the datasets that a toolkit passes.

    An evaluator is bound when a dataset first appears, and again if its labels, groups or weights change. Datasets are
    kept by weak reference. A copy or pickle starts without datasets.

    `query_weights` turns a toolkit's weights and group sizes into one weight per query.
    """

    def __init__(
        self,
        convention: Convention | str | Sequence[Convention | str],
        names: Sequence[str] | None,
        n_threads: int | None,
        query_weights: Callable[[Array, Array], Array],
    ) -> None:
        self.names = display_names(convention, names)
        self.n_threads = None if n_threads is None else as_n_threads(n_threads)
        self._query_weights = query_weights
        self._has_warned = False
        self._bound: dict[object, _BoundEvaluators] = {}

    @property
    def is_new(self) -> bool:
        """Whether no dataset is bound yet."""
        return not self._bound

    def knows(self, owner: object) -> bool:
        """Return whether a dataset is bound already."""
        return id(owner) in self._bound

    def evaluate(self, owner: object, columns: DatasetColumns, scores: Array) -> list[tuple[str, float, bool]]:
        """Evaluate one dataset; return (name, value, higher is better) per convention."""
        values = evaluated(self._binding(owner, columns).evaluators, scores)
        return [(name, values[convention], convention.higher_is_better) for convention, name in self.names.items()]

    def tally(self, owner: object, columns: DatasetColumns, scores: Array) -> dict[Convention, Tally]:
        """Return exact tallies of one dataset, which can be added to other workers' tallies."""
        evaluators = self._binding(owner, columns).evaluators
        return {convention: tally for evaluator in evaluators for convention, tally in evaluator.tally(scores).items()}

    def _binding(self, owner: object, columns: DatasetColumns) -> _BoundEvaluators:
        key = _key(owner, columns)
        binding = self._bound.get(key)
        if binding is None:
            bindings = self._bound  # not self, or the weak reference would keep this monitor alive
            owner_ref = weakref.ref(owner, lambda _: bindings.pop(key, None)) if key == id(owner) else None
            binding = _BoundEvaluators(owner_ref, deepcopy(columns), self._evaluators(columns))
        elif not binding.columns.equals(columns):
            binding = binding._replace(columns=deepcopy(columns), evaluators=self._evaluators(columns))
        self._bound[key] = binding
        return binding

    def _evaluators(self, columns: DatasetColumns) -> list[Evaluator]:
        if columns.weights is not None and not self._has_warned:
            self._has_warned = warn_of_ignored_weights(self.names)
        return evaluators_of(self.names, columns.queries(self._query_weights), self.n_threads)

    def __getstate__(self) -> dict[str, Any]:
        """Copy the settings without datasets."""
        return {**self.__dict__, "_bound": {}}


class _BoundEvaluators(NamedTuple):
    owner: weakref.ref[Any] | None  # the weak reference removes this binding when the dataset is freed
    columns: DatasetColumns  # a copy, because the caller may change or free the arrays
    evaluators: list[Evaluator]


def _key(owner: object, columns: DatasetColumns) -> object:
    """Return a key for a dataset: its id or, for a type without weak references such as list, its content."""
    try:
        weakref.ref(owner)
    except TypeError:
        return tuple(None if column is None else np.asarray(column).tobytes() for column in columns)
    return id(owner)


def evaluators_of(
    conventions: Iterable[Convention], bind: Callable[[str | None], Queries], n_threads: int | None
) -> list[Evaluator]:
    """Bind conventions to the queries that `bind` returns for each convention's weighting."""
    from rankadapters.evaluation.evaluator import (
        Evaluator,  # takes time to import, so only at the first evaluation
    )

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
        msg = (
            f"the data has weights, but {', '.join(convention.name for convention in ignoring)} ignores them "
            f"(average={averages}).\n"
            "Hint: convention.replace(average='query') where the measure has it, or evaluation sets without weights."
        )
        warn_caller(msg)
    return bool(ignoring)
