"""Lines of SVMlight and LETOR files: the one place that says what such a line may hold.

A line is `label qid:QUERY number:value number:value ... # comment`, parted by blanks or tabs. The label is a finite
decimal number, the query any text, each feature's number a whole one from 0 on that stands once in its line, and each
value a decimal number or `nan`. Features may stand in any order: RankLib, LightGBM, XGBoost and CatBoost take them so,
and only scikit-learn, LIBSVM and SVMlight itself do not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rankadapters.core.errors import InputError
from rankadapters.io.blocks import parsed, parsed_blocks
from rankadapters.io.letor_features import FEATURE
from rankadapters.io.letor_rows import ROW_IN_COMMENT, LetorRows
from rankadapters.io.line_blocks import row_blocks
from rankadapters.io.text import MERGED, NEWLINE, AnyPath, is_finite, is_merged, read_rows_of_text

EXPECTED = "expected 'label qid:QUERY feature:value ...'.\nHint: SVMlight or LETOR format, decimal points, no header."

_JOINED = "two rows may have been joined where a file ends without a line end"
_WHITE = re.compile(rb"\s")  # a vertical tab or a form feed, which part no fields


def read_rows(path: AnyPath) -> Iterator[LetorRows]:
    """Read a file, and give its rows block by block.

    Raises
    ------
    InputError
        The file cannot be read, or a line is malformed. The message names file, line and token.
    """
    return _rows(path, parsed(read_rows_of_text(path), _parsed))


def stream_lines(path: AnyPath, step: Callable[[int, int], None] | None = None) -> Iterator[LetorRows]:
    """Give the rows of a file block by block, as `read_rows` does, with a few blocks in memory."""
    return _rows(path, parsed_blocks(row_blocks(path, step), _parsed))


def _rows(path: AnyPath, blocks: Iterator[tuple[bytes, LetorRows | None]]) -> Iterator[LetorRows]:
    number, n_rows = 1, 0
    for block, rows in blocks:
        if rows is None:
            raise _first_fault(path, number, n_rows, block)
        if rows.labels.size:
            yield rows
        n_rows += rows.labels.size
        number += block.count(NEWLINE)


def line_of(path: AnyPath, row: int) -> int:
    """Line that a row came from."""
    lines = (line for block in row_blocks(path) for line in block.removesuffix(NEWLINE).split(NEWLINE))
    kept = (number for number, line in enumerate(lines, start=1) if _holds_row(line))
    return next(number for i, number in enumerate(kept) if i == row)


def _holds_row(line: bytes) -> bool:
    """Tell whether a line holds anything before its comment."""
    return bool(line.partition(b"#")[0].strip())


def bad_token(path: AnyPath, row: int, token: bytes, what: str, *, line: int | None = None) -> InputError:
    """Name the file, the line of a row, and the token."""
    line = line_of(path, row) if line is None else line
    return InputError(f"{path}, line {line}: {token.decode()!r:.60} {what}", row=row)


def fault(line: bytes) -> tuple[bytes, str] | None:
    """Find the first token that does not belong in a line, and say why.

    Examples
    --------
    >>> fault(b"2 qid:7 1:0.5 # docid = GX008")
    >>> fault(b"2 qid:7 1:0.5 qid:8 1:0.25")[0]
    b'qid:8'
    """
    head, _, comment = line.partition(b"#")
    tokens = [token for token in re.split(rb"[ \t]+", head) if token]
    if not tokens:
        return None
    found = _label_fault(*tokens[:2]) or _feature_fault(tokens[2:])
    if found is None and (row := ROW_IN_COMMENT.search(comment)):
        return row[1], f"stands with features in the comment; {_JOINED}.\nHint: a line end before the row."
    return found


def _label_fault(label: bytes, query: bytes | None = None) -> tuple[bytes, str] | None:
    if _WHITE.search(label) or not is_finite(label):
        return label, MERGED if is_merged(label) else f"is not a label, which is a finite number; {EXPECTED}"
    if query is None:
        return label, f"stands without a qid:QUERY behind it; {EXPECTED}"
    if not query.startswith(b"qid:") or query == b"qid:" or _WHITE.search(query):
        return query, f"stands where qid:QUERY is needed; {EXPECTED}"
    return None


def _feature_fault(tokens: Sequence[bytes]) -> tuple[bytes, str] | None:
    numbers = set()
    for token in tokens:
        if token.startswith(b"qid:"):
            return token, f"is a second qid; {_JOINED}.\nHint: a line end before the second row."
        feature = FEATURE.fullmatch(token)
        if not feature:
            return token, f"is not a feature, which is a whole number, a colon and a number; {EXPECTED}"
        if int(feature[1]) in numbers:
            return token, f"gives feature {int(feature[1])} a second value.\nHint: drop one of the two."
        numbers.add(int(feature[1]))
    return None


def _parsed(block: bytes) -> LetorRows | None:
    """Read lines; None where one is malformed."""
    if (b"\v" in block or b"\f" in block) and any(map(fault, block.split(NEWLINE))):
        return None  # Python splits there, and no other program does
    return LetorRows.of(block)


def _first_fault(path: AnyPath, first: int, n_rows: int, block: bytes) -> InputError:
    """Name the first fault in a block, of which `first` is the first line and before which `n_rows` rows stand."""
    lines = block.split(NEWLINE)
    place, found = next((place, found) for place, line in enumerate(lines) if (found := fault(line)))
    return bad_token(path, n_rows + sum(map(_holds_row, lines[:place])), *found, line=first + place)
