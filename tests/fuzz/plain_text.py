"""A slow parser of text files and numbers in plain Python, after the grammar in docs/formats.md."""

from __future__ import annotations

import bz2
import gzip
import math
import re

DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
WHOLE = re.compile(r"[+-]?[0-9]+")
BLANK = " \t\n\r\v\f"


class RefusedError(Exception):
    """The grammar refuses a file; `line` is the first bad line if the format is read by lines."""

    line: int | None = None


def refuse_unless(accepted: object, problem: str) -> None:
    """Refuse a file because of this problem."""
    if not accepted:
        raise RefusedError(problem)


def text_of(data: bytes) -> str:
    """TEXT: UTF-8 without NUL, not only white space, perhaps compressed or after one byte order mark."""
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        elif data.startswith(b"BZh"):
            data = bz2.decompress(data)
    except Exception as error:  # a broken archive may raise anything
        raise RefusedError from error
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        raise RefusedError from error
    refuse_unless("\0" not in text and text.strip(BLANK), "NUL, or blank")
    return text


def lines_of(data: bytes) -> list[str]:
    """ROWS: a text with carriage returns only right before a line feed or the end."""
    text = re.sub(r"\r+\n", "\n", text_of(data))
    text = re.sub(r"\r+\Z", "", text)
    refuse_unless("\r" not in text, "a carriage return")
    return text.split("\n")


def number(text: str) -> float:
    """NUMBER: a finite decimal; if written as an integer, at most 2^53 in absolute value."""
    refuse_unless(re.fullmatch(DECIMAL, text), f"{text} is not a decimal")
    value = float(text)
    refuse_unless(math.isfinite(value), f"{text} is not finite")
    refuse_unless(not WHOLE.fullmatch(text) or within_2_53(text), f"{text} is beyond 2^53")
    return value


def within_2_53(text: str) -> bool:
    """Return whether an integer of any number of digits is at most 2^53 in absolute value."""
    digits = text.lstrip("+-").lstrip("0")
    return (len(digits), digits) <= (16, str(2**53))


def is_number(text: str) -> bool:
    """Return whether a text is a NUMBER."""
    try:
        number(text)
    except RefusedError:
        return False
    return True
