"""The value of all rows of a Dask DataFrame, the same bits as of one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar, Unpack, overload

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

from rankadapters.core.data.disjoint import Ids
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.score import Score
from rankadapters.core.evaluation.scores import Scores
from rankadapters.partitions import evaluation as shared
from rankadapters.partitions.asked import Asked, FrameKeywords, SegmentKeywords, frame_function
from rankadapters.partitions.jobs import Columns, values
from rankadapters.segments.segments import Segments

T = TypeVar("T")
Conventions = Iterable[Convention | str]


@overload
def evaluate(df: Any, convention: Convention | str, **asked: Unpack[FrameKeywords]) -> Score: ...
@overload
def evaluate(df: Any, convention: Conventions, **asked: Unpack[FrameKeywords]) -> Scores[Score]: ...
@overload
def evaluate(
    df: Any, convention: Convention | str | Conventions, **asked: Unpack[SegmentKeywords]
) -> Segments[Any]: ...
@frame_function
def evaluate(df: Any, convention: Convention | str | Conventions, **asked: Any) -> Any:
    """Evaluate predictions in a Dask DataFrame: the same bits, counts and digest as `ra.evaluate` on all rows.

    Each partition is ranked where it is, and exact sums travel: 1.2 kB a partition and convention, and 8 bytes a query.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        A row per document.
    convention : Convention or str, or iterable of them
        What to compute; several share one pass and one ranking.
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
    question = _asked(df, convention, **asked)
    return shared.evaluate(_Blocks(df, question), question)


@frame_function
def per_query(df: Any, convention: Convention | str | Conventions, **asked: Unpack[FrameKeywords]) -> Any:
    """Value of each query, as a Dask DataFrame; that no query is cut is checked at once, the values are lazy.

    Parameters
    ----------
    df, convention, label, score, qid, partitions, query_weight, row_weight, docid, order, ids_up_to
        As in `evaluate`.

    Returns
    -------
    dask.dataframe.DataFrame
        A row per query: `qid`, and a column for each convention by its `name`; NaN where a query is skipped.

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
    question = _asked(df, convention, **asked).with_each_name_once()
    blocks = _Blocks(df, question)
    cut = shared.per_query(blocks, question)
    qid = blocks.df._meta[question.columns["qid"]]  # noqa: SLF001 - there is no other way to a column's type
    meta = _frame(question, qid, [np.empty(0)] * len(question.conventions))
    found = blocks.df.map_partitions(_values, question, meta=meta)
    if cut is None:
        return found
    last = _frame(question, pd.Series(cut.query_ids).astype(qid.dtype), cut.values)
    return dd.concat([found, dd.from_pandas(last, npartitions=1)])


def _asked(df: Any, convention: Any, **asked: Unpack[FrameKeywords]) -> Asked:
    if not isinstance(df, dd.DataFrame):
        msg = f"df is a {type(df).__name__}, but a dask.dataframe.DataFrame is needed."
        raise InputError(f"{msg}\nHint: dask.dataframe.from_pandas(df, npartitions=...), or ra.evaluate.")
    return Asked.of(convention, list(df.columns), **asked)


class _Blocks:
    """Partitions of a Dask DataFrame, a task each."""

    def __init__(self, df: Any, asked: Asked) -> None:
        self.asked = asked
        self.df = df[asked.names]
        if asked.partitions == "shuffle":
            self.df = self.df.shuffle(on=asked.columns["qid"])

    def gather(
        self, job: Callable[[Columns, int], tuple[T, Ids]], wants_ids: Callable[[Sequence[T]], bool]
    ) -> tuple[list[T], list[Ids]]:
        """Run the tasks; the ids stay at the workers unless they are wanted."""
        run = dask.delayed(partial(_done, job, self.asked), pure=False)
        held = dask.persist(*(run(block, number) for number, block in enumerate(self.df.to_delayed())))
        given = list(dask.compute(*(each[0] for each in held)))
        return given, list(dask.compute(*(each[1] for each in held))) if wants_ids(given) else []


def _done(job: Callable[[Columns, int], T], asked: Asked, table: Any, number: int) -> T:
    return job(_columns(asked, table), number)


def _columns(asked: Asked, table: Any) -> Columns:
    return {what: table[name] for what, name in asked.columns.items()}


def _values(table: Any, asked: Asked) -> Any:
    columns = _columns(asked, table)
    query_ids, of_queries = values(asked, columns)
    return _frame(asked, pd.Series(query_ids).astype(columns["qid"].dtype), of_queries)


def _frame(asked: Asked, query_ids: Any, values: Sequence[Any]) -> Any:
    names = [each.name for each in asked.conventions]
    columns = dict(zip(names, values, strict=True))
    return pd.DataFrame({asked.columns["qid"]: query_ids.reset_index(drop=True), **columns})
