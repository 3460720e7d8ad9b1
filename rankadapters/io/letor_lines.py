"""Lines of SVMlight and LETOR files: the one place that says what such a line may hold.

A line is `label qid:QUERY number:value number:value ... # comment`, parted by blanks or tabs. The label is a finite
decimal number, the query any text, each feature's number a whole one from 0 on that stands once in its line, and each
value a decimal number or `nan`. Features may stand in any order: RankLib, LightGBM, XGBoost and CatBoost take them so,
and only scikit-learn, LIBSVM and SVMlight itself do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankadapters.core.columns import EXACT_INT
from rankadapters.core.errors import InputError
from rankadapters.io.letor_features import FEATURE, Features, Floats
from rankadapters.io.text import MERGED, NEWLINE, AnyPath, is_finite, is_merged, read_rows_of_text

EXPECTED = "expected 'label qid:QUERY feature:value ...'.\nHint: SVMlight or LETOR format, decimal points, no header."
BLOCK = 1 << 19  # bytes that are looked at together: the arrays made of them stay in the processor's cache

_JOINED = "two rows may have been joined where a file ends without a line end"
_WHITE = re.compile(rb"\s")  # a vertical tab or a form feed, which part no fields
_ROW_IN_COMMENT = re.compile(rb"\s(qid:\S+)\s+[0-9]+:")


class LetorRows(NamedTuple):
    """Rows of some lines that follow each other."""

    labels: Floats
    queries: list[bytes]
    comments: list[bytes]  # behind `#`, empty where there is none
    features: Features


def read_rows(path: AnyPath) -> Iterator[LetorRows]:
    """Read a file block by block.

    Raises
    ------
    InputError
        The file cannot be read, or a line is malformed. The message names file, line and token.
    """
    number, n_rows = 1, 0
    for block in _blocks(read_rows_of_text(path)):
        rows = _parsed(block)
        if rows is None:
            raise _first_fault(path, number, n_rows, block)
        if rows.queries:
            yield rows
        n_rows += len(rows.queries)
        number += block.count(NEWLINE)


def line_of(path: AnyPath, row: int) -> int:
    """Line that a row came from."""
    every = enumerate(read_rows_of_text(path).split(NEWLINE), start=1)
    kept = (number for number, line in every if _holds_row(line))
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
    if found is None and (row := _ROW_IN_COMMENT.search(comment)):
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


def _blocks(data: bytes) -> Iterator[bytes]:
    """Cut between lines."""
    start = 0
    while start < len(data):
        stop = data.find(NEWLINE, start + BLOCK) + 1 or len(data)
        yield data[start:stop]
        start = stop


def _parsed(block: bytes) -> LetorRows | None:
    """Read lines; None where one is malformed."""
    lines = block.split(NEWLINE)
    if (b"\v" in block or b"\f" in block) and any(map(fault, lines)):
        return None  # Python splits there, and no other program does
    parts = [line.partition(b"#") for line in lines]
    fields = [part[0].split(None, 2) for part in parts]
    if not all(fields):
        parts = [part for part, field in zip(parts, fields, strict=True) if field]
        fields = [field for field in fields if field]
    lengths = set(map(len, fields))
    if not lengths <= {2, 3}:
        return None
    if 2 in lengths:  # noqa: PLR2004 - a label and a query without features
        fields = [[*field, b""][:3] for field in fields]
    texts, queries, rows = zip(*fields, strict=True) if fields else ((), (), ())
    comments = [part[2] for part in parts]
    labels, names, features = _labels(texts), _names(queries), Features.of(rows)
    if labels is None or names is None or features is None or _hold_rows(comments):
        return None
    return LetorRows(labels, names, comments, features)


def _labels(texts: Sequence[bytes]) -> Floats | None:
    try:
        labels = np.asarray(list(map(float, texts)), np.float64)
    except ValueError:
        return None
    plain = (np.abs(labels) < EXACT_INT).all() and b"_" not in b" ".join(texts)
    return labels if plain or all(map(is_finite, texts)) else None


def _names(queries: Sequence[bytes]) -> list[bytes] | None:
    joined = b"\n".join([b"", *queries, b""])
    if joined.count(b"\nqid:") != len(queries) or b"\nqid:\n" in joined:
        return None
    return joined[5:-1].split(b"\nqid:") if queries else []


def _hold_rows(comments: Sequence[bytes]) -> bool:
    return b"qid:" in b"\n".join(comments) and any(map(_ROW_IN_COMMENT.search, comments))


def _first_fault(path: AnyPath, first: int, n_rows: int, block: bytes) -> InputError:
    """Name the first fault in a block, of which `first` is the first line and before which `n_rows` rows stand."""
    lines = block.split(NEWLINE)
    place, found = next((place, found) for place, line in enumerate(lines) if (found := fault(line)))
    return bad_token(path, n_rows + sum(map(_holds_row, lines[:place])), *found, line=first + place)
