"""Text files: paths, checked lines without compression, errors that name file and line, and files of numbers."""

from __future__ import annotations

import bz2
import gzip
import math
import os
import re
import shutil
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import numpy as np

from rankadapters.core.arrays import EXACT, Floats
from rankadapters.core.declaration.arguments import members
from rankadapters.core.errors import InputError, MissingToolkitError, brief
from rankadapters.progress import Step

AnyPath = str | os.PathLike[str]

_BLOCK = 1 << 20  # bytes that are read at once
_BOM = b"\xef\xbb\xbf"


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


def is_pipe(path: AnyPath) -> bool:
    """Return whether a path can be read only once, as a named pipe and the shell's `<(command)`."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - False for an empty or too long text, for which open() has an error
    except (OSError, ValueError):
        return False
    return not (S_ISREG(mode) or S_ISDIR(mode))


@contextmanager
def copied(path: AnyPath) -> Iterator[Path]:
    """Copy a pipe to a temporary file of the same name, which can be read more than once."""
    with TemporaryDirectory(prefix="rankadapters-") as folder:
        copy = Path(folder, Path(path).name)
        with readable(path), Path(path).open("rb") as file, copy.open("wb") as target:
            shutil.copyfileobj(file, target)
        yield copy


@contextmanager
def readable(path: AnyPath) -> Iterator[None]:
    """Turn errors of reading a file into an InputError that names the file."""
    try:
        yield
    except InputError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        # Errors in compressed data have no strerror.
        problem = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: {problem}.", hint="give the path of a readable file") from None


@contextmanager
def open_text(path: AnyPath, step: Step | None = None) -> Iterator[BinaryIO]:
    """Open a text file as a stream of decompressed bytes after the byte order mark; `step` follows the reading.

    The first bytes tell whether gzip, bzip2 or zstd compressed the file, not its name.

    Raises
    ------
    InputError
        The file cannot be opened, or a read within the context fails.
    MissingToolkitError
        The file is compressed by zstd, and pyarrow is not installed.
    """
    with readable(path):
        raw = _File(path, step)
        with BufferedReader(raw, _BLOCK) as file:
            magic = file.peek(4)
            decompress = next((function for start, function in _DECOMPRESS.items() if magic.startswith(start)), None)
            with file if decompress is None else BufferedReader(decompress(file), _BLOCK) as text:
                if text.peek(len(_BOM)).startswith(_BOM):
                    text.read(len(_BOM))
                yield text


def lines(path: AnyPath, step: Step | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the text of each line that is not blank, without its line end.

    Raises
    ------
    InputError
        The file cannot be read, has only blank lines, is not UTF-8, or has a carriage return within a line: a file
        without line feeds would be one row.
    """
    number = n_lines = 0
    with open_text(path, step) as text:
        while block := text.read(_BLOCK) + text.readline():
            is_plain = block.isascii() and b"\r" not in block
            for line in block.removesuffix(b"\n").split(b"\n"):
                number += 1
                if line and not line.isspace():
                    n_lines += 1
                    yield number, line if is_plain else _checked(path, number, line)
    if not n_lines:
        problem = "holds no lines" if number else "is empty"
        raise InputError(f"{path} {problem}.", hint="at least one line is needed")


def _checked(path: AnyPath, number: int, line: bytes) -> bytes:
    """Return a line without the carriage returns of its line end."""
    line = line.rstrip(b"\r")
    if b"\r" in line:
        msg = f"{path}, line {number} holds a carriage return within the line."
        raise InputError(msg, hint="write the file with a line feed after every line")
    try:
        line.decode()
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} of the line: 0x{line[error.start]:02x} is not UTF-8 text"
        raise InputError(f"{path}, line {number}, {problem}.", hint="give a text file, saved as UTF-8") from None
    return line


def finite(text: bytes) -> float:
    """Read a finite decimal number.

    Raises
    ------
    InexactError
        `is_exact` is False.
    ValueError
        The text is not a finite number, or has underscores as in Python's 1_000.

    Examples
    --------
    >>> finite(b"2.50")
    2.5
    """
    value = float(text)
    if not math.isfinite(value) or b"_" in text:
        raise ValueError(text)
    if abs(value) >= EXACT and not is_exact(text.decode()):
        raise InexactError
    return value


class InexactError(ValueError):
    """A number in a text has more digits than float64; the message continues a sentence about it."""

    def __init__(self) -> None:
        problem = "is beyond 2^53, where float64 would merge neighbors into ties"
        super().__init__(f"{problem}.\nHint: subtract a constant or rescale the column first.")


def is_exact(text: str) -> bool:
    """Return whether float64 keeps a finite number: no integer beyond 2^53, and no more digits than it prints again.

    >>> is_exact("9007199254740993"), is_exact("9007199254740993.0"), is_exact("9007199254740994.0"), is_exact("1e23")
    (False, False, True, True)
    """
    value = float(text)
    if abs(value) < EXACT:
        return True
    mantissa, exponent, _ = text.lower().partition("e")
    if not exponent and "." not in mantissa:
        return abs(Decimal(text.strip())) <= EXACT
    n_digits = len(re.sub(r"\D", "", mantissa).lstrip("0"))
    return Decimal(text.strip()) == Decimal(f"{value:.{n_digits - 1}e}")


def is_finite(text: bytes) -> bool:
    """Return whether a text is a finite decimal number."""
    try:
        finite(text)
    except ValueError as error:
        return isinstance(error, InexactError)
    return True


def bad_line(path: AnyPath, number: int, line: bytes, expected: str, *, hint: str, row: int) -> InputError:
    """Return the error for a malformed line, with its text and what is expected; `row` is the row on the line."""
    msg = f"{path}, line {number} is {line.decode().strip()!r:.80}; expected {expected}."
    return InputError(msg, hint=hint, row=row)


def inexact_number(path: AnyPath, number: int, text: bytes, error: InexactError, *, row: int) -> InputError:
    """Return the error for a number on a line that has more digits than float64."""
    return InputError(f"{path}, line {number}: {text.decode().strip()!r:.60} {error}", row=row)


_SCORES = "a score for each row of the features, with a decimal point, without a header"


def read_predictions(
    predictions: AnyPath | Sequence[AnyPath], n_rows: int, files: AnyPath | Sequence[AnyPath]
) -> Floats:
    """Read predictions; raise an error unless there is one for each row of the feature files."""
    paths, parts, n_numbers = as_paths(predictions), [np.empty(0)], 0
    for path in paths:
        parts.append(read_numbers(path, n_before=n_numbers))
        n_numbers += parts[-1].size
    if n_numbers != n_rows:
        msg = f"{join_paths(paths)}: {n_numbers} predictions for the {n_rows} rows of {join_paths(as_paths(files))}."
        hint = "one number per row, in the order of the rows; for several models, repeat --predictions"
        raise InputError(msg, hint=hint)
    return np.concatenate(parts)


def read_numbers(path: AnyPath, *, n_before: int = 0, hint: str = _SCORES) -> Floats:
    """Read a file of one finite number per line; `n_before` numbers precede it in the caller's data."""
    numbers = array("d")
    for number, line in lines(path):
        try:
            numbers.append(finite(line))
        except InexactError as error:
            raise inexact_number(path, number, line, error, row=n_before + len(numbers)) from None
        except ValueError:
            row = n_before + len(numbers)
            raise bad_line(path, number, line, "one finite number per line", hint=hint, row=row) from None
    return np.asarray(numbers)


class _File(FileIO):
    """A file that reports how many of its bytes have been read."""

    def __init__(self, path: AnyPath, step: Step | None) -> None:
        super().__init__(path)
        self._step = step
        self._size = os.fstat(self.fileno()).st_size  # 0 for a pipe

    def readinto(self, buffer: Any) -> int | None:
        n_bytes = super().readinto(buffer)
        if self._step is not None and self._size:
            self._step(self.tell(), self._size)
        return n_bytes


class _Bzip2(RawIOBase):
    """The decompressed text of bzip2 streams; `bz2.open` would drop the rest of a file from a damaged stream on."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file, self._stream = file, bz2.BZ2Decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        text = b""
        while not text:
            compressed = b""
            if self._stream.eof:
                compressed = self._stream.unused_data or self._file.read(_BLOCK)
                if not compressed:
                    return 0
                self._stream = bz2.BZ2Decompressor()
            elif self._stream.needs_input:
                compressed = self._file.read(_BLOCK)
                if not compressed:
                    raise EOFError("the file ends within a stream of bzip2")
            text = self._stream.decompress(compressed, len(buffer))
        buffer[: len(text)] = text
        return len(text)


def _open_zstd(file: BinaryIO) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingToolkitError.of("pyarrow", "files") from error
    return pa.CompressedInputStream(file, "zstd")


_DECOMPRESS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": _Bzip2,
    b"\x28\xb5\x2f\xfd": _open_zstd,
}
