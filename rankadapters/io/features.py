"""Read SVMlight and LETOR files as dense tables of features, with labels and queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Floats, Ints
from rankadapters.core.errors import InputError
from rankadapters.datasets import RankingData
from rankadapters.io.letor_lines import EXPECTED, LetorRows, bad_token, feature_token, read_rows
from rankadapters.io.text import AnyPath, as_paths, shift_error_rows

MAX_CELLS = 2**30  # cells of a dense table (8 GiB); a larger table probably comes from a wrong feature number

_TOO_LARGE = "is beyond float64.\nHint: rescale the feature."
_QID = re.compile(rb"-?[0-9]{1,18}")


def read_features(*parts: AnyPath | Sequence[AnyPath]) -> tuple[RankingData, ...]:
    r"""Read SVMlight or LETOR files into dense tables with the same columns, such as training and test data.

    Features are numbered from 1, or in all files from 0 if any file uses 0. They may be in any order, each once in its
    row. A feature that a line leaves out is 0, and `nan` is a missing value. Comments after `#` are not read. A qid is
    an integer; if it returns later in its file, it is the same query.

    Parameters
    ----------
    *parts : path or sequence of path
        The files of each part, such as the folds to train on and the one to test on. UTF-8; gzip and bzip2 are
        decompressed.

    Returns
    -------
    tuple of RankingData
        One per part, with the rows of its files in order.

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
    >>> [data] = read_features(file)
    >>> data, data.X.tolist()
    (RankingData(1 queries, 2 rows, 3 features), [[0.5, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> folder.cleanup()
    """
    tables = [_read_part(part) for part in parts]
    files = [file for part in tables for file in part]
    width = max((file.width for file in files), default=0)
    if not width:
        msg = f"{files[0].path if files else 'no file'}: no feature on any line; {EXPECTED}"
        raise InputError(msg)
    first = min(int(cells.numbers.min(initial=1)) for file in files for cells in file.cells)
    return tuple(_stack_files(part, first, width) for part in tables)


class _Cells(NamedTuple):
    """Features of consecutive rows."""

    counts: Ints  # number of features of each row
    numbers: Ints
    values: Floats

    @classmethod
    def of(cls, rows: LetorRows) -> _Cells:
        """Parse the features of rows whose syntax is already checked."""
        tokens = b" ".join(rows.features).replace(b":", b" ").split()
        counts = np.asarray([features.count(b":") for features in rows.features])
        numbers, n_first = tokens[::2], int(counts[0])
        if numbers == numbers[:n_first] * counts.size:
            numbers_of_rows = np.tile(np.asarray(list(map(int, numbers[:n_first])), np.int64), counts.size)
        else:
            numbers_of_rows = np.asarray(list(map(int, numbers)), np.int64)
        return cls(counts, numbers_of_rows, np.asarray(list(map(float, tokens[1::2])), np.float64))

    @property
    def row_of(self) -> Ints:
        """The row index of each feature value."""
        return np.repeat(np.arange(self.counts.size), self.counts)


class _File(NamedTuple):
    """Labels, queries and features of the rows of a file."""

    path: AnyPath
    labels: Floats
    qid: NDArray[np.int64]
    cells: list[_Cells]

    @property
    def width(self) -> int:
        """The largest feature number plus 1; 0 if there are no features."""
        return max(int(cells.numbers.max(initial=-1)) + 1 for cells in self.cells)


def _read_part(paths: AnyPath | Sequence[AnyPath]) -> list[_File]:
    files: list[_File] = []
    for path in as_paths(paths):
        with shift_error_rows(sum(file.labels.size for file in files)):
            files.append(_read_file(path))
    return files


def _read_file(path: AnyPath) -> _File:
    labels, qid, blocks, n_rows = [], [], [], 0
    for rows in read_rows(path):
        cells = _Cells.of(rows)
        if np.isinf(cells.values).any():
            index = int(np.argmax(np.isinf(cells.values)))
            row = int(cells.row_of[index])
            token = feature_token(rows.features[row], int(cells.numbers[index]))
            raise bad_token(path, n_rows + row, token, _TOO_LARGE)
        blocks.append(cells)
        qid.append(_read_qid(path, n_rows, rows))
        labels.append(rows.labels)
        n_rows += rows.labels.size
    if not n_rows:
        msg = f"{path} holds no rows; {EXPECTED}"
        raise InputError(msg)
    return _File(path, np.concatenate(labels), np.concatenate(qid), blocks)


def _read_qid(path: AnyPath, n_before: int, rows: LetorRows) -> NDArray[np.int64]:
    for row, query in zip(rows.starts.tolist(), rows.queries, strict=True):
        if not _QID.fullmatch(query):
            problem = "is not an integer of at most 18 digits, which a table's queries are.\nHint: number the queries."
            raise bad_token(path, n_before + row, b"qid:" + query, problem)
    return np.repeat(np.asarray(list(map(int, rows.queries)), np.int64), np.diff(rows.starts, append=rows.labels.size))


def _stack_files(files: list[_File], first: int, width: int) -> RankingData:
    _refuse_shared_queries(files)
    n_rows = sum(file.labels.size for file in files)
    if n_rows * width > MAX_CELLS:
        widest = max(files, key=lambda file: file.width)
        msg = (
            f"{widest.path}: feature id {width - 1} would make a table of {n_rows} x {width}.\n"
            "Hint: number the features without gaps."
        )
        raise InputError(msg)
    X, start = np.zeros((n_rows, width - first)), 0
    for cells in (cells for file in files for cells in file.cells):
        X[start + cells.row_of, cells.numbers - first] = cells.values
        start += cells.counts.size
    return RankingData(
        X=X, labels=np.concatenate([file.labels for file in files]), qid=np.concatenate([file.qid for file in files])
    )


def _refuse_shared_queries(files: list[_File]) -> None:
    path_of: dict[int, AnyPath] = {}
    for file in files:
        for qid in np.unique(file.qid).tolist():
            if qid in path_of:
                msg = (
                    f"{file.path}: qid {qid} is in {path_of[qid]} too, and nothing says whether it is one query.\n"
                    "Hint: join the files into one if it is, else renumber."
                )
                raise InputError(msg)
            path_of[qid] = file.path
