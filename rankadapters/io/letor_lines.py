"""Parse the lines of SVMlight and LETOR files; only this module defines their grammar.

A line is `label qid:QUERY number:value number:value ... # comment`, separated by blanks or tabs. The label is a finite
decimal number and the query is any text. A feature's number is a whole number from 0 on, at most once in a line; its
value is a decimal number or `nan`. Features may be in any order: RankLib, LightGBM, XGBoost and CatBoost accept that,
and only scikit-learn, LIBSVM and SVMlight itself do not.

Most files have the same features on every line. A regular expression made from the first row reads such lines a block
at a time; an expression for the whole grammar reads all other lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.arrow_columns import MERGED
from rankadapters.core.data.columns import EXACT_INT, Floats
from rankadapters.core.errors import InputError
from rankadapters.io.line_blocks import row_blocks
from rankadapters.io.text import NEWLINE, AnyPath, is_finite, is_merged

EXPECTED = "expected 'label qid:QUERY feature:value ...'.\nHint: SVMlight or LETOR format, decimal points, no header."

_JOINED = "two rows may have been joined where a file ends without a line end"
_NUMBER = rb"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_FEATURE = rb"([0-9]{1,18}+):(?:%s|[nN][aA][nN])" % _NUMBER  # 18 digits fit into 64 bits
_ONE_FEATURE = re.compile(_FEATURE)
_ROW = re.compile(
    rb"[ \t]*+(?:(?P<label>%s)[ \t]++qid:(?P<query>[^\s#]++)(?P<features>(?:[ \t]++%s)*+)[ \t]*+)?"
    rb"(?:#(?P<comment>.*+))?" % (_NUMBER, _FEATURE.replace(b"(", b"(?:", 1)),
    re.DOTALL,
)
_ROW_IN_COMMENT = re.compile(rb"\s(qid:\S+)\s+[0-9]+:")
_PLAIN = rb"-?[0-9]++\.?[0-9]*+"  # a number without an exponent, the form in most files
_WHITE = re.compile(rb"\s")  # in a token, this finds a vertical tab or form feed, which do not separate fields

_Row = tuple[bytes, bytes, bytes, bytes, bytes]  # label, query, features, value of one feature, comment


class LetorRows(NamedTuple):
    """Rows of consecutive lines."""

    labels: Floats
    queries: list[bytes]  # query of each run of consecutive rows with the same query
    starts: NDArray[np.int64]  # first row of each run
    features: list[bytes]  # text of all features of each row
    values: list[bytes]  # text of the requested feature's value; empty if the row omits it
    comments: list[bytes]  # text after `#`


def read_rows(
    path: AnyPath, feature: int | None = None, step: Callable[[int, int], None] | None = None
) -> Iterator[LetorRows]:
    """Yield the rows of a file block by block.

    Parameters
    ----------
    path : path
        The file.
    feature : int, optional
        Feature whose values are requested.
    step : callable, optional
        Called with the number of bytes read so far and the file's size.

    Raises
    ------
    InputError
        The file cannot be read, or a line is malformed. The message names file, line and token.
    """
    reader, number, n_rows = _BlockReader(feature), 1, 0
    for block in row_blocks(path, step):
        n_lines = block.count(NEWLINE)
        rows = _rows(reader.rows(block, n_lines))
        if rows is None:
            raise _first_fault(path, number, n_rows, block.split(NEWLINE))
        if rows.labels.size:
            yield rows
        n_rows += rows.labels.size
        number += n_lines


class _BlockReader:
    """Parses blocks of lines, with one fast regular expression if every line has the same features as the first row."""

    def __init__(self, feature: int | None) -> None:
        self._feature = feature
        self._like_first: re.Pattern[bytes] | None = None

    def rows(self, block: bytes, n_lines: int) -> list[_Row] | None:
        """Return the rows of a block; None if a line is malformed."""
        if self._like_first is not None:
            rows: list[_Row] = self._like_first.findall(block)
            if len(rows) == n_lines + (not block.endswith(NEWLINE)):
                return rows
        try:
            return [row for row in map(self._by_grammar, block.split(NEWLINE)) if row is not None]
        except ValueError:
            return None

    def _by_grammar(self, line: bytes) -> _Row | None:
        """Return the row on a line, None if the line is blank or a comment; raise ValueError if it is malformed."""
        if self._like_first is not None and (match := self._like_first.fullmatch(line)):
            return match.groups(b"")  # type: ignore[return-value]
        match = _ROW.fullmatch(line)
        if match is None:
            raise ValueError(line)
        label, query, features, comment = match.groups(b"")
        tokens = [token.partition(b":") for token in features.split()]
        values = {int(number): value for number, _, value in tokens}
        if len(values) < len(tokens) or _ROW_IN_COMMENT.search(comment):
            raise ValueError(line)
        if not label:
            return None
        if self._like_first is None:
            self._like_first = _pattern([number for number, _, _ in tokens], self._feature)
        return label, query, features, values.get(-1 if self._feature is None else self._feature, b""), comment


def _pattern(numbers: Sequence[bytes], feature: int | None) -> re.Pattern[bytes]:
    """Return a regular expression for lines with these features and no colon in the comment, which could hide a row."""
    features = [rb"[ \t]%s:%s" % (number, b"(%s)" % _PLAIN if int(number) == feature else _PLAIN) for number in numbers]
    value = b"" if any(int(number) == feature for number in numbers) else b"()"
    return re.compile(
        rb"^(%s)[ \t]qid:([^\s#]++)(%s%s)[ \t]?(?:#([^:\n]*+))?(?:\n|\Z)" % (_PLAIN, b"".join(features), value),
        re.MULTILINE,
    )


def _rows(rows: list[_Row] | None) -> LetorRows | None:
    """Convert rows to LetorRows; return None if a label is not a finite number, or if `rows` is None."""
    if not rows:
        return None if rows is None else LetorRows(np.empty(0), [], np.empty(0, np.int64), [], [], [])
    texts, query, features, values, comments = map(list, zip(*rows, strict=True))
    labels = np.asarray(list(map(float, texts)))
    if not all(is_finite(texts[row]) for row in np.flatnonzero(~(np.abs(labels) < EXACT_INT)).tolist()):
        return None
    starts = [0, *(row for row in range(1, len(query)) if query[row] != query[row - 1])]
    return LetorRows(labels, [query[row] for row in starts], np.asarray(starts), features, values, comments)


def line_of(path: AnyPath, row: int) -> int:
    """Return the number of the line that holds a row."""
    lines = (line for block in row_blocks(path) for line in block.removesuffix(NEWLINE).split(NEWLINE))
    numbers = (number for number, line in enumerate(lines, start=1) if _holds_row(line))
    return next(number for i, number in enumerate(numbers) if i == row)


def _holds_row(line: bytes) -> bool:
    return bool(line.partition(b"#")[0].strip())


def bad_token(path: AnyPath, row: int, token: bytes, problem: str, *, line: int | None = None) -> InputError:
    """Return an error that names the file, the line of a row, the token and the problem."""
    line = line_of(path, row) if line is None else line
    return InputError(f"{path}, line {line}: {token.decode()!r:.60} {problem}", row=row)


def feature_token(features: bytes, feature: int) -> bytes:
    """Find a feature's token `number:value` in the text of a row's features."""
    return next(token for token in features.split() if int(token.partition(b":")[0]) == feature)


def fault(line: bytes) -> tuple[bytes, str] | None:
    """Return the first wrong token of a line, and the problem; None if the line is well formed.

    Examples
    --------
    >>> fault(b"2 qid:7 1:0.5 # docid = GX008")
    >>> fault(b"2 qid:7 1:0.5 qid:8 1:0.25")[0]
    b'qid:8'
    """
    content, _, comment = line.partition(b"#")
    tokens = [token for token in re.split(rb"[ \t]+", content) if token]
    problem = (_label_fault(*tokens[:2]) or _feature_fault(tokens[2:])) if tokens else None
    if problem is None and (row := _ROW_IN_COMMENT.search(comment)):
        hint = "a line end before the row, or no comment that looks like a row"
        return row[1], f"is in the comment, with features after it; {_JOINED}.\nHint: {hint}."
    return problem


def _label_fault(label: bytes, query: bytes | None = None) -> tuple[bytes, str] | None:
    if _WHITE.search(label) or not is_finite(label):
        return label, MERGED if is_merged(label) else f"is not a label, which is a finite number; {EXPECTED}"
    if query is None:
        return label, f"is not followed by qid:QUERY; {EXPECTED}"
    if not query.startswith(b"qid:") or query == b"qid:" or _WHITE.search(query):
        return query, f"is not qid:QUERY; {EXPECTED}"
    return None


def _feature_fault(tokens: Sequence[bytes]) -> tuple[bytes, str] | None:
    numbers = set()
    for token in tokens:
        if token.startswith(b"qid:"):
            return token, f"is a second qid; {_JOINED}.\nHint: a line end before the second row."
        feature = _ONE_FEATURE.fullmatch(token)
        if not feature:
            return token, f"is not a feature, which is a whole number, a colon and a number; {EXPECTED}"
        if int(feature[1]) in numbers:
            return token, f"gives feature {int(feature[1])} a second value.\nHint: drop one of the two."
        numbers.add(int(feature[1]))
    return None


def _first_fault(path: AnyPath, first_number: int, n_rows: int, lines: Sequence[bytes]) -> InputError:
    """Return the error for the first malformed line; `lines` begin with number `first_number`, after `n_rows` rows."""
    index, problem = next((index, problem) for index, line in enumerate(lines) if (problem := fault(line)))
    return bad_token(path, n_rows + sum(map(_holds_row, lines[:index])), *problem, line=first_number + index)
