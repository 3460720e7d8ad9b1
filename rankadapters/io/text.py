"""Helpers for all text files: paths, numbers, and errors that name file and line."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rankadapters.arrow_columns import MERGED
from rankadapters.core.data.columns import EXACT_INT
from rankadapters.core.declaration.arguments import members
from rankadapters.core.errors import InputError, brief

AnyPath = str | os.PathLike[str]
Name = str | int  # a column's name, or its index if batches are tuples

NEWLINE = b"\n"
_EXACT_DIGITS = len(str(EXACT_INT))


@dataclass(frozen=True, slots=True, eq=False)
class LoadedFile(os.PathLike[str]):
    """The content of a file that can be read only once, such as standard input."""

    name: str  # for messages
    data: bytes = field(repr=False)
    model: str | None = None  # the name that the user gave to the model

    def __fspath__(self) -> str:
        """Return the name, for messages only: no file is opened by it."""
        return self.name

    def __str__(self) -> str:
        """Return the name."""
        return self.name


def as_paths(paths: AnyPath | Sequence[AnyPath]) -> list[AnyPath]:
    """Return one path or a sequence of paths as a list.

    Raises
    ------
    InputError
        An entry is not a path.
    """
    entries = None if isinstance(paths, os.PathLike) else members(paths)
    return [as_path(path) for path in ([paths] if entries is None else entries)]


def as_path(path: object) -> AnyPath:
    """Return a path; refuse any other type."""
    if isinstance(path, (str, os.PathLike)):
        return path
    raise InputError(f"{brief(path)} is not a path.", hint="a text, a pathlib.Path, or a list of these")


def join_paths(paths: Iterable[AnyPath]) -> str:
    """Return the paths as one text, separated by commas."""
    return ", ".join(map(str, paths))


@contextmanager
def readable(path: AnyPath) -> Iterator[None]:
    """Turn errors of reading a file into an InputError that names the file."""
    try:
        yield
    except InputError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        # Errors in compressed data have no strerror.
        msg = f"{path}: {getattr(error, 'strerror', None) or error}.\nHint: give the path of a readable file."
        raise InputError(msg) from None


def empty_file_error(path: AnyPath, what: str = "is empty") -> InputError:
    """Return the error for an empty or blank file."""
    return InputError(f"{path} {what}.\nHint: at least one line is needed.")


def bad_line(path: AnyPath, number: int, line: bytes | str, expected: str, *, hint: str, row: int) -> InputError:
    """Return the error for a malformed line, with its text and what is expected; `row` is the row on the line."""
    line_text = line if isinstance(line, str) else line.decode()
    msg = f"{path}, line {number} is {line_text.strip()!r:.80}; expected {expected}.\nHint: {hint}."
    return InputError(msg, row=row)


def bad_number(
    path: AnyPath, number: int, line: bytes | str, text: bytes | str, expected: str, *, hint: str, row: int
) -> InputError:
    """Return the error for a line whose number `finite` refuses."""
    if not is_merged(text):
        return bad_line(path, number, line, expected, hint=hint, row=row)
    line_text = text if isinstance(text, str) else text.decode()
    return InputError(f"{path}, line {number}: {line_text!r:.60} {MERGED}", row=row)


@contextmanager
def shift_error_rows(n_rows: int) -> Iterator[None]:
    """Add `n_rows`, the number of rows read before, to the row number of an error."""
    try:
        yield
    except InputError as error:
        if error.row is not None:
            error.row += n_rows
        raise


def finite(text: bytes | str) -> float:
    """Read a finite decimal number.

    Raises
    ------
    ValueError
        The text is no finite number, an integer beyond 2^53, or has underscores as in Python's 1_000.

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
    """Return whether a text is a finite decimal number."""
    try:
        finite(text)
    except ValueError:
        return False
    return True


def is_merged(text: bytes | str) -> bool:
    """Return whether a text is an integer so large that float64 may round it to a neighboring integer."""
    digits = (text if isinstance(text, str) else text.decode()).strip().lstrip("+-").lstrip("0")
    if not (digits.isascii() and digits.isdigit()):
        return False
    return len(digits) > _EXACT_DIGITS or int(digits) > EXACT_INT
