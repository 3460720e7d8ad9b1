"""A table of `rankadapters evaluate`, read as a stream: no more of it is in memory than a few rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankadapters.core.declaration.convention import Convention

if TYPE_CHECKING:
    from rankadapters.core.evaluation.score import Score
    from rankadapters.io.stream_rows import StreamColumns
    from rankadapters.io.stream_sums import StreamSums
    from rankadapters.io.text import AnyPath


class StreamedModel(NamedTuple):
    """What a stream gave for one model."""

    scores: dict[Convention, Score]
    query_ids: list[Any]
    values: dict[Convention, Any]  # of each query, empty unless asked for
    notes: list[str]


def evaluate_table(
    path: AnyPath, columns: StreamColumns, conventions: list[Convention], *, per_query: bool, unsorted: bool
) -> dict[str, StreamedModel]:
    """Evaluate each column of scores."""
    from rankadapters.io.streams import sums_of

    sums, by_query = sums_of(path, conventions, columns, unsorted=unsorted, per_query=per_query)
    models = {str(name): _model(sums, name, by_query) for name in columns.scores}
    next(iter(models.values())).notes.extend(sums.label_doubts.values())  # of all models, once
    return models


def _model(sums: StreamSums, name: Any, by_query: Iterable[tuple[Any, Any]]) -> StreamedModel:
    ids = [query for found, _ in by_query for query in found.tolist()]
    parts = [values[name] for _, values in by_query]
    values = {each: np.concatenate([part[each] for part in parts]) for each in (parts[0] if parts else ())}
    return StreamedModel(sums.scores(name), ids, values, sums.above_values(name))
