"""From what users have, frames, mappings, files, scores, to columns of text, numbers and decimals."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, MissingToolkitError, choices
from rankadapters.core.evaluation.score import Score
from rankadapters.core.presets.texts import parse

NEEDED = ("method", "dataset", "measure", "value")
OPTIONAL = ("source", "higher_is_better")
UNKNOWN_DECIMALS = -1
_PARQUET = b"PAR1"
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.(?P<decimals>\d*))?|\.(?P<bare>\d+))(?P<power>[eE][+-]?\d{1,9})?", re.ASCII)
_WORDS = {"true": True, "false": False}


@dataclass(slots=True)
class Cells:
    """Columns of a table of results, as they were given; a measure is a text or the convention of a Score."""

    method: list[str] = field(default_factory=list)
    dataset: list[str] = field(default_factory=list)
    measure: list[Any] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    decimals: list[int] = field(default_factory=list)
    source: list[str | None] = field(default_factory=list)
    higher: list[bool | None] = field(default_factory=list)
    digest: list[int | None] = field(default_factory=list)

    def add(  # noqa: PLR0917 - the columns of a cell
        self, method: object, dataset: object, measure: object, value: object, source: object = None,
        higher: object = None,
    ) -> None:  # fmt: skip
        """Add a cell, checked."""
        row = len(self.value)
        if isinstance(value, Score):
            number, decimals, digest = float(value), UNKNOWN_DECIMALS, value.digest
            said: object = _measure_of(value, measure, row)
        else:
            (number, decimals), digest = _number(value, row), None
            said = _name(measure, "measure", row)
        self.method.append(_name(method, "method", row))
        self.dataset.append(_name(dataset, "dataset", row))
        self.measure.append(said)
        self.value.append(number)
        self.decimals.append(decimals)
        self.source.append(None if _is_missing(source) else str(source))
        self.higher.append(_direction(higher, row))
        self.digest.append(digest)


def cells_of(data: object) -> Cells:
    """Read a table with named columns, a mapping of cells to values, or rows.

    Raises
    ------
    InputError
        It is none of these, or a cell is not what it should be; the error has the row.
    """
    cells = Cells()
    for given in _rows(data):
        cells.add(*given)
    return cells


def _rows(data: object) -> Iterator[tuple[object, ...]]:
    if isinstance(data, Mapping):
        return _rows_of_mapping(data)
    names = getattr(data, "column_names", getattr(data, "columns", None))
    if names is not None:
        return _rows_of_columns({str(name): _listed(data[name]) for name in names})  # type: ignore[index]
    if isinstance(data, Iterable) and not isinstance(data, str | bytes):
        return _rows_of_tuples(data)
    msg = (
        f"results are a {type(data).__name__}; allowed are a data frame, a mapping of (method, dataset, measure) to "
        "values, and rows (method, dataset, measure, value) or (method, dataset, Score).\n"
        "Hint: Results.read(path) reads a file."
    )
    raise InputError(msg)


def _rows_of_mapping(data: Mapping[Any, Any]) -> Iterator[tuple[object, ...]]:
    if data and all(isinstance(key, str) for key in data):
        return _rows_of_columns({name: _listed(column) for name, column in data.items()})
    return _rows_of_tuples((*(key if isinstance(key, tuple) else (key,)), value) for key, value in data.items())


def _rows_of_tuples(rows: Iterable[Any]) -> Iterator[tuple[object, ...]]:
    for number, row in enumerate(rows):
        given = row if isinstance(row, tuple | list) else (row,)
        if len(given) == 3 and isinstance(given[2], Score):  # noqa: PLR2004 - its convention is the measure
            yield given[0], given[1], given[2].convention, given[2]
        elif len(given) in {4, 5} and not isinstance(given[3], Score):
            yield tuple(given)
        else:
            msg = (
                f"results[{number}] is {row!r}; allowed are (method, dataset, measure, value[, source]) and (method, "
                "dataset, Score).\nHint: a Score brings its measure along."
            )
            raise InputError(msg, row=number)


def _rows_of_columns(columns: Mapping[str, list[Any]]) -> Iterator[tuple[object, ...]]:
    missing = [name for name in NEEDED if name not in columns]
    unknown = [name for name in columns if name not in NEEDED + OPTIONAL]
    if missing or unknown:
        what = f"no column {missing[0]!r}" if missing else f"a column {unknown[0]!r}"
        msg = (
            f"the results have {what}; the columns are {choices(NEEDED)}, and if wanted {choices(OPTIONAL)}.\n"
            "Hint: rename or drop columns; a wide table is made long by melt or unpivot."
        )
        raise InputError(msg)
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        msg = f"the columns have different lengths: {sizes}.\nHint: one entry per cell in each."
        raise InputError(msg)
    nothing = [None] * len(columns["value"])
    order = [columns[name] for name in NEEDED] + [columns.get(name, nothing) for name in OPTIONAL]
    return zip(*order, strict=True)


def _listed(column: Any) -> list[Any]:
    for name in ("to_pylist", "to_list", "tolist"):  # pyarrow, polars, pandas and numpy
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def _name(value: object, what: str, row: int) -> str:
    if not isinstance(value, str) or not value.strip():
        msg = f"{what}[{row}] is {value!r}; allowed are texts that are not empty.\nHint: name every {what}."
        raise InputError(msg, row=row)
    return value


def _measure_of(score: Score, measure: object, row: int) -> Convention:
    """Give the convention of a Score, and refuse a measure that says something else."""
    try:
        said = parse(measure) if isinstance(measure, str) else measure
    except ConventionError:
        said = None
    if said != score.convention:
        msg = (
            f"measure[{row}] is {measure!r}, but value[{row}] is a Score of {score.convention.name}.\n"
            f"Hint: {score.convention.name!r}, or score.value without its convention."
        )
        raise InputError(msg, row=row)
    return score.convention


def _is_missing(value: object) -> bool:
    """Tell whether a frame has nothing there: None, NaN, pandas' NA, or an empty text."""
    return not value if value is None or isinstance(value, str) else str(value) in {"nan", "<NA>", "NaT"}


def _number(value: object, row: int) -> tuple[float, int]:
    """Read a value, and with how many decimals it was printed where it is a text."""
    number, decimals = math.nan, UNKNOWN_DECIMALS
    if isinstance(value, str | Decimal):
        match = _NUMBER.fullmatch(str(value))
        if match:
            number = float(value)
            digits = len(match["decimals"] or match["bare"] or "")
            decimals = digits if match["power"] is None else max(0, digits - int(match["power"][1:]))
    elif isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        msg = f"value[{row}] is {value!r:.80}; allowed are finite numbers.\nHint: leave out a cell without a value."
        raise InputError(msg, row=row)
    return number, decimals


def _direction(value: object, row: int) -> bool | None:
    found = _WORDS.get(value.lower(), value) if isinstance(value, str) else value
    if _is_missing(found):
        return None
    if isinstance(found, bool | np.bool_):
        return bool(found)
    msg = f"higher_is_better[{row}] is {value!r}; allowed are True and False.\nHint: or leave the column out."
    raise InputError(msg, row=row)


def read_cells(path: str | Path) -> Cells:
    """Read a CSV or Parquet file with the columns of `cells_of`; of CSV every value keeps its decimals.

    Raises
    ------
    InputError
        It cannot be read, or is not such a table.
    MissingToolkitError
        It is Parquet, and pyarrow is not installed.
    """
    if not isinstance(path, (str, PathLike)):
        msg = f"path is of type {type(path).__name__}; allowed are str and pathlib.Path.\nHint: Results(data)."
        raise InputError(msg)
    try:
        with Path(path).open("rb") as file:
            parquet = file.read(len(_PARQUET)) == _PARQUET
        return cells_of(_read_parquet(path)) if parquet else _read_csv(path)
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or error}.\nHint: a CSV or Parquet file."
        raise InputError(msg) from None
    except InputError as error:
        raise error.about(str(path)) from None


def _read_parquet(path: str | Path) -> dict[str, list[Any]]:
    try:
        from pyarrow import lib, parquet
    except ImportError:
        raise MissingToolkitError.of("pyarrow", "files") from None
    try:
        table = parquet.read_table(path)
        columns = [column.to_pylist() for column in table.itercolumns()]
        return dict(zip(table.column_names, columns, strict=True))
    except (lib.ArrowException, ValueError) as error:  # also of text that is not UTF-8, and of times beyond Python's
        msg = f"it cannot be read as Parquet: {error}.\nHint: write it anew."
        raise InputError(msg) from None


def _without_nul(line: str) -> str:
    if "\0" in line:
        msg = "line contains NUL"  # as csv of Python before 3.11 says
        raise csv.Error(msg)
    return line


def _read_csv(path: str | Path) -> Cells:
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        try:
            lines = [line for line in csv.reader(map(_without_nul, file), strict=True) if line]
        except (csv.Error, UnicodeDecodeError) as error:
            msg = f"it is not CSV in UTF-8: {error}.\nHint: commas, a header, one line per cell."
            raise InputError(msg) from None
    if not lines:
        msg = f"it is empty.\nHint: a header {','.join(NEEDED)}, and a line per cell."
        raise InputError(msg)
    head, *body = lines
    if len(set(head)) < len(head):
        msg = f"its header names a column twice: {head}.\nHint: each column once."
        raise InputError(msg)
    for number, line in enumerate(body):
        if len(line) != len(head):
            msg = f"row {number} has {len(line)} fields, the header {len(head)}.\nHint: as many in each line."
            raise InputError(msg, row=number)
    return cells_of({name: [line[place] for line in body] for place, name in enumerate(head)})
