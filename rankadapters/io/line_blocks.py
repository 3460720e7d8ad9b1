"""Read text files in blocks of whole lines, decompressed and checked, without loading a file into memory."""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from rankadapters.core.errors import InputError
from rankadapters.io.text import NEWLINE, AnyPath, LoadedFile, empty_file_error, readable

BLOCK = 1 << 20  # bytes

_BOM = b"\xef\xbb\xbf"
_OPENERS: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
_MAGIC = max(map(len, _OPENERS))


class OpenText(NamedTuple):
    """An open text file, decompressed, and positioned after its byte order mark."""

    data: BinaryIO
    raw: BinaryIO  # the file before decompression
    size: int  # bytes on the disk; 0 for a pipe
    is_marked: bool  # whether the text begins with a byte order mark


@contextmanager
def open_text(path: AnyPath) -> Iterator[OpenText]:
    """Open a text file; gzip and bzip2 are recognized by their first bytes, not by name."""
    loaded = BufferedReader(BytesIO(path.data)) if isinstance(path, LoadedFile) else None
    with loaded or Path(path).open("rb") as raw:
        size = raw.seek(0, os.SEEK_END) if raw.seekable() else 0  # a pipe cannot seek
        if size:
            raw.seek(0)
        start = raw.peek(_MAGIC)
        opener = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)
        with raw if opener is None else opener(raw) as data:
            is_marked = data.peek(len(_BOM)).startswith(_BOM)
            if is_marked:
                data.read(len(_BOM))
            yield OpenText(data, raw, size, is_marked)


def line_blocks(path: AnyPath, step: Callable[[int, int], None] | None = None) -> Iterator[bytes]:
    """Read a text file in blocks of whole lines.

    Parameters
    ----------
    path : path
        Text in UTF-8, which may be compressed by gzip or bzip2 and begin with a byte order mark.
    step : callable, optional
        Called with the number of bytes read so far and the file's size.

    Raises
    ------
    InputError
        The file cannot be read, is empty, has a NUL or bytes that are not UTF-8, or, known at its end, has only white
        space.
    """
    return _checked_blocks(path, step, _check_text)


def row_blocks(path: AnyPath, step: Callable[[int, int], None] | None = None) -> Iterator[bytes]:
    r"""Read a text file with one row per line like `line_blocks`, and convert every line end to `\n`.

    Raises
    ------
    InputError
        As `line_blocks`, or a carriage return is within a line: a file with only carriage returns would be one row.
    """
    return _checked_blocks(path, step, _with_line_feeds)


def _checked_blocks(
    path: AnyPath, step: Callable[[int, int], None] | None, check: Callable[[AnyPath, bytes, int], bytes]
) -> Iterator[bytes]:
    n_lines, is_blank = 0, True
    for block in _whole_lines(_blocks(path, step)):
        checked = check(path, block, n_lines)
        is_blank = is_blank and block.isspace()
        n_lines += block.count(NEWLINE)
        yield checked
    if is_blank:
        raise empty_file_error(path, "holds no lines")


def _blocks(path: AnyPath, step: Callable[[int, int], None] | None) -> Iterator[bytes]:
    """Yield blocks of bytes, which may end within a line."""
    with readable(path), open_text(path) as file:
        is_empty = not file.is_marked
        while block := file.data.read(BLOCK):
            is_empty = False
            if step is not None and file.size:
                step(file.raw.tell(), file.size)
            yield block
    if is_empty:
        raise empty_file_error(path)


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield blocks of whole lines; text after the last line end of a block waits for the next block."""
    rest: list[bytes] = []
    for block in blocks:
        end = block.rfind(NEWLINE) + 1
        if end:
            yield b"".join([*rest, block[:end]])
            rest = []
        rest.append(block[end:])
    if any(rest):
        yield b"".join(rest)


def _check_text(path: AnyPath, block: bytes, n_lines: int) -> bytes:
    """Return the block if it is UTF-8 without NUL, or raise an error; `n_lines` lines precede the block."""
    try:
        if not block.isascii():
            block.decode()
        position = block.find(b"\0")
    except UnicodeDecodeError as error:
        position = error.start
    if position >= 0:
        line, byte = n_lines + block.count(NEWLINE, 0, position) + 1, position - block.rfind(NEWLINE, 0, position)
        msg = (
            f"{path}, line {line}, byte {byte} of the line: 0x{block[position]:02x} is not UTF-8 text.\n"
            "Hint: give a text file, saved as UTF-8."
        )
        raise InputError(msg)
    return block


def _with_line_feeds(path: AnyPath, block: bytes, n_lines: int) -> bytes:
    r"""Return the block with every line end converted to `\n`; `n_lines` lines precede the block."""
    if b"\r" not in _check_text(path, block, n_lines):
        return block
    while b"\r\n" in block:
        block = block.replace(b"\r\n", NEWLINE)
    block = block.rstrip(b"\r")
    position = block.find(b"\r")
    if position >= 0:
        msg = (
            f"{path}, line {n_lines + block.count(NEWLINE, 0, position) + 1} holds a carriage return within the line.\n"
            "Hint: write the file with a line feed after every line."
        )
        raise InputError(msg)
    return block
