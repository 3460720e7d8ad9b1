"""Text files read in blocks of whole lines, decompressed and checked on the way, so that none need fit in memory."""

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
from rankadapters.io.text import NEWLINE, AnyPath, HeldFile, nothing_in, readable

BLOCK = 1 << 20  # bytes

_BOM = b"\xef\xbb\xbf"
_OPENERS: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
_MAGIC = max(map(len, _OPENERS))


class OpenText(NamedTuple):
    """An open text file, decompressed, behind its byte order mark."""

    data: BinaryIO
    raw: BinaryIO  # the file as it is on the disk
    size: int  # of the latter, in bytes; 0 of a pipe
    is_marked: bool  # by a byte order mark


@contextmanager
def opened(path: AnyPath) -> Iterator[OpenText]:
    """Open a text file; gzip and bzip2 are known by the first bytes, whatever the name."""
    held = BufferedReader(BytesIO(path.data)) if isinstance(path, HeldFile) else None
    with held or Path(path).open("rb") as raw:
        size = raw.seek(0, os.SEEK_END) if raw.seekable() else 0  # a pipe is read once, from its start to its end
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
        Called with how many bytes of how many were read.

    Raises
    ------
    InputError
        The file cannot be read, is empty, holds a NUL or anything that is not UTF-8, or holds only white space, which
        is known at its end.
    """
    return _checked_blocks(path, step, _check_text)


def row_blocks(path: AnyPath, step: Callable[[int, int], None] | None = None) -> Iterator[bytes]:
    r"""Read a text file of one row per line as `line_blocks` does, with `\n` alone between its lines.

    Raises
    ------
    InputError
        As `line_blocks`, or a carriage return is within a line: where these alone end lines, the whole file would be
        one row.
    """
    return _checked_blocks(path, step, _with_line_feeds)


def _checked_blocks(
    path: AnyPath, step: Callable[[int, int], None] | None, check: Callable[[AnyPath, bytes, int], bytes]
) -> Iterator[bytes]:
    n_lines, is_blank = 0, True
    for block in _joined(_blocks(path, step)):
        checked = check(path, block, n_lines)
        is_blank = is_blank and block.isspace()
        n_lines += block.count(NEWLINE)
        yield checked
    if is_blank:
        raise nothing_in(path, "holds no lines")


def _blocks(path: AnyPath, step: Callable[[int, int], None] | None) -> Iterator[bytes]:
    """Read bytes that are cut anywhere."""
    with readable(path), opened(path) as file:
        is_empty = not file.is_marked
        while block := file.data.read(BLOCK):
            is_empty = False
            if step is not None and file.size:
                step(file.raw.tell(), file.size)
            yield block
    if is_empty:
        raise nothing_in(path)


def _joined(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Cut between lines: what follows the last line end of a block waits for the next block."""
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
    """Return a block that follows `n_lines` lines; refuse a NUL, and bytes that are not UTF-8."""
    try:
        if not block.isascii():
            block.decode()
        at = block.find(b"\0")
    except UnicodeDecodeError as error:
        at = error.start
    if at >= 0:
        line, byte = n_lines + block.count(NEWLINE, 0, at) + 1, at - block.rfind(NEWLINE, 0, at)
        msg = (
            f"{path}, line {line}, byte {byte} of the line: 0x{block[at]:02x} is not UTF-8 text.\n"
            "Hint: give a text file, saved as UTF-8."
        )
        raise InputError(msg)
    return block


def _with_line_feeds(path: AnyPath, block: bytes, n_lines: int) -> bytes:
    r"""End the lines of a block, which follows `n_lines` lines, with `\n` alone."""
    if b"\r" not in _check_text(path, block, n_lines):
        return block
    while b"\r\n" in block:
        block = block.replace(b"\r\n", NEWLINE)
    block = block.rstrip(b"\r")
    at = block.find(b"\r")
    if at >= 0:
        msg = (
            f"{path}, line {n_lines + block.count(NEWLINE, 0, at) + 1} holds a carriage return that does not end it.\n"
            "Hint: write the file with a line feed after every line."
        )
        raise InputError(msg)
    return block
