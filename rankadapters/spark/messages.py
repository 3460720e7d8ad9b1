"""Encode a partition's result as JSON and Arrow to send it to the driver, since unpickling would be unsafe."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa

from rankadapters.core import errors
from rankadapters.core.errors import RankAdaptersError
from rankadapters.core.evaluation.tally import Ids
from rankadapters.partitions.jobs import Part
from rankadapters.partitions.request import FrameRequest
from rankadapters.partitions.rows import FrameRows

SCHEMA = "summary string, limbs binary, edges binary, ids binary"
_ARROW = pa.schema({"summary": pa.string(), "limbs": pa.binary(), "edges": pa.binary(), "ids": pa.binary()})


def write(result: Any, ids: Ids) -> Any:
    """Encode a job's result and ids as a batch of one row. The result is a Part, an error, or plain JSON types."""
    summary, limbs, edges = _encode(result)
    row = {"summary": [json.dumps(summary)], "limbs": [limbs], "edges": [edges], "ids": [ids.tobytes()]}
    return pa.RecordBatch.from_pydict(row, _ARROW)


def _encode(result: Any) -> tuple[dict[str, Any], bytes | None, bytes | None]:
    if isinstance(result, RankAdaptersError):
        row = getattr(result, "row", None)
        return {"error": type(result).__name__, "message": str(result), "row": row}, None, None
    if not isinstance(result, Part):
        return {"plain": result}, None, None
    summary = {"n_queries": result.n_queries, "kind": result.kind, "span": result.span, "segments": [*result.sums]}
    limbs = b"".join(sums.tobytes() for sums in result.sums.values())
    return summary, limbs, None if result.edges is None else _table(result.edges)


def read(request: FrameRequest, row: Any) -> Any:
    """Decode a result that `write` encoded; the ids are not decoded."""
    summary = json.loads(row.summary)
    if "plain" in summary:
        return summary["plain"]
    if "error" in summary:
        error = getattr(errors, summary["error"])(summary["message"])
        if summary["row"] is not None:
            error.row = summary["row"]
        return error
    span = None if summary["span"] is None else tuple(summary["span"])
    shape = len(summary["segments"]), len(request.conventions)
    limbs = np.frombuffer(row.limbs, np.int64).reshape(*shape, len(row.limbs) // (8 * max(math.prod(shape), 1)))
    sums = dict(zip(summary["segments"], limbs, strict=True))
    return Part(sums, summary["n_queries"], summary["kind"], _rows(request, row.edges), span)


def _table(rows: FrameRows) -> bytes:
    table = pa.table(rows.columns())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    encoded: bytes = sink.getvalue().to_pybytes()
    return encoded


def _rows(request: FrameRequest, edges: bytes | None) -> FrameRows | None:
    if edges is None:
        return None
    with pa.ipc.open_stream(edges) as stream:
        table = stream.read_all()
    return FrameRows.of(dict(zip(table.column_names, table.columns, strict=True)), request)
