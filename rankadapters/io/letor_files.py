"""SVMlight and LETOR files, with predictions or a feature as scores, as checked rows: the one reader of judgments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from rankadapters.arrow_columns import MERGED
from rankadapters.core.data.columns import EXACT_INT, Array, Floats
from rankadapters.core.declaration.arguments import flag, whole
from rankadapters.core.errors import InputError
from rankadapters.io.letor_lines import LetorRows, bad_token, feature_token, line_of, read_rows
from rankadapters.io.predictions import Predictions
from rankadapters.io.stream_rows import Origin, StreamRows, as_objects
from rankadapters.io.text import AnyPath, after_rows, as_paths, is_finite, is_merged, listed
from rankadapters.progress import step_of_file

# The first of each comment; with \b in place of the look behind it would take twice as long.
_DOCIDS = re.compile(r"docid(?<!\wdocid)[^\S\n]*=[^\S\n]*(\S+).*", re.ASCII)


class LetorFiles:
    """Rows of feature files, for `ra.evaluate_stream`; made by `stream_letor`, and read anew each time.

    Parameters
    ----------
    files, predictions, feature, docids
        As in `read_letor`.
    """

    def __init__(
        self,
        files: AnyPath | Sequence[AnyPath],
        *,
        predictions: AnyPath | Sequence[AnyPath] | None,
        feature: int | None,
        docids: bool | None,
    ) -> None:
        self.files = as_paths(files)
        self.predictions = None if predictions is None else as_paths(predictions)
        self._feature = None if feature is None else whole("feature", feature, least=0)
        self._docids = None if docids is None else flag("docids", docids)
        if predictions is not None and feature is not None:
            msg = "predictions and feature were given, but the scores are in one of the two.\nHint: drop the other."
            raise InputError(msg)
        if not self.files:
            raise _no_rows("no file")

    def __repr__(self) -> str:
        """Name the files."""
        return f"LetorFiles({listed(self.files)})"

    def __iter__(self) -> Iterator[StreamRows]:
        """Read block by block."""
        numbers = None if self.predictions is None else Predictions(self.predictions)
        n_rows, has_feature = 0, self._feature is None
        for number, path in enumerate(self.files):
            first, step = n_rows, step_of_file(number, len(self.files))
            with after_rows(first):
                for rows in read_rows(path, self._feature, step):
                    has_feature = has_feature or any(rows.values)
                    scores = self._scores(path, n_rows - first, rows, numbers)
                    # Too few predictions are an error once all rows are counted.
                    if scores is None or scores.size == rows.labels.size:
                        yield self._part(path, n_rows - first, rows, scores)
                    n_rows += rows.labels.size
            if n_rows == first:
                raise _no_rows(path)
        if numbers is not None:
            numbers.check_end(n_rows, self.files)
        if not has_feature:
            msg = f"{listed(self.files)}: no line has feature {self._feature}.\nHint: features are numbered as written."
            raise InputError(msg)

    def _scores(self, path: AnyPath, n_before: int, rows: LetorRows, numbers: Predictions | None) -> Floats | None:
        if numbers is not None:
            return numbers.take(rows.labels.size)
        return None if self._feature is None else _feature_values(path, n_before, rows, self._feature)

    def _part(self, path: AnyPath, n_before: int, rows: LetorRows, scores: Floats | None) -> StreamRows:
        place = partial(_place, path)
        docids = None if self._docids is False else _docids(rows.comments, place, n_before, required=self._docids)
        return StreamRows(
            rows.labels,
            () if scores is None else (scores,),
            np.asarray([query.decode() for query in rows.queries]),
            rows.starts,
            {} if docids is None else {"docid": docids},
            (Origin(0, -n_before, place),),
            goes_on=n_before > 0,
        )


def stream_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: AnyPath | Sequence[AnyPath] | None = None,
    feature: int | None = None,
    docids: bool | None = None,
) -> LetorFiles:
    r"""Read SVMlight or LETOR files as `read_letor` does, block by block: batches for `ra.evaluate_stream`.

    Parameters
    ----------
    files, predictions, feature, docids
        As in `read_letor`. By default docids are read until a line has none.

    Returns
    -------
    LetorFiles
        An iterable, which reads the files anew each time.

    Raises
    ------
    InputError
        Not exactly one of `predictions` and `feature` was given. Errors in a file are raised when it is read.

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
    if predictions is None and feature is None:
        msg = "exactly one of predictions and feature is needed, but neither was given.\nHint: the scores are in one."
        raise InputError(msg)
    return LetorFiles(files, predictions=predictions, feature=feature, docids=docids)


def _feature_values(path: AnyPath, n_before: int, rows: LetorRows, feature: int) -> Floats:
    """Values of a feature, 0 where a row leaves it out, in rows that follow `n_before` rows of the file."""
    scores = np.asarray([float(value) if value else 0.0 for value in rows.values])
    for row in np.flatnonzero(~(np.abs(scores) < EXACT_INT)).tolist():
        if not is_finite(value := rows.values[row]):
            what = MERGED if is_merged(value) else "is not a finite number, which the score must be"
            raise bad_token(path, n_before + row, feature_token(rows.features[row], feature), what)
    return scores


def _docids(
    comments: Sequence[bytes], place: Callable[[int], str], n_before: int, *, required: bool | None
) -> Array | None:
    """Docid in the comment of each row; None where one has none, unless all are required."""
    lines = b"\n".join(comments).decode()
    docids: list[str] = _DOCIDS.findall(lines)
    if len(docids) == len(comments):
        return as_objects(docids)
    if not required:
        return None
    row = n_before + next(row for row, line in enumerate(lines.split("\n")) if not _DOCIDS.search(line))
    msg = (
        f"{place(row)} has no docid, which the convention needs for its ties.\n"
        "Hint: '#docid = NAME' at the end of every line, or other ties."
    )
    raise InputError(msg, row=row)


def _no_rows(path: AnyPath) -> InputError:
    return InputError(f"{path}: no line holds more than a comment.\nHint: 'label qid:QUERY feature:value ...'.")


def _place(path: AnyPath, row: int) -> str:
    return f"{path}, line {line_of(path, row)}"
