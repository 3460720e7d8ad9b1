"""What all text files share: paths, numbers, and errors that name file and line."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rankadapters.arrow_columns import MERGED
from rankadapters.core.data.columns import EXACT_INT
from rankadapters.core.errors import InputError

AnyPath = str | os.PathLike[str]
Name = str | int  # of a column; its index, where a batch is a tuple

NEWLINE = b"\n"
_EXACT_DIGITS = len(str(EXACT_INT))


@dataclass(frozen=True, slots=True, eq=False)
class HeldFile(os.PathLike[str]):
    """The content of a file that can be read only once, such as standard input."""

    name: str  # in messages
    data: bytes = field(repr=False)
    model: str | None = None  # the name that the user gave to it

    def __fspath__(self) -> str:
        """Return the name: no file is opened by it."""
        return self.name

    def __str__(self) -> str:
        """Show the name."""
        return self.name


def as_paths(paths: AnyPath | Sequence[AnyPath]) -> list[AnyPath]:
    """Return one path or a sequence of paths as a list.

    Raises
    ------
    InputError
        An entry is not a path.
    """
    entries = [paths] if isinstance(paths, (str, os.PathLike)) or not isinstance(paths, Iterable) else list(paths)
    for path in entries:
        if not isinstance(path, (str, os.PathLike)):
            msg = f"{path!r:.60} is not a path.\nHint: a text, a pathlib.Path, or a list of these."
            raise InputError(msg)
    return entries


def listed(paths: Iterable[AnyPath]) -> str:
    """Name files in a message."""
    return ", ".join(map(str, paths))


@contextmanager
def readable(path: AnyPath) -> Iterator[None]:
    """Turn what goes wrong while a file is read into an error that names it."""
    try:
        yield
    except InputError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        # An error inside an archive has no strerror.
        msg = f"{path}: {getattr(error, 'strerror', None) or error}.\nHint: give the path of a readable file."
        raise InputError(msg) from None


def nothing_in(path: AnyPath, what: str = "is empty") -> InputError:
    """Return the error for a file that is empty, or blank."""
    return InputError(f"{path} {what}.\nHint: at least one line is needed.")


def bad_line(path: AnyPath, number: int, line: bytes | str, expected: str, *, hint: str, row: int) -> InputError:
    """Return the error that says what a line, which is this row of the file, holds and what is expected."""
    shown = line if isinstance(line, str) else line.decode()
    msg = f"{path}, line {number} is {shown.strip()!r:.80}; expected {expected}.\nHint: {hint}."
    return InputError(msg, row=row)


def bad_number(
    path: AnyPath, number: int, line: bytes | str, text: bytes | str, expected: str, *, hint: str, row: int
) -> InputError:
    """Return the error for a line whose number is not one that `finite` reads."""
    if not is_merged(text):
        return bad_line(path, number, line, expected, hint=hint, row=row)
    shown = text if isinstance(text, str) else text.decode()
    return InputError(f"{path}, line {number}: {shown!r:.60} {MERGED}", row=row)


@contextmanager
def after_rows(n_rows: int) -> Iterator[None]:
    """Add the rows of the files before to the row of an error."""
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
