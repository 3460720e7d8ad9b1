"""SVMlight and LETOR files as dense tables of features, with labels and queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError
from rankadapters.datasets import RankingData
from rankadapters.io.letor_lines import EXPECTED, bad_token, read_rows
from rankadapters.io.letor_rows import LetorRows
from rankadapters.io.text import AnyPath, after_rows, as_paths

MOST_CELLS = 2**30  # of a dense table: 8 GiB. Beyond it stands a feature id gone wrong rather than data

_TOO_LARGE = "is beyond float64.\nHint: rescale the feature."
_QID = re.compile(rb"-?[0-9]{1,18}")


def read_svmlight(*parts: AnyPath | Sequence[AnyPath]) -> tuple[RankingData, ...]:
    r"""Read SVMlight or LETOR files with qid into dense tables whose columns mean the same feature in every part.

    Features are numbered from 1, or in all files from 0 if any file uses 0, and may stand in any order, but each once
    in its row; one that a line leaves out is 0, one that is `nan` is missing. Whatever follows a `#` is skipped. A qid
    is an integer, and one that comes back later in its file is the same query.

    Parameters
    ----------
    *parts : path or sequence of path
        The files of each part, such as the folds to train on and the one to test on. UTF-8; gzip and bzip2 are
        decompressed.

    Returns
    -------
    tuple of RankingData
        One per part, its files below each other.

    Raises
    ------
    InputError
        A file is missing, empty or malformed, or two files of a part hold the same qid, so that it is not known whether
        they mean the same query. The message names file, line and token.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name, "fold.txt")
    >>> _ = file.write_text("2 qid:7 1:0.5 3:1\n0 qid:7 2:1 # docid = GX008\n")
    >>> [data] = read_svmlight(file)
    >>> data, data.X.tolist()
    (RankingData(1 queries, 2 rows, 3 features), [[0.5, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> folder.cleanup()
    """
    read = [_read_part(part) for part in parts]
    files = [file for part in read for file in part]
    width = max((file.width for file in files), default=0)
    if not width:
        msg = f"{files[0].path if files else 'no file'}: no feature on any line; {EXPECTED}"
        raise InputError(msg)
    first = min(1, *(file.first for file in files))
    return tuple(_stack(part, first, width) for part in read)


class _Cells(NamedTuple):
    """Features of some rows that follow each other."""

    n_rows: int
    numbers: NDArray[np.integer[Any]]
    counts: NDArray[np.int64]  # features of each row
    values: NDArray[np.float64]

    def fill(self, X: NDArray[np.float64], first: int) -> None:
        """Write the values into these rows of a table, whose first column is a feature of this number."""
        width = int(self.counts[0])
        numbers = self.numbers[:width] - first
        if width and (self.counts == width).all() and (self.numbers.reshape(-1, width) == self.numbers[:width]).all():
            X[:, numbers] = self.values.reshape(-1, width)
        else:
            X[np.repeat(np.arange(self.n_rows), self.counts), self.numbers - first] = self.values


class _File(NamedTuple):
    """What the lines of a file hold: labels and queries by row, and features."""

    path: AnyPath
    labels: NDArray[np.float64]
    qid: NDArray[np.int64]
    cells: list[_Cells]
    first: int  # least number of a feature, 1 where there is none
    width: int  # greatest number and 1, 0 where there is none


def _read_part(paths: AnyPath | Sequence[AnyPath]) -> list[_File]:
    files: list[_File] = []
    for path in as_paths(paths):
        with after_rows(sum(file.labels.size for file in files)):
            files.append(_read(path))
    return files


def _read(path: AnyPath) -> _File:
    labels, qid, cells, n = [], [], [], 0
    for rows in read_rows(path):
        cells.append(_cells(path, n, rows))
        qid.append(_qid(path, n, rows))
        labels.append(rows.labels)
        n += rows.labels.size
    if not n:
        msg = f"{path} holds no rows; {EXPECTED}"
        raise InputError(msg)
    used = [some.numbers for some in cells if some.numbers.size]
    first = min((int(numbers.min()) for numbers in used), default=1)
    width = max((int(numbers.max()) + 1 for numbers in used), default=0)
    return _File(path, np.concatenate(labels), np.concatenate(qid), cells, first, width)


def _cells(path: AnyPath, first: int, rows: LetorRows) -> _Cells:
    """Read features, in rows of which `first` of the file stand before."""
    features = rows.features
    values, numbers = features.values(), features.numbers
    if np.isinf(values).any():
        at = np.argmax(np.isinf(values), keepdims=True)
        [token] = features.tokens(at)
        raise bad_token(path, first + int(features.row_at(at)[0]), token, _TOO_LARGE)
    small = numbers.max(initial=0) <= np.iinfo(np.int32).max
    return _Cells(rows.labels.size, numbers.astype(np.int32) if small else numbers, np.diff(features.indptr), values)


def _qid(path: AnyPath, first: int, rows: LetorRows) -> NDArray[np.int64]:
    """Read queries as integers, in rows of which `first` of the file stand before."""
    for row, query in zip(rows.stretches.tolist(), rows.queries, strict=True):
        if not _QID.fullmatch(query):
            what = "is not an integer of at most 18 digits, which a table's queries are.\nHint: number the queries."
            raise bad_token(path, first + row, b"qid:" + query, what)
    return np.repeat(
        np.asarray(list(map(int, rows.queries)), np.int64), np.diff(rows.stretches, append=rows.labels.size)
    )


def _stack(files: list[_File], first: int, width: int) -> RankingData:
    _refuse_shared_queries(files)
    n_rows = sum(file.labels.size for file in files)
    if n_rows * width > MOST_CELLS:
        widest = max(files, key=lambda file: file.width)
        msg = (
            f"{widest.path}: feature id {width - 1} would make a table of {n_rows} x {width}.\n"
            "Hint: number the features without gaps."
        )
        raise InputError(msg)
    X = np.zeros((n_rows, width - first))
    start = 0
    for some in (some for file in files for some in file.cells):
        some.fill(X[start : start + some.n_rows], first)
        start += some.n_rows
    return RankingData(
        X=X, labels=np.concatenate([file.labels for file in files]), qid=np.concatenate([file.qid for file in files])
    )


def _refuse_shared_queries(files: list[_File]) -> None:
    seen: dict[int, AnyPath] = {}
    for file in files:
        for qid in np.unique(file.qid).tolist():
            if qid in seen:
                msg = (
                    f"{file.path}: qid {qid} is in {seen[qid]} too, and nothing says whether it is one query.\n"
                    "Hint: join the files into one if it is, else renumber."
                )
                raise InputError(msg)
            seen[qid] = file.path
