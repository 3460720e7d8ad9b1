"""Read frames, mappings, rows, scores and files of results into one pandas frame with a checked row per cell."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

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


def import_pandas() -> Any:
    """Return pandas, or raise an error that names the extra to install."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingToolkitError.of("pandas", "compare") from None
    return pd


def read_file(path: Path) -> Any:
    """Read the columns of a CSV or Parquet file; the values of a CSV file stay text."""
    try:
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        return _read_parquet(path) if is_parquet else _read_csv(path)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}.\nHint: a CSV or Parquet file.") from None


def read_cells(data: object) -> Any:
    """Return a frame with the columns method, dataset, measure, value, decimals, source, higher and digest.

    A measure is a text, or the Convention of a Score. `decimals` counts the printed decimals of a value, or is -1.
    `higher` says whether higher is better, or is None. `digest` is that of a Score's queries. Methods and data sets
    are categories.
    """
    pd = import_pandas()
    cells = [_read_cell(row, *cell) for row, cell in enumerate(_rows(data))]
    if not cells:
        raise InputError("there are no results.\nHint: a row for each method on each data set.")
    names = ("method", "dataset", "measure", "value", "decimals", "source", "higher", "digest")
    frame = pd.DataFrame(cells, columns=names, dtype=object).astype({"value": np.float64, "decimals": np.int64})
    return frame.assign(method=as_categories(frame["method"]), dataset=as_categories(frame["dataset"]))


def as_categories(texts: Iterable[str]) -> Any:
    """Return texts as categories in the order of first appearance; they stay Python texts, which may be any."""
    pd = import_pandas()
    codes, categories = pd.factorize(np.array([*texts], object))
    return pd.Categorical.from_codes(codes, pd.Index(categories, dtype=object))


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


def _read_csv(path: Path) -> Any:
    """Read CSV as text; pandas' Python engine tells missing fields from empty ones, and refuses misplaced quotes."""
    pd = import_pandas()
    try:
        lines = pd.read_csv(
            path, header=None, dtype=str, keep_default_na=False, engine="python", encoding="utf-8-sig", compression=None
        )  # fmt: skip
    except pd.errors.EmptyDataError:
        raise InputError(f"it is empty.\nHint: a header {','.join(REQUIRED)}, and a line per cell.") from None
    except ValueError as error:  # a wrong number of fields, misplaced quotes, or not UTF-8
        msg = f"it is not CSV in UTF-8: {error}.\nHint: commas, a header, one line per cell."
        raise InputError(msg) from None
    header, body = lines.iloc[0].tolist(), lines.iloc[1:].astype(object)
    for row in np.flatnonzero(body.isna().any(axis=1)):
        msg = f"row {row} has {body.iloc[row].count()} fields, the header {len(header)}.\nHint: as many in each line."
        raise InputError(msg, row=int(row))
    return body.set_axis(header, axis=1)


def _read_cell(  # noqa: PLR0917 - the columns of a table
    row: int, method: object, dataset: object, measure: object, value: object, source: object = None,
    higher: object = None,
) -> tuple[Any, ...]:  # fmt: skip
    digest, name = None, measure
    if isinstance(value, Score):
        name, number, decimals, digest = _measure_of(value, measure, row), value.value, UNKNOWN_DECIMALS, value.digest
    else:
        number, decimals = _read_number(value, row)
    for column, text in (("method", method), ("dataset", dataset), ("measure", name)):
        if not isinstance(text, Convention) and (not isinstance(text, str) or not text.strip()):
            msg = f"{column}[{row}] is {text!r}; allowed are texts that are not empty.\nHint: name every {column}."
            raise InputError(msg, row=row)
    origin = None if _is_missing(source) else str(source)
    return method, dataset, name, number, decimals, origin, _read_direction(higher, row), digest


def _rows(data: object) -> Iterable[tuple[Any, ...]]:
    if isinstance(data, Mapping) and not (data and all(isinstance(key, str) for key in data)):
        return _rows_of_tuples((*(key if isinstance(key, tuple) else (key,)), value) for key, value in data.items())
    names = data if isinstance(data, Mapping) else getattr(data, "column_names", getattr(data, "columns", None))
    if names is not None:
        _require_columns([str(name) for name in names])
        return _rows_of_columns({str(name): _as_list(data[name]) for name in names})  # type: ignore[index]
    if (rows := members(data)) is not None:
        return _rows_of_tuples(rows)
    msg = (
        f"results are a {type(data).__name__}; allowed are a data frame, a mapping of (method, dataset, measure) to "
        "values, and rows (method, dataset, measure, value) or (method, dataset, Score).\n"
        "Hint: Results.read(path) reads a file."
    )
    raise InputError(msg)


def _rows_of_tuples(rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
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


def _require_columns(names: list[str]) -> None:
    problems = [f"no column {name!r}" for name in REQUIRED if name not in names]
    problems += [f"a column {name!r}" for name in names if name not in REQUIRED + OPTIONAL]
    problems += [f"two columns {name!r}" for name in names if names.count(name) > 1]
    if problems:
        msg = (
            f"the results have {problems[0]}; the columns are {choices(REQUIRED)}, and if wanted {choices(OPTIONAL)}.\n"
            "Hint: rename or drop columns; a wide table is made long by melt or unpivot."
        )
        raise InputError(msg)


def _rows_of_columns(columns: Mapping[str, list[Any]]) -> Iterable[tuple[Any, ...]]:
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        msg = f"the columns have different lengths: {sizes}.\nHint: one entry per cell in each."
        raise InputError(msg)
    nothing = [None] * sizes["value"]
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
    if as_measure(measure) != score.convention:
        msg = (
            f"measure[{row}] is {measure!r}, but value[{row}] is a Score of {score.convention.name}.\n"
            f"Hint: {score.convention.name!r}, or score.value without its convention."
        )
        raise InputError(msg, row=row)
    return score.convention


def as_measure(measure: Any) -> Convention | str:
    """Return the convention that a text names; any other text stays a text."""
    try:
        return parse(measure) if isinstance(measure, str) else measure
    except ConventionError:
        return str(measure)


def _is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, pandas' NA or an empty text."""
    return not value if value is None or isinstance(value, str) else str(value) in {"nan", "<NA>", "NaT"}


def _read_number(value: object, row: int) -> tuple[float, int]:
    """Return a number, and the number of decimals that it was printed with."""
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
