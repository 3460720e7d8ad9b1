"""What it would take to give a number that no convention of the grid gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from rankadapters.audit.field_grid import evaluated
from rankadapters.audit.identify.grid_search import search
from rankadapters.audit.identify.known_presets import known, named, nearest_of
from rankadapters.audit.printed import Printed
from rankadapters.core.columns import Array
from rankadapters.core.measures import NDCG
from rankadapters.core.queries import Queries
from rankadapters.statistics.cells import spelled

DIGITS = 2  # of a value of `empty`; with more, some value fits any number


def needed(
    queries: Queries, scores: Array, printed: Printed, ks: Iterable[int | None], cutoffs: tuple[int | None, ...]
) -> Iterator[str]:
    """Tell which one field of a preset would have to have which value outside the grid: `empty` at `ks`, then `k`."""
    found = [note for k in ks for note in _needed_empty(queries, scores, printed, k)]
    found += _needed_cutoff(queries, scores, printed, cutoffs) if cutoffs else []
    yield from found
    if not found:
        yield "no other value of `empty`, and no other cutoff up to 100, would give it in a preset"


def _needed_empty(queries: Queries, scores: Array, printed: Printed, k: int | None) -> Iterator[str]:
    ends = evaluated(queries, scores, (c.replace(empty=empty) for c in known(k).values() for empty in (0, 1)))
    found: dict[float, list[str]] = {}
    for label, convention in known(k).items():
        below, above = (ends.get(convention.replace(empty=empty)) for empty in (0, 1))
        if below is None or above is None or below.value == above.value:
            continue
        exact = (float(printed.value) - below.value) / (above.value - below.value)
        empty = _shortest(queries, scores, printed, convention, exact)
        if empty is not None:
            found.setdefault(empty, []).append(label)
    for empty, labels in sorted(found.items(), key=lambda each: len(spelled(each[0]))):
        yield f"empty={spelled(empty)} in {', '.join(labels)} at {spelled(k)} would give it"


def _shortest(queries: Queries, scores: Array, printed: Printed, convention: NDCG, exact: float) -> float | None:
    """Value of `empty` with the fewest digits that gives the number."""
    if not 0 <= exact <= 1:
        return None
    rounded = dict.fromkeys(float(np.round(exact, digits)) for digits in range(DIGITS + 1))
    values = evaluated(queries, scores, (convention.replace(empty=empty) for empty in rounded))
    holding = (e for e in rounded if (c := convention.replace(empty=e)) in values and printed.holds(values[c].value))
    return next(holding, None)


def _needed_cutoff(queries: Queries, scores: Array, printed: Printed, cutoffs: tuple[int | None, ...]) -> Iterator[str]:
    """Name the presets that give the number at another cutoff."""
    for blocks in search(queries, scores, printed, cutoffs).groups.values():
        near = nearest_of(blocks)
        values = {} if near.changes else evaluated(queries, scores, [near.convention])
        if any(printed.holds(score.value) for score in values.values()):
            yield f"k={spelled(near.convention.k)} in {', '.join(named(blocks))} would give it"
