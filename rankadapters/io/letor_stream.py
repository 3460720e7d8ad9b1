"""SVMlight and LETOR files, with predictions or a feature as scores, as a stream of checked rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Array
from rankadapters.core.errors import InputError
from rankadapters.io.letor import feature_values, found_docids, no_feature, no_rows, require_docid
from rankadapters.io.letor_lines import line_of, stream_lines
from rankadapters.io.letor_rows import LetorRows
from rankadapters.io.predictions import NumberStream
from rankadapters.io.stream_rows import Origin, StreamRows, as_objects
from rankadapters.io.text import AnyPath, after_rows, as_paths, listed
from rankadapters.progress import step_of_file


class LetorStream:
    """Rows of feature files; made by `stream_letor`, for `ra.evaluate_stream`, and read once more each time."""

    def __init__(
        self, files: Sequence[AnyPath], predictions: Sequence[AnyPath] | None, feature: int | None, *, docids: bool
    ) -> None:
        self._files = files
        self._predictions = predictions
        self._feature = feature
        self._docids = docids

    def __repr__(self) -> str:
        """Name the files."""
        return f"LetorStream({listed(self._files)})"

    def __iter__(self) -> Iterator[StreamRows]:
        """Read a few blocks at a time."""
        numbers, n_rows, has_feature = NumberStream(self._predictions or ()), 0, False
        for number, path in enumerate(self._files):
            first = n_rows
            for rows, values in self._file(path, step_of_file(number, len(self._files)), first):
                has_feature = has_feature or not np.isnan(values).all()
                n = values.size
                scores = np.where(np.isnan(values), 0, values) if self._predictions is None else numbers.take(n)
                if scores.size == n:  # else there are too few, which is told once all rows are counted
                    yield self._part(path, first, n_rows - first, rows, scores)
                n_rows += n
            if n_rows == first:
                raise no_rows(path)
        if self._predictions is not None:
            numbers.check_end(n_rows, self._files)
        elif not has_feature:
            raise no_feature(listed(self._files), self._feature)

    def _file(
        self, path: AnyPath, step: Callable[[int, int], None], first: int
    ) -> Iterator[tuple[LetorRows, NDArray[np.float64]]]:
        """Read the rows of a file, and the feature where that is the score."""
        n_rows = 0
        with after_rows(first):
            for rows in stream_lines(path, step):
                yield rows, feature_values(path, n_rows, rows, self._feature)
                n_rows += rows.labels.size

    def _part(self, path: AnyPath, first: int, before: int, rows: LetorRows, scores: NDArray[np.float64]) -> StreamRows:
        place = partial(_place, path)
        more: dict[str, Array] = {}
        if self._docids:
            docids: list[str | None] = [*found_docids(rows.comments.texts())]
            if None in docids:
                row = docids.index(None) + before
                raise require_docid(place(row), first + row)
            more["docid"] = as_objects([docid.encode() for docid in docids if docid is not None])
        ids = np.asarray([query.decode() for query in rows.queries])
        origins = (Origin(0, -before, place),)
        return StreamRows(rows.labels, (scores,), ids, rows.stretches, more, origins, goes_on=before > 0)


def stream_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: AnyPath | Sequence[AnyPath] | None = None,
    feature: int | None = None,
    docids: bool = False,
) -> LetorStream:
    r"""Read SVMlight or LETOR files as `read_letor` does, a few blocks at a time: batches for `ra.evaluate_stream`.

    Parameters
    ----------
    files : path or sequence of path
        Feature files, which follow each other.
    predictions : path or sequence of path, optional
        Files with one number per line for each row of `files`, in their order.
    feature : int, optional
        In place of predictions: the feature that is the score, 0 on a line that leaves it out.
    docids : bool
        Whether to read docids, which then every line needs; for conventions whose ties go by docid.

    Raises
    ------
    InputError
        Not exactly one of `predictions` and `feature` was given. What is wrong in a file is found when it is read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankadapters as ra
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name, "fold.txt")
    >>> _ = file.write_text("2 qid:7 1:0.5\n0 qid:7 1:0.25\n")
    >>> ra.evaluate_stream(ra.io.stream_letor(file, feature=1), "yahoo@10").value
    1.0
    >>> folder.cleanup()
    """
    if (predictions is None) == (feature is None):
        given = "neither was" if feature is None else "both were"
        msg = f"exactly one of predictions and feature is needed, but {given} given.\nHint: the scores are in one."
        raise InputError(msg)
    paths = as_paths(files)
    if not paths:
        raise no_rows("no file")
    return LetorStream(paths, None if predictions is None else as_paths(predictions), feature, docids=docids)


def _place(path: AnyPath, row: int) -> str:
    return f"{path}, line {line_of(path, row)}"
