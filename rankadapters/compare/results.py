"""Results of methods on data sets: a sparse table, each measure with its direction and, where known, its convention."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankadapters.compare.cells import cells_of, read_columns
from rankadapters.compare.directions import Direction, named_measures, refuse_other_queries
from rankadapters.core.declaration.arguments import choice, names, refusal
from rankadapters.core.errors import InputError, MissingToolkitError
from rankadapters.core.evaluation.table import Table
from rankadapters.core.evaluation.written import Written

Ints = NDArray[np.int64]
SHOWN = 20  # cells in a notebook; to_frame has all


class Results(Written):
    """Values of methods on data sets by measures, as many cells as there are.

    Parameters
    ----------
    data : DataFrame, pyarrow Table, mapping or iterable
        A table of pandas, polars or pyarrow, or a mapping of names to columns: `method`, `dataset`, `measure`, `value`
        and, if wanted, `source` (where the number comes from) and `higher_is_better`. Or a mapping of (method, dataset,
        measure) to values. Or rows `(method, dataset, measure, value)` or `(method, dataset, Score)`. A value that is a
        text or a Decimal keeps its decimals, which tell what can be told apart. A measure that is the text of a
        convention, such as 'letor4@10', is that convention.
    higher_is_better : bool or mapping of str to bool, optional
        For measures that do not say it themselves: conventions and the column of that name do.
    on_mixed : str
        What to do where one measure, such as ndcg@10, was computed under several conventions: `error`, or `separate`,
        which makes each a measure of its own under its display name. They are never merged.

    Attributes
    ----------
    methods, datasets, measures : tuple of str
        In the order of first appearance.
    method, dataset, measure : int64 array, shape (n_cells,)
        Places in these.
    values : float64 array, shape (n_cells,)
        As given.
    decimals : int64 array, shape (n_cells,)
        With how many decimals a value was printed; -1 where it was a number.
    higher : tuple of bool
        Of each measure, whether higher is better.
    conventions : tuple of (Convention or None)
        Of each measure, where it is known.
    sources : tuple of (str or None), of length n_cells
        Where each value comes from.

    Raises
    ------
    InputError
        A cell is there twice, or is not a finite number; a measure has no direction, or two; there is no cell.
    IncomparableScoresError
        One measure under several conventions, or scores of one data set over different queries.

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
        cells = cells_of(data)
        if not cells:
            msg = "there are no results.\nHint: a row for each method on each data set."
            raise InputError(msg)
        refuse_other_queries(cells)
        measures, higher, conventions = named_measures(cells, higher_is_better, on_mixed)
        self.methods, self.method = _coded([cell.method for cell in cells])
        self.datasets, self.dataset = _coded([cell.dataset for cell in cells])
        self.measures, self.measure = _coded(measures)
        self.higher = tuple(higher[name] for name in self.measures)
        self.conventions = tuple(conventions.get(name) for name in self.measures)
        self.values = _frozen(np.array([cell.value for cell in cells]))
        self.decimals = _frozen(np.array([cell.decimals for cell in cells], np.int64))
        self.sources = tuple(cell.source for cell in cells)
        self._refuse_duplicates()

    @classmethod
    def read(cls, path: str | Path, *, higher_is_better: Direction = None, on_mixed: str = "error") -> Self:
        """Read a CSV or Parquet file with the columns that `Results` takes; of CSV each value keeps its decimals.

        Raises
        ------
        InputError
            It cannot be read, or is not such a table.
        MissingToolkitError
            It is Parquet, and pyarrow is not installed.
        """
        if not isinstance(path, str | PathLike):
            raise refusal("path", path, "texts and pathlib.Path", "Results(data) takes a table")
        try:
            return cls(read_columns(Path(path)), higher_is_better=higher_is_better, on_mixed=on_mixed)
        except InputError as error:
            raise error.about(str(path)) from None

    def _refuse_duplicates(self) -> None:
        seen: dict[int, int] = {}
        for row, key in enumerate((self.cell * len(self.methods) + self.method).tolist()):
            first = seen.setdefault(key, row)
            if first != row:
                msg = (
                    f"{self.methods[self.method[row]]!r} has two values of {self.measures[self.measure[row]]!r} on "
                    f"{self.datasets[self.dataset[row]]!r}: {self._told(first)} and {self._told(row)}.\n"
                    "Hint: choose one, or give the second method a name of its own."
                )
                raise InputError(msg, row=row)

    def _told(self, row: int) -> str:
        source = self.sources[row]
        return f"{self.values[row]:g}" + (f" ({source})" if source else "")

    @property
    def cell(self) -> Ints:
        """Place of each value's (data set, measure) among all of them, shape (n_cells,)."""
        return self.dataset * len(self.measures) + self.measure

    @property
    def worth(self) -> NDArray[np.float64]:
        """The values, those of measures where lower is better negated, shape (n_cells,)."""
        worth: NDArray[np.float64] = np.where(np.array(self.higher)[self.measure], self.values, -self.values)
        return worth

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.values)

    def __repr__(self) -> str:
        """Show how large the table is."""
        sizes = [(len(self.methods), "method"), (len(self.datasets), "dataset"), (len(self.measures), "measure")]
        parts = [f"{n} {what}{'s' * (n != 1)}" for n, what in [*sizes, (len(self), "cell")]]
        return f"Results({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return self._first().html()

    def _repr_markdown_(self) -> str:
        return self._first().markdown()

    def _first(self) -> Table:
        """The first cells, under how many there are."""
        columns = [[known[code] for code in codes[:SHOWN].tolist()] for known, codes in self._axes()]
        lines = zip(*columns, [f"{value:g}" for value in self.values[:SHOWN].tolist()], strict=True)
        more = f", the first {SHOWN}" if len(self) > SHOWN else ""
        return Table.of(f"{self!r}{more}", ("method", "dataset", "measure", "value"), lines)

    def blocks(self) -> list[str | Table]:
        """Give a table with a row per method and a column per data set and measure, and the signatures known."""
        cells, column = np.unique(self.cell, return_inverse=True)
        places = [divmod(cell, len(self.measures)) for cell in cells.tolist()]
        one = len(self.measures) == 1
        head = [self.datasets[d] if one else f"{self.datasets[d]}, {self.measures[m]}" for d, m in places]
        grid = np.full((len(self.methods), cells.size), "-", object)
        shown = zip(self.values.tolist(), self.decimals.tolist(), strict=True)
        grid[self.method, column] = [f"{value:.{4 if decimals < 0 else decimals}f}" for value, decimals in shown]
        lines = ((method, *row) for method, row in zip(self.methods, grid.tolist(), strict=True))
        declared = zip(self.measures, self.conventions, strict=True)
        known = "\n".join(f"{name}: {convention}" for name, convention in declared if convention is not None)
        caption = self.measures[0] if one else repr(self)
        return [Table.of(caption, ("method", *head), lines), *filter(None, [known])]

    def only(
        self,
        *,
        methods: Iterable[str] | None = None,
        datasets: Iterable[str] | None = None,
        measures: Iterable[str] | None = None,
    ) -> Results:
        """Keep the cells of some methods, data sets and measures.

        Raises
        ------
        InputError
            One of them is not in the table, or nothing is left.
        """
        kept = np.ones(len(self), bool)
        for (axis, wanted), (known, codes) in zip(
            {"methods": methods, "datasets": datasets, "measures": measures}.items(), self._axes(), strict=True
        ):
            if wanted is not None:
                kept &= np.isin(codes, [_place(name, known) for name in some_names(axis, wanted)])
        return self._rows(np.flatnonzero(kept))

    def _rows(self, rows: Ints) -> Results:
        if not rows.size:
            msg = "no cell is left.\nHint: name methods, datasets and measures that have values together."
            raise InputError(msg)
        kept = copy(self)
        kept.methods, kept.method, _ = _recoded(self.methods, self.method[rows])
        kept.datasets, kept.dataset, _ = _recoded(self.datasets, self.dataset[rows])
        kept.measures, kept.measure, places = _recoded(self.measures, self.measure[rows])
        kept.higher = tuple(self.higher[place] for place in places)
        kept.conventions = tuple(self.conventions[place] for place in places)
        kept.values, kept.decimals = _frozen(self.values[rows]), _frozen(self.decimals[rows])
        kept.sources = tuple(self.sources[row] for row in rows.tolist())
        return kept

    def to_frame(self, *, form: str = "sparse") -> Any:
        """Give a pandas DataFrame.

        Parameters
        ----------
        form : str
            `sparse`: a row per cell. `dense`: a row per data set and measure, a column per method, as autorank,
            scikit-posthocs, aeon and baycomp take it.

        Raises
        ------
        InputError
            `dense`, and a method has no value somewhere.
        MissingToolkitError
            pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingToolkitError.of("pandas", "frame") from None
        choice("form", form, ("sparse", "dense"), hint="form='dense' has a column per method")
        columns = [np.array(known)[codes] for known, codes in self._axes()]
        long = pd.DataFrame(dict(zip(("method", "dataset", "measure"), columns, strict=True)) | {"value": self.values})
        if form == "sparse":
            return long
        self._refuse_gaps()
        wide = long.pivot_table(index=["dataset", "measure"], columns="method", values="value", sort=False)
        return wide.loc[:, list(self.methods)]

    def _axes(self) -> list[tuple[tuple[str, ...], Ints]]:
        return [(self.methods, self.method), (self.datasets, self.dataset), (self.measures, self.measure)]

    def _refuse_gaps(self) -> None:
        cells, place = np.unique(self.cell, return_inverse=True)
        there = np.zeros((cells.size, len(self.methods)), bool)
        there[place, self.method] = True
        if there.all():
            return
        row, method = np.argwhere(~there)[0]
        dataset, measure = divmod(int(cells[row]), len(self.measures))
        msg = (
            f"{self.methods[method]!r} has no value of {self.measures[measure]!r} on {self.datasets[dataset]!r}, and a "
            "dense table has no gaps.\nHint: results.only(methods=..., datasets=...) first."
        )
        raise InputError(msg)


def require_results(value: object) -> Results:
    """Check that a function was given a table of results."""
    if not isinstance(value, Results):
        msg = f"results are of type {type(value).__name__}.\nHint: ra.compare.Results(results), or Results.read(path)."
        raise InputError(msg)
    return value


def _coded(column: list[str]) -> tuple[tuple[str, ...], Ints]:
    places: dict[str, int] = {}
    codes = np.array([places.setdefault(name, len(places)) for name in column], np.int64)
    return tuple(places), _frozen(codes)


def _recoded(known: tuple[str, ...], codes: Ints) -> tuple[tuple[str, ...], Ints, list[int]]:
    """Leave out the names that no code refers to; the places of those kept."""
    places, coded = np.unique(codes, return_inverse=True)
    return tuple(known[place] for place in places.tolist()), _frozen(coded.astype(np.int64)), places.tolist()


def some_names(name: str, value: object) -> list[str]:
    """Take names, or one name; what is not among those of the results is refused where they are looked up."""
    return names(name, value, hint=f"{name}=['name', ...]")


def _place(name: str, known: tuple[str, ...]) -> int:
    if name not in known:
        msg = f"{name!r} is not in the results.\nHint: there are {', '.join(map(repr, known[:20]))}."
        raise InputError(msg)
    return known.index(name)


def _frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array
