"""Run jobs on the partitions of a Dask DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import dask
import dask.dataframe as dd
import pandas as pd

from rankadapters.partitions import Columns, Frame, FrameRequest, Job, Values

T = TypeVar("T")


class DaskFrame(Frame):
    """A Dask DataFrame; each job is a task."""

    engine_type = dd.DataFrame
    type_name = "dask.dataframe.DataFrame"
    hint = "dask.dataframe.from_pandas(df, npartitions=...)"

    def __init__(self, df: Any, request: FrameRequest) -> None:
        self.request = request
        self.df = df[request.names.all]
        if request.partitions == "shuffle":
            self.df = self.df.shuffle(on=request.names.qid)

    def run(self, job: Job[T]) -> list[T]:
        """Run the job on each partition that has rows."""
        run = dask.delayed(_run, pure=False)
        tables = enumerate(self.df.to_delayed())
        results = dask.compute(*(run(job, self.request.names.by_role, table, number) for number, table in tables))
        return [result for result in results if result is not None]

    def values(self, function: Callable[[Columns], Values]) -> Any:
        """Map the partitions to tables of queries and values."""
        columns = {name: pd.Series(dtype=kind) for name, kind in self.request.value_types.items()}
        meta = _table(self.df._meta, self.request, columns)  # noqa: SLF001 - Dask has no public way to columns' types
        return self.df.map_partitions(_values, self.request, function, meta, meta=meta)


def _run(job: Job[T], names: Mapping[str, str], table: Any, number: int) -> T | None:
    return job(_columns(table, names), number) if len(table) else None


def _values(table: Any, request: FrameRequest, function: Callable[[Columns], Values], empty: Any) -> Any:
    if not len(table):
        return empty
    rows, values = function(_columns(table, request.names.by_role))
    return _table(table.iloc[rows].reset_index(drop=True), request, values)


def _table(table: Any, request: FrameRequest, values: Mapping[str, Any]) -> Any:
    """Return a table of queries: their ids, their values, and further columns of the given table."""
    kept = {name: table[request.names.by_role[role]] for name, role in request.kept.items()}
    return pd.DataFrame({"qid": None, **values, **kept})


def _columns(table: Any, names: Mapping[str, str]) -> Columns:
    return {role: table[name] for role, name in names.items()}
