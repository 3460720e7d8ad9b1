"""Readers of files: what cannot be read is named by file and line."""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError, MissingToolkitError
from rankadapters.datasets import RankingData

AnyPath = str | os.PathLike[str]

LINE = "label qid:QUERY feature:value ..."
MOST_CELLS = 2**30  # of a dense table: 8 GiB. Beyond it stands a feature id gone wrong rather than data
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}  # what scikit-learn's reader opens


def read_svmlight(*parts: Sequence[AnyPath]) -> tuple[RankingData, ...]:
    r"""Read SVMlight or LETOR files with qid into dense tables whose columns mean the same feature in every part.

    Features are numbered from 1, or in all files from 0 if any file uses 0; one that a line leaves out is 0. Whatever
    follows a `#` is skipped. A qid that comes back later in its file is the same query.

    Parameters
    ----------
    *parts : sequence of path
        The files of each part, such as the folds to train on and the one to test on. Ending in `.gz` or `.bz2` they
        are decompressed.

    Returns
    -------
    tuple of RankingData
        One per part, its files below each other.

    Raises
    ------
    InputError
        A file is missing, empty or malformed, or two files of a part hold the same qid, so that it is not known whether
        they mean the same query. The message names file and line.
    MissingToolkitError
        scikit-learn, whose reader this uses, is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name, "fold.txt")
    >>> _ = file.write_text("2 qid:7 1:0.5 3:1\n0 qid:7 2:1 # docid = GX008\n")
    >>> [data] = read_svmlight([file])
    >>> data, data.X.tolist()
    (RankingData(1 queries, 2 rows, 3 features), [[0.5, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> folder.cleanup()
    """
    read = [[_read(Path(path)) for path in part] for part in parts]
    files = [file for part in read for file in part]
    width = max((file.X.shape[1] for file in files), default=1)
    first = 0 if any(file.X[:, 0].nnz for file in files) else 1
    if width <= first:
        msg = f"{files[0].path if files else 'no file'}: no feature on any line; {_expected()}"
        raise InputError(msg)
    return tuple(_stack(part, first, width) for part in read)


class _File(NamedTuple):
    """A parsed file: sparse features with a column for id 0, labels and qid."""

    path: Path
    X: Any
    labels: NDArray[Any]
    qid: NDArray[Any]


def _read(path: Path) -> _File:
    try:
        X, labels, qid = _parse(str(path))
    except (OSError, EOFError, zlib.error) as error:
        # What is wrong inside an archive has no strerror.
        msg = f"{path}: {getattr(error, 'strerror', None) or error}.\nHint: give the path of a readable file."
        raise InputError(msg) from None
    except (ValueError, OverflowError) as error:
        raise _malformed(path, error) from None
    if not labels.size:
        msg = f"{path} holds no rows; {_expected()}"
        raise InputError(msg)
    if qid.size != labels.size:
        without = [b"qid:" not in text for _, text in _rows(path)]
        raise _bad_row(path, without.index(True), "has no qid")
    for what, bad in (("label", ~np.isfinite(labels)), ("feature", _infinite_rows(X))):
        if bad.any():
            raise _bad_row(path, int(np.argmax(bad)), f"has a {what} that is not finite")
    return _File(path, X, labels, qid)


def _parse(source: str | BytesIO) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    try:
        from sklearn.datasets import load_svmlight_file
    except ImportError as error:
        raise MissingToolkitError.of("scikit-learn", "sklearn") from error
    # zero_based=True leaves ids as they are written, so that those of several files meet.
    X, labels, qid = load_svmlight_file(source, query_id=True, zero_based=True)
    return X, labels, qid


def _stack(files: list[_File], first: int, width: int) -> RankingData:
    _refuse_shared_queries(files)
    n_rows = sum(file.labels.size for file in files)
    if n_rows * width > MOST_CELLS:
        widest = max(files, key=lambda file: int(file.X.shape[1]))
        msg = (
            f"{widest.path}: feature id {width - 1} would make a table of {n_rows} x {width}.\n"
            "Hint: number the features without gaps."
        )
        raise InputError(msg)
    X = np.zeros((n_rows, width - first))
    start = 0
    for file in files:
        stop = start + file.labels.size
        X[start:stop, : file.X.shape[1] - first] = file.X[:, first:].toarray()
        start = stop
    return RankingData(
        X=X, labels=np.concatenate([file.labels for file in files]), qid=np.concatenate([file.qid for file in files])
    )


def _refuse_shared_queries(files: list[_File]) -> None:
    seen: dict[int, Path] = {}
    for file in files:
        for qid in np.unique(file.qid).tolist():
            if qid in seen:
                msg = (
                    f"{file.path}: qid {qid} is in {seen[qid]} too, and nothing says whether it is one query.\n"
                    "Hint: join the files into one if it is, else renumber."
                )
                raise InputError(msg)
            seen[qid] = file.path


def _infinite_rows(X: Any) -> NDArray[np.bool_]:
    bad = np.zeros(X.shape[0], dtype=bool)
    bad[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[np.isinf(X.data)]] = True
    return bad


def _malformed(path: Path, error: Exception) -> InputError:
    """Name the first line that does not parse, found by halving."""
    lines = _lines(path)
    low, high = 0, len(lines)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            _parse(BytesIO(b"".join(lines[low:middle])))
        except (ValueError, OverflowError):
            high = middle
        else:
            low = middle
    return InputError(f"{path}, line {low + 1}: {str(error).rstrip('.')}; {_expected()}")


def _bad_row(path: Path, row: int, what: str) -> InputError:
    number, _ = _rows(path)[row]
    return InputError(f"{path}, line {number} {what}; {_expected()}")


def _rows(path: Path) -> list[tuple[int, bytes]]:
    """Lines that hold a row, numbered from 1, without their comments."""
    texts = (line.partition(b"#")[0].strip() for line in _lines(path))
    return [(number, text) for number, text in enumerate(texts, start=1) if text]


def _lines(path: Path) -> list[bytes]:
    with _OPENERS.get(path.suffix, open)(path, "rb") as file:
        return list(file)


def _expected() -> str:
    return f"expected '{LINE}', features ascending.\nHint: SVMlight or LETOR format, decimal points, no header."
