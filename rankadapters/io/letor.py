"""SVMlight and LETOR files as judgments: labels, queries and docids, and predictions or a feature as scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import EXACT_INT
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.io import splitting
from rankadapters.io.judgments import Judgments, ScoredJudgments
from rankadapters.io.letor_lines import bad_token, line_of, read_rows
from rankadapters.io.letor_rows import LetorRows
from rankadapters.io.predictions import read_predictions
from rankadapters.io.text import MERGED, AnyPath, after_rows, as_paths, is_finite, is_merged, listed

# The first of each line; with \b in place of what looks back it would take twice as long.
_DOCIDS = re.compile(r"docid(?<!\wdocid)[^\S\n]*=[^\S\n]*(\S+).*", re.ASCII)


@overload
def read_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: None = ...,
    feature: None = ...,
    docids: bool | None = ...,
    split_queries: str = ...,
) -> Judgments: ...


@overload
def read_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: AnyPath | Sequence[AnyPath],
    feature: None = ...,
    docids: bool | None = ...,
    split_queries: str = ...,
) -> ScoredJudgments: ...


@overload
def read_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: None = ...,
    feature: int,
    docids: bool | None = ...,
    split_queries: str = ...,
) -> ScoredJudgments: ...


def read_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: AnyPath | Sequence[AnyPath] | None = None,
    feature: int | None = None,
    docids: bool | None = None,
    split_queries: str = "error",
) -> Judgments:
    r"""Read labels, queries and docids from SVMlight or LETOR files; scores too, from predictions or from a feature.

    A query may be any text without white space. Features may stand in any order, but each once in its row. What stands
    after `#` is read for a docid as LETOR writes it, `#docid = GX008-86-4444840`.

    Parameters
    ----------
    files : path or sequence of path
        Feature files, which follow each other. UTF-8; gzip and bzip2 are decompressed.
    predictions : path or sequence of path, optional
        Files with one number per line for each row of `files`, in their order; without them, and without `feature`,
        no scores are read.
    feature : int, optional
        In place of predictions: the feature that is the score, 0 on a line that leaves it out.
    docids : bool, optional
        True requires a docid on every line; False reads none; by default they are taken where every line has one.
    split_queries : str
        What a query is that returns after another one, or in a further file: `error`, `merge` (one query) or
        `separate` (a query of its own).

    Returns
    -------
    Judgments or ScoredJudgments
        One row per line that holds anything before its comment; with scores where these were asked for.

    Raises
    ------
    InputError
        A file cannot be read, a line is malformed, a document stands twice in a query, the predictions are not as many
        as the rows, or a feature was given beside them. The message names file, line and, in a feature file, the token.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> file, predictions = Path(folder.name, "fold.txt"), Path(folder.name, "predictions.txt")
    >>> _ = file.write_text("2 qid:7 1:0.5 3:1 #docid = GX007\n0 qid:7 2:1 #docid = GX008\n")
    >>> _ = predictions.write_text("0.25\n0.75\n")
    >>> found = read_letor(file, predictions=predictions)
    >>> found.queries, found.scores.tolist()
    (Queries(1 queries, 2 rows), [0.25, 0.75])
    >>> read_letor(file, feature=3).scores.tolist()
    [1.0, 0.0]
    >>> read_letor(file).queries
    Queries(1 queries, 2 rows)
    >>> folder.cleanup()
    """
    if predictions is not None and feature is not None:
        msg = "predictions and feature were given, but the scores are in one of the two.\nHint: drop the other."
        raise InputError(msg)
    splitting.check(split_queries)
    rows = _read(as_paths(files), feature, find_docids=docids is not False)
    scores = rows.feature(feature) if predictions is None else rows.predictions(predictions)
    qid = splitting.split(rows.qid, rows.starts, split_queries, rows.place)
    judged = Judgments(queries=Queries(rows.labels, qid=qid, docid=_docids(rows, qid, docids)), place=rows.place)
    return judged if scores is None else judged.with_scores(scores)


class _AllRows(NamedTuple):
    """Rows of all files."""

    labels: NDArray[np.float64]
    qid: NDArray[np.str_]
    docids: list[str | None]
    scores: NDArray[np.float64]  # of the feature, NaN on a line that leaves it out
    starts: NDArray[np.int64]  # first row of each stretch with one qid in one file
    files: list[tuple[int, AnyPath]]  # first row and path of each file

    @property
    def paths(self) -> str:
        """Names of the files."""
        return listed(path for _, path in self.files)

    @property
    def place(self) -> Callable[[int], str]:
        """File and line of a row; no part of the rows is kept for it."""
        return partial(_place, files=self.files)

    def predictions(self, predictions: AnyPath | Sequence[AnyPath]) -> NDArray[np.float64]:
        """Predictions, one of each row."""
        return read_predictions(predictions, len(self.labels), [path for _, path in self.files])

    def feature(self, feature: int | None) -> NDArray[np.float64] | None:
        """Feature of each row, 0 where it was left out; None where none was asked for."""
        if feature is None:
            return None
        left_out = np.isnan(self.scores)
        if left_out.all():
            raise no_feature(self.paths, feature)
        return np.where(left_out, 0, self.scores)


def _place(row: int, files: Sequence[tuple[int, AnyPath]]) -> str:
    first, path = next(file for file in reversed(files) if file[0] <= row)
    return f"{path}, line {line_of(path, row - first)}"


def _read(files: Sequence[AnyPath], feature: int | None, *, find_docids: bool) -> _AllRows:
    labels, scores = [np.empty(0)], [np.empty(0)]
    names: list[bytes] = []  # of each stretch
    docids: list[str | None] = []
    starts: list[int] = []
    firsts, n_rows = [], 0
    for path in files:
        first = n_rows
        with after_rows(first):
            for rows in read_rows(path):
                scores.append(feature_values(path, n_rows - first, rows, feature))
                labels.append(rows.labels)
                goes_on = n_rows > first and rows.queries[0] == names[-1]
                names += rows.queries[goes_on:]
                starts += (rows.stretches[goes_on:] + n_rows).tolist()
                n_rows += rows.labels.size
                if find_docids:
                    docids += found_docids(rows.comments.texts())
        if n_rows == first:
            raise no_rows(path)
        firsts.append((first, path))
    if not files:
        raise no_rows("no file")
    qid = np.repeat([name.decode() for name in names], np.diff(starts, append=n_rows))
    return _AllRows(np.concatenate(labels), qid, docids, np.concatenate(scores), np.asarray(starts), firsts)


def found_docids(comments: Sequence[bytes]) -> list[str] | list[str | None]:
    """Docid in each comment, None where there is none."""
    lines = b"\n".join(comments).decode()
    found: list[str] = _DOCIDS.findall(lines)
    if len(found) == len(comments):
        return found
    return [match and match[1] for match in map(_DOCIDS.search, lines.split("\n"))]


def require_docid(place: str, row: int) -> InputError:
    """Say that a row has no docid."""
    msg = (
        f"{place} has no docid, which the convention needs for its ties.\n"
        "Hint: '#docid = NAME' at the end of every line, or other ties."
    )
    return InputError(msg, row=row)


def no_feature(files: str, feature: int | None) -> InputError:
    """Say that no row has the feature that was to be the score."""
    return InputError(f"{files}: no line has feature {feature}.\nHint: features are numbered as they are written.")


def no_rows(path: AnyPath) -> InputError:
    """Say that a file has no row."""
    return InputError(f"{path}: no line holds more than a comment.\nHint: 'label qid:QUERY feature:value ...'.")


def feature_values(path: AnyPath, first: int, rows: LetorRows, feature: int | None) -> NDArray[np.float64]:
    """Values of the feature in some rows, of which `first` rows of the file stand before."""
    scores = np.full(rows.labels.size, np.nan)
    if feature is None:
        return scores
    which = np.flatnonzero(rows.features.numbers == feature)
    row, values = rows.features.row_at(which), rows.features.values(which)
    unsure = np.flatnonzero(~(np.abs(values) < EXACT_INT))
    for at, token in zip(unsure.tolist(), rows.features.tokens(which[unsure]), strict=True):
        value = token.partition(b":")[2]
        if not is_finite(value):
            what = MERGED if is_merged(value) else "is not a finite number, which the score must be"
            raise bad_token(path, first + int(row[at]), token, what)
    scores[row] = values
    return scores


def _docids(rows: _AllRows, qid: NDArray[np.str_], wanted: bool | None) -> list[str | None] | None:  # noqa: FBT001
    if wanted is False:
        return None
    if None in rows.docids:
        if not wanted:
            return None
        row = rows.docids.index(None)
        raise require_docid(rows.place(row), row)
    keys = list(zip(qid.tolist(), rows.docids, strict=True))
    if len(set(keys)) == len(keys):
        return rows.docids
    seen: dict[tuple[str, str | None], int] = {}
    for row, key in enumerate(keys):
        if seen.setdefault(key, row) != row:
            msg = (
                f"{rows.place(row)}: document {key[1]!r} of query {key[0]!r} stands in {rows.place(seen[key])} too.\n"
                "Hint: drop one of the two, or docids=False, which reads none: only ties by docid need them."
            )
            raise InputError(msg, row=row)
    return rows.docids
