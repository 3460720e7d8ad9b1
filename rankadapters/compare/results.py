"""Results of methods on data sets: a sparse table with each measure's direction and, if known, its convention.

Frames, mappings, rows, scores and files become one pandas frame with a checked row per cell.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from decimal import Decimal
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from rankadapters.core.declaration.arguments import members, names, refusal, word
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, IncomparableScoresError, InputError, MissingToolkitError, choices
from rankadapters.evaluation.score import Score
from rankadapters.evaluation.table import Cell, Table, Written
from rankadapters.presets.texts import parse

Direction = bool | Mapping[str, bool] | None
Measure = Convention | str

REQUIRED = ("method", "dataset", "measure", "value")
OPTIONAL = ("source", "higher_is_better")
UNKNOWN_DECIMALS = -1
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,9})?", re.ASCII)
_WORDS = {"true": True, "false": False}
KEYS = ["method", "dataset", "measure"]
SHOWN = 20  # cells that a notebook shows


class Results(Written):
    """Values of methods on data sets by measures; cells may be missing.

    Parameters
    ----------
    data : DataFrame, pyarrow Table, mapping or iterable
        A table of pandas, polars or pyarrow, or a mapping of names to columns: `method`, `dataset`, `measure`, `value`
        and, if wanted, `source` (where the number comes from) and `higher_is_better`. Or a mapping of (method, dataset,
        measure) to values. Or rows `(method, dataset, measure, value)` or `(method, dataset, Score)`. For a value that
        is text or a Decimal, the number of decimals is kept, to decide which values are distinguishable. A measure that
        is the text of a convention, such as `"letor4@10"`, becomes that convention.
    higher_is_better : bool or mapping of str to bool, optional
        Direction of measures for which neither their convention nor the column `higher_is_better` gives it.
    on_mixed : str
        What to do if one measure, such as `ndcg@10`, was computed under several conventions: `error`, or `separate`,
        which makes a separate measure of each, under its display name. They are never merged.

    Raises
    ------
    InputError
        There are no cells, a cell occurs twice or is not a finite number, or a measure has no direction or two.
    IncomparableScoresError
        One measure has several conventions, or scores of one data set are over different queries.
    MissingToolkitError
        pandas is not installed.

    Examples
    --------
    >>> results = Results({("a", "D1", "MAP"): 0.4, ("b", "D1", "MAP"): 0.3}, higher_is_better=True)
    >>> results
    Results(2 methods, 1 dataset, 1 measure, 2 cells)
    >>> import rankadapters as ra
    >>> scores = [("a", "D1", ra.evaluate([1, 0], [2, 1], "letor4@10", group_sizes=[2]))]
    >>> Results(scores).measures
    ('ndcg@10',)
    """

    def __init__(self, data: object, *, higher_is_better: Direction = None, on_mixed: str = "error") -> None:
        frame = _read_cells(data)
        _require_same_queries(frame)
        measures, self._higher, self._conventions = _name_measures(frame, higher_is_better, on_mixed)
        frame["measure"] = _as_categories(measures)
        _refuse_duplicates(frame)
        self._frame = frame[[*KEYS, "value", "decimals", "source"]]

    @classmethod
    def read(cls, path: str | Path, *, higher_is_better: Direction = None, on_mixed: str = "error") -> Self:
        """Read a CSV or Parquet file with the columns that `Results` takes; for CSV, printed decimals are kept.

        Raises
        ------
        InputError
            The file cannot be read, or is not such a table.
        MissingToolkitError
            pandas is not installed, or the file is Parquet and pyarrow is not installed.
        """
        if not isinstance(path, str | PathLike):
            raise refusal("path", path, "texts and pathlib.Path", "Results(data) takes a table")
        try:
            data = Path(path).read_bytes()
            table = _read_parquet(data) if data.startswith(b"PAR1") else _read_csv(data)
            return cls(table, higher_is_better=higher_is_better, on_mixed=on_mixed)
        except OSError as error:
            problem = f"{path}: cannot be read: {error.strerror or error}."
            raise InputError(problem, hint="a CSV or Parquet file") from None
        except InputError as error:
            raise error.about(str(path)) from None

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the order of first appearance."""
        return tuple(self._frame["method"].cat.categories)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the data sets, in the order of first appearance."""
        return tuple(self._frame["dataset"].cat.categories)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures, in the order of first appearance."""
        return tuple(self._frame["measure"].cat.categories)

    @property
    def higher(self) -> tuple[bool, ...]:
        """For each measure, whether higher is better."""
        return tuple(self._higher[name] for name in self.measures)

    @property
    def conventions(self) -> tuple[Convention | None, ...]:
        """The convention of each measure, if known."""
        return tuple(self._conventions.get(name) for name in self.measures)

    @property
    def frame(self) -> Any:
        """A copy of the cells as a pandas DataFrame with a row per cell.

        Its columns are `method`, `dataset` and `measure` (categories in the order of first appearance), `value` (as
        given), `decimals` (printed decimals, or -1 for a value that was not text) and `source` (text or None).
        """
        return self._frame.copy()

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self._frame)

    def __repr__(self) -> str:
        """Return a text with the size of the table."""
        sizes = {**{key: len(self._frame[key].cat.categories) for key in KEYS}, "cell": len(self)}
        return f"Results({', '.join(counted(n, noun) for noun, n in sizes.items())})"

    def _printed(self) -> Table:
        """Return the first cells, which `print` and notebooks show."""
        rows = self._frame.head(SHOWN)[[*KEYS, "value"]].itertuples(index=False)
        remark = f", the first {SHOWN}" if len(self) > SHOWN else ""
        return Table.of(f"{self!r}{remark}", (*KEYS, "value"), ((*keys, f"{value:g}") for *keys, value in rows))

    def blocks(self) -> list[str | Table]:
        """Return a table with a row per method and a column per data set and measure, then the known signatures."""
        rows = self._frame[[*KEYS, "value", "decimals"]].itertuples(index=False)
        texts = {
            tuple(keys): Cell(
                f"{{:.{4 if decimals < 0 else decimals}f}}", value, contest=tuple(keys[1:]),
                worth=value if self._higher[keys[2]] else -value,
            )
            for *keys, value, decimals in rows
        }  # fmt: skip
        measured = {(dataset, measure) for _, dataset, measure in texts}
        columns = [(d, m) for d in self.datasets for m in self.measures if (d, m) in measured]
        lines = [(method, *(texts.get((method, *column), "-") for column in columns)) for method in self.methods]
        one_measure = len(self.measures) == 1
        head = [dataset if one_measure else f"{dataset}, {measure}" for dataset, measure in columns]
        signatures = [f"{name}: {self._conventions[name]}" for name in self.measures if name in self._conventions]
        caption = self.measures[0] if one_measure else repr(self)
        return [Table.of(caption, ("method", *head), lines), *filter(None, ["\n".join(signatures)])]

    def only(
        self,
        *,
        methods: Iterable[str] | None = None,
        datasets: Iterable[str] | None = None,
        measures: Iterable[str] | None = None,
    ) -> Results:
        """Return only the cells of the named methods, data sets and measures.

        Raises
        ------
        InputError
            A name is not in the table, or no cell is left.
        """
        frame = self._frame
        for key, requested in zip(KEYS, (methods, datasets, measures), strict=True):
            if requested is None:
                continue
            known, chosen = getattr(self, f"{key}s"), names(f"{key}s", requested, hint=f"{key}s=['name', ...]")
            for name in chosen:
                if name not in known:
                    hint = f"there are {', '.join(map(repr, known[:20]))}"
                    raise InputError(f"{name!r} is not in the results.", hint=hint)
            frame = frame[frame[key].isin(chosen)]
        if frame.empty:
            raise InputError("no cell is left.", hint="name methods, datasets and measures that have values together")
        subset = copy(self)
        unused_removed = {key: frame[key].cat.remove_unused_categories() for key in KEYS}
        subset._frame = frame.assign(**unused_removed).reset_index(drop=True)  # noqa: SLF001 - of this class
        return subset

    def to_frame(self, *, form: str = "sparse") -> Any:
        """Return a pandas DataFrame.

        Parameters
        ----------
        form : str
            `sparse`: a row per cell. `dense`: a row per data set and measure, a column per method, as autorank,
            scikit-posthocs, aeon and baycomp take it.

        Raises
        ------
        InputError
            `form` is `dense`, and a method lacks a value.
        """
        word("form", form, ("sparse", "dense"), hint="form='dense' has a column per method")
        long = self._frame[[*KEYS, "value"]].astype(dict.fromkeys(KEYS, str))
        if form == "sparse":
            return long
        wide = long.pivot_table(index=["dataset", "measure"], columns="method", values="value", sort=False)
        for row, method in np.argwhere(wide.isna()):
            (dataset, measure), hint = wide.index[row], "results.only(methods=..., datasets=...) first"
            gap = f"{wide.columns[method]!r} has no value of {measure!r} on {dataset!r}"
            raise InputError(f"{gap}, and a dense table has no gaps.", hint=hint)
        return wide.loc[:, list(self.methods)]


def _refuse_duplicates(frame: Any) -> None:
    for row in frame.index[frame.duplicated(KEYS)]:
        same = frame[(frame[KEYS] == frame.loc[row, KEYS]).all(axis=1)].head(2)
        values = " and ".join(
            f"{value:g}{f' ({source})' if source else ''}"
            for value, source in zip(same["value"], same["source"], strict=True)
        )
        method, dataset, measure = frame.loc[row, KEYS]
        message = f"{method!r} has two values of {measure!r} on {dataset!r}: {values}."
        raise InputError(message, hint="choose one, or give the second method a name of its own", row=int(row))


def counted(n: int, noun: str) -> str:
    """Return a number and its noun, such as `2 data sets`."""
    return f"{n} {noun}{'s' * (n != 1)}"


def _import_pandas() -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise MissingToolkitError.of("pandas", "compare") from None
    return pd


def _read_cells(data: object) -> Any:
    """Return a frame of cells: a measure is a text or a Score's Convention, and `digest` is that of its queries."""
    pd = _import_pandas()
    cells = [_read_cell(row, *cell) for row, cell in enumerate(_rows(data))]
    if not cells:
        raise InputError("there are no results.", hint="a row for each method on each data set")
    columns = (*KEYS, "value", "decimals", "source", "higher", "digest")
    frame = pd.DataFrame(cells, columns=columns, dtype=object).astype({"value": np.float64, "decimals": np.int64})
    return frame.assign(method=_as_categories(frame["method"]), dataset=_as_categories(frame["dataset"]))


def _as_categories(texts: Iterable[str]) -> Any:
    """Return texts as categories in the order of first appearance; they stay Python texts, which may be any."""
    pd = _import_pandas()
    codes, categories = pd.factorize(np.array([*texts], object))
    return pd.Categorical.from_codes(codes, pd.Index(categories, dtype=object))


def _name_measures(
    cells: Any, direction: Direction, on_mixed: str
) -> tuple[list[str], dict[str, bool], dict[str, Convention]]:
    """Return the measure name of each cell, and for each name the direction and, if known, the convention."""
    word("on_mixed", on_mixed, ("error", "separate"), hint="on_mixed='separate' keeps them apart")
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


def _require_same_queries(cells: Any) -> None:
    scores = cells.dropna(subset="digest")
    for row in scores.index[scores["digest"] != scores.groupby("dataset", observed=True)["digest"].transform("first")]:
        scores_differ = f"the scores of data set {cells['dataset'][row]!r} are over different queries, rows or weights"
        message = f"{scores_differ}: row {row} ({cells['method'][row]!r}) differs."
        hint = "evaluate all methods on the same rows, or name the data sets apart"
        raise IncomparableScoresError(message, hint=hint)


def _read_parquet(data: bytes) -> dict[str, list[Any]]:
    try:
        from pyarrow import BufferReader, lib, parquet
    except ImportError:
        raise MissingToolkitError.of("pyarrow", "files") from None
    try:
        return dict(parquet.read_table(BufferReader(data), page_checksum_verification=True).to_pydict())
    except (lib.ArrowException, ValueError) as error:  # ValueError: invalid UTF-8, or dates beyond Python's range
        raise InputError(f"it cannot be read as Parquet: {error}.", hint="write it again") from None


def _read_csv(data: bytes) -> Any:
    """Read CSV as text; pandas would fill short lines, skip lines of blanks and accept NUL."""
    hint = "commas, a header, one line per cell"
    try:
        text = data.decode("utf-8-sig")
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
    return _import_pandas().DataFrame(body, columns=header, dtype=object)


def _read_cell(  # noqa: PLR0917 - the columns of a table
    row: int, method: object, dataset: object, measure: object, value: object, source: object = None,
    higher: object = None,
) -> tuple[Any, ...]:  # fmt: skip
    digest = None
    if isinstance(value, Score):
        if _as_measure(measure) != value.convention:
            message = f"measure[{row}] is {measure!r}, but value[{row}] is a Score of {value.convention.name}."
            raise InputError(message, hint=f"{value.convention.name!r}, or score.value without its convention", row=row)
        measure, number, decimals, digest = value.convention, value.value, UNKNOWN_DECIMALS, value.digest
    else:
        number, decimals = _read_number(value, row)
    for column, text in (("method", method), ("dataset", dataset), ("measure", measure)):
        if not isinstance(text, Convention) and (not isinstance(text, str) or not text.strip()):
            message = f"{column}[{row}] is {text!r}; allowed are texts that are not empty."
            raise InputError(message, hint=f"name every {column}", row=row)
    origin = None if _is_missing(source) else str(source)
    return method, dataset, measure, number, decimals, origin, _read_direction(higher, row), digest


def _rows(data: object) -> Iterable[tuple[Any, ...]]:
    if isinstance(data, Mapping) and not (data and all(isinstance(key, str) for key in data)):
        return _rows_of_tuples((*(key if isinstance(key, tuple) else (key,)), value) for key, value in data.items())
    names = data if isinstance(data, Mapping) else getattr(data, "column_names", getattr(data, "columns", None))
    if names is not None:
        return _rows_of_table(data, [str(name) for name in names])
    if (rows := members(data)) is not None:
        return _rows_of_tuples(rows)
    raise InputError(
        f"results are a {type(data).__name__}; allowed are a data frame, a mapping of (method, dataset, measure) to "
        "values, and rows (method, dataset, measure, value) or (method, dataset, Score).",
        hint="Results.read(path) reads a file",
    )


def _rows_of_tuples(rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    for number, row in enumerate(rows):
        parts = tuple(row) if isinstance(row, tuple | list) else (row,)
        if len(parts) == 3 and isinstance(parts[2], Score):  # noqa: PLR2004 - the Score's convention is the measure
            yield parts[0], parts[1], parts[2].convention, parts[2]
        elif len(parts) in {4, 5} and not isinstance(parts[3], Score):
            yield parts
        else:
            allowed = "(method, dataset, measure, value[, source]) and (method, dataset, Score)"
            message = f"results[{number}] is {row!r}; allowed are {allowed}."
            raise InputError(message, hint="a Score brings its measure along", row=number)


def _rows_of_table(table: Any, names: list[str]) -> Iterable[tuple[Any, ...]]:
    problems = [f"no column {name!r}" for name in REQUIRED if name not in names]
    problems += [f"a column {name!r}" for name in names if name not in REQUIRED + OPTIONAL]
    problems += [f"two columns {name!r}" for name in names if names.count(name) > 1]
    if problems:
        allowed = f"the columns are {choices(REQUIRED)}, and if wanted {choices(OPTIONAL)}"
        hint = "rename or drop columns; a wide table is made long by melt or unpivot"
        raise InputError(f"the results have {problems[0]}; {allowed}.", hint=hint)
    columns = {name: _as_list(table[name]) for name in names}
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(f"the columns have different lengths: {sizes}.", hint="one entry per cell in each")
    nothing = [None] * sizes["value"]
    return zip(*(columns.get(name, nothing) for name in REQUIRED + OPTIONAL), strict=True)


def _as_list(column: Any) -> list[Any]:
    for name in ("to_pylist", "to_list", "tolist"):  # pyarrow, polars, pandas and numpy
        if hasattr(column, name):
            return list(getattr(column, name)())
    if (entries := members(column)) is None:
        raise refusal("column", column, "lists and arrays, with an entry per cell")
    return entries


def _as_measure(measure: Any) -> Convention | str:
    """Return the convention that a text names; any other text stays a text."""
    try:
        return parse(measure) if isinstance(measure, str) else measure
    except ConventionError:
        return str(measure)


def _is_missing(value: object) -> bool:
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
        hint = "leave out a cell without a value"
        raise InputError(f"value[{row}] is {value!r:.80}; allowed are finite numbers.", hint=hint, row=row)
    return number, decimals


def _read_direction(value: object, row: int) -> bool | None:
    flag = _WORDS.get(value.lower(), value) if isinstance(value, str) else value
    if _is_missing(flag) or isinstance(flag, bool | np.bool_):
        return None if _is_missing(flag) else bool(flag)
    message = f"higher_is_better[{row}] is {value!r}; allowed are True and False."
    raise InputError(message, hint="or leave the column out", row=row)


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
            message = f"{short_name} was computed under {len(group)} conventions: {listed}."
            hint = "evaluate all under one, or on_mixed='separate'"
            raise IncomparableScoresError(f"{message} Their values cannot be compared.", hint=hint)
    return {
        measure: measure if isinstance(measure, str) else short_name if len(group) == 1 else measure.name
        for short_name, group in groups.items()
        for measure in group
    }


def _join_directions(
    directions: dict[str, set[bool]], request: Direction, names: dict[Measure, str]
) -> dict[str, bool]:
    """Merge the directions of the cells and of `request`, whose keys may be any text of a measure's convention."""
    named: list[tuple[str, bool | None]]
    if isinstance(request, Mapping):
        named = [(names.get(_as_measure(key), key), flag) for key, flag in request.items()]
    else:
        named = [(name, request) for name, flags in directions.items() if not flags]
    for name, flag in named:
        if name in directions and flag is not None:
            directions[name].add(bool(flag))
    for name, flags in directions.items():
        if len(flags) != 1:
            problem = (
                "higher and lower are both said to be better" if flags else "nothing says whether higher is better"
            )
            hint = (
                f"higher_is_better=True (--better higher), or {{{name!r}: True}}, or a column 'higher_is_better'; "
                "the text of a convention, such as 'letor4@10', says it too"
            )
            raise InputError(f"measure {name!r}: {problem}.", hint=hint)
    for name, _ in named:
        if name not in directions:
            message = f"higher_is_better names {name!r:.80}, which is not a measure of the results."
            raise InputError(message, hint=f"the measures are {choices(directions)}")
    return {name: flags.pop() for name, flags in directions.items()}
