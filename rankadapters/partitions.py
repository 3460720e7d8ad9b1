"""Evaluate the partitions of a frame one by one and merge their sums; subclasses for Dask and Spark run the jobs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, Required, Self, TypeVar, Unpack, get_args, overload

import numpy as np

from rankadapters.core.arrays import Ints
from rankadapters.core.data.ids import hash_ids, id_kind
from rankadapters.core.declaration.arguments import word
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import FRAME, shows_call
from rankadapters.core.docstrings import describes
from rankadapters.core.errors import InputError, RankAdaptersError, UnsupportedConventionError
from rankadapters.evaluation.assignment import assign, column_or_segments, refuse_entry_per_row, refuse_unknown_queries
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.measured import Measured, relevance_rule
from rankadapters.evaluation.score import Score, Scores, ScoresOfModels, Shape
from rankadapters.evaluation.segment_sums import Segmented, merged, outcomes, refuse_pooled, sums_by_segment
from rankadapters.evaluation.segments import Segments
from rankadapters.evaluation.tally import Ids
from rankadapters.io.rows import ColumnKeywords, Names, ScoredRows, rows_of_partition, score_names
from rankadapters.io.streams import columns_of_values
from rankadapters.presets.texts import Conventions

Partitions = Literal["whole", "shuffle"]
T = TypeVar("T")
Columns = Mapping[str, Any]  # pandas or Arrow columns of a partition with at least one row, keyed by role: label, ...
Job = Callable[[Columns, int], T]  # takes a partition and its number; can be pickled
# The first row of each query of a partition, for each model, and the columns of values and of facts about the queries.
Values = tuple[Ints, dict[str, Any]]

MAX_TRACED_IDS = 1000  # maximum number of repeated ids whose queries are looked up for the error message
TIES_BY_ROW_ORDER = {"input", "reverse"}


class FrameKeywords(ColumnKeywords, total=False):
    """Keywords of `evaluate`, for type checkers."""

    partitions: Required[Partitions]
    order: str | None


def as_partitions(partitions: object) -> str:
    """Check how the partitions hold the queries."""
    hint = "'shuffle' works for every frame; 'whole' moves no rows, but each query must be in one partition"
    return word("partitions", partitions, get_args(Partitions), hint=hint)


@dataclass(frozen=True, kw_only=True)
class FrameRequest:
    """The checked arguments of a call of `evaluate` or `per_query`, which are sent to every worker."""

    shape: Shape
    names: Names
    partitions: str
    by: Mapping[Any, Any] | None  # segment of each query by its id; None if there are no segments or they are a column

    @classmethod
    def of(cls, convention: Any, partitions: object, names: Names, by: Any, *, one_model: bool) -> Self:
        """Check the arguments of a call."""
        shape = Shape.of(convention, one_model=one_model)
        refuse_pooled(shape.conventions)
        for checked in shape.conventions:
            _refuse_unfit(checked, names)
        return cls(shape=shape, names=names, partitions=as_partitions(partitions), by=by)

    def without_repeats(self) -> Self:
        """Return the request without repeated conventions, for a table with one column per name."""
        distinct = list({convention.name: convention for convention in self.conventions}.values())
        return replace(self, shape=self.shape._replace(conventions=distinct))

    @property
    def conventions(self) -> Sequence[Convention]:
        """The conventions to compute, which may repeat."""
        return self.shape.conventions

    @property
    def kept(self) -> dict[str, str]:
        """The columns that a frame of values has as they are: the role of each one, by its name there."""
        by = (self.names.by,) if isinstance(self.names.by, str) else self.names.by or ()
        roles = {name: role for role, name in self.names.by_role.items() if role.startswith("by")}
        return {"qid": "qid", **{name: roles[name] for name in by}}

    @property
    def value_types(self) -> dict[str, type]:
        """The types of the other columns of a frame of values."""
        n_relevant = {} if relevance_rule(self.conventions) is None else {"n_relevant": int}
        return {
            **self.shape.model(str), **{convention.name: float for convention in self.conventions},
            "n_rows": int, "n_retrieved": int, **n_relevant, "empty": bool,
            **({} if self.names.query_weight is None else {"query_weight": float}),
        }  # fmt: skip

    @property
    def has_segments(self) -> bool:
        """Whether the queries are divided into segments."""
        return self.by is not None or self.names.by is not None


def _refuse_unfit(convention: Convention, names: Names) -> None:
    if convention.get("pairs") == "given":
        msg = f"{convention.name} takes given pairs of rows, but rows of a cluster have no numbers for them."
        raise UnsupportedConventionError(msg, hint="pairs='label', or ra.evaluate(pairs=) in one process")
    ties = convention.get("ties")
    if ties in TIES_BY_ROW_ORDER and names.order is None:
        msg = f"{convention.name} breaks ties by row order (ties={ties!r}), but rows of a cluster have no order."
        hint = "order=, a column of numbers that sorts the rows of a query, or convention.replace(ties='average')"
        raise InputError(msg, hint=hint)
    if ties.startswith("docid") and names.docid is None:
        msg = f"{convention.name} breaks ties by document (ties={ties!r}), but docid= was not given."
        raise InputError(msg, hint="docid=, a column of strings or integers")


class Frame(ABC):
    """A Dask or Spark frame, after a shuffle if the caller requested one; each engine has a subclass."""

    engine_type: ClassVar[type[Any]]  # the engine's class of frames
    type_name: ClassVar[str]
    hint: ClassVar[str]  # of the error for another type: how to make such a frame

    @abstractmethod
    def __init__(self, df: Any, request: FrameRequest) -> None: ...

    @abstractmethod
    def run(self, job: Job[T]) -> list[T]:
        """Run a job on each partition that has rows, and return the results."""

    @abstractmethod
    def values(self, function: Callable[[Columns], Values]) -> Any:
        """Return a lazy frame of queries and their values, which the function computes from a partition's columns."""

    def fix(self) -> None:  # noqa: B027 - Dask's partitions never change
        """Ensure that all jobs see the same partitions."""

    @overload
    @classmethod
    def evaluate(
        cls, df: Any, convention: Convention | str, *, score: str = ..., **keywords: Unpack[FrameKeywords]
    ) -> Score: ...
    @overload
    @classmethod
    def evaluate(
        cls, df: Any, convention: Convention | str, *, score: Sequence[str], **keywords: Unpack[FrameKeywords]
    ) -> ScoresOfModels: ...
    @overload
    @classmethod
    def evaluate(
        cls, df: Any, convention: Conventions, *, score: str = ..., **keywords: Unpack[FrameKeywords]
    ) -> Scores[Score]: ...
    @overload
    @classmethod
    def evaluate(
        cls, df: Any, convention: Conventions, *, score: Sequence[str], **keywords: Unpack[FrameKeywords]
    ) -> Scores[ScoresOfModels]: ...
    @overload
    @classmethod
    def evaluate(
        cls, df: Any, convention: Convention | str | Conventions, *, score: str | Sequence[str] = ..., by: object,
        **keywords: Unpack[FrameKeywords],
    ) -> Segments[Any]: ...  # fmt: skip
    @classmethod
    @shows_call(FRAME)
    def evaluate(
        cls,
        df: Any,
        convention: Convention | str | Conventions,
        *,
        label: str = "label",
        score: str | Sequence[str] = "score",
        qid: str = "qid",
        partitions: Partitions,
        query_weight: str | None = None,
        row_weight: str | None = None,
        docid: str | None = None,
        by: Any = None,
        order: str | None = None,
    ) -> Any:
        """Evaluate predictions in a Dask or Spark DataFrame, bit for bit like `ra.evaluate` on all rows.

        Each worker ranks its own partitions, so it needs this package, and returns exact sums: 1.2 kB per partition
        and convention, and 8 bytes per query.

        Parameters
        ----------
        df : dask.dataframe.DataFrame or pyspark.sql.DataFrame
            One row per document.
        convention : Convention or str, or iterable of these, or mapping of str to these
            The conventions to compute; all of them share one pass and one ranking.
        label, qid : str
            Columns of labels and query ids. Labels and scores are finite numbers; float32 stays float32. Query ids are
            numbers, strings or times.
        score : str, or sequence of str
            Column of scores, or one column per model.
        partitions : str
            How the partitions hold the queries. `whole`: each query is in one partition, as after Spark's
            `repartition(qid)` or `orderBy(qid)`; this is checked. `shuffle`: in any way; the rows are moved so that
            each query is in one partition.
        query_weight : str, optional
            Column of query weights, equal within a query.
        row_weight : str, optional
            Column of row weights.
        docid : str, optional
            Column of document identifiers, strings or integers, unique within a query.
        by : str, list of str, mapping or pandas Series, optional
            Column with the segment of each row, equal within a query, or several columns, whose combinations are the
            segments. Or a mapping of every query's id to its segment.
        order : str, optional
            Column of numbers or times that orders the rows of a query. `ties="input"` and `ties="reverse"` need it,
            because rows of a cluster have no order; for losses, it decides the last bit.

        Returns
        -------
        Score, mapping, or Segments
            As `ra.evaluate_table` returns it.

        Raises
        ------
        InputError
            A query is cut, an entry is missing, an argument is not allowed, or `ra.evaluate` would raise it. The
            message names the query or the partition, and counts rows from 0 within the partition.
        UnsupportedConventionError
            A convention pools all rows (`pool="rows"`), so partitions cannot be added up, or it takes given pairs of
            rows.

        Examples
        --------
        >>> import dask
        >>> import dask.dataframe as dd
        >>> import pandas as pd
        >>> import rankadapters as ra
        >>> rows = pd.DataFrame({"qid": [7, 7, 8, 8, 8], "label": [1, 0, 0, 0, 1], "score": [0.1, 0.2, 0.5, 0.4, 0.3]})
        >>> df = dd.from_pandas(rows, npartitions=2)
        >>> with dask.config.set(scheduler="synchronous"):
        ...     ra.dask.evaluate(df, "textbook@3", partitions="shuffle").value
        0.5654648767857288

        >>> df = spark.createDataFrame(rows)  # doctest: +SKIP
        >>> ra.spark.evaluate(df, "textbook@3", partitions="shuffle").value  # doctest: +SKIP
        0.5654648767857288
        """
        by_column, by_id = column_or_segments(by)
        names = Names(
            label=label, scores=score_names(score), qid=qid, query_weight=query_weight, row_weight=row_weight,
            docid=docid, by=by_column, order=order,
        )  # fmt: skip
        request = cls._request(df, convention, partitions, names, by_id, one_model=isinstance(score, str))
        parts = _checked_parts(cls(df, request), request, ranks=True)
        refuse_entry_per_row(by, sum(part.n_rows for part in parts))
        sums = {name: merged(part.sums[name] for part in parts) for name in names.scores}
        by_model = {name: outcomes(of_model, request.conventions) for name, of_model in sums.items()}
        segments: Segments[Any] = Segments(request.shape, by_model)
        return segments if request.has_segments else segments.all

    @classmethod
    @describes(evaluate)
    @shows_call(FRAME.replace("evaluate", "per_query"))
    def per_query(
        cls,
        df: Any,
        convention: Convention | str | Conventions,
        *,
        label: str = "label",
        score: str | Sequence[str] = "score",
        qid: str = "qid",
        partitions: Partitions,
        query_weight: str | None = None,
        row_weight: str | None = None,
        docid: str | None = None,
        by: str | list[str] | None = None,
        order: str | None = None,
    ) -> Any:
        """Return the value of each query as a lazy Dask or Spark DataFrame; `whole` is checked immediately.

        Spark may partition `df` differently each time it is computed, for example by adaptive execution after a sort.
        With `partitions="whole"`, the executors therefore keep the checked columns (`localCheckpoint`) until the
        returned frame is gone, and compute the values from them. If an executor that keeps some is lost, Spark fails.
        Spark wraps an error that occurs only when the values are computed.

        Parameters
        ----------
        df, convention, label, score, qid, partitions, query_weight, row_weight, docid, order
            As in `evaluate`.
        by : str, or list of str, optional
            Columns about the queries, equal on all rows of a query, which the result has too.

        Returns
        -------
        dask.dataframe.DataFrame or pyspark.sql.DataFrame
            The columns of `ra.per_query(..., frame=True)`, which `ra.audit.order` takes once they are in memory. Put
            the name of a convention in backticks in Spark's SQL.

        Raises
        ------
        InputError, UnsupportedConventionError
            As in `evaluate`.

        Examples
        --------
        >>> import dask
        >>> import dask.dataframe as dd
        >>> import pandas as pd
        >>> import rankadapters as ra
        >>> rows = pd.DataFrame({"qid": ["a", "a", "b", "b"], "label": [1, 0, 0, 1], "score": [0.1, 0.2, 0.4, 0.5]})
        >>> df = dd.from_pandas(rows, npartitions=2)
        >>> with dask.config.set(scheduler="synchronous"):
        ...     ra.dask.per_query(df, "textbook@1", partitions="whole").compute()
          qid  ndcg@1/textbook  n_rows  n_retrieved  empty
        0   a              0.0       2            2  False
        0   b              1.0       2            2  False
        """
        names = Names(
            label=label, scores=score_names(score), qid=qid, query_weight=query_weight, row_weight=row_weight,
            docid=docid, by=tuple(by) if isinstance(by, list) else by, order=order,
        )  # fmt: skip
        request = cls._request(df, convention, partitions, names, one_model=isinstance(score, str)).without_repeats()
        frame = cls(df, request)
        if request.partitions == "whole":
            frame.fix()
            _checked_parts(frame, request, ranks=False)
        return frame.values(partial(values_of_queries, request))

    @classmethod
    def _request(
        cls, df: Any, convention: Any, partitions: str, names: Names, by: Any = None, *, one_model: bool
    ) -> FrameRequest:
        if not isinstance(df, cls.engine_type):
            msg = f"df is a {type(df).__name__}, but a {cls.type_name} is needed."
            raise InputError(msg, hint=f"{cls.hint}, or ra.evaluate")
        names.check("the frame", list(df.columns))
        return FrameRequest.of(convention, partitions, names, by, one_model=one_model)


class Part(NamedTuple):
    """The result of a partition."""

    number: int  # of the partition
    kind: str  # of the query ids, for messages
    ids: Ids  # hashes of the query ids
    n_rows: int
    sums: dict[str, Segmented]  # over the queries, by model and segment; none if only the ids were requested


def part_of(request: FrameRequest, ranks: bool, columns: Columns, number: int) -> Part | RankAdaptersError:  # noqa: FBT001 - of a partial
    """Return the ids of a partition's queries and, if `ranks`, the sums of their values under each convention.

    An error is returned, since Dask and Spark hide or retry a job that raises.
    """
    try:
        rows = rows_of_partition(columns, request.names)
        sums = _sums(request, rows) if ranks else {}
    except RankAdaptersError as error:
        return error.about(f"partition {number}")
    return Part(number, id_kind(rows.queries.query_ids), rows.queries.id_hashes, rows.queries.n_docs, sums)


def _sums(request: FrameRequest, rows: ScoredRows) -> dict[str, Segmented]:
    by = rows.by if request.by is None else request.by
    segments = None if by is None else assign(by, rows.queries, in_parts=True)
    return {name: sums_by_segment(measured, segments) for name, measured in _measure(request, rows).items()}


def _measure(request: FrameRequest, rows: ScoredRows) -> dict[str, Measured]:
    evaluator = Evaluator.of(rows.queries, request.conventions, n_threads=1)
    return {name: evaluator.measure(of) for name, of in zip(request.names.scores, rows.scores, strict=True)}


def values_of_queries(request: FrameRequest, columns: Columns) -> Values:
    """Return the first row of each query of a partition, for each model, and the columns of values."""
    rows = rows_of_partition(columns, request.names)
    queries, measured = rows.queries, _measure(request, rows)
    values = columns_of_values(rows, request.names, measured, request.shape)
    first_rows = np.tile(queries.rows[queries.indptr[:-1]], len(measured))
    return first_rows, {name: values[name] for name in request.value_types}


def queries_with_ids(request: FrameRequest, ids: Ids, columns: Columns, _: int) -> list[tuple[int, Any]]:
    """Return the hash and the id of each query of a partition whose hash is one of `ids`."""
    queries = rows_of_partition(columns, request.names).queries
    repeated = np.isin(queries.id_hashes, ids)
    return list(zip(queries.id_hashes[repeated].tolist(), queries.query_ids[repeated].tolist(), strict=True))


def _checked_parts(frame: Frame, request: FrameRequest, *, ranks: bool) -> Sequence[Part]:
    """Run a job on each partition, and check that no query is in two of them."""
    parts = []
    for result in frame.run(partial(part_of, request, ranks)):
        if isinstance(result, RankAdaptersError):
            raise result
        parts.append(result)
    if not parts:
        raise InputError("the frame holds no rows.", hint="at least one row is needed")
    kinds = sorted({part.kind for part in parts}, reverse=True)
    if len(kinds) > 1:
        raise InputError(f"qid holds {' in some partitions and '.join(kinds)} in others.", hint="cast it first")
    _refuse_cut(frame, request, parts)
    if request.by is not None:
        hashes = hash_ids(np.fromiter(request.by, object, len(request.by)))
        known = np.isin(hashes, np.concatenate([part.ids for part in parts])).tolist()
        refuse_unknown_queries(query for query, is_known in zip(request.by, known, strict=True) if not is_known)
    return parts


def _refuse_cut(frame: Frame, request: FrameRequest, parts: Sequence[Part]) -> None:
    """Refuse queries that are in two partitions, and name one.

    Different texts may have the same hash, so a query is cut only if its hash occurs more often than there are queries
    with that hash.
    """
    ids, counts = np.unique(np.concatenate([part.ids for part in parts]), return_counts=True)
    n_parts = dict(zip(ids[counts > 1].tolist(), counts[counts > 1].tolist(), strict=True))
    if not n_parts:
        return
    traced = ids[counts > 1][:MAX_TRACED_IDS]
    queries = set[tuple[int, Any]]().union(*frame.run(partial(queries_with_ids, request, traced)))
    n_queries = Counter(number for number, _ in queries)
    cut = [(name, number) for number, name in queries if n_queries[number] < n_parts[number]]
    if cut:
        name, number = min(cut)
        first, *_, last = [part.number for part in parts if np.uint64(number) in part.ids]
        more = f", and {len(n_parts) - 1} more queries are in several" if len(n_parts) > 1 else ""
        msg = f"query {name} is in partitions {first} and {last}{more}."
        raise InputError(msg, hint="partitions='shuffle', which moves the rows of a query together")
