"""Determine each measure's name, its convention if known, and whether higher is better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankadapters.compare.cells import as_measure
from rankadapters.core.declaration.arguments import choice, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import IncomparableScoresError, InputError, choices

Direction = bool | Mapping[str, bool] | None
Measure = Convention | str


def name_measures(
    cells: Any, direction: Direction, on_mixed: str
) -> tuple[list[str], dict[str, bool], dict[str, Convention]]:
    """Return the measure name of each cell, and for each name the direction and, if known, the convention."""
    choice("on_mixed", on_mixed, ("error", "separate"), hint="on_mixed='separate' keeps them apart")
    _require_directions(direction)
    measures = {measure: as_measure(measure) for measure in cells["measure"].unique()}
    names = _display_names(list(dict.fromkeys(measures.values())), on_mixed)
    column = [names[measures[measure]] for measure in cells["measure"]]
    directions: dict[str, set[bool]] = {name: set() for name in column}
    for name, flag in zip(column, cells["higher"], strict=True):
        directions[name] |= set() if flag is None else {flag}
    conventions = {name: measure for measure, name in names.items() if isinstance(measure, Convention)}
    for name, convention in conventions.items():
        directions[name].add(convention.higher_is_better)
    return column, _join_directions(directions, direction, names), conventions


def require_same_queries(cells: Any) -> None:
    """Refuse Scores of one data set that are over different queries."""
    scores = cells.dropna(subset="digest")
    for row in scores.index[scores["digest"] != scores.groupby("dataset", observed=True)["digest"].transform("first")]:
        msg = (
            f"the scores of data set {cells['dataset'][row]!r} are over different queries, rows or weights: row {row} "
            f"({cells['method'][row]!r}) differs.\nHint: evaluate all methods on the same rows, or name the data sets "
            "apart."
        )
        raise IncomparableScoresError(msg)


def _require_directions(direction: object) -> None:
    """Raise if a direction is neither a bool nor None: most texts and numbers would count as True."""
    items = direction.items() if isinstance(direction, Mapping) else [(None, direction)]
    for name, value in items:
        if value is not None and not isinstance(value, bool | np.bool_):
            where = "" if name is None else f"[{name!r}]"
            raise refusal(f"higher_is_better{where}", value, "True, False", "False where lower is better")


def _display_names(measures: list[Measure], on_mixed: str) -> dict[Measure, str]:
    groups: dict[str, list[Measure]] = {}
    for measure in measures:
        short_name = str(measure).partition("/")[0] if isinstance(measure, Convention) else measure
        groups.setdefault(short_name.lower(), []).append(measure)
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
            (names.get(as_measure(key), key), flag) for key, flag in request.items()
        ]
    else:
        named = [(name, request) for name, flags in directions.items() if not flags]
    for name, flag in named:
        if name in directions and flag is not None:
            directions[name].add(bool(flag))
    for name, flags in directions.items():
        if len(flags) != 1:
            conflict = "higher and lower are both said to be better"
            msg = (
                f"measure {name!r}: {conflict if flags else 'nothing says whether higher is better'}.\n"
                f"Hint: higher_is_better=True (--better higher), or {{{name!r}: True}}, or a column "
                "'higher_is_better'; the text of a convention, such as 'letor4@10', says it too."
            )
            raise InputError(msg)
    for name, _ in named:
        if name not in directions:
            msg = f"higher_is_better names {name!r:.80}, which is not a measure of the results."
            raise InputError(f"{msg}\nHint: the measures are {choices(directions)}.")
    return {name: flags.pop() for name, flags in directions.items()}
