"""Read labels, queries and docids of SVMlight, LETOR and LightGBM files; scores of prediction files or of a feature."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.core.data.columns import text_column
from rankadapters.core.declaration.arguments import flag, whole, word
from rankadapters.core.errors import InputError
from rankadapters.io.judgments import SPLIT_QUERIES, Judgments, judgments_of
from rankadapters.io.text import (
    AnyPath,
    InexactError,
    as_paths,
    finite,
    join_paths,
    lines,
    read_numbers,
    read_predictions,
)
from rankadapters.progress import step_of_file

EXPECTED = (
    "expected 'label qid:QUERY feature:value ...'.\nHint: SVMlight or LETOR format, decimal points, no header; "
    "LightGBM's format needs the number of rows of each query in FILE.query."
)

FORM = "which is a whole number, a colon and a number"
_JOINED = "two rows may have been joined where a file ends without a line end"
_SPLIT = "\nHint: a line end before the second row."
_ROW_IN_COMMENT = re.compile(rb"\s(qid:\S+)\s+[0-9]+:")
_DOCID = re.compile(rb"docid(?<!\wdocid)\s*=\s*(\S+)")  # the look-behind is twice as fast as \b
_MIXED = (
    "begins a file whose queries are named otherwise than before: by qid, or by a file of group sizes.\n"
    "Hint: read such files one by one."
)
_GROUP_SIZES = "the number of rows of each query, a whole number from 1 on, one per line"
_DUPLICATE_HINT = "drop one of the two, or docids=False, which reads none: only ties by docid need them"

NUMBER = rb"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
FEATURE = re.compile(rb"[0-9]{1,18}:(?:%s|[nN][aA][nN])" % NUMBER)  # 18 digits fit into 64 bits

Row = tuple[float, bytes, bytes, bytes]  # label, query, text of the features, comment


def read_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: AnyPath | Sequence[AnyPath] | None = None,
    feature: int | None = None,
    docids: bool | None = None,
    split_queries: str = "error",
) -> Judgments:
    r"""Read labels, queries and docids of SVMlight or LETOR files; scores too, from predictions or from a feature.

    A query may be any text without white space. A docid is read from the comment after `#` in LETOR's form,
    `#docid = GX008-86-4444840`. Lines without queries, as in LightGBM's files, need the file `FILE.query` of group
    sizes next to them; such queries are numbered from 1. Only the feature that is the score is checked.

    Parameters
    ----------
    files : path or sequence of path
        Feature files, read in their order. UTF-8; gzip, bzip2 and zstd are decompressed.
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
    Judgments
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
    word("split_queries", split_queries, SPLIT_QUERIES)
    if predictions is not None and feature is not None:
        msg = "predictions and feature were given, but the scores are in one of the two."
        raise InputError(msg, hint="drop the other")
    reads_docids = None if docids is None else flag("docids", docids)
    number = None if feature is None else whole("feature", feature, least=0)
    rows = LetorRows(files)
    labels, qid, names, values = array("d"), [b""], list[bytes](), array("d")
    for row, (label, query, features, comment) in enumerate(rows):
        labels.append(label)
        qid.append(qid[-1] if query == qid[-1] else query)  # the rows of a query share one object
        if number is not None:
            values.append(_score(rows, row, features, number))
        if len(names) == row and reads_docids is not False:
            if docid := _DOCID.search(comment):
                names.append(docid[1])
            elif reads_docids:
                msg = f"{rows.locate(row)} has no docid, but docids are required."
                raise InputError(msg, hint="'#docid = NAME' at the end of every line, or other ties", row=row)
    scores = None
    if predictions is not None:
        scores = read_predictions(predictions, len(labels), rows.paths)
    elif number is not None:
        scores = _zero_where_absent(rows, values, number)
    return judgments_of(
        np.asarray(labels),
        text_column(_texts(qid[1:])),
        scores=scores,
        docids=_texts(names) if len(names) == len(labels) else None,
        locate=rows.locate,
        split_queries=split_queries,
        duplicate_hint=_DUPLICATE_HINT,
        file_starts=rows.starts,
    )


class LetorRows:
    """The rows of files, in order; only this class defines the grammar of their labels, queries and comments.

    Attributes
    ----------
    paths : list of path
        The files.
    starts : list of int
        First row of each file that was begun.
    """

    def __init__(self, files: AnyPath | Sequence[AnyPath]) -> None:
        self.paths = as_paths(files)
        self.starts: list[int] = []
        self._lines = array("q")  # number of each row's line
        self._n_groups = 0  # queries of LightGBM's files so far

    def locate(self, row: int) -> str:
        """Return the file and the line of a row."""
        return f"{self.paths[bisect_right(self.starts, row) - 1]}, line {self._lines[row]}"

    def fault(self, row: int, token: bytes, problem: str) -> InputError:
        """Return the error for a token of a row."""
        return InputError(f"{self.locate(row)}: {token.decode()!r:.60} {problem}", row=row)

    def __iter__(self) -> Iterator[Row]:
        """Yield each row, once.

        Raises
        ------
        InputError
            A file cannot be read or has no rows, or a label, a query or a comment is malformed.
        """
        if not self.paths:
            raise _no_rows("no file")
        for index, path in enumerate(self.paths):
            first, group_ends = len(self._lines), list[int]()
            self.starts.append(first)
            for number, line in lines(path, step_of_file(index, len(self.paths))):
                content, _, comment = line.partition(b"#")
                tokens, row = content.split(None, 2), len(self._lines)
                self._lines.append(number)
                if b"qid:" in comment and (joined := _ROW_IN_COMMENT.search(comment)):
                    raise self.fault(row, joined[1], f"is in the comment, with features after it; {_JOINED}.{_SPLIT}")
                if not tokens:
                    self._lines.pop()
                    continue
                if row == first:
                    group_ends = self._group_ends(path, row, tokens)
                if group_ends:
                    query = self._n_groups + bisect_right(group_ends, row - first) + 1
                    tokens[1:] = b"qid:%d" % query, b" ".join(tokens[1:])
                yield *self._label_query_features(row, tokens), comment
            if len(self._lines) == first:
                raise _no_rows(path)
            if group_ends and group_ends[-1] != len(self._lines) - first:
                n_rows = len(self._lines) - first
                msg = f"{path}.query: the groups have {group_ends[-1]} rows in all, but {path} has {n_rows}."
                raise InputError(msg, hint=_GROUP_SIZES)
            self._n_groups += len(group_ends)

    def _group_ends(self, path: AnyPath, row: int, tokens: list[bytes]) -> list[int]:
        """Return the number of rows up to the end of each query of a LightGBM file; nothing if the rows have qids."""
        has_qid = len(tokens) > 1 and tokens[1].startswith(b"qid:")
        ends = [] if has_qid else _read_group_ends(path)
        if row and bool(ends) != bool(self._n_groups):
            raise self.fault(row, tokens[0], _MIXED)
        return ends

    def _label_query_features(self, row: int, tokens: list[bytes]) -> tuple[float, bytes, bytes]:
        label, query, features = (*tokens, b"", b"")[:3]
        try:
            number = finite(label)
        except InexactError as error:
            raise self.fault(row, label, str(error)) from None
        except ValueError:
            raise self.fault(row, label, f"is not a label, which is a finite number; {EXPECTED}") from None
        if not query.startswith(b"qid:") or query == b"qid:":
            token, problem = (query, "is not") if query else (label, "is not followed by")
            raise self.fault(row, token, f"{problem} qid:QUERY; {EXPECTED}")
        if b"qid:" in features:
            token = next(token for token in features.split() if b"qid:" in token)
            raise self.fault(row, token, f"is a second qid; {_JOINED}.{_SPLIT}")
        return number, query[4:], features


def _read_group_ends(path: AnyPath) -> list[int]:
    """Return the number of rows up to the end of each query, from the file of group sizes; nothing without it."""
    sizes_path = f"{path}.query"
    sizes = read_numbers(sizes_path, hint=_GROUP_SIZES).tolist() if Path(sizes_path).is_file() else []
    for index, size in enumerate(sizes):
        if size < 1 or size != int(size):
            raise InputError(f"{sizes_path}: group {index + 1} has {size:g} rows.", hint=_GROUP_SIZES)
    return list(accumulate(map(int, sizes)))


def _score(rows: LetorRows, row: int, features: bytes, number: int) -> float:
    """Return the value of a feature; NaN if the row omits it, which needs well-formed features."""
    start, zero = b" %d:" % number, b"0%d:" % number
    _, is_there, rest = (b" " + features).partition(start)
    if is_there and start not in rest and zero not in features and b"\t" not in features:  # as in most files
        tokens = [start.strip() + rest.partition(b" ")[0]]
    else:
        tokens = re.findall(rb"(?<!\S)0*%d:\S*" % number, features)
    if not tokens:
        for token in features.split():
            if not FEATURE.fullmatch(token):
                raise rows.fault(row, token, f"is not a feature, {FORM}; {EXPECTED}")
        return np.nan
    if len(tokens) > 1:
        raise rows.fault(row, tokens[1], "is a second value of the feature.\nHint: drop one of the two.")
    try:
        return finite(tokens[0].partition(b":")[2])
    except InexactError as error:
        raise rows.fault(row, tokens[0], str(error)) from None
    except ValueError:
        raise rows.fault(row, tokens[0], "is not a finite number, which the score must be") from None


def _zero_where_absent(rows: LetorRows, values: Sequence[float], number: int) -> Floats:
    scores = np.asarray(values)
    if np.isnan(scores).all():
        msg = f"{join_paths(rows.paths)}: no line has feature {number}."
        raise InputError(msg, hint="features are numbered as written")
    return np.where(np.isnan(scores), 0.0, scores)


def _texts(items: Sequence[bytes]) -> list[str]:
    return b"\n".join(items).decode().split("\n")


def _no_rows(path: AnyPath) -> InputError:
    return InputError(f"{path}: no line holds more than a comment.", hint="'label qid:QUERY feature:value ...'")
