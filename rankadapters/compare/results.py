"""Results of methods on data sets: a sparse table with each measure's direction and, if known, its convention."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from rankadapters.compare.cells import (
    Direction,
    as_categories,
    name_measures,
    read_cells,
    read_file,
    require_same_queries,
)
from rankadapters.core.declaration.arguments import choice, names, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.table import Table, Written

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
        is the text of a convention, such as 'letor4@10', becomes that convention.
    higher_is_better : bool or mapping of str to bool, optional
        Direction of measures for which neither their convention nor the column `higher_is_better` gives it.
    on_mixed : str
        What to do if one measure, such as ndcg@10, was computed under several conventions: `error`, or `separate`,
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
        cells = read_cells(data)
        require_same_queries(cells)
        measures, self._higher, self._conventions = name_measures(cells, higher_is_better, on_mixed)
        cells["measure"] = as_categories(measures)
        _refuse_duplicates(cells)
        self._frame = cells[[*KEYS, "value", "decimals", "source"]]

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
            return cls(read_file(Path(path)), higher_is_better=higher_is_better, on_mixed=on_mixed)
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
        sizes = [(len(self.methods), "method"), (len(self.datasets), "dataset"), (len(self.measures), "measure")]
        parts = [f"{n} {noun}{'s' * (n != 1)}" for n, noun in [*sizes, (len(self), "cell")]]
        return f"Results({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return self._first().html()

    def _repr_markdown_(self) -> str:
        return self._first().markdown()

    def _first(self) -> Table:
        rows = self._frame.head(SHOWN)[[*KEYS, "value"]].itertuples(index=False)
        remark = f", the first {SHOWN}" if len(self) > SHOWN else ""
        return Table.of(f"{self!r}{remark}", (*KEYS, "value"), ((*keys, f"{value:g}") for *keys, value in rows))

    def blocks(self) -> list[str | Table]:
        """Return a table with a row per method and a column per data set and measure, then the known signatures."""
        rows = self._frame[[*KEYS, "value", "decimals"]].itertuples(index=False)
        texts = {tuple(keys): f"{value:.{4 if decimals < 0 else decimals}f}" for *keys, value, decimals in rows}
        measured = {(dataset, measure) for _, dataset, measure in texts}
        columns = [(d, m) for d in self.datasets for m in self.measures if (d, m) in measured]
        lines = [(method, *(texts.get((method, *column), "-") for column in columns)) for method in self.methods]
        one_measure = len(self.measures) == 1
        head = [dataset if one_measure else f"{dataset}, {measure}" for dataset, measure in columns]
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
        frame = self._frame
        for key, requested in zip(KEYS, (methods, datasets, measures), strict=True):
            if requested is not None:
                frame = frame[frame[key].isin(_known_names(f"{key}s", requested, getattr(self, f"{key}s")))]
        if frame.empty:
            msg = "no cell is left.\nHint: name methods, datasets and measures that have values together."
            raise InputError(msg)
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
        choice("form", form, ("sparse", "dense"), hint="form='dense' has a column per method")
        long = self._frame[[*KEYS, "value"]].astype(dict.fromkeys(KEYS, str))
        if form == "sparse":
            return long
        wide = long.pivot_table(index=["dataset", "measure"], columns="method", values="value", sort=False)
        for row, method in np.argwhere(wide.isna()):
            dataset, measure = wide.index[row]
            msg = (
                f"{wide.columns[method]!r} has no value of {measure!r} on {dataset!r}, and a dense table has no gaps.\n"
                "Hint: results.only(methods=..., datasets=...) first."
            )
            raise InputError(msg)
        return wide.loc[:, list(self.methods)]


def _refuse_duplicates(cells: Any) -> None:
    for row in cells.index[cells.duplicated(KEYS)]:
        same = cells[(cells[KEYS] == cells.loc[row, KEYS]).all(axis=1)].head(2)
        values = " and ".join(
            f"{value:g}{f' ({source})' if source else ''}"
            for value, source in zip(same["value"], same["source"], strict=True)
        )
        method, dataset, measure = cells.loc[row, KEYS]
        msg = (
            f"{method!r} has two values of {measure!r} on {dataset!r}: {values}.\n"
            "Hint: choose one, or give the second method a name of its own."
        )
        raise InputError(msg, row=int(row))


def _known_names(axis: str, requested: object, known: tuple[str, ...]) -> list[str]:
    requested_names = names(axis, requested, hint=f"{axis}=['name', ...]")
    for name in requested_names:
        if name not in known:
            msg = f"{name!r} is not in the results.\nHint: there are {', '.join(map(repr, known[:20]))}."
            raise InputError(msg)
    return requested_names
