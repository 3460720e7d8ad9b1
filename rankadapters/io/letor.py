"""SVMlight and LETOR files as judgments: labels, queries and docids, with predictions or a feature as scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError
from rankadapters.core.queries import Queries
from rankadapters.io import splitting
from rankadapters.io.judgments import Judgments
from rankadapters.io.text import AnyPath, as_paths, bad_line, finite, is_finite, lines, read_text

EXPECTED = "'label qid:QUERY feature:value ...', the label a finite number"

_DOCID = re.compile(rb"\bdocid\s*=\s*(\S+)")


def read_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: AnyPath | Sequence[AnyPath] | None = None,
    feature: int | None = None,
    docids: bool | None = None,
    split_queries: str = "error",
) -> Judgments:
    r"""Read labels, queries and docids from SVMlight or LETOR files, and scores from predictions or from a feature.

    Features are not parsed. A query may be any text without white space. What stands after `#` is read for a docid as
    LETOR writes it, `#docid = GX008-86-4444840`.

    Parameters
    ----------
    files : path or sequence of path
        Feature files, which follow each other. UTF-8; gzip and bzip2 are decompressed.
    predictions : path or sequence of path, optional
        Files with one number per line for each row of `files`, in their order.
    feature : int, optional
        In place of predictions: the feature that is the score, 0 on a line that leaves it out.
    docids : bool, optional
        True requires a docid on every line; False reads none; by default they are taken where every line has one.
    split_queries : str
        What a query is that returns after another one, or in a further file: `error`, `merge` (one query) or
        `separate` (a query of its own).

    Returns
    -------
    Judgments
        One row per line that holds anything before its comment.

    Raises
    ------
    InputError
        A file cannot be read, a line is malformed, a document stands twice in a query, or the predictions are not as
        many as the rows. The message names file and line.

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
    >>> folder.cleanup()
    """
    if (predictions is None) == (feature is None):
        msg = "exactly one of predictions and feature is needed.\nHint: the scores are in one of the two."
        raise InputError(msg)
    splitting.check(split_queries)
    rows = _read(as_paths(files), feature)
    scores = rows.feature(feature) if predictions is None else _predictions(as_paths(predictions), rows)
    qid = splitting.split(np.asarray(rows.qid), np.asarray(rows.starts), split_queries, rows.place)
    return Judgments(Queries(rows.labels, qid=qid, docid=_docids(rows, qid, docids)), scores, rows.place)


class _Rows(NamedTuple):
    """What the lines hold."""

    labels: list[float]
    qid: list[str]
    docids: list[str | None]
    scores: list[float | None]  # of the feature, None on a line that leaves it out
    starts: list[int]  # first row of each stretch with one qid in one file
    files: list[tuple[int, AnyPath]]  # first row and path of each file

    @property
    def paths(self) -> str:
        """Names of the files."""
        return _listed(path for _, path in self.files)

    @property
    def place(self) -> Callable[[int], str]:
        """File and line of a row; no part of the rows is kept for it."""
        return partial(_place, files=self.files)

    def feature(self, feature: int | None) -> NDArray[np.float64]:
        """Feature of each row, 0 where it was left out."""
        if set(self.scores) == {None}:
            msg = f"{self.paths}: no line has feature {feature}.\nHint: features are numbered as they are written."
            raise InputError(msg)
        return np.asarray([score or 0.0 for score in self.scores])


def _listed(paths: Iterable[AnyPath]) -> str:
    return ", ".join(map(str, paths))


def _place(row: int, files: Sequence[tuple[int, AnyPath]]) -> str:
    first, path = next(file for file in reversed(files) if file[0] <= row)
    kept = (number for number, line in lines(read_text(path)) if line.partition(b"#")[0].strip())
    return f"{path}, line {next(number for i, number in enumerate(kept) if i == row - first)}"


def _read(files: Sequence[AnyPath], feature: int | None) -> _Rows:
    rows = _Rows([], [], [], [], [], [])
    for path in files:
        rows.files.append((len(rows.labels), path))
        rows.starts.append(len(rows.labels))
        for number, line in lines(read_text(path)):
            text, _, comment = line.partition(b"#")
            if not text.strip():
                continue
            try:
                _add(rows, text, None if feature is None else b"%d:" % feature)
            except (ValueError, IndexError):
                raise bad_line(path, number, line, EXPECTED) from None
            found = _DOCID.search(comment)
            rows.docids.append(found[1].decode() if found else None)
    if not files or rows.starts[-1] == len(rows.labels):
        msg = f"{rows.paths or 'no file'}: no line holds more than a comment; expected {EXPECTED}."
        raise InputError(msg)
    return rows


def _add(rows: _Rows, text: bytes, feature: bytes | None) -> None:
    fields = text.split(None, 2)
    label, qid = finite(fields[0]), fields[1]
    if not qid.startswith(b"qid:") or qid == b"qid:":
        raise ValueError(qid)
    if feature is not None:
        items = fields[2].split() if fields[2:] else ()
        rows.scores.append(next((finite(item[len(feature) :]) for item in items if item.startswith(feature)), None))
    name = qid[4:].decode()
    if rows.starts[-1] < len(rows.labels) and name != rows.qid[-1]:
        rows.starts.append(len(rows.labels))
    rows.labels.append(label)
    rows.qid.append(name)


def _docids(rows: _Rows, qid: NDArray[np.str_], wanted: bool | None) -> list[str | None] | None:  # noqa: FBT001
    if wanted is False:
        return None
    if None in rows.docids:
        if not wanted:
            return None
        msg = (
            f"{rows.place(rows.docids.index(None))} has no docid, which the convention needs for its ties.\n"
            "Hint: '#docid = NAME' at the end of every line, or other ties."
        )
        raise InputError(msg)
    seen: dict[tuple[str, str | None], int] = {}
    for row, key in enumerate(zip(qid.tolist(), rows.docids, strict=True)):
        if seen.setdefault(key, row) != row:
            msg = (
                f"{rows.place(row)}: document {key[1]!r} of query {key[0]!r} stands in {rows.place(seen[key])} too.\n"
                "Hint: drop one of the two."
            )
            raise InputError(msg)
    return rows.docids


def _predictions(paths: Sequence[AnyPath], rows: _Rows) -> NDArray[np.float64]:
    scores = np.concatenate([np.empty(0), *map(read_numbers, paths)])
    if scores.size != len(rows.labels):
        msg = (
            f"{_listed(paths)}: {scores.size} predictions for the {len(rows.labels)} rows of {rows.paths}.\n"
            "Hint: one number per row, in the order of the rows."
        )
        raise InputError(msg)
    return scores


def read_numbers(path: AnyPath) -> NDArray[np.float64]:
    """Read a file of one finite number per line; blank lines at its end are no lines."""
    data = read_text(path).rstrip()
    every = data.split(b"\n")
    try:
        numbers = np.asarray(list(map(float, every)))
    except ValueError:
        raise _no_number(path, every) from None
    if b"_" in data or not np.isfinite(numbers).all():  # Python reads 1_000 as a number, which no file means
        raise _no_number(path, every)
    return numbers


def _no_number(path: AnyPath, every: list[bytes]) -> InputError:
    row = next(row for row, line in enumerate(every) if not is_finite(line))
    return bad_line(path, row + 1, every[row], "one finite number per line")
