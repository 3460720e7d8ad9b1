"""Quotes of CSV text: one that begins a field ends it too, and any other is a character."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rankadapters.io.blocks import BLOCK

QUOTE = b'"'

_OPEN = rb'"[^"]*+(?:""[^"]*+)*+'
_UNCLOSED = re.compile(_OPEN)
_FITTING = re.compile(rb'(?:[^"]++|(?<![^,\r\n])%s"(?=[,\r\n]|\Z)|(?<=[^,\r\n])")*+' % _OPEN)


def quotes_fit(blocks: Iterable[bytes]) -> bool:
    r"""Tell whether every quoted field is closed, and ends there; blocks are of whole lines, which fields may span.

    pyarrow and Python take what stands behind a closing quote as more of the field, and all the rest of a file as one
    field whose quote is not closed.

    Examples
    --------
    >>> quotes_fit([b'a,"b ""c"" \n', b'",5" disk\n']), quotes_fit([b'"a"b\n']), quotes_fit([b'a\n"b\n'])
    (True, False, False)
    """
    rest = b""
    for block in blocks:
        if not rest and QUOTE not in block:
            continue
        text = rest + block
        fitting = _FITTING.match(text)
        rest = text[fitting.end() :] if fitting else text
        if rest and (len(rest) > BLOCK or not _UNCLOSED.fullmatch(rest)):
            return False
    return not rest
