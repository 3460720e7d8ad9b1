"""Text files in memory: decompressed, known to be UTF-8, and what is wrong in them named by file and line."""

from __future__ import annotations

import bz2
import gzip
import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from rankadapters.core.data.columns import EXACT_INT
from rankadapters.core.errors import InputError

AnyPath = str | os.PathLike[str]
Name = str | int  # of a column; its place, where a batch is a tuple

NEWLINE = b"\n"
BLANK = "holds no lines"
BOM = b"\xef\xbb\xbf"
_EXACT_DIGITS = len(str(EXACT_INT))
_MAGIC: dict[bytes, Callable[[bytes], bytes]] = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress}


@dataclass(frozen=True, slots=True, eq=False)
class HeldFile(os.PathLike[str]):
    """What a file holds, where that can be read only once, as from standard input."""

    name: str  # in messages
    data: bytes = field(repr=False)
    model: str | None = None  # the name that the user gave to it

    def __fspath__(self) -> str:
        """Give the name: no file is opened by it."""
        return self.name

    def __str__(self) -> str:
        """Show the name."""
        return self.name


def as_paths(paths: AnyPath | Sequence[AnyPath]) -> list[AnyPath]:
    """Take one path or several."""
    return [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)


def listed(paths: Iterable[AnyPath]) -> str:
    """Name files in a message."""
    return ", ".join(map(str, paths))


def read_bytes(path: AnyPath) -> bytes:
    """Read a file, decompressed where its content is gzip or bzip2, whatever its name.

    Raises
    ------
    InputError
        It is missing, a directory, unreadable, a broken archive, or empty.
    """
    with readable(path):
        data = path.data if isinstance(path, HeldFile) else Path(path).read_bytes()
        for magic, decompress in _MAGIC.items():
            if data.startswith(magic):
                data = decompress(data)
                break
    if not data:
        raise nothing_in(path)
    return data


@contextmanager
def readable(path: AnyPath) -> Iterator[None]:
    """Turn what goes wrong while a file is read into an error that names it."""
    try:
        yield
    except InputError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        # What is wrong inside an archive has no strerror.
        msg = f"{path}: {getattr(error, 'strerror', None) or error}.\nHint: give the path of a readable file."
        raise InputError(msg) from None


def nothing_in(path: AnyPath, what: str = "is empty") -> InputError:
    """Say that a file is empty, or blank."""
    return InputError(f"{path} {what}.\nHint: at least one line is needed.")


def read_text(path: AnyPath) -> bytes:
    """Read a text file as bytes that are known to be UTF-8, without a byte order mark.

    Raises
    ------
    InputError
        As `read_bytes`, or it holds no line, a NUL, or anything that is not UTF-8.
    """
    data = read_bytes(path).removeprefix(BOM)
    if not data or data.isspace():
        raise nothing_in(path, BLANK)
    check_text(path, data)
    return data


def check_text(path: AnyPath, data: bytes, n_lines: int = 0) -> None:
    """Refuse a NUL and what is not UTF-8 in a file, or in a part of it before which so many lines stand."""
    try:
        if not data.isascii():
            data.decode()
        at = data.find(b"\0")
    except UnicodeDecodeError as error:
        at = error.start
    if at >= 0:
        line, byte = n_lines + data.count(b"\n", 0, at) + 1, at - data.rfind(b"\n", 0, at)
        msg = (
            f"{path}, line {line}, byte {byte} of the line: 0x{data[at]:02x} is not UTF-8 text.\n"
            "Hint: give a text file, saved as UTF-8."
        )
        raise InputError(msg)


def read_rows_of_text(path: AnyPath) -> bytes:
    r"""Read a text file of a row per line, with `\n` alone between its lines.

    Raises
    ------
    InputError
        As `read_text`, or a carriage return stands within a line: where these alone end lines, the whole file would be
        one row.
    """
    return with_line_feeds(path, read_text(path))


def with_line_feeds(path: AnyPath, data: bytes, n_lines: int = 0) -> bytes:
    r"""End the lines of a file with `\n` alone, or those of a part of it before which so many lines stand."""
    if b"\r" not in data:
        return data
    while b"\r\n" in data:
        data = data.replace(b"\r\n", b"\n")
    data = data.rstrip(b"\r")
    at = data.find(b"\r")
    if at >= 0:
        line = n_lines + data.count(NEWLINE, 0, at) + 1
        msg = (
            f"{path}, line {line} holds a carriage return that does not end it.\n"
            "Hint: write the file with a line feed after every line."
        )
        raise InputError(msg)
    return data


def lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines that hold anything, numbered from 1."""
    return ((number, line) for number, line in enumerate(BytesIO(data), start=1) if not line.isspace())


def bad_line(path: AnyPath, number: int, line: bytes | str, expected: str, *, hint: str, row: int) -> InputError:
    """Say what a line, which is the row of the file, holds and what it should."""
    shown = line if isinstance(line, str) else line.decode()
    msg = f"{path}, line {number} is {shown.strip()!r:.80}; expected {expected}.\nHint: {hint}."
    return InputError(msg, row=row)


def bad_number(
    path: AnyPath, number: int, line: bytes | str, text: bytes | str, expected: str, *, hint: str, row: int
) -> InputError:
    """Say what is wrong with a line whose number is not one that `finite` reads."""
    if not is_merged(text):
        return bad_line(path, number, line, expected, hint=hint, row=row)
    shown = text if isinstance(text, str) else text.decode()
    return InputError(f"{path}, line {number}: {shown!r:.60} {MERGED}", row=row)


@contextmanager
def after_rows(n_rows: int) -> Iterator[None]:
    """Count the row of an error on from those of the files before."""
    try:
        yield
    except InputError as error:
        if error.row is not None:
            error.row += n_rows
        raise


MERGED = (
    "is an integer beyond 2^53, where float64 would merge neighbours into ties.\n"
    "Hint: subtract a constant or rescale first."
)


def finite(text: bytes | str) -> float:
    """Read a finite decimal number.

    Raises
    ------
    ValueError
        It is anything else, or an integer beyond 2^53; Python's own 1_000 is not a number in a file.

    Examples
    --------
    >>> finite(b"2.50")
    2.5
    """
    value = float(text)
    if not abs(value) < EXACT_INT and (not math.isfinite(value) or is_merged(text)):
        raise ValueError(text)
    if "_" in text if isinstance(text, str) else b"_" in text:
        raise ValueError(text)
    return value


def is_finite(text: bytes | str) -> bool:
    """Tell whether a text is a finite decimal number."""
    try:
        finite(text)
    except ValueError:
        return False
    return True


def is_merged(text: bytes | str) -> bool:
    """Tell whether a text is an integer that float64 need not tell from its neighbours."""
    digits = (text if isinstance(text, str) else text.decode()).strip().lstrip("+-").lstrip("0")
    if not (digits.isascii() and digits.isdigit()):
        return False
    return len(digits) > _EXACT_DIGITS or int(digits) > EXACT_INT
