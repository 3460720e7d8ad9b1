"""Regroup the rows of batches, which may end within a query, so that each query is whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rankadapters.io.stream_rows import StreamRows, joined

# Smaller parts cost more call overhead; larger parts need more memory and no longer fit in the CPU's cache.
ROWS_AT_ONCE = 200_000
PARTS_AT_ONCE = 1_000


def whole_queries(parts: Iterable[StreamRows]) -> Iterator[StreamRows]:
    """Yield the same rows, regrouped so that no query is in two parts.

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
