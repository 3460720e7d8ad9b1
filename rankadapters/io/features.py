"""Read SVMlight, LETOR and LightGBM files as dense tables of features, with labels and queries."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Floats, Ints
from rankadapters.core.errors import InputError
from rankadapters.datasets import RankingData
from rankadapters.io.letor import EXPECTED, FORM, NUMBER, LetorRows
from rankadapters.io.text import AnyPath, join_paths

MAX_CELLS = 2**30  # cells of a dense table (8 GiB); a larger table probably comes from a wrong feature number

_ROWS = 1000  # number of rows whose features are parsed together
_FEATURE = re.compile(rb"\+?0*[0-9]{1,18}\s*:\s*(%s|[+-]?[nN][aA][nN])(?=\s|$)" % NUMBER)
_QID = re.compile(rb"-?[0-9]{1,18}")


def read_features(*parts: AnyPath | Sequence[AnyPath]) -> tuple[RankingData, ...]:
    r"""Read SVMlight, LETOR or LightGBM files into dense tables with the same columns, such as train and test data.

    Features are numbered from 1, or in all files from 0 if any file uses 0. They may be in any order, each once in its
    row. A feature that a line leaves out is 0, and `nan` is a missing value. Comments after `#` are not read. A qid is
    an integer; if it returns later in its file, it is the same query. Lines without qid need the file `FILE.query` of
    group sizes, as in LightGBM.

    Parameters
    ----------
    *parts : path or sequence of path
        The files of each part, such as the folds to train on and the one to test on. UTF-8; gzip, bzip2 and zstd are
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
    tables = [_Part.of(LetorRows(part)) for part in parts]
    width = max((part.width for part in tables), default=0)
    if not width:
        raise InputError(f"{tables[0].rows.paths[0] if tables else 'no file'}: no feature on any line; {EXPECTED}")
    first = min(int(cells.numbers.min(initial=1)) for part in tables for cells in part.cells)
    return tuple(_dense(part, first, width) for part in tables)


class _Cells(NamedTuple):
    """Features of consecutive rows."""

    row_of: Ints  # row of each value in its part
    numbers: Ints
    values: Floats

    @classmethod
    def of(cls, rows: LetorRows, first: int, texts: Sequence[bytes]) -> _Cells:
        """Parse the features of the rows from row `first` on."""
        text = b"\n".join([b"", *texts, b""])
        tokens = text.replace(b":", b" : ").split()  # number, colon and value of each feature
        numbers, colons, values = tokens[::3], tokens[1::3], tokens[2::3]
        is_cut = b"\n:" in text or b":\n" in text  # a row begins without a number, or ends without a value
        if is_cut or b"_" in text or not len(numbers) == len(values) == colons.count(b":"):
            raise _first_fault(rows, first, texts)
        counts = [features.count(b":") for features in texts]
        try:
            floats = np.fromiter(map(float, values), np.float64, len(values))
            cells = cls(np.repeat(np.arange(first, first + len(texts)), counts), _integers(numbers, counts), floats)
        except (ValueError, OverflowError):
            raise _first_fault(rows, first, texts) from None
        if np.isinf(floats).any() or (cells.numbers < 0).any():
            raise _first_fault(rows, first, texts)
        if (cell := cells.repeated()) is not None:
            token = b"%b:%b" % (numbers[cell], values[cell])
            problem = f"gives feature {cells.numbers[cell]} a second value.\nHint: drop one of the two."
            raise rows.fault(int(cells.row_of[cell]), token, problem)
        return cells

    def repeated(self) -> int | None:
        """Return the first cell whose feature an earlier cell of its row has; None if there is none."""
        if ((np.diff(self.numbers) > 0) | (np.diff(self.row_of) > 0)).all():
            return None
        order = np.lexsort((self.numbers, self.row_of))
        same = (np.diff(self.numbers[order]) == 0) & (np.diff(self.row_of[order]) == 0)
        return int(order[1:][same].min()) if same.any() else None


def _integers(texts: list[bytes], counts: Sequence[int]) -> Ints:
    """Return feature numbers as integers, quickly if all rows have the features of the first row."""
    first = texts[: counts[0]]
    if texts == first * len(counts):
        return np.tile(np.asarray(list(map(int, first)), np.int64), len(counts))
    return np.fromiter(map(int, texts), np.int64, len(texts))


def _first_fault(rows: LetorRows, first: int, texts: Sequence[bytes]) -> InputError:
    """Return the error for the first malformed feature of rows that have one."""
    for row, features in enumerate(texts, first):
        text = features.strip()
        while text:
            feature, token = _FEATURE.match(text), text.split()[0]
            if feature is None:
                return rows.fault(row, token, f"is not a feature, {FORM}; {EXPECTED}")
            if np.isinf(float(feature[1])):
                return rows.fault(row, token, "is beyond float64.\nHint: rescale the feature.")
            text = text[feature.end() :].lstrip()
    raise AssertionError("all features are well formed")


class _Part(NamedTuple):
    """Labels, queries and features of the files of a table."""

    rows: LetorRows
    labels: Floats
    qid: NDArray[np.int64]
    cells: list[_Cells]

    @classmethod
    def of(cls, rows: LetorRows) -> _Part:
        """Read the files."""
        labels, qid, cells, texts = array("d"), array("q"), list[_Cells](), list[bytes]()
        for row, (label, query, features, _) in enumerate(rows):
            if not _QID.fullmatch(query):
                problem = "is not an integer of at most 18 digits, which a table's queries are."
                raise rows.fault(row, b"qid:" + query, f"{problem}\nHint: number the queries.")
            if len(texts) == _ROWS:
                cells.append(_Cells.of(rows, row - _ROWS, texts))
                texts = []
            labels.append(label)
            qid.append(int(query))
            texts.append(features.rstrip())
        cells.append(_Cells.of(rows, len(labels) - len(texts), texts))
        return cls(rows, np.asarray(labels), np.asarray(qid), cells)

    @property
    def width(self) -> int:
        """The largest feature number plus 1; 0 if there are no features."""
        return max(int(cells.numbers.max(initial=-1)) + 1 for cells in self.cells)


def _dense(part: _Part, first: int, width: int) -> RankingData:
    _refuse_shared_queries(part)
    n_rows = part.labels.size
    if n_rows * width > MAX_CELLS:
        msg = f"{join_paths(part.rows.paths)}: feature id {width - 1} would make a table of {n_rows} x {width}."
        raise InputError(msg, hint="number the features without gaps")
    X = np.zeros((n_rows, width - first))
    for cells in part.cells:
        X[cells.row_of, cells.numbers - first] = cells.values
    return RankingData(X=X, labels=part.labels, qid=part.qid)


def _refuse_shared_queries(part: _Part) -> None:
    path_of: dict[int, AnyPath] = {}
    for path, qid in zip(part.rows.paths, np.split(part.qid, part.rows.starts[1:]), strict=True):
        for query in np.unique(qid).tolist():
            if query in path_of:
                msg = f"{path}: qid {query} is in {path_of[query]} too, and nothing says whether it is one query."
                raise InputError(msg, hint="join the files into one if it is, else renumber")
            path_of[query] = path
