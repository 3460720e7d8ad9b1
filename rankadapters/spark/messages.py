"""What a partition gives, on its way from an executor to the driver: JSON and Arrow, since we unpickle nothing."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa

from rankadapters.core import errors
from rankadapters.core.data.disjoint import Ids
from rankadapters.core.errors import RankAdaptersError
from rankadapters.partitions.asked import Asked
from rankadapters.partitions.jobs import Part
from rankadapters.partitions.rows import FrameRows
from rankadapters.segments.sums import Sums

SCHEMA = "said string, limbs binary, edges binary, ids binary"
_ARROW = pa.schema({"said": pa.string(), "limbs": pa.binary(), "edges": pa.binary(), "ids": pa.binary()})


def write(asked: Asked, given: Any, ids: Ids) -> Any:
    """Give the row that says what a job gave, a part, an error, or plain JSON types, and the ids."""
    said, limbs, edges = _said(asked, given)
    row = {"said": [json.dumps(said)], "limbs": [limbs], "edges": [edges], "ids": [ids.tobytes()]}
    return pa.RecordBatch.from_pydict(row, _ARROW)


def _said(asked: Asked, given: Any) -> tuple[dict[str, Any], bytes | None, bytes | None]:
    if isinstance(given, RankAdaptersError):
        row = getattr(given, "row", None)
        return {"error": type(given).__name__, "message": str(given), "row": row}, None, None
    if not isinstance(given, Part):
        return {"plain": given}, None, None
    largest = [(name, [sums.largest.get(each) for each in asked.conventions]) for name, sums in given.sums.items()]
    said = {"n_queries": given.n_queries, "kind": given.kind, "span": given.span, "largest": largest}
    limbs = b"".join(sums.limbs.tobytes() for sums in given.sums.values() if sums.limbs is not None)
    return said, limbs, None if given.edges is None else _table(given.edges)


def read(asked: Asked, row: Any) -> Any:
    """Read what `write` wrote, without the ids."""
    said = json.loads(row.said)
    if "plain" in said:
        return said["plain"]
    if "error" in said:
        error = getattr(errors, said["error"])(said["message"])
        if said["row"] is not None:
            error.row = said["row"]
        return error
    span = None if said["span"] is None else tuple(said["span"])
    lines = len(said["largest"]), len(asked.conventions)
    limbs = np.frombuffer(row.limbs, np.int64).reshape(*lines, len(row.limbs) // (8 * max(math.prod(lines), 1)))
    sums = {}
    for (name, values), of_segment in zip(said["largest"], limbs, strict=True):
        largest = {each: value for each, value in zip(asked.conventions, values, strict=True) if value is not None}
        sums[name] = Sums(of_segment, largest)
    return Part(sums, said["n_queries"], said["kind"], _rows(asked, row.edges), span)


def _table(rows: FrameRows) -> bytes:
    table = pa.table(rows.columns())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _rows(asked: Asked, edges: bytes | None) -> FrameRows | None:
    if edges is None:
        return None
    with pa.ipc.open_stream(edges) as stream:
        table = stream.read_all()
    return FrameRows.of(dict(zip(table.column_names, table.columns, strict=True)), asked)
