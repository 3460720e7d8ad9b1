"""The grammar of text files and numbers that docs/formats.md gives, read slowly in plain Python."""

from __future__ import annotations

import bz2
import gzip
import math
import re

DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
WHOLE = re.compile(r"[+-]?[0-9]+")
BLANK = " \t\n\r\v\f"


class RefusedError(Exception):
    """A file that the grammar does not take, and the first bad line if the grammar is of lines."""

    line: int | None = None


def refuse_unless(taken: object, what: str) -> None:
    """Refuse a file for what is wrong in it."""
    if not taken:
        raise RefusedError(what)


def text_of(data: bytes) -> str:
    """TEXT: UTF-8 without NUL that holds more than white space, maybe compressed, maybe behind one byte order mark."""
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        elif data.startswith(b"BZh"):
            data = bz2.decompress(data)
    except Exception as error:  # whatever an archive may be broken by
        raise RefusedError from error
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        raise RefusedError from error
    refuse_unless("\0" not in text and text.strip(BLANK), "NUL, or blank")
    return text


def lines_of(data: bytes) -> list[str]:
    """ROWS: a text whose carriage returns all stand right before a line feed or the end."""
    text = re.sub(r"\r+\n", "\n", text_of(data))
    text = re.sub(r"\r+\Z", "", text)
    refuse_unless("\r" not in text, "a carriage return")
    return text.split("\n")


def number(text: str) -> float:
    """NUMBER: a finite decimal, and within 2^53 where it is written as an integer."""
    refuse_unless(re.fullmatch(DECIMAL, text), f"{text} is not a decimal")
    value = float(text)
    refuse_unless(math.isfinite(value), f"{text} is not finite")
    refuse_unless(not WHOLE.fullmatch(text) or within(text), f"{text} is beyond 2^53")
    return value


def within(text: str) -> bool:
    """Compare digits with those of 2^53, however many there are."""
    digits = text.lstrip("+-").lstrip("0")
    return (len(digits), digits) <= (16, str(2**53))


def is_number(text: str) -> bool:
    """Tell whether a text is a NUMBER."""
    try:
        number(text)
    except RefusedError:
        return False
    return True
