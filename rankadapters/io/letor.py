"""Read labels, queries and docids from SVMlight and LETOR files; scores from prediction files or from a feature."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import overload

import numpy as np

from rankadapters.arrow_columns import MERGED
from rankadapters.core.data.columns import EXACT_INT, Array, Floats
from rankadapters.core.declaration.arguments import flag, whole
from rankadapters.core.errors import InputError
from rankadapters.io.judgments import Judgments, ScoredJudgments, check_split_queries, judgments_of
from rankadapters.io.letor_lines import LetorRows, bad_token, feature_token, line_of, read_rows
from rankadapters.io.predictions import Predictions
from rankadapters.io.stream_rows import Origin, StreamRows, as_objects, joined
from rankadapters.io.text import AnyPath, as_paths, is_finite, is_merged, join_paths, shift_error_rows
from rankadapters.progress import step_of_file

Paths = AnyPath | Sequence[AnyPath]

# Matches the first docid of each comment; the look-behind is twice as fast as \b.
_DOCIDS = re.compile(r"docid(?<!\wdocid)[^\S\n]*=[^\S\n]*(\S+).*", re.ASCII)
_DUPLICATE_HINT = "drop one of the two, or docids=False, which reads none: only ties by docid need them"


@overload
def read_letor(
    files: Paths, *, predictions: None = ..., feature: None = ..., docids: bool | None = ..., split_queries: str = ...
) -> Judgments: ...
@overload
def read_letor(
    files: Paths, *, predictions: Paths, feature: None = ..., docids: bool | None = ..., split_queries: str = ...
) -> ScoredJudgments: ...
@overload
def read_letor(
    files: Paths, *, predictions: None = ..., feature: int, docids: bool | None = ..., split_queries: str = ...
) -> ScoredJudgments: ...
def read_letor(
    files: Paths,
    *,
    predictions: Paths | None = None,
    feature: int | None = None,
    docids: bool | None = None,
    split_queries: str = "error",
) -> Judgments:
    r"""Read labels, queries and docids from SVMlight or LETOR files; scores too, from predictions or from a feature.

    A query may be any text without white space. Features may be in any order, each once in its row. A docid is read
    from the comment after `#` in LETOR's form, `#docid = GX008-86-4444840`.

    Parameters
    ----------
    files : path or sequence of path
        Feature files, read one after another. UTF-8; gzip and bzip2 are decompressed.
    predictions : path or sequence of path, optional
        Files with one number per line for each row of `files`, in their order; without them, and without `feature`,
        no scores are read.
    feature : int, optional
        Instead of predictions, the feature that is the score; it is 0 on a line that leaves it out.
    docids : bool, optional
        True requires a docid on every line; False reads none; by default they are read if every line has one.
    split_queries : str
        What to do with a query that returns after other queries, or in a later file: `error`, `merge` (into one query)
        or `separate` (make it a new query).

    Returns
    -------
    Judgments or ScoredJudgments
        One row per line that has text before its comment, with scores from `predictions` or `feature`.

    Raises
    ------
    InputError
        A file cannot be read, a line is malformed, a document is in a query twice, the numbers of predictions and rows
        differ, or both predictions and a feature were given. The message names file, line and, in a feature file, the
        token.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> file, predictions = Path(folder.name, "fold.txt"), Path(folder.name, "predictions.txt")
    >>> _ = file.write_text("2 qid:7 1:0.5 3:1 #docid = GX007\n0 qid:7 2:1 #docid = GX008\n")
    >>> _ = predictions.write_text("0.25\n0.75\n")
    >>> judgments = read_letor(file, predictions=predictions)
    >>> judgments.queries, judgments.scores.tolist()
    (Queries(1 queries, 2 rows), [0.25, 0.75])
    >>> read_letor(file, feature=3).scores.tolist()
    [1.0, 0.0]
    >>> read_letor(file).queries
    Queries(1 queries, 2 rows)
    >>> folder.cleanup()
    """
    check_split_queries(split_queries)
    rows = joined(list(LetorFiles(files, predictions=predictions, feature=feature, docids=docids)))
    return judgments_of(rows, split_queries, duplicate_hint=_DUPLICATE_HINT)


def stream_letor(
    files: Paths, *, predictions: Paths | None = None, feature: int | None = None, docids: bool | None = None
) -> LetorFiles:
    r"""Read SVMlight or LETOR files as `read_letor` does, but in batches, for `ra.evaluate_stream`.

    Parameters
    ----------
    files, predictions, feature, docids
        As in `read_letor`. By default docids are read until a line has none.

    Returns
    -------
    LetorFiles
        An iterable that reads the files again in each iteration.

    Raises
    ------
    InputError
        Neither or both of `predictions` and `feature` were given. Errors in a file are raised when it is read.

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
        msg = "exactly one of predictions and feature is needed, but neither was given.\nHint: pass one of the two."
        raise InputError(msg)
    return LetorFiles(files, predictions=predictions, feature=feature, docids=docids)


class LetorFiles:
    """Rows of feature files for `ra.evaluate_stream`, read again in each iteration; made by `stream_letor`.

    Parameters
    ----------
    files, predictions, feature, docids
        As in `read_letor`.
    """

    def __init__(self, files: Paths, *, predictions: Paths | None, feature: int | None, docids: bool | None) -> None:
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
        """Return text that names the files."""
        return f"LetorFiles({join_paths(self.files)})"

    def __iter__(self) -> Iterator[StreamRows]:
        """Yield the rows block by block."""
        numbers = None if self.predictions is None else Predictions(self.predictions)
        n_rows, has_feature = 0, self._feature is None
        for number, path in enumerate(self.files):
            first, step = n_rows, step_of_file(number, len(self.files))
            with shift_error_rows(first):
                for rows in read_rows(path, self._feature, step):
                    has_feature = has_feature or any(rows.values)
                    scores = self._scores(path, n_rows - first, rows, numbers)
                    # If predictions are too few, `check_end` raises an error after all rows are counted.
                    if scores is None or scores.size == rows.labels.size:
                        yield self._part(path, n_rows - first, rows, scores)
                    n_rows += rows.labels.size
            if n_rows == first:
                raise _no_rows(path)
        if numbers is not None:
            numbers.check_end(n_rows, self.files)
        if not has_feature:
            msg = f"{join_paths(self.files)}: no line has feature {self._feature}"
            raise InputError(f"{msg}.\nHint: features are numbered as written.")

    def _scores(self, path: AnyPath, n_before: int, rows: LetorRows, numbers: Predictions | None) -> Floats | None:
        if numbers is not None:
            return numbers.take(rows.labels.size)
        return None if self._feature is None else _feature_values(path, n_before, rows, self._feature)

    def _part(self, path: AnyPath, n_before: int, rows: LetorRows, scores: Floats | None) -> StreamRows:
        locate = partial(_location, path)
        docids = None if self._docids is False else _docids(rows.comments, locate, n_before, required=self._docids)
        return StreamRows(
            rows.labels,
            () if scores is None else (scores,),
            np.asarray([query.decode() for query in rows.queries]),
            rows.starts,
            {} if docids is None else {"docid": docids},
            (Origin(0, -n_before, locate),),
            may_continue=n_before > 0,
        )


def _feature_values(path: AnyPath, n_before: int, rows: LetorRows, feature: int) -> Floats:
    """Return a feature's value in each row, 0 if the row omits it; `n_before` rows of the file precede the batch."""
    scores = np.asarray([float(value) if value else 0.0 for value in rows.values])
    for row in np.flatnonzero(~(np.abs(scores) < EXACT_INT)).tolist():
        if not is_finite(value := rows.values[row]):
            problem = MERGED if is_merged(value) else "is not a finite number, which the score must be"
            raise bad_token(path, n_before + row, feature_token(rows.features[row], feature), problem)
    return scores


def _docids(
    comments: Sequence[bytes], locate: Callable[[int], str], n_before: int, *, required: bool | None
) -> Array | None:
    """Return the docid in each row's comment. If a row has no docid, return None, or raise an error if `required`."""
    lines = b"\n".join(comments).decode()
    docids: list[str] = _DOCIDS.findall(lines)
    if len(docids) == len(comments):
        return as_objects(docids)
    if not required:
        return None
    row = n_before + next(row for row, line in enumerate(lines.split("\n")) if not _DOCIDS.search(line))
    msg = (
        f"{locate(row)} has no docid, which the convention needs for its ties.\n"
        "Hint: '#docid = NAME' at the end of every line, or other ties."
    )
    raise InputError(msg, row=row)


def _no_rows(path: AnyPath) -> InputError:
    return InputError(f"{path}: no line holds more than a comment.\nHint: 'label qid:QUERY feature:value ...'.")


def _location(path: AnyPath, row: int) -> str:
    return f"{path}, line {line_of(path, row)}"
