"""Whole queries out of batches that cut them: the rows of the last query wait for those that follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rankadapters.io.stream_rows import StreamRows, joined

# Fewer rows at once, and what a call costs shows; more, and they leave the cache, and memory grows.
ROWS_AT_ONCE = 200_000
PARTS_AT_ONCE = 1_000


def whole_queries(parts: Iterable[StreamRows]) -> Iterator[StreamRows]:
    """Give the same rows in parts that hold whole queries.

    Memory is that of some 200,000 rows, of the largest batch or of the largest query, whichever is more.
    """
    held: list[StreamRows] = []
    n_rows, several = 0, False
    for rows in parts:
        several = several or rows.ids.size > 1 or bool(held and not rows.follows(held[-1]))
        held.append(rows)
        n_rows += rows.n_rows
        if several and (n_rows >= ROWS_AT_ONCE or len(held) >= PARTS_AT_ONCE):
            whole, rest = joined(held).parted()
            yield whole
            held, n_rows, several = [rest], rest.n_rows, False
        elif len(held) >= PARTS_AT_ONCE:
            held = [joined(held)]
    if held:
        yield joined(held)
