"""What a measure of a table is: its convention where that is known, its name, and whether higher is better."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from rankadapters.compare.cells import Cells
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, IncomparableScoresError, InputError, choices
from rankadapters.core.presets.texts import parse

Direction = bool | Mapping[str, bool] | None


def named_measures(
    cells: Cells, direction: Direction, on_mixed: str
) -> tuple[list[str], dict[str, bool], dict[str, Convention]]:
    """Name the measure of every cell; tell the direction of each, and the convention where it is known.

    Raises
    ------
    InputError
        A measure has no direction, or two.
    IncomparableScoresError
        One measure under several conventions, unless `on_mixed` is `separate`.
    """
    if on_mixed not in ("error", "separate"):
        msg = f"on_mixed={on_mixed!r}; allowed are 'error' and 'separate'.\nHint: 'separate' keeps them apart."
        raise InputError(msg)
    _require_directions(direction)
    read: dict[Any, Convention | str] = {}
    measures = [read[each] if each in read else read.setdefault(each, _read(each)) for each in cells.measure]
    names = _names(list(dict.fromkeys(measures)), on_mixed)
    found = [names[each] for each in measures]
    conventions = {name: each for each, name in names.items() if isinstance(each, Convention)}
    if isinstance(direction, Mapping):
        direction = _by_name(direction, names)
    directions = _directions(found, measures, cells, direction)
    _refuse_unknown(direction, directions)
    return found, directions, conventions


def refuse_other_queries(cells: Cells) -> None:
    """Refuse Scores of one data set that are over different queries."""
    seen: dict[str, int] = {}
    for row, (dataset, digest) in enumerate(zip(cells.dataset, cells.digest, strict=True)):
        if digest is not None and seen.setdefault(dataset, digest) != digest:
            msg = (
                f"the scores of data set {dataset!r} are over different queries, rows or weights: row {row} "
                f"({cells.method[row]!r}) differs.\nHint: evaluate all methods on the same rows, or name the data sets "
                "apart."
            )
            raise IncomparableScoresError(msg)


def _require_directions(direction: object) -> None:
    """Refuse words and numbers, which would count as true whatever they say."""
    said = direction.items() if isinstance(direction, Mapping) else [(None, direction)]
    for name, value in said:
        if value is not None and not isinstance(value, bool | np.bool_):
            where = "" if name is None else f"[{name!r}]"
            msg = f"higher_is_better{where}={value!r}; allowed are True and False.\nHint: False where lower is better."
            raise InputError(msg)


def _read(measure: Convention | str) -> Convention | str:
    if isinstance(measure, Convention):
        return measure
    try:
        return parse(measure)
    except ConventionError:
        return measure


def _head(measure: Convention | str) -> str:
    """Give the measure and its cutoff, without what else the convention says."""
    return (str(measure).partition("/")[0] if isinstance(measure, Convention) else measure).lower()


def _names(measures: list[Convention | str], on_mixed: str) -> dict[Convention | str, str]:
    by_head: dict[str, list[Convention | str]] = {}
    for measure in measures:
        by_head.setdefault(_head(measure), []).append(measure)
    names: dict[Convention | str, str] = {}
    for head, several in by_head.items():
        conventions = [each for each in several if isinstance(each, Convention)]
        if len(several) > 1 and conventions and on_mixed == "error":
            told = ", ".join(
                each.name if isinstance(each, Convention) else f"{each!r} (undeclared)" for each in several
            )
            msg = (
                f"{head} was computed under {len(several)} conventions: {told}. Their values cannot be compared.\n"
                "Hint: evaluate all under one, or on_mixed='separate'."
            )
            raise IncomparableScoresError(msg)
        for each in several:
            alone = len(several) == 1
            names[each] = each if isinstance(each, str) else head if alone else each.name
    return names


def _by_name(direction: Mapping[str, bool], names: dict[Convention | str, str]) -> dict[str, bool]:
    """Say each direction by the measure's name in the results; a key may be any text of a convention."""
    found: dict[str, bool] = {}
    for key, higher in direction.items():
        name = names.get(_read(key), key)
        if found.setdefault(name, higher) != higher:
            _refuse(name, {True, False})
    return found


def _refuse_unknown(direction: Direction, measures: Collection[str]) -> None:
    unknown = [name for name in direction if name not in measures] if isinstance(direction, Mapping) else []
    if unknown:
        msg = f"higher_is_better names {unknown[0]!r:.80}, which is not a measure of the results."
        raise InputError(f"{msg}\nHint: the measures are {choices(measures)}.")


def _directions(
    names: list[str], measures: list[Convention | str], cells: Cells, direction: Direction
) -> dict[str, bool]:
    said: dict[str, set[bool]] = {}
    for name, measure, higher in zip(names, measures, cells.higher, strict=True):
        several = said.setdefault(name, set())
        if higher is not None:
            several.add(higher)
        if isinstance(measure, Convention):
            several.add(measure.higher_is_better)
    for name, several in said.items():
        asked = direction.get(name) if isinstance(direction, Mapping) else direction
        if asked is not None and (isinstance(direction, Mapping) or not several):
            several.add(asked)
        if len(several) != 1:
            _refuse(name, several)
    return {name: next(iter(several)) for name, several in said.items()}


def _refuse(name: str, several: set[bool]) -> None:
    what = "higher and lower are both said to be better" if several else "nothing says whether higher is better"
    msg = (
        f"measure {name!r}: {what}.\nHint: higher_is_better=True (--better higher), or {{{name!r}: True}}, or a column "
        "'higher_is_better'; the text of a convention, such as 'letor4@10', says it too."
    )
    raise InputError(msg)
