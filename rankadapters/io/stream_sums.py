"""What the whole queries of a stream add up to, under every convention and for every model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.ids import id_values
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.core.evaluation.label_warnings import label_doubts
from rankadapters.core.evaluation.panel import Panel
from rankadapters.io.judgments import with_columns
from rankadapters.io.stream_rows import StreamColumns, StreamRows
from rankadapters.io.text import Name
from rankadapters.segments.assignment import Assignment, assign, refuse_unknown
from rankadapters.segments.sums import Outcome, Segmented, lifted, merged, outcomes, sums_by_segment

Began = Callable[[np.uint64], str | None]
Values = dict[Name, Mapping[Convention, Floats]]
Hashes = NDArray[np.uint64]


def require_mergeable(conventions: Iterable[Convention]) -> None:
    """Refuse conventions under which the parts of the data do not add up.

    Raises
    ------
    UnsupportedConventionError
        One is over all rows as one query.
    """
    for convention in conventions:
        if convention.over == "rows":
            msg = (
                f"{convention.name} says pool='rows', which takes all rows as one query: no batch has a part of it.\n"
                "Hint: ra.evaluate, which holds all rows in memory, or pool='queries'."
            )
            raise UnsupportedConventionError(msg)


class StreamSums:
    """Exact sums over the queries so far, and what is known of each query: 8 bytes.

    Parameters
    ----------
    conventions : list of Convention
        None of them over all rows.
    columns : StreamColumns
        Names of the columns, for messages; each column of scores is a model.
    began : callable
        Says where the query began whose hash returns, if that can be found.
    n_threads : int or None
        None takes all CPUs.
    by : dict or None
        Segment of each query by its id, as `segments_by_id` returns it, where no column has it.

    Attributes
    ----------
    label_doubts : dict of Convention to str
        What `ra.evaluate` would warn of the labels so far.
    """

    def __init__(
        self,
        conventions: list[Convention],
        columns: StreamColumns,
        began: Began,
        n_threads: int | None,
        by: Mapping[Any, Any] | None,
    ) -> None:
        self.conventions = conventions
        self.n_rows = self.n_queries = 0
        self._columns = columns
        self._began = began
        self._n_threads = n_threads
        self._closed = ClosedQueries()
        self._by, self._unseen = by, set(by or ())
        self._sums: dict[Name, Segmented] = {name: {} for name in columns.scores}
        self.label_doubts: dict[Convention, str] = {}

    def add(self, rows: StreamRows, *, per_query: bool = False) -> tuple[Array, Values]:
        """Evaluate whole queries; where asked for, give their ids and values by model and convention."""
        queries = self._queries(rows)
        self._refuse_returning(rows, queries)
        values: Values = {}
        with self._located(rows):
            panel = Panel(queries, self.conventions, n_threads=self._n_threads)
            segments = self._segments(rows, queries)
            for name, scores in zip(self._columns.scores, rows.scores, strict=True):
                measured = panel.measure(scores)
                self._sums[name] = merged([self._sums[name], sums_by_segment(measured, segments)])
                if per_query:
                    values[name] = measured.per_query
        certain = [convention for convention in self.conventions if convention not in self.label_doubts]
        self.label_doubts |= label_doubts(queries, certain, in_parts=True)
        self._closed.close(queries.id_hashes)
        self.n_rows += rows.n_rows
        self.n_queries += queries.n_queries
        return queries.query_ids, values

    def outcomes(self, name: Name) -> dict[Any, dict[Convention, Outcome]]:
        """Return what a model scores in each segment, and, under None, over all queries."""
        if not self.n_rows:
            msg = "no batch has any rows.\nHint: at least one row is needed."
            raise InputError(msg)
        refuse_unknown(self._unseen)
        return outcomes(self._sums[name], self.conventions)

    def above_values(self, name: Name) -> list[str]:
        """Say where empty queries lift a mean of a model above every query's value; as `Measured.above_values`."""
        return lifted(self._sums[name], self.conventions)

    def _segments(self, rows: StreamRows, queries: Queries) -> Assignment | None:
        if self._columns.by is None and self._by is None:
            return None
        self._unseen.difference_update(id_values(queries.query_ids))
        return assign(rows.more.get("by", self._by), queries, in_parts=True)

    def _queries(self, rows: StreamRows) -> Queries:
        with self._located(rows):
            queries = Queries(rows.labels, group_sizes=rows.sizes, row_weight=rows.more.get("row_weight"))
            queries = queries.with_query_ids(rows.ids)
        with self._numbered(rows):
            return with_columns(queries, rows, self._columns.query_weight)

    @contextmanager
    def _located(self, rows: StreamRows) -> Iterator[None]:
        """Count what an error names on from the queries before, and say where its row came from."""
        with self._numbered(rows):
            try:
                yield
            except InputError as error:
                raise (error if error.row is None else error.about(rows.place(error.row))) from None

    @contextmanager
    def _numbered(self, rows: StreamRows) -> Iterator[None]:
        """Count what an error names on from the queries before."""
        try:
            yield
        except InputError as error:
            row = error.row or 0
            raise error.counted_on(rows.number(row, self.n_rows) - row, self.n_queries) from None

    def _refuse_returning(self, rows: StreamRows, queries: Queries) -> None:
        query = self._closed.returned(queries.id_hashes)
        if query < 0:
            return
        row, name = int(rows.starts[query]), rows.ids[query]
        twice = np.flatnonzero(queries.id_hashes[:query] == queries.id_hashes[query])
        first = rows.place(int(rows.starts[twice[0]])) if twice.size else self._began(queries.id_hashes[query])
        before = f"it began in {first}" if first else "others followed it"
        msg = (
            f"{rows.place(row)}: query {name} returns after {before}.\n"
            "Hint: sort the rows by query; unsorted=True does that, and --unsorted (or --split-queries) of the command."
        )
        raise InputError(msg, row=rows.number(row, self.n_rows))


class ClosedQueries:
    """Hashes of the queries so far, 8 bytes each, in sorted runs; twice that while two large runs are merged.

    Integers of 64 bits with a sign never share a hash; that any two of n other ids do has probability n^2 / 2^65.
    """

    def __init__(self) -> None:
        self._runs: list[Hashes] = []

    @property
    def nbytes(self) -> int:
        """Memory of the hashes."""
        return sum(run.nbytes for run in self._runs)

    def returned(self, hashes: Hashes) -> int:
        """Number of the first of some queries that was closed before, or stands twice among them; -1 for none.

        Examples
        --------
        >>> closed = ClosedQueries()
        >>> closed.close(np.array([5, 3], np.uint64))
        >>> closed.returned(np.array([4, 3], np.uint64)), closed.returned(np.array([4, 6, 4], np.uint64))
        (1, 2)
        >>> closed.returned(np.array([4, 6], np.uint64))
        -1
        """
        again = np.ones(hashes.size, np.bool_)
        again[np.unique(hashes, return_index=True)[1]] = False
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, hashes), run.size - 1)
            again |= run[at] == hashes
        return int(np.argmax(again)) if again.any() else -1

    def close(self, hashes: Hashes) -> None:
        """Add queries; a run is merged with the one before once it is as long, so that there are few."""
        self._runs.append(np.sort(hashes))
        while len(self._runs) > 1 and self._runs[-1].size >= self._runs[-2].size:
            last = [self._runs.pop(), self._runs.pop()]
            self._runs.append(np.sort(np.concatenate(last), kind="stable"))  # which merges runs that are sorted
