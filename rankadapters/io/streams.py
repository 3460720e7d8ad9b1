"""Evaluate data that need not fit in memory, in batches that may end within a query."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from inspect import isdatadescriptor
from typing import Any, Unpack, overload

import numpy as np

from rankadapters.core.data.columns import pandas_index
from rankadapters.core.data.ids import hash_ids, id_column, id_values
from rankadapters.core.declaration.arguments import flag
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import TABLE, shows_call
from rankadapters.core.docstrings import describes
from rankadapters.core.errors import InputError, LabelsWarning, warn_caller
from rankadapters.evaluation.assignment import (
    assign,
    column_or_segments,
    refuse_entry_per_row,
    refuse_unknown_queries,
    segment_value,
    values_of_queries,
)
from rankadapters.evaluation.doubts import score_doubts
from rankadapters.evaluation.evaluate import query_columns
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.measured import Measured
from rankadapters.evaluation.score import Score, Scores, ScoresOfModels, Shape
from rankadapters.evaluation.segment_sums import Segmented, merged, refuse_pooled, sums_by_segment
from rankadapters.evaluation.segment_tallies import SegmentTallies
from rankadapters.evaluation.segments import Segments
from rankadapters.evaluation.table import as_frame
from rankadapters.evaluation.table_calls import column_names, whole_call
from rankadapters.evaluation.tally import Ids
from rankadapters.evaluation.threads import as_n_threads
from rankadapters.io.rows import (
    ColumnKeywords,
    Names,
    ScoredRows,
    arrow_table,
    id_array,
    locating,
    require_pyarrow,
    score_names,
)
from rankadapters.io.table_files import BATCH_ROWS, TableReader, arrow_errors, file_batches
from rankadapters.io.text import AnyPath, is_pipe
from rankadapters.presets.label_rules import label_doubts
from rankadapters.presets.texts import Conventions
from rankadapters.progress import shows, step_of_file

# Smaller parts cost more call overhead; larger parts need more memory and no longer fit in the CPU's cache.
ROWS_AT_ONCE = 200_000
TABLES_AT_ONCE = 1_000


class StreamKeywords(ColumnKeywords, total=False):
    """Keywords of `evaluate_table`, for type checkers."""

    unsorted: bool
    n_threads: int | None


@overload
def evaluate_table(  # type: ignore[overload-overlap]  # a text is one convention, or one column
    table: object, convention: Convention | str, *, score: str = ..., **keywords: Unpack[StreamKeywords]
) -> Score: ...
@overload
def evaluate_table(  # type: ignore[overload-overlap]  # as above
    table: object, convention: Convention | str, *, score: Sequence[str], **keywords: Unpack[StreamKeywords]
) -> ScoresOfModels: ...
@overload
def evaluate_table(  # type: ignore[overload-overlap]  # as above
    table: object, convention: Conventions, *, score: str = ..., **keywords: Unpack[StreamKeywords]
) -> Scores[Score]: ...
@overload
def evaluate_table(
    table: object, convention: Conventions, *, score: Sequence[str], **keywords: Unpack[StreamKeywords]
) -> Scores[ScoresOfModels]: ...
@overload
def evaluate_table(
    table: object, convention: Convention | str | Conventions, *, score: str | Sequence[str] = ..., by: object,
    **keywords: Unpack[StreamKeywords],
) -> Segments[Any]: ...  # fmt: skip
@shows("evaluating")
@shows_call(TABLE)
def evaluate_table(
    table: object,
    convention: Convention | str | Conventions,
    *,
    label: str = "label",
    score: str | Sequence[str] = "score",
    qid: str = "qid",
    query_weight: str | None = None,
    row_weight: str | None = None,
    docid: str | None = None,
    by: Any = None,
    unsorted: bool = False,
    n_threads: int | None = None,
) -> Any:
    r"""Evaluate a table, a file or batches, with the exact values of `ra.evaluate`, in bounded memory.

    Parameters
    ----------
    table : table, path, or iterable of these
        A path or paths of CSV files, Parquet files or Parquet folders; a table: a frame of pandas or polars, a pyarrow
        Table, Dataset or `ParquetFile`, a DuckDB relation, or a mapping of columns; or an iterable of such tables. The
        rows of a query must be consecutive, in any number of tables.
    convention : Convention or str, or iterable of these, or mapping of str to these
        The conventions to compute, with `pool="queries"` or `"pairs"` where the measure has a choice.
    label, qid : str
        Columns of labels and of queries.
    score : str, or sequence of str
        Column of scores, or one column per model.
    query_weight : str, optional
        Column of query weights, equal within a query.
    row_weight : str, optional
        Column of row weights, for measures with `average="row"`.
    docid : str, optional
        Column of document ids, unique within a query, for conventions that break ties by them.
    by : str, list of str, mapping or pandas Series, optional
        Column with the segment of each row, the same on all rows of a query, or several columns, whose combinations are
        the segments; or a mapping from query ids to segments, or a Series indexed by query ids, that has every query
        once. A Series with an entry per row is an error.
    unsorted : bool
        Whether the rows of a query may be anywhere. DuckDB sorts them first, on disk if memory is too small; the rows
        of a query keep their order.
    n_threads : int, optional
        None takes all CPUs; the result is the same for any number.

    Returns
    -------
    Score, mapping, or Segments
        For several conventions a mapping of Convention to Score, as `ra.evaluate` returns; for several columns of
        scores a dict of their names to Score, or a mapping of Convention to such dicts. With `by`, such a result for
        each segment and for all queries.

    Raises
    ------
    InputError
        As `ra.evaluate`, or a query returns after other queries, which a hash of 8 bytes per query detects. The message
        names the file or batch, and its row. Or an argument is missing or unknown.
    UnsupportedConventionError
        A convention takes all rows as one query (`pool="rows"`), which batches cannot add up to.
    MissingToolkitError
        pyarrow, or DuckDB for `unsorted`, is not installed.

    Warns
    -----
    LabelsWarning
        As `ra.evaluate`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> batches = [
    ...     {"label": [2, 0], "score": [0.9, 0.1], "qid": ["a", "a"]},
    ...     {"label": [1, 1, 0], "score": [0.5, 0.2, 0.8], "qid": ["a", "b", "b"]},
    ... ]
    >>> scores = ra.evaluate_table(batches, ["yahoo@2", "letor4@1"])
    >>> [(score.value, score.n_queries) for score in scores.values()]
    [(0.8154648767857288, 2), (0.5, 2)]
    >>> whole = ra.evaluate([2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.2, 0.8], "yahoo@2", qid=list("aaabb"))
    >>> whole.value, whole - ra.evaluate_table(batches, "yahoo@2")
    (0.8154648767857288, 0.0)
    """
    tallies = _tallies(
        table, convention, label=label, score=score, qid=qid, query_weight=query_weight, row_weight=row_weight,
        docid=docid, by=by, unsorted=unsorted, n_threads=n_threads, intervals=by is not None,
    )  # fmt: skip
    segments = tallies.result()
    return segments.all if by is None else segments


@describes(evaluate_table)
@shows("evaluating")
@shows_call(TABLE.replace("evaluate_table", "tally_table"))
def tally_table(
    table: object,
    convention: Convention | str | Conventions,
    *,
    label: str = "label",
    score: str | Sequence[str] = "score",
    qid: str = "qid",
    query_weight: str | None = None,
    row_weight: str | None = None,
    docid: str | None = None,
    by: Any = None,
    unsorted: bool = False,
    n_threads: int | None = None,
) -> SegmentTallies:
    """Return the exact sums of a table, a file or batches, which merge: those of hours make those of a day.

    A query is in one table only, so ids differ between the tables.

    Parameters
    ----------
    table, convention, label, score, qid, query_weight, row_weight, docid, by, unsorted, n_threads
        As in `evaluate_table`.

    Returns
    -------
    SegmentTallies
        With the sums of all queries alone if `by` is None.

    Raises
    ------
    InputError, UnsupportedConventionError, MissingToolkitError
        As in `evaluate_table`.

    Warns
    -----
    LabelsWarning
        As `ra.evaluate`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> table = {"qid": [7, 7], "label": [1, 0], "score": [2, 1], "market": ["se", "se"]}
    >>> ra.tally_table(table, "textbook@1", by="market")
    SegmentTallies(1 queries, 1 segments)
    """
    return _tallies(
        table, convention, label=label, score=score, qid=qid, query_weight=query_weight, row_weight=row_weight,
        docid=docid, by=by, unsorted=unsorted, n_threads=n_threads, intervals=True,
    )  # fmt: skip


def _tallies(
    table: object, convention: Convention | str | Conventions, *, score: str | Sequence[str], by: Any,
    unsorted: bool, n_threads: int | None, intervals: bool, **named: Any,
) -> SegmentTallies:  # fmt: skip
    require_pyarrow()
    _refuse_frame(table, convention, {**named, "score": score})
    if (index := pandas_index(table)) is not None:
        refuse_entry_per_row(by, len(index), index)
    by_column, by_id = column_or_segments(by)
    shape = Shape.of(convention, one_model=isinstance(score, str))
    names = Names(scores=score_names(score), by=by_column, **named)
    options: dict[str, Any] = {"unsorted": unsorted, "n_threads": n_threads, "intervals": intervals}
    stream = StreamSums(table, shape.conventions, names, by_id, **options)
    stream.read()
    refuse_entry_per_row(by, stream.n_rows)
    return stream.tallies(shape)


@describes(evaluate_table)
@shows("evaluating")
@shows_call(TABLE.replace("evaluate_table", "per_query_table"))
def per_query_table(
    table: object,
    convention: Convention | str | Conventions,
    *,
    label: str = "label",
    score: str | Sequence[str] = "score",
    qid: str = "qid",
    query_weight: str | None = None,
    row_weight: str | None = None,
    docid: str | None = None,
    by: str | list[str] | None = None,
    unsorted: bool = False,
    n_threads: int | None = None,
) -> Any:
    """Return what `ra.per_query(..., frame=True)` returns, for a table, a file or batches.

    Only a row per query and a part of the rows are in memory. `ra.audit.order` compares several columns of scores by
    their values.

    Parameters
    ----------
    table, convention, label, score, qid, query_weight, row_weight, docid, unsorted, n_threads
        As in `evaluate_table`.
    by : str, or list of str, optional
        Columns about the queries, equal on all rows of a query, which the result has too.

    Returns
    -------
    DataFrame
        As `ra.per_query(..., frame=True)` returns it; `model` has the names of the columns of scores.

    Raises
    ------
    InputError, UnsupportedConventionError
        As in `evaluate_table`.
    MissingToolkitError
        pandas, pyarrow, or DuckDB for `unsorted`, is not installed.

    Warns
    -----
    LabelsWarning
        As `ra.evaluate`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> rows = {"qid": [1, 1, 2, 2], "label": [1, 0, 0, 1], "a": [2, 1, 1, 2], "b": [1, 2, 1, 2]}
    >>> values = ra.per_query_table(rows, "textbook@1", score=["a", "b"])
    >>> values[["qid", "model", "ndcg@1/textbook"]]
       qid model  ndcg@1/textbook
    0    1     a              1.0
    1    2     a              1.0
    2    1     b              0.0
    3    2     b              1.0
    """
    columns = query_values(
        table, convention, label=label, score=score, qid=qid, query_weight=query_weight, row_weight=row_weight,
        docid=docid, by=by, unsorted=unsorted, n_threads=n_threads,
    )  # fmt: skip
    return as_frame(columns)


def query_values(
    table: object, convention: Convention | str | Conventions, *, score: str | Sequence[str] = "score",
    by: str | list[str] | None = None, unsorted: bool = False, n_threads: int | None = None, **named: Any,
) -> dict[str, Any]:  # fmt: skip
    """Return the columns of `per_query_table`."""
    require_pyarrow()
    _refuse_frame(table, convention, {**named, "score": score})
    shape = Shape.of(convention, one_model=isinstance(score, str))
    names = Names(scores=score_names(score), by=tuple(by) if isinstance(by, list) else by, **named)
    stream = StreamValues(table, shape, names, unsorted=unsorted, n_threads=n_threads)
    stream.read()
    return stream.columns()


def _refuse_frame(table: object, convention: object, named: Mapping[str, object]) -> None:
    """Raise InputError for a frame of Dask, Spark and others, over which iteration would give the names of columns."""
    if _is_table(table) or hasattr(table, "collect_schema") or not (columns := column_names(table)):
        return
    package = type(table).__module__.partition(".")[0]
    msg = f"table is a {type(table).__name__} of {package}, which this function does not read."
    call = whole_call("evaluate", table, columns, (table, convention), named)
    raise InputError(msg, hint=call if package in {"dask", "pyspark"} else "a table of pandas, polars or pyarrow")


class StreamSums:
    """Evaluates a stream, keeping exact sums over its queries, and an 8-byte hash of each query's id.

    The arguments are those of `evaluate_table`, and the segment of each query by its id, unless a column has them.
    `n_rows` counts the rows that were read.
    """

    def __init__(
        self, batches: object, conventions: Sequence[Convention], names: Names, by_id: Mapping[Any, Any] | None, *,
        unsorted: bool, n_threads: int | None, intervals: bool = False,
    ) -> None:  # fmt: skip
        refuse_pooled(conventions)
        self._intervals = intervals
        self._batches, self._conventions, self._names = batches, conventions, names
        self._unsorted, self._n_threads = flag("unsorted", unsorted), as_n_threads(n_threads)
        self._segment_by_id, self._unseen = by_id, set(by_id or ())
        self._seen = SeenQueries()
        self._n_queries = self.n_rows = 0
        self._sums: dict[str, Segmented] = {name: {} for name in names.scores}
        self._label_doubts: dict[Convention, str] = {}

    def read(self) -> None:
        """Read the stream to its end, and warn of its labels as `ra.evaluate` does."""
        reader = TableReader(self._names)
        tables: Generator[Any] = read_tables(self._batches, reader)
        if self._unsorted:
            from rankadapters.io.sorting import sorted_by_query

            tables = sorted_by_query(tables)
        with closing(tables):  # closing deletes temporary files
            for table in whole_queries(tables):
                rows = ScoredRows.of(table, self._names, reader.locate, self._n_queries)
                self._refuse_returning(rows, reader.locate)
                with locating(rows.numbers, reader.locate, n_queries=self._n_queries):
                    self._add(rows)
        if not self._n_queries:
            raise InputError("no batch has any rows.", hint="at least one row is needed")
        for message in dict.fromkeys(self._label_doubts.values()):
            warn_caller(message, LabelsWarning)

    def _add(self, rows: ScoredRows) -> None:
        queries = rows.queries
        evaluator = Evaluator.of(queries, self._conventions, self._n_threads)
        self._keep(
            rows, {name: evaluator.measure(of) for name, of in zip(self._names.scores, rows.scores, strict=True)}
        )
        undoubted = [convention for convention in self._conventions if convention not in self._label_doubts]
        self._label_doubts |= label_doubts(queries, undoubted, in_parts=True)
        if not self._n_queries:  # the first queries tell
            for scores in rows.scores:
                self._label_doubts = score_doubts(queries, self._conventions, scores) | self._label_doubts
        self._n_queries += queries.n_queries
        self.n_rows += queries.n_docs

    def _keep(self, rows: ScoredRows, measured: Mapping[str, Measured]) -> None:
        by = self._segment_by_id if rows.by is None else rows.by
        segments = assign(by, rows.queries, in_parts=True) if by is not None else {} if self._intervals else None
        self._unseen.difference_update(id_values(rows.queries.query_ids) if self._unseen else ())
        for name, of_model in measured.items():
            self._sums[name] = merged([self._sums[name], sums_by_segment(of_model, segments)])

    def tallies(self, shape: Shape) -> SegmentTallies:
        """Return the sums of the stream."""
        refuse_unknown_queries(self._unseen)
        return SegmentTallies(shape, self._sums, self._seen.ids)

    def _refuse_returning(self, rows: ScoredRows, locate: Callable[[int], str]) -> None:
        """Refuse a query whose rows are not together."""
        queries = rows.queries
        if queries.order is not None:
            row = int(np.argmin(np.diff(queries.query_of_row) >= 0)) + 1
            query = int(queries.query_of_row[row])
            began: str | None = locate(int(rows.numbers[queries.rows[queries.indptr[query]]]))
        elif (query := self._seen.add(queries.id_hashes)) >= 0:
            row = int(queries.indptr[query])
            began = self._begin_of(queries.id_hashes[query])
        else:
            return
        number, after = int(rows.numbers[row]), f"it began in {began}" if began else "others followed it"
        msg = f"{locate(number)}: query {queries.query_ids[query]} returns after {after}."
        hint = "sort the rows by query; unsorted=True does that, and --unsorted (or --split-queries) of the command"
        raise InputError(msg, hint=hint, row=number)

    def _begin_of(self, id_hash: np.uint64) -> str | None:
        """Return where the query with a hash began; None if the batches cannot be read a second time."""
        if isinstance(self._batches, Iterator) or any(map(is_pipe, _paths(self._batches))):
            return None
        reader = TableReader(self._names)
        for table in read_tables(self._batches, reader):
            rows = np.flatnonzero(hash_ids(id_array(table.column("qid"))) == id_hash)
            if rows.size:
                return reader.locate(int(table.column("row").to_numpy()[rows[0]]))
        return None


class StreamValues(StreamSums):
    """Evaluates a stream, keeping the values of each query; `names.by` are columns that the result has too."""

    def __init__(self, batches: object, shape: Shape, names: Names, *, unsorted: bool, n_threads: int | None) -> None:
        super().__init__(batches, shape.conventions, names, None, unsorted=unsorted, n_threads=n_threads)
        self._shape, self._parts = shape, list[dict[str, Any]]()

    def _keep(self, rows: ScoredRows, measured: Mapping[str, Measured]) -> None:
        self._parts.append(columns_of_values(rows, self._names, measured, self._shape))

    def columns(self) -> dict[str, Any]:
        """Return the columns of the values of all queries."""
        return {name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]}


def columns_of_values(rows: ScoredRows, names: Names, measured: Mapping[str, Measured], shape: Shape) -> dict[str, Any]:
    """Return the values of queries, facts about them, and the columns `names.by`, which are equal within a query."""
    by: Mapping[Any, Any] = rows.by if isinstance(rows.by, dict) else {names.by: rows.by}
    part = query_columns(measured, shape)
    for name in by if names.by else ():
        if name in part and not name == "qid" == names.qid:
            raise InputError(f"by={name!r} is the name of another column of the result.", hint="rename the column")
        of_query = values_of_queries(by[name], rows.queries, f"by[{name!r}]")
        if of_query.dtype.kind not in "biU":  # such values are plain already
            of_query = np.fromiter(map(segment_value, of_query), object, of_query.size)
        part[name] = np.tile(id_column(of_query), len(measured))
    return part


class SeenQueries:
    """Ids of all queries so far, 8 bytes each, in sorted arrays.

    Ids in int64 never share a hash. Among n other ids, some two share one with a probability of about n^2 / 2^65.
    """

    def __init__(self) -> None:
        self._arrays: list[Ids] = []

    @property
    def ids(self) -> Ids:
        """The hashes of all ids, in no order."""
        return np.concatenate(self._arrays)

    def add(self, hashes: Ids) -> int:
        """Add different hashes; return the index of the first one that was added before, -1 if there is none.

        Examples
        --------
        >>> seen = SeenQueries()
        >>> seen.add(np.array([5, 3], np.uint64)), seen.add(np.array([4, 3], np.uint64))
        (-1, 1)
        """
        is_seen = np.zeros(hashes.size, np.bool_)
        for array in self._arrays:
            is_seen |= array[np.minimum(np.searchsorted(array, hashes), array.size - 1)] == hashes
        self._arrays.append(np.sort(hashes))
        while len(self._arrays) > 1 and self._arrays[-1].size >= self._arrays[-2].size:  # so that few arrays remain
            arrays = [self._arrays.pop(), self._arrays.pop()]
            self._arrays.append(np.sort(np.concatenate(arrays), kind="stable"))  # merges in linear time
        return int(np.argmax(is_seen)) if is_seen.any() else -1


def whole_queries(tables: Iterable[Any]) -> Iterator[Any]:
    """Yield the same rows in tables of about 200,000 rows that cut no query; a query that is larger is one table."""
    import pyarrow as pa

    waiting: list[Any] = []
    n_rows, enough = 0, ROWS_AT_ONCE
    for table in tables:
        waiting.append(table)
        n_rows += table.num_rows
        if len(waiting) >= TABLES_AT_ONCE:
            waiting = [pa.concat_tables(waiting).combine_chunks()]
        if n_rows >= enough:
            rows = pa.concat_tables(waiting)
            last = _begin_of_last_query(rows.column("qid"))
            if last:
                yield rows.slice(0, last)
            waiting, n_rows = [rows.slice(last)], n_rows - last
            enough = max(ROWS_AT_ONCE, 2 * n_rows)
    if n_rows:
        yield pa.concat_tables(waiting)


def _begin_of_last_query(qid: Any) -> int:
    from pyarrow import compute

    is_other = compute.not_equal(qid, qid[-1]).to_numpy()
    return int(is_other.size - np.argmax(is_other[::-1])) if is_other.any() else 0


def read_tables(batches: Any, reader: TableReader) -> Generator[Any]:
    """Yield the checked tables of a stream, batch by batch.

    Raises
    ------
    InputError
        There is no table, or one is malformed.
    """
    if isinstance(batches, (str, os.PathLike)):
        batches = [batches]
    if _is_table(batches):
        yield from reader.read("the table", _arrow_batches("the table", batches, reader.names))
        return
    if not isinstance(batches, Iterable) or isinstance(batches, np.ndarray):
        raise _no_table("table", batches)
    n_batches = len(batches) if isinstance(batches, Sequence) else 0
    for number, batch in enumerate(batches):
        if isinstance(batch, (str, os.PathLike)):
            with closing(file_batches(batch, reader.names, step_of_file(number, n_batches))) as files:
                for source, parts in files:
                    yield from reader.read(source, parts)
        elif _is_table(batch):
            source = f"batch {number + 1}"
            yield from reader.read(source, _arrow_batches(source, batch, reader.names))
        else:
            raise _no_table(f"batch {number + 1}", batch)


def _paths(batches: Any) -> list[AnyPath]:
    entries = batches if isinstance(batches, Sequence) and not isinstance(batches, str) else [batches]
    return [entry for entry in entries if isinstance(entry, (str, os.PathLike))]


def _is_table(value: object) -> bool:
    """Return whether a value has named columns in a form that is read here."""
    names = ("__arrow_c_stream__", "__arrow_c_array__", "schema_arrow", "get_fragments")
    return isinstance(value, Mapping) or any(hasattr(value, name) for name in names)


def _no_table(source: str, value: object) -> InputError:
    msg = f"{source} is of type {type(value).__name__}; allowed are paths, tables, and iterables of them."
    hint = "a mapping of columns, such as {'label': ..., 'score': ..., 'qid': ...}"
    if hasattr(value, "collect"):  # polars and Spark have not computed such a frame yet
        hint = "collect() or collect_batches() of polars; a Spark DataFrame goes to ra.spark.evaluate"
    return InputError(msg, hint=hint)


def _verifying(dataset: Any) -> dict[str, Any]:
    """Return the options of reading a Dataset, with verified checksums of pages if all its files are Parquet."""
    from pyarrow.dataset import ParquetFragmentScanOptions

    formats = [getattr(part, "format", None) for part in getattr(dataset, "children", [dataset])]
    defaults = [getattr(kind, "default_fragment_scan_options", None) for kind in formats]
    if not all(isinstance(options, ParquetFragmentScanOptions) and options == defaults[0] for options in defaults):
        return {}
    verifying = ParquetFragmentScanOptions(page_checksum_verification=True)
    for name, member in vars(ParquetFragmentScanOptions).items():  # the user's object would keep a change
        value = getattr(defaults[0], name) if isdatadescriptor(member) else None
        if value is not None and name != "page_checksum_verification":
            setattr(verifying, name, value)
    return {"fragment_scan_options": verifying}


def _arrow_batches(source: str, table: Any, names: Names) -> Iterator[Any]:
    """Yield the named columns of a table as Arrow tables of bounded size."""
    import pyarrow as pa

    with arrow_errors(source, hint="columns of numbers, of texts or of times"):
        if hasattr(table, "schema_arrow"):  # a ParquetFile
            names.check(source, table.schema_arrow.names)
            yield from table.iter_batches(BATCH_ROWS, columns=names.all)
        elif hasattr(table, "get_fragments"):  # a Dataset
            names.check(source, table.schema.names)
            few_ahead = {"batch_readahead": 2, "fragment_readahead": 1}
            yield from table.to_batches(columns=names.all, batch_size=BATCH_ROWS, **few_ahead, **_verifying(table))
        else:
            if isinstance(table, Mapping) or type(table).__module__.startswith("pandas"):
                names.check(source, list(table))
                try:
                    table = arrow_table({name: table[name] for name in names.all}, names)
                except InputError as error:
                    raise error.about(source) from None
            elif hasattr(table, "get_columns"):  # a DataFrame of polars
                names.check(source, table.columns)
                if objects := [name for name in names.all if str(table.schema[name]) == "Object"]:
                    msg = f"{source}: column {objects[0]!r} has polars' type Object, which Arrow cannot read."
                    raise InputError(msg, hint="cast it first")
            is_batch = hasattr(table, "__arrow_c_array__")
            reader = [pa.record_batch(table)] if is_batch else pa.RecordBatchReader.from_stream(table)
            for batch in reader:
                names.check(source, batch.schema.names)
                part = pa.Table.from_batches([batch]).select(names.all)
                yield from (part.slice(start, BATCH_ROWS) for start in range(0, part.num_rows, BATCH_ROWS))
