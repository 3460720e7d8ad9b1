"""Determine each measure's name, its convention if known, and whether higher is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankadapters.compare.cells import Cell
from rankadapters.core.declaration.arguments import choice, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, IncomparableScoresError, InputError, choices
from rankadapters.presets.texts import parse

Direction = bool | Mapping[str, bool] | None
Measure = Convention | str


def name_measures(
    cells: Sequence[Cell], direction: Direction, on_mixed: str
) -> tuple[list[str], dict[str, bool], dict[str, Convention]]:
    """Return the measure name of each cell, and for each name the direction and, if known, the convention."""
    choice("on_mixed", on_mixed, ("error", "separate"), hint="on_mixed='separate' keeps them apart")
    _require_directions(direction)
    parsed = {measure: _read_measure(measure) for measure in dict.fromkeys(cell.measure for cell in cells)}
    names = _display_names(list(dict.fromkeys(parsed.values())), on_mixed)
    column = [names[parsed[cell.measure]] for cell in cells]
    directions: dict[str, set[bool]] = {name: set() for name in column}
    for name, cell in zip(column, cells, strict=True):
        directions[name] |= set() if cell.higher is None else {cell.higher}
    for measure, name in names.items():
        directions[name] |= {measure.higher_is_better} if isinstance(measure, Convention) else set()
    conventions = {name: measure for measure, name in names.items() if isinstance(measure, Convention)}
    return column, _join_directions(directions, direction, names), conventions


def require_same_queries(cells: Sequence[Cell]) -> None:
    """Refuse Scores of one data set that are over different queries."""
    digests: dict[str, int] = {}
    for row, cell in enumerate(cells):
        if cell.digest is not None and digests.setdefault(cell.dataset, cell.digest) != cell.digest:
            msg = (
                f"the scores of data set {cell.dataset!r} are over different queries, rows or weights: row {row} "
                f"({cell.method!r}) differs.\nHint: evaluate all methods on the same rows, or name the data sets apart."
            )
            raise IncomparableScoresError(msg)


def _require_directions(direction: object) -> None:
    """Raise if a direction is neither a bool nor None: most texts and numbers would count as True."""
    items = direction.items() if isinstance(direction, Mapping) else [(None, direction)]
    for name, value in items:
        if value is not None and not isinstance(value, bool | np.bool_):
            where = "" if name is None else f"[{name!r}]"
            raise refusal(f"higher_is_better{where}", value, "True, False", "False where lower is better")


def _read_measure(measure: Measure) -> Measure:
    try:
        return parse(measure) if isinstance(measure, str) else measure
    except ConventionError:
        return measure


def _short_name(measure: Measure) -> str:
    """Return the measure and its cutoff, without the other fields of the convention."""
    return (str(measure).partition("/")[0] if isinstance(measure, Convention) else measure).lower()


def _display_names(measures: list[Measure], on_mixed: str) -> dict[Measure, str]:
    groups: dict[str, list[Measure]] = {}
    for measure in measures:
        groups.setdefault(_short_name(measure), []).append(measure)
    for short_name, group in groups.items():
        if len(group) > 1 and on_mixed == "error" and any(isinstance(measure, Convention) for measure in group):
            listed = ", ".join(m.name if isinstance(m, Convention) else f"{m!r} (undeclared)" for m in group)
            msg = (
                f"{short_name} was computed under {len(group)} conventions: {listed}. "
                "Their values cannot be compared.\nHint: evaluate all under one, or on_mixed='separate'."
            )
            raise IncomparableScoresError(msg)
    return {
        measure: measure if isinstance(measure, str) else short_name if len(group) == 1 else measure.name
        for short_name, group in groups.items()
        for measure in group
    }


def _join_directions(
    directions: dict[str, set[bool]], request: Direction, names: dict[Measure, str]
) -> dict[str, bool]:
    """Merge the directions of the cells and of `request`, whose keys may be any text of a measure's convention."""
    if isinstance(request, Mapping):
        named: list[tuple[str, bool | None]] = [
            (names.get(_read_measure(key), key), higher) for key, higher in request.items()
        ]
    else:
        named = [(name, request) for name, values in directions.items() if not values]
    for name, higher in named:
        if name in directions and higher is not None:
            directions[name].add(higher)
    _require_one_direction(directions)
    unknown = [name for name, _ in named if name not in directions]
    if unknown:
        msg = f"higher_is_better names {unknown[0]!r:.80}, which is not a measure of the results."
        raise InputError(f"{msg}\nHint: the measures are {choices(directions)}.")
    return {name: values.pop() for name, values in directions.items()}


def _require_one_direction(directions: dict[str, set[bool]]) -> None:
    for name, values in directions.items():
        if len(values) != 1:
            conflict = "higher and lower are both said to be better"
            msg = (
                f"measure {name!r}: {conflict if values else 'nothing says whether higher is better'}.\n"
                f"Hint: higher_is_better=True (--better higher), or {{{name!r}: True}}, or a column "
                "'higher_is_better'; the text of a convention, such as 'letor4@10', says it too."
            )
            raise InputError(msg)
