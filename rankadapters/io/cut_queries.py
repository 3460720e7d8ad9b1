"""Assemble whole queries from batches that end within a query, whose rows wait for the next batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rankadapters.io.stream_rows import StreamRows, joined

# With fewer rows the overhead of a call shows; with more, rows leave the CPU's cache and memory grows.
ROWS_AT_ONCE = 200_000
PARTS_AT_ONCE = 1_000


def whole_queries(parts: Iterable[StreamRows]) -> Iterator[StreamRows]:
    """Yield the same rows in parts that hold whole queries.

    It needs memory for about 200,000 rows, the largest batch or the largest query, whichever is more.
    """
    waiting: list[StreamRows] = []
    n_rows, has_whole_query = 0, False
    for rows in parts:
        has_whole_query = has_whole_query or rows.ids.size > 1 or bool(waiting and not rows.continues(waiting[-1]))
        waiting.append(rows)
        n_rows += rows.n_rows
        if has_whole_query and (n_rows >= ROWS_AT_ONCE or len(waiting) >= PARTS_AT_ONCE):
            whole, rest = joined(waiting).split_last_query()
            yield whole
            waiting, n_rows, has_whole_query = [rest], rest.n_rows, False
        elif len(waiting) >= PARTS_AT_ONCE:
            waiting = [joined(waiting)]
    if waiting:
        yield joined(waiting)
