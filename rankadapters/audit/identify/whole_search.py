"""The search over measures without a cutoff: conventions that bind alike are evaluated once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np

from rankadapters.audit.evaluation import AT_ONCE
from rankadapters.audit.field_grid import REFUSAL, Values, searched
from rankadapters.audit.identify.alike import member_key
from rankadapters.audit.identify.candidates import Block, Candidates, Progress
from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.evaluation.members import bind
from rankadapters.core.evaluation.panel import Measured, Panel


def search_whole(
    queries: Queries, scores: Array, measure: type[Convention], found: Candidates, progress: Progress | None
) -> None:
    """Evaluate every convention of a measure's grid, and keep those that come close to the printed number."""
    several = list(_alike(queries, measure))
    for first in range(0, len(several), AT_ONCE):
        part = several[first : first + AT_ONCE]
        _collect(_measured(queries, scores, [conventions[0] for conventions in part]), part, found)
        if progress is not None:
            progress(min(first + AT_ONCE, len(several)), len(several))


def _alike(queries: Queries, measure: type[Convention]) -> Iterator[list[Convention]]:
    """Conventions of the grid that compute with the same; how rows are ranked is chosen beside all others."""
    kinds, values = measure.declared(), searched(measure, queries)
    ranking = {name: values.pop(name) for name, kind in kinds.items() if kind.group == "ranking"}
    idle: dict[str, Values] = {}
    for name, kind in kinds.items():
        if REFUSAL in getattr(kind, "words", ()):
            values[name] = (*values[name], REFUSAL)
        if kind.column and kind.column not in queries.columns:
            idle[name] = values.pop(name)
    found: dict[object, list[Convention]] = {}
    for chosen in product(*values.values()):
        fields = dict(zip(values, chosen, strict=True))
        first = _convention(measure, fields, {name: each[0] for name, each in {**ranking, **idle}.items()})
        with suppress(InputError):  # a query is refused
            if first is not None:
                [member] = bind(queries, [first])
                found.setdefault(member_key(member), []).append(first)
    for several in found.values():
        for ranked in product(*ranking.values()):
            choice = dict(zip(ranking, ranked, strict=True))
            others = (dict(zip(idle, each, strict=True)) for each in product(*idle.values()))
            yield list(dict.fromkeys(one.replace(**choice, **other) for other in others for one in several))


def _convention(measure: type[Convention], fields: dict[str, Any], others: dict[str, Any]) -> Convention | None:
    """Make a convention; None where its fields do not go together, or mean the same as other values of these."""
    try:
        made = measure(**fields, **others)
    except ConventionError:
        return None
    return made if all(getattr(made, name) == value for name, value in fields.items()) else None


def _measured(queries: Queries, scores: Array, several: list[Convention]) -> Iterator[Measured | None]:
    for convention in several:
        try:
            yield Panel(queries, [convention]).measure(scores)
        except InputError:
            yield None


def _collect(measured: Iterator[Measured | None], several: list[list[Convention]], found: Candidates) -> None:
    for one, conventions in zip(measured, several, strict=True):
        if one is None:
            continue
        first = conventions[0]
        try:
            value = one.scores[first].value
        except InputError:  # nothing is left to average
            continue
        distance = float(found.distances(np.array([value]))[0])
        if distance < found.nearest[0]:
            found.nearest = (distance, _block(first))
        if distance <= found.window:
            per_query = np.array([value]) if first.over == "rows" else one.per_query[first]
            key = ((per_query + 0.0).tobytes(), first.over, value) if found.prints(distance) else None
            found.add(value, key, map(_block, conventions))


def _block(convention: Convention) -> Block:
    return {name: (value,) for name, value in convention.to_dict().items()}
