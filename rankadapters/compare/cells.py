"""Read and check the cells of a table of results from frames, mappings, files or scores."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.declaration.arguments import members, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, MissingToolkitError, choices
from rankadapters.core.evaluation.score import Score
from rankadapters.presets.texts import parse

REQUIRED = ("method", "dataset", "measure", "value")
OPTIONAL = ("source", "higher_is_better")
UNKNOWN_DECIMALS = -1
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,9})?", re.ASCII)
_WORDS = {"true": True, "false": False}


class Cell(NamedTuple):
    """One value of a table of results; the measure is a text or the convention of a Score."""

    method: str
    dataset: str
    measure: Convention | str
    value: float
    decimals: int  # printed decimals of the value
    source: str | None
    higher: bool | None
    digest: int | None  # digest of a Score's queries


def read_cells(data: object) -> list[Cell]:
    """Read a table with named columns, a mapping of cells to values, or rows."""
    return [_cell(row, *values) for row, values in enumerate(_rows(data))]


def read_columns(path: Path) -> dict[str, list[Any]]:
    """Read the columns of a CSV or Parquet file; the values of a CSV file stay text."""
    try:
        with path.open("rb") as file:
            parquet = file.read(4) == b"PAR1"
        return _read_parquet(path) if parquet else _read_csv(path)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}.\nHint: a CSV or Parquet file.") from None


def _cell(  # noqa: PLR0917 - the columns of a table
    row: int, method: object, dataset: object, measure: object, value: object, source: object = None,
    higher: object = None,
) -> Cell:  # fmt: skip
    digest, name = None, measure
    if isinstance(value, Score):
        name, number, decimals, digest = _measure_of(value, measure, row), value.value, UNKNOWN_DECIMALS, value.digest
    else:
        number, decimals = _read_number(value, row)
    for column, text in (("method", method), ("dataset", dataset), ("measure", name)):
        if not isinstance(text, Convention) and (not isinstance(text, str) or not text.strip()):
            msg = f"{column}[{row}] is {text!r}; allowed are texts that are not empty.\nHint: name every {column}."
            raise InputError(msg, row=row)
    columns: dict[str, Any] = {"method": method, "dataset": dataset, "measure": name, "value": number}
    origin = None if _is_missing(source) else str(source)
    return Cell(**columns, decimals=decimals, source=origin, higher=_read_direction(higher, row), digest=digest)


def _rows(data: object) -> Iterator[tuple[object, ...]]:
    if isinstance(data, Mapping) and not (data and all(isinstance(key, str) for key in data)):
        return _rows_of_tuples((*(key if isinstance(key, tuple) else (key,)), value) for key, value in data.items())
    names = data if isinstance(data, Mapping) else getattr(data, "column_names", getattr(data, "columns", None))
    if names is not None:
        return _rows_of_columns({str(name): _as_list(data[name]) for name in names})  # type: ignore[index]
    if (rows := members(data)) is not None:
        return _rows_of_tuples(rows)
    msg = (
        f"results are a {type(data).__name__}; allowed are a data frame, a mapping of (method, dataset, measure) to "
        "values, and rows (method, dataset, measure, value) or (method, dataset, Score).\n"
        "Hint: Results.read(path) reads a file."
    )
    raise InputError(msg)


def _rows_of_tuples(rows: Iterable[Any]) -> Iterator[tuple[object, ...]]:
    for number, row in enumerate(rows):
        parts = tuple(row) if isinstance(row, tuple | list) else (row,)
        if len(parts) == 3 and isinstance(parts[2], Score):  # noqa: PLR2004 - the Score's convention is the measure
            yield parts[0], parts[1], parts[2].convention, parts[2]
        elif len(parts) in {4, 5} and not isinstance(parts[3], Score):
            yield parts
        else:
            msg = (
                f"results[{number}] is {row!r}; allowed are (method, dataset, measure, value[, source]) and (method, "
                "dataset, Score).\nHint: a Score brings its measure along."
            )
            raise InputError(msg, row=number)


def _rows_of_columns(columns: Mapping[str, list[Any]]) -> Iterator[tuple[object, ...]]:
    missing = [name for name in REQUIRED if name not in columns]
    unknown = [name for name in columns if name not in REQUIRED + OPTIONAL]
    if missing or unknown:
        problem = f"no column {missing[0]!r}" if missing else f"a column {unknown[0]!r}"
        msg = (
            f"the results have {problem}; the columns are {choices(REQUIRED)}, and if wanted {choices(OPTIONAL)}.\n"
            "Hint: rename or drop columns; a wide table is made long by melt or unpivot."
        )
        raise InputError(msg)
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        msg = f"the columns have different lengths: {sizes}.\nHint: one entry per cell in each."
        raise InputError(msg)
    nothing = [None] * len(columns["value"])
    return zip(*(columns.get(name, nothing) for name in REQUIRED + OPTIONAL), strict=True)


def _as_list(column: Any) -> list[Any]:
    for name in ("to_pylist", "to_list", "tolist"):  # pyarrow, polars, pandas and numpy
        if hasattr(column, name):
            return list(getattr(column, name)())
    if (entries := members(column)) is None:
        raise refusal("column", column, "lists and arrays, with an entry per cell")
    return entries


def _measure_of(score: Score, measure: object, row: int) -> Convention:
    """Return the convention of a Score, and refuse a measure that contradicts it."""
    try:
        declared = parse(measure) if isinstance(measure, str) else measure
    except ConventionError:
        declared = None
    if declared != score.convention:
        msg = (
            f"measure[{row}] is {measure!r}, but value[{row}] is a Score of {score.convention.name}.\n"
            f"Hint: {score.convention.name!r}, or score.value without its convention."
        )
        raise InputError(msg, row=row)
    return score.convention


def _is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, pandas' NA or an empty text."""
    return not value if value is None or isinstance(value, str) else str(value) in {"nan", "<NA>", "NaT"}


def _read_number(value: object, row: int) -> tuple[float, int]:
    number, decimals = math.nan, UNKNOWN_DECIMALS
    if isinstance(value, str | Decimal):
        if _NUMBER.fullmatch(str(value)):
            number, decimals = float(value), max(0, -int(Decimal(value).as_tuple().exponent))
    elif isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        msg = f"value[{row}] is {value!r:.80}; allowed are finite numbers.\nHint: leave out a cell without a value."
        raise InputError(msg, row=row)
    return number, decimals


def _read_direction(value: object, row: int) -> bool | None:
    flag = _WORDS.get(value.lower(), value) if isinstance(value, str) else value
    if _is_missing(flag):
        return None
    if isinstance(flag, bool | np.bool_):
        return bool(flag)
    msg = f"higher_is_better[{row}] is {value!r}; allowed are True and False.\nHint: or leave the column out."
    raise InputError(msg, row=row)


def _read_parquet(path: Path) -> dict[str, list[Any]]:
    try:
        from pyarrow import lib, parquet
    except ImportError:
        raise MissingToolkitError.of("pyarrow", "files") from None
    try:
        columns: dict[str, list[Any]] = parquet.read_table(path).to_pydict()
    except (lib.ArrowException, ValueError) as error:  # ValueError: invalid UTF-8, or dates beyond Python's range
        raise InputError(f"it cannot be read as Parquet: {error}.\nHint: write it again.") from None
    return columns


def _read_csv(path: Path) -> dict[str, list[Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            lines = [line for line in csv.reader(map(_without_nul, file), strict=True) if line]
        except (csv.Error, UnicodeDecodeError) as error:
            msg = f"it is not CSV in UTF-8: {error}.\nHint: commas, a header, one line per cell."
            raise InputError(msg) from None
    if not lines:
        raise InputError(f"it is empty.\nHint: a header {','.join(REQUIRED)}, and a line per cell.")
    header, *body = lines
    if len(set(header)) < len(header):
        raise InputError(f"its header names a column twice: {header}.\nHint: each column once.")
    for number, line in enumerate(body):
        if len(line) != len(header):
            msg = f"row {number} has {len(line)} fields, the header {len(header)}.\nHint: as many in each line."
            raise InputError(msg, row=number)
    return {name: [line[index] for line in body] for index, name in enumerate(header)}


def _without_nul(line: str) -> str:
    if "\0" in line:
        msg = "line contains NUL"  # the csv module's error before Python 3.11
        raise csv.Error(msg)
    return line
