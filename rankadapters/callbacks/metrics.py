"""What the metric callbacks share: panels bound to the datasets of a toolkit, and the history of their values."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.callbacks.arguments import display_names
from rankadapters.callbacks.history import History
from rankadapters.callbacks.ignored_weights import IgnoredWeights
from rankadapters.callbacks.judged import Judged
from rankadapters.callbacks.rounds import Call, Rounds
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.threads import as_n_threads

if TYPE_CHECKING:
    from rankadapters.core.evaluation.panel import Panel
    from rankadapters.core.evaluation.tally import Tally

Array = NDArray[Any]


class Monitor:
    """Conventions evaluated on whichever datasets a toolkit hands over.

    An evaluator is bound at the first sight of a dataset, held by weak reference, and bound anew when the dataset's
    labels, groups or weights have changed since. A copy or pickle starts with no dataset and no history.

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
        self.history = History()
        self._rounds = Rounds()
        self._query_weights = query_weights
        self._ignored_weights = IgnoredWeights()
        self._bound: dict[object, _BoundPanels] = {}
        self._n_unnamed = 0

    def evaluate(self, owner: object, judged: Judged, scores: Array, call: Call) -> list[tuple[str, float, bool]]:
        """Evaluate one dataset in a round: (name, value, higher is better) per convention.

        A set that the toolkit does not name is `set_0`, `set_1` and so on, in the order of first sight.
        """
        binding = self._binding(owner, judged)
        values = evaluated(binding.panels, scores)
        set_name = self._unnamed(owner, judged) if call.set_name is None else call.set_name
        self._rounds.enter(self.history, call.round, set_name)
        self.history.report(set_name, values, self.names, **self._rounds.at)
        return [(name, values[convention], convention.higher_is_better) for convention, name in self.names.items()]

    def tally(self, owner: object, judged: Judged, scores: Array) -> dict[Convention, Tally]:
        """Sum one dataset exactly, to be merged with what other workers have."""
        panels = self._binding(owner, judged).panels
        return {convention: tally for panel in panels for convention, tally in panel.tally(scores).items()}

    def _binding(self, owner: object, judged: Judged) -> _BoundPanels:
        key = _key(owner, judged)
        binding = self._bound.get(key)
        if binding is None:
            bound = self._bound  # the dict and not this monitor, which a dataset must not keep alive
            gone = weakref.ref(owner, lambda _: bound.pop(key, None)) if key == id(owner) else None
            binding = _BoundPanels(gone, None, judged.copied(), self._panels(judged))
        elif not binding.judged.says(judged):
            binding = binding._replace(judged=judged.copied(), panels=self._panels(judged))
        self._bound[key] = binding
        return binding

    def _unnamed(self, owner: object, judged: Judged) -> str:
        """Name a set that the toolkit does not name."""
        key = _key(owner, judged)
        number = self._bound[key].number
        if number is None:
            number = self._n_unnamed
            self._n_unnamed += 1
            self._bound[key] = self._bound[key]._replace(number=number)
        return f"set_{number}"

    def _panels(self, judged: Judged) -> list[Panel]:
        if judged.weights is not None:
            self._ignored_weights.warn(self.names)
        return panels_of(self.names, judged.queries(self._query_weights), self.n_threads)

    def reporting_here(self) -> Monitor:
        """Make a monitor that binds datasets of its own and writes into this one's history."""
        other = copy.copy(self)
        other.history = self.history
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Copy what was declared, not what was seen."""
        return {**self.__dict__, "history": History(), "_bound": {}, "_n_unnamed": 0}


class _BoundPanels(NamedTuple):
    owner: weakref.ref[Any] | None  # its callback removes the binding when the dataset goes
    number: int | None  # of a set that the toolkit does not name
    judged: Judged
    panels: list[Panel]


def _key(owner: object, judged: Judged) -> object:
    """Tell datasets apart: by identity, and those that take no weak reference, such as lists, by what they hold."""
    try:
        weakref.ref(owner)
    except TypeError:
        return tuple(None if column is None else np.asarray(column).tobytes() for column in judged)
    return id(owner)


def panels_of(
    conventions: Iterable[Convention], bind: Callable[[str | None], Queries], n_threads: int | None
) -> list[Panel]:
    """Bind conventions to a dataset, `bind(weighting)`: under `average="uniform"` its weights do not count."""
    from rankadapters.core.evaluation.panel import Panel  # numpy, at the first evaluation

    parts: dict[str | None, list[Convention]] = {}
    for convention in conventions:
        parts.setdefault(convention.weighting, []).append(convention)
    return [Panel(bind(weighting), some, n_threads=n_threads) for weighting, some in parts.items()]


def evaluated(panels: Iterable[Panel], scores: Array) -> dict[Convention, float]:
    """Evaluate scores under the conventions of all panels."""
    return {convention: score.value for panel in panels for convention, score in panel.evaluate(scores).items()}
