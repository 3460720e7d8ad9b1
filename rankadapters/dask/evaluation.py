"""Evaluate all rows of a Dask DataFrame; results are bit for bit the same as in one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar, Unpack, overload

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.score import Score, Scores
from rankadapters.core.evaluation.tally import Ids
from rankadapters.partitions import evaluation as shared
from rankadapters.partitions.jobs import Columns, Job, values_of_partition
from rankadapters.partitions.request import FrameKeywords, FrameRequest, SegmentKeywords, frame_function
from rankadapters.segments.segments import Segments

T = TypeVar("T")
Conventions = Iterable[Convention | str]


@overload
def evaluate(df: Any, convention: Convention | str, **kwargs: Unpack[FrameKeywords]) -> Score: ...
@overload
def evaluate(df: Any, convention: Conventions, **kwargs: Unpack[FrameKeywords]) -> Scores[Score]: ...
@overload
def evaluate(
    df: Any, convention: Convention | str | Conventions, **kwargs: Unpack[SegmentKeywords]
) -> Segments[Any]: ...
@frame_function
def evaluate(df: Any, convention: Convention | str | Conventions, **kwargs: Any) -> Any:
    """Evaluate predictions in a Dask DataFrame; the result equals that of `ra.evaluate` on all rows, bit for bit.

    Each worker ranks its own partitions and returns exact sums: 1.2 kB per partition and convention, and 8 bytes per
    query.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        One row per document.
    convention : Convention or str, or iterable of them
        The conventions to compute; all of them share one pass and one ranking.
    {KEYWORDS}

    Returns
    -------
    {RETURNS}

    Raises
    ------
    {RAISES}

    Examples
    --------
    >>> import dask
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"query": [7, 7, 8, 8, 8], "grade": [1, 0, 0, 0, 1], "model": [0.1, 0.2, 0.5, 0.4, 0.3]})
    >>> df = dd.from_pandas(rows, npartitions=2)
    >>> columns = {"label": "grade", "score": "model", "qid": "query"}
    >>> with dask.config.set(scheduler="synchronous"):
    ...     evaluate(df, "textbook@3", **columns, partitions="sorted").value
    0.5654648767857288
    """
    request = _request(df, convention, **kwargs)
    return shared.evaluate(_DaskPartitions(df, request), request)


@frame_function
def per_query(df: Any, convention: Convention | str | Conventions, **kwargs: Unpack[FrameKeywords]) -> Any:
    """Return the value of each query as a lazy Dask DataFrame; the partitions are checked immediately.

    Parameters
    ----------
    df, convention, label, score, qid, partitions, query_weight, row_weight, docid, order, ids_up_to
        As in `evaluate`.

    Returns
    -------
    dask.dataframe.DataFrame
        One row per query: `qid`, and a column named `convention.name` for each convention; NaN if a query is skipped.

    Raises
    ------
    InputError, UnsupportedConventionError
        As in `evaluate`.

    Examples
    --------
    >>> import dask
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"query": ["a", "a", "b", "b"], "grade": [1, 0, 0, 1], "model": [0.1, 0.2, 0.4, 0.5]})
    >>> df = dd.from_pandas(rows, npartitions=2)
    >>> with dask.config.set(scheduler="synchronous"):
    ...     per_query(df, "textbook@1", label="grade", score="model", qid="query", partitions="whole").compute()
      query  ndcg@1/textbook
    0     a              0.0
    0     b              1.0
    """
    request = _request(df, convention, **kwargs).without_repeats()
    partitions = _DaskPartitions(df, request)
    cut = shared.per_query(partitions, request)
    qid = partitions.df._meta[request.columns["qid"]]  # noqa: SLF001 - Dask has no public way to a column's type
    meta = _table(request, qid, [np.empty(0)] * len(request.conventions))
    whole = partitions.df.map_partitions(_values, request, meta=meta)
    if cut is None:
        return whole
    last = _table(request, pd.Series(cut.query_ids).astype(qid.dtype), cut.values)
    return dd.concat([whole, dd.from_pandas(last, npartitions=1)])


def _request(df: Any, convention: Any, **kwargs: Unpack[FrameKeywords]) -> FrameRequest:
    if not isinstance(df, dd.DataFrame):
        msg = f"df is a {type(df).__name__}, but a dask.dataframe.DataFrame is needed."
        raise InputError(f"{msg}\nHint: dask.dataframe.from_pandas(df, npartitions=...), or ra.evaluate.")
    return FrameRequest.of(convention, list(df.columns), **kwargs)


class _DaskPartitions:
    """The partitions of a Dask DataFrame; each job is one task."""

    def __init__(self, df: Any, request: FrameRequest) -> None:
        self.request = request
        self.df = df[request.names]
        if request.partitions == "shuffle":
            self.df = self.df.shuffle(on=request.columns["qid"])

    def gather(self, job: Job[T], wants_ids: Callable[[Sequence[T]], bool]) -> tuple[list[T], list[Ids]]:
        """Run the job on each partition; fetch the ids from the workers only if `wants_ids(results)` is true."""
        run = dask.delayed(partial(_run, job, self.request), pure=False)
        pairs = dask.persist(*(run(table, number) for number, table in enumerate(self.df.to_delayed())))
        results = list(dask.compute(*(pair[0] for pair in pairs)))
        return results, list(dask.compute(*(pair[1] for pair in pairs))) if wants_ids(results) else []


def _run(job: Callable[[Columns, int], T], request: FrameRequest, table: Any, number: int) -> T:
    return job(_columns(request, table), number)


def _columns(request: FrameRequest, table: Any) -> Columns:
    return {role: table[name] for role, name in request.columns.items()}


def _values(table: Any, request: FrameRequest) -> Any:
    columns = _columns(request, table)
    query_ids, values = values_of_partition(request, columns)
    return _table(request, pd.Series(query_ids).astype(columns["qid"].dtype), values)


def _table(request: FrameRequest, query_ids: Any, values: Sequence[Any]) -> Any:
    names = [convention.name for convention in request.conventions]
    columns = dict(zip(names, values, strict=True))
    return pd.DataFrame({request.columns["qid"]: query_ids.reset_index(drop=True), **columns})
