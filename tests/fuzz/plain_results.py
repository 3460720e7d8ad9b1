"""A slow parser of result files in plain Python; only conventions are parsed by `ra.parse`."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import rankadapters as ra
from tests.fuzz.plain_csv import table_of
from tests.fuzz.plain_text import DECIMAL, refuse_unless, text_of

NEEDED, OPTIONAL = ("method", "dataset", "measure", "value"), ("source", "higher_is_better")
POWER = re.compile(r"[eE]([+-]?[0-9]{1,9})\Z")


class Cell(NamedTuple):
    method: str
    dataset: str
    measure: str
    value: str
    decimals: int
    source: str | None
    higher: bool


def cells_of(data: bytes) -> list[Cell]:
    """Read a file."""
    refuse_unless(not data.startswith((b"\x1f\x8b", b"BZh")), "compressed")
    refuse_unless(b"\0" not in data, "NUL")
    table = table_of(text_of(data))
    refuse_unless(set(NEEDED) <= set(table) <= {*NEEDED, *OPTIONAL}, "other columns")
    n = len(table["value"])
    for name in NEEDED[:3]:
        refuse_unless(all(text.strip() for text in table[name]), "an empty name")
    values = [number_of(text) for text in table["value"]]
    sources = [text or None for text in table.get("source", [""] * n)]
    directions = table.get("higher_is_better", [""] * n)
    return joined_cells(table["method"], table["dataset"], table["measure"], values, sources, directions)


def joined_cells(  # noqa: PLR0917 - one argument per column
    methods: list[str], datasets: list[str], texts: list[str], values: list[tuple[str, int]], sources: list[str | None],
    directions: list[str],
) -> list[Cell]:  # fmt: skip
    """Join the columns; refuse repeated cells and measures with several meanings or directions."""
    measures = _measure_names([_measure(text) for text in texts])
    higher = _directions(texts, measures, directions)
    columns = (methods, datasets, measures, values, sources)
    cells = [Cell(*names, *value, source, higher[names[2]]) for *names, value, source in zip(*columns, strict=True)]
    refuse_unless(len({cell[:3] for cell in cells}) == len(cells), "a cell twice")
    return cells


def number_of(text: str) -> tuple[str, int]:
    """Read a decimal, and return its bits and its number of decimal places."""
    refuse_unless(re.fullmatch(DECIMAL, text), "not a decimal")
    mantissa, mark, power = text.lower().partition("e")
    refuse_unless(not mark or POWER.search(text), "a power of more than nine digits")
    refuse_unless(math.isfinite(float(text)), "not finite")
    digits = len(mantissa.partition(".")[2])
    return float(text).hex(), max(0, digits - int(power)) if mark else digits


def _measure(text: str) -> ra.Convention | str:
    try:
        return ra.parse(text)
    except ra.ConventionError:
        return text


def _measure_name(measure: ra.Convention | str) -> str:
    return (measure if isinstance(measure, str) else str(measure).partition("/")[0]).lower()


def _measure_names(measures: list[ra.Convention | str]) -> list[str]:
    for measure in measures:
        alike = [spelling for spelling in measures if _measure_name(spelling) == _measure_name(measure)]
        one_spelling = len(set(map(str, alike))) == 1
        refuse_unless(one_spelling or all(isinstance(spelling, str) for spelling in alike), "mixed")
    return [measure if isinstance(measure, str) else _measure_name(measure) for measure in measures]


def _directions(texts: list[str], names: list[str], directions: list[str]) -> dict[str, bool]:
    directions_of: dict[str, set[bool]] = {name: set() for name in names}
    for text, name, word in zip(texts, names, directions, strict=True):
        refuse_unless(word.lower() in {"", "true", "false"}, "not a direction")
        if word:
            directions_of[name].add(word.lower() == "true")
        if isinstance(measure := _measure(text), ra.Convention):
            directions_of[name].add(measure.higher_is_better)
    refuse_unless(all(len(values) == 1 for values in directions_of.values()), "no direction, or two")
    return {name: values.pop() for name, values in directions_of.items()}
