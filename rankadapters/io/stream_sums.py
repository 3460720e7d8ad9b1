"""What the whole queries of a stream add up to, under every convention and for every model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.core.evaluation.label_warnings import label_doubts
from rankadapters.core.evaluation.panel import Measured, Panel, above_values
from rankadapters.core.evaluation.score import COUNTS, Score
from rankadapters.core.evaluation.tally import Tally
from rankadapters.io.closed_queries import ClosedQueries
from rankadapters.io.row_columns import docid_ranks, query_weights
from rankadapters.io.stream_rows import StreamColumns, StreamRows
from rankadapters.io.text import Name

_DIGEST = 2**64
_SUMS = ("numerator", "denominator", *COUNTS, "digest")

Began = Callable[[np.uint64], str | None]
Values = dict[Name, Mapping[Convention, Floats]]


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

    Attributes
    ----------
    label_doubts : dict of Convention to str
        What `ra.evaluate` would warn of the labels so far.
    """

    def __init__(
        self, conventions: list[Convention], columns: StreamColumns, began: Began, n_threads: int | None
    ) -> None:
        self.conventions = conventions
        self.n_rows = self.n_queries = 0
        self._columns = columns
        self._began = began
        self._n_threads = n_threads
        self._closed = ClosedQueries()
        self._tallies: dict[Name, dict[Convention, Tally]] = {}
        self._largest: dict[Name, dict[Convention, float]] = {name: {} for name in columns.scores}
        self.label_doubts: dict[Convention, str] = {}

    def add(self, rows: StreamRows, *, per_query: bool = False) -> tuple[Array, Values]:
        """Evaluate whole queries; where asked for, give their ids and values by model and convention."""
        queries = self._queries(rows)
        self._refuse_returning(rows, queries)
        values: Values = {}
        with self._located(rows):
            panel = Panel(queries, self.conventions, n_threads=self._n_threads)
            for name, scores in zip(self._columns.scores, rows.scores, strict=True):
                measured = panel.measure(scores)
                self._add(name, measured)
                if per_query:
                    values[name] = measured.per_query
        certain = [convention for convention in self.conventions if convention not in self.label_doubts]
        self.label_doubts |= label_doubts(queries, certain, in_parts=True)
        self._closed.close(queries.id_hashes)
        self.n_rows += rows.n_rows
        self.n_queries += queries.n_queries
        return queries.query_ids, values

    def scores(self, name: Name) -> dict[Convention, Score]:
        """Score of a model under each convention."""
        if not self._tallies:
            msg = "no batch has any rows.\nHint: at least one row is needed."
            raise InputError(msg)
        return {convention: tally.score() for convention, tally in self._tallies[name].items()}

    def above_values(self, name: Name) -> list[str]:
        """Say where empty queries lift a mean of a model above every query's value; as `Measured.above_values`."""
        found = (above_values(self._tallies[name][each], value) for each, value in self._largest[name].items())
        return [message for message in found if message]

    def _add(self, name: Name, measured: Measured) -> None:
        found = {convention: replace(tally, ids=None) for convention, tally in measured.tallies.items()}
        before = self._tallies.get(name, {})
        self._tallies[name] = {key: _added(before[key], tally) if before else tally for key, tally in found.items()}
        largest = self._largest[name]
        largest |= {
            convention: max(value, largest.get(convention, value)) for convention, value in measured.largest.items()
        }

    def _queries(self, rows: StreamRows) -> Queries:
        more, place = rows.more, rows.place
        with self._located(rows):
            queries = Queries(rows.labels, group_sizes=rows.sizes, row_weight=more.get("row_weight"))
            queries = queries.with_query_ids(rows.ids)
        with self._numbered(rows):
            weights = None
            if "query_weight" in more:
                weights = query_weights(self._columns.query_weight, more["query_weight"], queries, place)
            if "docid" in more:
                queries = queries.with_docid_ranks(docid_ranks(more["docid"].tolist(), queries, place))
        with self._located(rows):
            return queries if weights is None else queries.with_weights(weights, row_weight=queries.row_weight)

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


def _added(one: Tally, other: Tally) -> Tally:
    sums = {name: getattr(one, name) + getattr(other, name) for name in _SUMS}
    return replace(one, **{**sums, "digest": sums["digest"] % _DIGEST})
