"""Results of methods on data sets: a sparse table with each measure's direction and, if known, its convention."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankadapters.compare.cells import read_cells, read_columns
from rankadapters.compare.directions import Direction, name_measures, require_same_queries
from rankadapters.core.declaration.arguments import choice, names, refusal
from rankadapters.core.errors import InputError, MissingToolkitError
from rankadapters.core.evaluation.table import Table, Written

Ints = NDArray[np.int64]
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
        is the text of a convention, such as 'letor4@10', becomes that convention.
    higher_is_better : bool or mapping of str to bool, optional
        Direction of measures for which neither their convention nor the column `higher_is_better` gives it.
    on_mixed : str
        What to do if one measure, such as ndcg@10, was computed under several conventions: `error`, or `separate`,
        which makes a separate measure of each, under its display name. They are never merged.

    Attributes
    ----------
    methods, datasets, measures : tuple of str
        In the order of first appearance.
    method, dataset, measure : int64 array, shape (n_cells,)
        Index of each cell's method, data set and measure in these.
    values : float64 array, shape (n_cells,)
        The values as given.
    decimals : int64 array, shape (n_cells,)
        Number of printed decimals of each value; -1 for a value that was not text.
    higher : tuple of bool
        For each measure, whether higher is better.
    conventions : tuple of (Convention or None)
        The convention of each measure, if known.
    sources : tuple of (str or None), of length n_cells
        Where each value comes from.

    Raises
    ------
    InputError
        There are no cells, a cell occurs twice or is not a finite number, or a measure has no direction or two.
    IncomparableScoresError
        One measure has several conventions, or scores of one data set are over different queries.

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
        cells = read_cells(data)
        if not cells:
            msg = "there are no results.\nHint: a row for each method on each data set."
            raise InputError(msg)
        require_same_queries(cells)
        measures, higher, conventions = name_measures(cells, higher_is_better, on_mixed)
        self.methods, self.method = _encode([cell.method for cell in cells])
        self.datasets, self.dataset = _encode([cell.dataset for cell in cells])
        self.measures, self.measure = _encode(measures)
        self.higher = tuple(higher[name] for name in self.measures)
        self.conventions = tuple(conventions.get(name) for name in self.measures)
        self.values = _freeze(np.array([cell.value for cell in cells]))
        self.decimals = _freeze(np.array([cell.decimals for cell in cells], np.int64))
        self.sources = tuple(cell.source for cell in cells)
        self._refuse_duplicates()

    @classmethod
    def read(cls, path: str | Path, *, higher_is_better: Direction = None, on_mixed: str = "error") -> Self:
        """Read a CSV or Parquet file with the columns that `Results` takes; for CSV, printed decimals are kept.

        Raises
        ------
        InputError
            The file cannot be read, or is not such a table.
        MissingToolkitError
            The file is Parquet, and pyarrow is not installed.
        """
        if not isinstance(path, str | PathLike):
            raise refusal("path", path, "texts and pathlib.Path", "Results(data) takes a table")
        try:
            return cls(read_columns(Path(path)), higher_is_better=higher_is_better, on_mixed=on_mixed)
        except InputError as error:
            raise error.about(str(path)) from None

    def _refuse_duplicates(self) -> None:
        first_rows: dict[int, int] = {}
        for row, key in enumerate((self.cell * len(self.methods) + self.method).tolist()):
            first = first_rows.setdefault(key, row)
            if first != row:
                msg = (
                    f"{self.methods[self.method[row]]!r} has two values of {self.measures[self.measure[row]]!r} on "
                    f"{self.datasets[self.dataset[row]]!r}: {self._value_text(first)} and {self._value_text(row)}.\n"
                    "Hint: choose one, or give the second method a name of its own."
                )
                raise InputError(msg, row=row)

    def _value_text(self, row: int) -> str:
        source = self.sources[row]
        return f"{self.values[row]:g}" + (f" ({source})" if source else "")

    @property
    def cell(self) -> Ints:
        """Index of the pair (data set, measure) of each value, shape (n_cells,)."""
        return self.dataset * len(self.measures) + self.measure

    @property
    def worth(self) -> NDArray[np.float64]:
        """The values, negated for measures where lower is better, shape (n_cells,)."""
        values: NDArray[np.float64] = np.where(np.array(self.higher)[self.measure], self.values, -self.values)
        return values

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.values)

    def __repr__(self) -> str:
        """Return a text with the size of the table."""
        sizes = [(len(self.methods), "method"), (len(self.datasets), "dataset"), (len(self.measures), "measure")]
        parts = [f"{n} {noun}{'s' * (n != 1)}" for n, noun in [*sizes, (len(self), "cell")]]
        return f"Results({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return self._first().html()

    def _repr_markdown_(self) -> str:
        return self._first().markdown()

    def _first(self) -> Table:
        columns = [[names[code] for code in codes[:SHOWN].tolist()] for names, codes in self._axes()]
        lines = zip(*columns, [f"{value:g}" for value in self.values[:SHOWN].tolist()], strict=True)
        remark = f", the first {SHOWN}" if len(self) > SHOWN else ""
        return Table.of(f"{self!r}{remark}", ("method", "dataset", "measure", "value"), lines)

    def blocks(self) -> list[str | Table]:
        """Return a table with a row per method and a column per data set and measure, then the known signatures."""
        cells, column = np.unique(self.cell, return_inverse=True)
        pairs = [divmod(cell, len(self.measures)) for cell in cells.tolist()]
        one_measure = len(self.measures) == 1
        head = [self.datasets[d] if one_measure else f"{self.datasets[d]}, {self.measures[m]}" for d, m in pairs]
        grid = np.full((len(self.methods), cells.size), "-", object)
        numbers = zip(self.values.tolist(), self.decimals.tolist(), strict=True)
        grid[self.method, column] = [f"{value:.{4 if decimals < 0 else decimals}f}" for value, decimals in numbers]
        lines = ((method, *row) for method, row in zip(self.methods, grid.tolist(), strict=True))
        declared = zip(self.measures, self.conventions, strict=True)
        signatures = "\n".join(f"{name}: {convention}" for name, convention in declared if convention is not None)
        caption = self.measures[0] if one_measure else repr(self)
        return [Table.of(caption, ("method", *head), lines), *filter(None, [signatures])]

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
        is_kept = np.ones(len(self), bool)
        for (axis, requested), (axis_names, codes) in zip(
            {"methods": methods, "datasets": datasets, "measures": measures}.items(), self._axes(), strict=True
        ):
            if requested is not None:
                is_kept &= np.isin(codes, [_index_of(name, axis_names) for name in as_names(axis, requested)])
        return self._rows(np.flatnonzero(is_kept))

    def _rows(self, rows: Ints) -> Results:
        if not rows.size:
            msg = "no cell is left.\nHint: name methods, datasets and measures that have values together."
            raise InputError(msg)
        subset = copy(self)
        subset.methods, subset.method, _ = _reencode(self.methods, self.method[rows])
        subset.datasets, subset.dataset, _ = _reencode(self.datasets, self.dataset[rows])
        subset.measures, subset.measure, indices = _reencode(self.measures, self.measure[rows])
        subset.higher = tuple(self.higher[index] for index in indices)
        subset.conventions = tuple(self.conventions[index] for index in indices)
        subset.values, subset.decimals = _freeze(self.values[rows]), _freeze(self.decimals[rows])
        subset.sources = tuple(self.sources[row] for row in rows.tolist())
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
        MissingToolkitError
            pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingToolkitError.of("pandas", "frame") from None
        choice("form", form, ("sparse", "dense"), hint="form='dense' has a column per method")
        columns = [np.array(names)[codes] for names, codes in self._axes()]
        long = pd.DataFrame(dict(zip(("method", "dataset", "measure"), columns, strict=True)) | {"value": self.values})
        if form == "sparse":
            return long
        self._refuse_gaps()
        wide = long.pivot_table(index=["dataset", "measure"], columns="method", values="value", sort=False)
        return wide.loc[:, list(self.methods)]

    def _axes(self) -> list[tuple[tuple[str, ...], Ints]]:
        return [(self.methods, self.method), (self.datasets, self.dataset), (self.measures, self.measure)]

    def _refuse_gaps(self) -> None:
        cells, row_of_cell = np.unique(self.cell, return_inverse=True)
        has_value = np.zeros((cells.size, len(self.methods)), bool)
        has_value[row_of_cell, self.method] = True
        if has_value.all():
            return
        row, method = np.argwhere(~has_value)[0]
        dataset, measure = divmod(int(cells[row]), len(self.measures))
        msg = (
            f"{self.methods[method]!r} has no value of {self.measures[measure]!r} on {self.datasets[dataset]!r}, and a "
            "dense table has no gaps.\nHint: results.only(methods=..., datasets=...) first."
        )
        raise InputError(msg)


def require_results(value: object) -> Results:
    """Return the value if it is a `Results`; otherwise raise an error."""
    if not isinstance(value, Results):
        msg = f"results are of type {type(value).__name__}.\nHint: ra.compare.Results(results), or Results.read(path)."
        raise InputError(msg)
    return value


def _encode(column: list[str]) -> tuple[tuple[str, ...], Ints]:
    indices: dict[str, int] = {}
    codes = np.array([indices.setdefault(name, len(indices)) for name in column], np.int64)
    return tuple(indices), _freeze(codes)


def _reencode(names: tuple[str, ...], codes: Ints) -> tuple[tuple[str, ...], Ints, list[int]]:
    """Keep only names that the codes refer to; return these names, the new codes, and the old index of each name."""
    indices, new_codes = np.unique(codes, return_inverse=True)
    return tuple(names[index] for index in indices.tolist()), _freeze(new_codes.astype(np.int64)), indices.tolist()


def as_names(name: str, value: object) -> list[str]:
    """Return one name or several as a list; unknown names are refused later, when they are looked up."""
    return names(name, value, hint=f"{name}=['name', ...]")


def _index_of(name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        msg = f"{name!r} is not in the results.\nHint: there are {', '.join(map(repr, names[:20]))}."
        raise InputError(msg)
    return names.index(name)


def _freeze(array: Any) -> Any:
    array.flags.writeable = False
    return array
