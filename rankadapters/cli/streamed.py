"""A table of `rankadapters evaluate`, read as a stream: no more of it is in memory than a few rows."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
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

    with _cleared_when_terminated():
        sums, by_query = sums_of(path, conventions, columns, unsorted=unsorted, per_query=per_query)
    models = {str(name): _model(sums, name, by_query) for name in columns.scores}
    next(iter(models.values())).notes.extend(sums.label_doubts.values())  # of all models, once
    return models


class _TerminatedError(BaseException):
    """SIGTERM was received."""


@contextmanager
def _cleared_when_terminated() -> Iterator[None]:
    """Let SIGTERM end the process only once the block is left, and with it its temporary files are gone."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:  # another thread's, or the caller's own
        yield
        return

    def leave(*_: object) -> None:
        raise _TerminatedError

    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    except _TerminatedError:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _model(sums: StreamSums, name: Any, by_query: Iterable[tuple[Any, Any]]) -> StreamedModel:
    ids = [query for found, _ in by_query for query in found.tolist()]
    parts = [values[name] for _, values in by_query]
    values = {each: np.concatenate([part[each] for part in parts]) for each in (parts[0] if parts else ())}
    return StreamedModel(sums.scores(name), ids, values, sums.above_values(name))
