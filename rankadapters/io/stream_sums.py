"""Sum the values of a stream's queries exactly, under every convention and for every model."""

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
from rankadapters.core.evaluation.evaluator import Evaluator
from rankadapters.io.judgments import with_columns
from rankadapters.io.stream_rows import StreamColumns, StreamRows
from rankadapters.io.text import Name
from rankadapters.presets.label_rules import label_doubts
from rankadapters.segments.assignment import Assignment, assign, refuse_unknown
from rankadapters.segments.sums import Outcome, Segmented, merged, outcomes, sums_by_segment

LocateQuery = Callable[[np.uint64], str | None]
Values = dict[Name, Mapping[Convention, Floats]]
Hashes = NDArray[np.uint64]


def require_mergeable(conventions: Iterable[Convention]) -> None:
    """Raise an error if a convention's value cannot be computed from sums over parts of the data.

    Raises
    ------
    UnsupportedConventionError
        A convention takes all rows as one query.
    """
    for convention in conventions:
        if convention.over == "rows":
            msg = (
                f"{convention.name} says pool='rows', which takes all rows as one query: no batch has a part of it.\n"
                "Hint: ra.evaluate, which holds all rows in memory, or pool='queries'."
            )
            raise UnsupportedConventionError(msg)


class StreamSums:
    """Keeps exact sums of the values of all queries so far, and an 8-byte hash of each query's id.

    Parameters
    ----------
    conventions : list of Convention
        Conventions that do not take all rows as one query.
    columns : StreamColumns
        Names of the columns, for messages; each column of scores is a model.
    locate_query : callable
        Returns the location where the query with a hash began, None if it cannot be found.
    n_threads : int or None
        None takes all CPUs.
    segment_by_id : dict or None
        Segment of each query id, from `segments_by_id`; None if there are no segments or a column has them.

    Attributes
    ----------
    label_doubts : dict of Convention to str
        The warnings of `ra.evaluate` about the labels so far.
    """

    def __init__(
        self,
        conventions: list[Convention],
        columns: StreamColumns,
        locate_query: LocateQuery,
        n_threads: int | None,
        segment_by_id: Mapping[Any, Any] | None,
    ) -> None:
        self.conventions = conventions
        self.n_rows = self.n_queries = 0
        self._columns = columns
        self._locate_query = locate_query
        self._n_threads = n_threads
        self._closed = ClosedQueries()
        self._segment_by_id, self._unseen = segment_by_id, set(segment_by_id or ())
        self._sums: dict[Name, Segmented] = {name: {} for name in columns.scores}
        self.label_doubts: dict[Convention, str] = {}

    def add(self, rows: StreamRows, *, per_query: bool = False) -> tuple[Array, Values]:
        """Evaluate whole queries; return their ids, and with `per_query` their values by model and convention."""
        queries = self._queries(rows)
        self._refuse_returning(rows, queries)
        values: Values = {}
        with self._locating_errors(rows):
            evaluator = Evaluator.of(queries, self.conventions, self._n_threads)
            segments = self._segments(rows, queries)
            for name, scores in zip(self._columns.scores, rows.scores, strict=True):
                measured = evaluator.measure(scores)
                self._sums[name] = merged([self._sums[name], sums_by_segment(measured, segments)])
                if per_query:
                    values[name] = measured.per_query
        undoubted = [convention for convention in self.conventions if convention not in self.label_doubts]
        self.label_doubts |= label_doubts(queries, undoubted, in_parts=True)
        self._closed.close(queries.id_hashes)
        self.n_rows += rows.n_rows
        self.n_queries += queries.n_queries
        return queries.query_ids, values

    def outcomes(self, name: Name) -> dict[Any, dict[Convention, Outcome]]:
        """Return a model's outcomes by segment; the key None stands for all queries."""
        if not self.n_rows:
            msg = "no batch has any rows.\nHint: at least one row is needed."
            raise InputError(msg)
        refuse_unknown(self._unseen)
        return outcomes(self._sums[name], self.conventions)

    def _segments(self, rows: StreamRows, queries: Queries) -> Assignment | None:
        if self._columns.by is None and self._segment_by_id is None:
            return None
        self._unseen.difference_update(id_values(queries.query_ids))
        return assign(rows.columns.get("by", self._segment_by_id), queries, in_parts=True)

    def _queries(self, rows: StreamRows) -> Queries:
        with self._locating_errors(rows):
            queries = Queries(rows.labels, group_sizes=rows.sizes, row_weight=rows.columns.get("row_weight"))
            queries = queries.with_columns(query_ids=rows.ids)
        with self._numbering_errors(rows):
            return with_columns(queries, rows, self._columns.query_weight)

    @contextmanager
    def _locating_errors(self, rows: StreamRows) -> Iterator[None]:
        """Make errors count rows and queries from the start of the stream, and add the row's location."""
        with self._numbering_errors(rows):
            try:
                yield
            except InputError as error:
                raise (error if error.row is None else error.about(rows.locate(error.row))) from None

    @contextmanager
    def _numbering_errors(self, rows: StreamRows) -> Iterator[None]:
        """Make errors count rows and queries from the start of the stream."""
        try:
            yield
        except InputError as error:
            row = error.row or 0
            raise error.counted_on(rows.number(row, self.n_rows) - row, self.n_queries) from None

    def _refuse_returning(self, rows: StreamRows, queries: Queries) -> None:
        query = self._closed.first_returned(queries.id_hashes)
        if query < 0:
            return
        row, name = int(rows.starts[query]), rows.ids[query]
        earlier = np.flatnonzero(queries.id_hashes[:query] == queries.id_hashes[query])
        id_hash = queries.id_hashes[query]
        first = rows.locate(int(rows.starts[earlier[0]])) if earlier.size else self._locate_query(id_hash)
        first_text = f"it began in {first}" if first else "others followed it"
        msg = (
            f"{rows.locate(row)}: query {name} returns after {first_text}.\n"
            "Hint: sort the rows by query; unsorted=True does that, and --unsorted (or --split-queries) of the command."
        )
        raise InputError(msg, row=rows.number(row, self.n_rows))


class ClosedQueries:
    """Hashes of all queries so far, 8 bytes each, in sorted arrays; merging two arrays temporarily needs more memory.

    Integers of 64 bits with a sign never share a hash; that any two of n other ids do has probability n^2 / 2^65.
    """

    def __init__(self) -> None:
        self._runs: list[Hashes] = []

    @property
    def nbytes(self) -> int:
        """Memory of the hashes in bytes."""
        return sum(run.nbytes for run in self._runs)

    def first_returned(self, hashes: Hashes) -> int:
        """Return the index of the first query that was added before or is repeated in `hashes`; -1 if there is none.

        Examples
        --------
        >>> closed = ClosedQueries()
        >>> closed.close(np.array([5, 3], np.uint64))
        >>> closed.first_returned(np.array([4, 3], np.uint64)), closed.first_returned(np.array([4, 6, 4], np.uint64))
        (1, 2)
        >>> closed.first_returned(np.array([4, 6], np.uint64))
        -1
        """
        is_repeated = np.ones(hashes.size, np.bool_)
        is_repeated[np.unique(hashes, return_index=True)[1]] = False
        for run in self._runs:
            index = np.minimum(np.searchsorted(run, hashes), run.size - 1)
            is_repeated |= run[index] == hashes
        return int(np.argmax(is_repeated)) if is_repeated.any() else -1

    def close(self, hashes: Hashes) -> None:
        """Add the hashes as a sorted array; merge arrays of similar length, so that few remain."""
        self._runs.append(np.sort(hashes))
        while len(self._runs) > 1 and self._runs[-1].size >= self._runs[-2].size:
            runs = [self._runs.pop(), self._runs.pop()]
            self._runs.append(np.sort(np.concatenate(runs), kind="stable"))  # merges in linear time
