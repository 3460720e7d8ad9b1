"""What a measure of a table is: its convention where that is known, its name, and whether higher is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankadapters.compare.cells import Cell
from rankadapters.core.declaration.arguments import choice, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, IncomparableScoresError, InputError, choices
from rankadapters.core.presets.texts import parse

Direction = bool | Mapping[str, bool] | None
Measure = Convention | str


def named_measures(
    cells: Sequence[Cell], direction: Direction, on_mixed: str
) -> tuple[list[str], dict[str, bool], dict[str, Convention]]:
    """Name the measure of every cell; tell the direction of each, and the convention where it is known."""
    choice("on_mixed", on_mixed, ("error", "separate"), hint="on_mixed='separate' keeps them apart")
    _require_directions(direction)
    read = {measure: _read(measure) for measure in dict.fromkeys(cell.measure for cell in cells)}
    names = _names(list(dict.fromkeys(read.values())), on_mixed)
    column = [names[read[cell.measure]] for cell in cells]
    said: dict[str, set[bool]] = {name: set() for name in column}
    for name, cell in zip(column, cells, strict=True):
        said[name] |= set() if cell.higher is None else {cell.higher}
    for measure, name in names.items():
        said[name] |= {measure.higher_is_better} if isinstance(measure, Convention) else set()
    conventions = {name: measure for measure, name in names.items() if isinstance(measure, Convention)}
    return column, _directions(said, direction, names), conventions


def refuse_other_queries(cells: Sequence[Cell]) -> None:
    """Refuse Scores of one data set that are over different queries."""
    seen: dict[str, int] = {}
    for row, cell in enumerate(cells):
        if cell.digest is not None and seen.setdefault(cell.dataset, cell.digest) != cell.digest:
            msg = (
                f"the scores of data set {cell.dataset!r} are over different queries, rows or weights: row {row} "
                f"({cell.method!r}) differs.\nHint: evaluate all methods on the same rows, or name the data sets apart."
            )
            raise IncomparableScoresError(msg)


def _require_directions(direction: object) -> None:
    """Refuse words and numbers, which would count as true whatever they say."""
    said = direction.items() if isinstance(direction, Mapping) else [(None, direction)]
    for name, value in said:
        if value is not None and not isinstance(value, bool | np.bool_):
            where = "" if name is None else f"[{name!r}]"
            raise refusal(f"higher_is_better{where}", value, "True, False", "False where lower is better")


def _read(measure: Measure) -> Measure:
    try:
        return parse(measure) if isinstance(measure, str) else measure
    except ConventionError:
        return measure


def _head(measure: Measure) -> str:
    """Return the measure and its cutoff, without what else the convention says."""
    return (str(measure).partition("/")[0] if isinstance(measure, Convention) else measure).lower()


def _names(measures: list[Measure], on_mixed: str) -> dict[Measure, str]:
    by_head: dict[str, list[Measure]] = {}
    for measure in measures:
        by_head.setdefault(_head(measure), []).append(measure)
    for head, alike in by_head.items():
        if len(alike) > 1 and on_mixed == "error" and any(isinstance(measure, Convention) for measure in alike):
            told = ", ".join(m.name if isinstance(m, Convention) else f"{m!r} (undeclared)" for m in alike)
            msg = (
                f"{head} was computed under {len(alike)} conventions: {told}. Their values cannot be compared.\n"
                "Hint: evaluate all under one, or on_mixed='separate'."
            )
            raise IncomparableScoresError(msg)
    return {
        measure: measure if isinstance(measure, str) else head if len(alike) == 1 else measure.name
        for head, alike in by_head.items()
        for measure in alike
    }


def _directions(said: dict[str, set[bool]], direction: Direction, names: dict[Measure, str]) -> dict[str, bool]:
    """Join what the cells say and what the caller says, who may name a measure by any text of its convention."""
    if isinstance(direction, Mapping):
        named: list[tuple[str, bool | None]] = [
            (names.get(_read(key), key), higher) for key, higher in direction.items()
        ]
    else:
        named = [(name, direction) for name, directions in said.items() if not directions]
    for name, higher in named:
        if name in said and higher is not None:
            said[name].add(higher)
    _refuse_unsaid(said)
    unknown = [name for name, _ in named if name not in said]
    if unknown:
        msg = f"higher_is_better names {unknown[0]!r:.80}, which is not a measure of the results."
        raise InputError(f"{msg}\nHint: the measures are {choices(said)}.")
    return {name: directions.pop() for name, directions in said.items()}


def _refuse_unsaid(said: dict[str, set[bool]]) -> None:
    for name, directions in said.items():
        if len(directions) != 1:
            both = "higher and lower are both said to be better"
            msg = (
                f"measure {name!r}: {both if directions else 'nothing says whether higher is better'}.\n"
                f"Hint: higher_is_better=True (--better higher), or {{{name!r}: True}}, or a column "
                "'higher_is_better'; the text of a convention, such as 'letor4@10', says it too."
            )
            raise InputError(msg)
