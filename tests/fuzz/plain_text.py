"""A slow parser of text files and numbers in plain Python, after the grammar in docs/formats.md."""

from __future__ import annotations

import bz2
import gzip
import math
import re

DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
BLANK = " \t\n\r\v\f"


class RefusedError(Exception):
    """The grammar refuses a file; `line` is the first bad line if the format is read by lines."""

    line: int | None = None


def refuse_unless(accepted: object, problem: str) -> None:
    """Refuse a file because of this problem."""
    if not accepted:
        raise RefusedError(problem)


def text_of(data: bytes) -> str:
    """TEXT: UTF-8, not only white space, perhaps compressed or after one byte order mark."""
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
    refuse_unless(text.strip(BLANK), "blank")
    return text


def lines_of(data: bytes) -> list[str]:
    """ROWS: a text with carriage returns only right before a line feed or the end."""
    text = re.sub(r"\r+\n", "\n", text_of(data))
    text = re.sub(r"\r+\Z", "", text)
    refuse_unless("\r" not in text, "a carriage return")
    return text.split("\n")


def words_of(line: str) -> list[str]:
    """Return the words of a line, which ASCII's white space separates."""
    return [word for word in re.split(f"[{BLANK}]+", line) if word]


def number(text: str) -> float:
    """NUMBER: a finite decimal."""
    refuse_unless(re.fullmatch(DECIMAL, text), f"{text} is not a decimal")
    value = float(text)
    refuse_unless(math.isfinite(value), f"{text} is not finite")
    return value


def is_number(text: str) -> bool:
    """Return whether a text is a NUMBER."""
    try:
        number(text)
    except RefusedError:
        return False
    return True
