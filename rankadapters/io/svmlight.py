"""SVMlight and LETOR files as dense tables of features, with labels and queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError
from rankadapters.datasets import RankingData
from rankadapters.io.letor_lines import EXPECTED, LetorRows, bad_token, read_rows
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
    used = [numbers for file in files if (numbers := file.numbers).size]
    if not used:
        msg = f"{files[0].path if files else 'no file'}: no feature on any line; {EXPECTED}"
        raise InputError(msg)
    first = min(1, *(int(numbers.min()) for numbers in used))
    width = max(int(numbers.max()) for numbers in used) + 1
    return tuple(_stack(part, first, width) for part in read)


class _File(NamedTuple):
    """What the lines of a file hold: labels and queries by row, and features one by one."""

    path: AnyPath
    labels: NDArray[np.float64]
    qid: NDArray[np.int64]
    rows: NDArray[np.int64]
    numbers: NDArray[np.int64]
    values: NDArray[np.float64]


def _read_part(paths: AnyPath | Sequence[AnyPath]) -> list[_File]:
    files: list[_File] = []
    for path in as_paths(paths):
        with after_rows(sum(file.labels.size for file in files)):
            files.append(_read(path))
    return files


def _read(path: AnyPath) -> _File:
    n, columns = 0, []
    for rows in read_rows(path):
        values, row = rows.features.values(), rows.features.row_of()
        if np.isinf(values).any():
            at = int(np.argmax(np.isinf(values)))
            [token] = rows.features.tokens(np.array([at]))
            raise bad_token(path, n + int(row[at]), token, _TOO_LARGE)
        columns.append((rows.labels, _qid(path, n, rows), row + n, rows.features.numbers, values))
        n += rows.labels.size
    if not n:
        msg = f"{path} holds no rows; {EXPECTED}"
        raise InputError(msg)
    return _File(path, *map(np.concatenate, zip(*columns, strict=True)))


def _qid(path: AnyPath, first: int, rows: LetorRows) -> NDArray[np.int64]:
    """Read queries as integers, in rows of which `first` of the file stand before."""
    for row, query in enumerate(rows.queries):
        if not _QID.fullmatch(query):
            what = "is not an integer of at most 18 digits, which a table's queries are.\nHint: number the queries."
            raise bad_token(path, first + row, b"qid:" + query, what)
    return np.asarray(list(map(int, rows.queries)), np.int64)


def _stack(files: list[_File], first: int, width: int) -> RankingData:
    _refuse_shared_queries(files)
    n_rows = sum(file.labels.size for file in files)
    if n_rows * width > MOST_CELLS:
        widest = max(files, key=lambda file: int(file.numbers.max(initial=0)))
        msg = (
            f"{widest.path}: feature id {width - 1} would make a table of {n_rows} x {width}.\n"
            "Hint: number the features without gaps."
        )
        raise InputError(msg)
    X = np.zeros((n_rows, width - first))
    start = 0
    for file in files:
        X[start + file.rows, file.numbers - first] = file.values
        start += file.labels.size
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
