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
        meta = self.df._meta[[self.request.names.qid]]  # noqa: SLF001 - Dask has no public way to a column's type
        meta = meta.assign(**{convention.name: pd.Series(dtype=float) for convention in self.request.conventions})
        return self.df.map_partitions(_values, self.request.names.by_role, function, meta.iloc[:0], meta=meta)


def _run(job: Job[T], names: Mapping[str, str], table: Any, number: int) -> T | None:
    return job(_columns(table, names), number) if len(table) else None


def _values(table: Any, names: Mapping[str, str], function: Callable[[Columns], Values], empty: Any) -> Any:
    if not len(table):
        return empty
    rows, values = function(_columns(table, names))
    columns = zip(empty.columns, (table[names["qid"]].iloc[rows].reset_index(drop=True), *values), strict=True)
    return pd.DataFrame(dict(columns))


def _columns(table: Any, names: Mapping[str, str]) -> Columns:
    return {role: table[name] for role, name in names.items()}
