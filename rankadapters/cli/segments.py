"""Read `--by` of `rankadapters evaluate`: a column of the table, or a file with the segment of each query."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rankadapters.core.errors import InputError

if TYPE_CHECKING:
    from rankadapters.io.text import AnyPath


def read_by(arguments: argparse.Namespace) -> Any:
    """Return the segment of each table row, or of each query by id; None without `--by`."""
    from rankadapters.io.stream_rows import StreamColumns, joined
    from rankadapters.io.table import stream_table

    if arguments.by is None or arguments.table is None:
        return None if arguments.by is None else _of_queries(arguments.by)
    columns = StreamColumns(arguments.label or "label", (), arguments.qid or "qid", by=arguments.by)
    return joined(list(stream_table(arguments.table, columns, lambda _done, _total: None))).columns["by"]


def _of_queries(path: AnyPath) -> dict[str, str]:
    """Read lines `query segment`; a segment may contain spaces."""
    from rankadapters.io.line_blocks import line_blocks

    segments: dict[str, str] = {}
    for number, line in enumerate(b"".join(line_blocks(path)).decode().splitlines(), 1):
        query, *rest = line.split(maxsplit=1) or [""]
        segment = "".join(rest).strip()
        if bool(query) > bool(segment) or segments.setdefault(query, segment) != segment:
            msg = f"{path}, line {number} is {line!r:.80}; expected a query and its only segment."
            raise InputError(msg, hint="write a line such as 'q7 long tail' for each query")
    segments.pop("", None)  # the key of blank lines
    return segments
