"""Read frames, mappings, rows, scores and files of results into one pandas frame with a checked row per cell.

Each measure gets its name, its convention if known, and whether higher is better.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from rankadapters.core.declaration.arguments import choice, members, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, IncomparableScoresError, InputError, MissingToolkitError, choices
from rankadapters.core.evaluation.score import Score
from rankadapters.presets.texts import parse

Direction = bool | Mapping[str, bool] | None
Measure = Convention | str

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


def name_measures(
    cells: Any, direction: Direction, on_mixed: str
) -> tuple[list[str], dict[str, bool], dict[str, Convention]]:
    """Return the measure name of each cell, and for each name the direction and, if known, the convention."""
    choice("on_mixed", on_mixed, ("error", "separate"), hint="on_mixed='separate' keeps them apart")
    _require_directions(direction)
    measures = {measure: _as_measure(measure) for measure in cells["measure"].unique()}
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
    """Read CSV as text; pandas would fill short lines, skip lines of blanks and accept NUL."""
    hint = "commas, a header, one line per cell"
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), strict=True) if line]
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"it is not CSV in UTF-8: {error}.", hint=hint) from None
    if "\0" in text:
        raise InputError("it is not CSV in UTF-8: line contains NUL.", hint=hint)
    if not lines:
        raise InputError("it is empty.", hint=f"a header {','.join(REQUIRED)}, and a line per cell")
    header, *body = lines
    for row, line in enumerate(body):
        if len(line) != len(header):
            problem = f"row {row} has {len(line)} fields, the header {len(header)}."
            raise InputError(problem, hint="as many in each line", row=row)
    return import_pandas().DataFrame(body, columns=header, dtype=object)


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
        return _rows_of_table(data, [str(name) for name in names])
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


def _rows_of_table(table: Any, names: list[str]) -> Iterable[tuple[Any, ...]]:
    problems = [f"no column {name!r}" for name in REQUIRED if name not in names]
    problems += [f"a column {name!r}" for name in names if name not in REQUIRED + OPTIONAL]
    problems += [f"two columns {name!r}" for name in names if names.count(name) > 1]
    if problems:
        msg = (
            f"the results have {problems[0]}; the columns are {choices(REQUIRED)}, and if wanted {choices(OPTIONAL)}.\n"
            "Hint: rename or drop columns; a wide table is made long by melt or unpivot."
        )
        raise InputError(msg)
    columns = {name: _as_list(table[name]) for name in names}
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
    if _as_measure(measure) != score.convention:
        msg = (
            f"measure[{row}] is {measure!r}, but value[{row}] is a Score of {score.convention.name}.\n"
            f"Hint: {score.convention.name!r}, or score.value without its convention."
        )
        raise InputError(msg, row=row)
    return score.convention


def _as_measure(measure: Any) -> Convention | str:
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


def _require_directions(direction: object) -> None:
    """Raise if a direction is neither a bool nor None: most texts and numbers would count as True."""
    named = {"": direction}
    if isinstance(direction, Mapping):
        named = {f"[{name!r}]": value for name, value in direction.items()}
    for where, value in named.items():
        if value is not None and not isinstance(value, bool | np.bool_):
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
            (names.get(_as_measure(key), key), flag) for key, flag in request.items()
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
