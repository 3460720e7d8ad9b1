"""What the toolkits' callbacks share: evaluators bound to their datasets, display names, history. Toolkit-free."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.fields import is_whole
from rankadapters.core.queries import Queries
from rankadapters.core.texts import as_convention

if TYPE_CHECKING:
    from rankadapters.core.panel import Panel

Array = NDArray[Any]


class Evaluation(NamedTuple):
    """One entry of a callback's history, in full precision."""

    dataset: int | str  # the set's name where the toolkit tells it, else its place in the order of first sight
    convention: Convention
    value: float


class Judged(NamedTuple):
    """What a toolkit's dataset says of its rows."""

    labels: Array | None
    group_sizes: Array
    weights: Array | None  # as the toolkit holds them, per row or per query

    def without(self, owner: object) -> Judged:
        """Let go of labels that are the owner, so that remembering them does not keep it alive."""
        return self._replace(labels=None) if self.labels is owner else self

    def queries(self, query_weights: Callable[[Array, Array], Array]) -> Callable[[str | None], Queries]:
        """Make the queries, with the weights that a convention counts: by query, by row, or none."""

        def bind(weighting: str | None) -> Queries:
            by_query = by_row = None
            if self.weights is not None and weighting == "query_weight":
                by_query = query_weights(self.weights, self.group_sizes)
            elif self.weights is not None and weighting == "row_weight":
                per_query = self.weights.size == self.group_sizes.size != self.group_sizes.sum()
                by_row = np.repeat(self.weights, self.group_sizes) if per_query else self.weights
            return Queries(self.labels, group_sizes=self.group_sizes, query_weight=by_query, row_weight=by_row)

        return bind

    def says(self, judged: Judged) -> bool:
        """Tell whether a dataset still says the same."""
        pairs = zip(self, judged if self.labels is not None else judged._replace(labels=None), strict=True)
        return all(_same(old, new) for old, new in pairs)


class Monitor:
    """Conventions evaluated on whichever datasets a toolkit hands over.

    An evaluator is bound at the first sight of a dataset, held by weak reference, and bound anew when the dataset's
    labels, groups or weights have changed since. A copy or pickle starts with no dataset and no history.

    Parameters
    ----------
    conventions : sequence of Convention
        At least one.
    names : sequence of str, optional
        Display names; `convention.name` by default.
    n_threads : int, optional
        None takes all CPUs.
    query_weights : callable
        Turns a toolkit's weights and group sizes into one weight per query.
    """

    def __init__(
        self,
        conventions: Sequence[Convention | str],
        names: Sequence[str] | None,
        n_threads: int | None,
        query_weights: Callable[[Array, Array], Array],
    ) -> None:
        self.names = display_names(conventions, names)
        self.n_threads = n_threads
        self.history: list[Evaluation] = []
        self._query_weights = query_weights
        self._bound: dict[int, _Binding] = {}
        self._seen = 0

    @property
    def conventions(self) -> list[Convention]:
        """The conventions, in the order given."""
        return list(self.names)

    def evaluate(self, owner: object, judged: Judged, scores: Array) -> list[tuple[str, float, bool]]:
        """Evaluate one dataset: (name, value, higher is better) per convention."""
        binding = self._binding(owner, judged)
        found = {c: score.value for panel in binding.panels for c, score in panel.evaluate(scores).items()}
        self.history += [Evaluation(binding.place, convention, found[convention]) for convention in self.names]
        return [(name, found[convention], convention.higher_is_better) for convention, name in self.names.items()]

    def _binding(self, owner: object, judged: Judged) -> _Binding:
        key = id(owner)
        binding = self._bound.get(key)
        if binding is None:
            bound = self._bound  # the dict and not this monitor, which a dataset must not keep alive
            gone = weakref.ref(owner, lambda _: bound.pop(key, None))
            binding = _Binding(gone, self._seen, judged.without(owner), self._panels(judged))
            self._seen += 1
        elif not binding.judged.says(judged):
            binding = binding._replace(judged=judged.without(owner), panels=self._panels(judged))
        self._bound[key] = binding
        return binding

    def _panels(self, judged: Judged) -> list[Panel]:
        return panels_of(self.conventions, judged.queries(self._query_weights), self.n_threads)

    def reporting_here(self) -> Monitor:
        """Make a monitor that binds datasets of its own and writes into this one's history."""
        other = copy.copy(self)
        other.history = self.history
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Copy what was declared, not what was seen."""
        return {**self.__dict__, "history": [], "_bound": {}, "_seen": 0}


class _Binding(NamedTuple):
    owner: weakref.ref[Any]  # its callback removes the binding when the dataset goes
    place: int
    judged: Judged
    panels: list[Panel]


def panels_of(
    conventions: Iterable[Convention], bind: Callable[[str | None], Queries], n_threads: int | None
) -> list[Panel]:
    """Bind conventions to a dataset, `bind(weighting)`: under `average="uniform"` its weights do not count."""
    from rankadapters.core.panel import Panel  # numba, at the first evaluation

    parts: dict[str | None, list[Convention]] = {}
    for convention in conventions:
        parts.setdefault(convention.weighting, []).append(convention)
    return [Panel(bind(weighting), some, n_threads=n_threads) for weighting, some in parts.items()]


def display_names(wanted: Sequence[Convention | str], names: Sequence[str] | None) -> dict[Convention, str]:
    """Pair conventions, or texts of them, with the names they report under, all different."""
    if not wanted:
        msg = "a callback needs one or more conventions.\nHint: eval_metric(ra.presets.letor4(10))."
        raise ConventionError(msg)
    if any(isinstance(each, (list, tuple)) for each in wanted):
        msg = "a list was given in place of a convention.\nHint: eval_metric(*conventions), one argument for each."
        raise ConventionError(msg)
    conventions = [as_convention(each) for each in wanted]
    given = [c.name for c in conventions] if names is None else list(names)
    if isinstance(names, str) or len(given) != len(conventions) or not all(isinstance(name, str) for name in given):
        msg = f"names={names!r} must list one name for each of the {len(conventions)} conventions."
        raise ConventionError(msg)
    shown = dict(zip(conventions, given, strict=True))
    if len(set(shown.values())) < len(conventions):
        msg = f"two conventions report under one name or are equal: {list(shown.values())}.\nHint: names=[...]."
        raise ConventionError(msg)
    return shown


def flat(scores: Any) -> Array:
    """Drop the second dimension of predictions of shape (n_docs, 1)."""
    array = np.asarray(scores)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array  # noqa: PLR2004 - dimensions


def watched_name(convention: Convention | str, name: str | None, rounds: object) -> str:
    """Name that early stopping watches, with its arguments checked."""
    if not is_whole(rounds) or int(rounds) < 1:  # type: ignore[call-overload]
        msg = f"rounds={rounds!r}; allowed are whole numbers from 1 on."
        raise InputError(msg)
    return as_convention(convention).name if name is None else name


def missing_group(owner: str, way_out: str) -> InputError:
    """Say that a dataset has no queries."""
    return InputError(f"the {owner} has no group, so its rows belong to no query.\nHint: {way_out}.")


def _same(old: Array | None, new: Array | None) -> bool:
    return old is new or (old is not None and new is not None and np.array_equal(old, new))
