"""Text files read in blocks of whole lines, decompressed and checked on the way, so that none need fit in memory."""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from rankadapters.io.blocks import BLOCK
from rankadapters.io.text import (
    BLANK,
    BOM,
    NEWLINE,
    AnyPath,
    HeldFile,
    check_text,
    nothing_in,
    readable,
    with_line_feeds,
)

_OPENERS: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
_MAGIC = max(map(len, _OPENERS))


class OpenText(NamedTuple):
    """A text file that is open behind its byte order mark, decompressed."""

    data: BinaryIO
    raw: BinaryIO  # as it lies on the disk
    size: int  # of the latter, in bytes
    is_marked: bool  # by a byte order mark

    @property
    def done(self) -> tuple[int, int]:
        """How many bytes of how many were read."""
        return self.raw.tell(), self.size


@contextmanager
def opened(path: AnyPath) -> Iterator[OpenText]:
    """Open a text file; what goes wrong then is an OSError."""
    with BytesIO(path.data) if isinstance(path, HeldFile) else Path(path).open("rb") as raw:
        size = raw.seek(0, os.SEEK_END)
        raw.seek(0)
        start = raw.read(_MAGIC)
        raw.seek(0)
        opener = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)
        with raw if opener is None else opener(raw) as data:
            is_marked = data.read(len(BOM)) == BOM
            if not is_marked:
                data.seek(0)
            yield OpenText(data, raw, size, is_marked)


def line_blocks(path: AnyPath, step: Callable[[int, int], None] | None = None) -> Iterator[bytes]:
    """Read a text file, as `text.read_text` does, in blocks of whole lines.

    Parameters
    ----------
    path : path
        Text in UTF-8, which may be compressed by gzip or bzip2.
    step : callable, optional
        Called with how many bytes of how many were read.

    Raises
    ------
    InputError
        The file cannot be read, is empty, or holds a NUL or anything that is not UTF-8; at its end, that it is blank.
    """
    n_lines, is_blank = 0, True
    for block in _joined(_blocks(path, step)):
        check_text(path, block, n_lines)
        is_blank = is_blank and block.isspace()
        n_lines += block.count(NEWLINE)
        yield block
    if is_blank:
        raise nothing_in(path, BLANK)


def row_blocks(path: AnyPath, step: Callable[[int, int], None] | None = None) -> Iterator[bytes]:
    r"""Read a text file of a row per line, as `text.read_rows_of_text` does, in blocks of whole lines.

    Raises
    ------
    InputError
        As `line_blocks`, or a carriage return stands within a line.
    """
    n_lines = 0
    for block in line_blocks(path, step):
        rows = with_line_feeds(path, block, n_lines)
        n_lines += rows.count(NEWLINE)
        yield rows


def _blocks(path: AnyPath, step: Callable[[int, int], None] | None) -> Iterator[bytes]:
    """Read bytes that are cut anywhere."""
    with readable(path), opened(path) as file:
        is_empty = not file.is_marked
        while block := file.data.read(BLOCK):
            is_empty = False
            if step is not None:
                step(*file.done)
            yield block
    if is_empty:
        raise nothing_in(path)


def _joined(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Cut between lines: what stands behind the last line end of a block waits for the next."""
    rest: list[bytes] = []
    for block in blocks:
        end = block.rfind(NEWLINE) + 1
        if end:
            yield b"".join([*rest, block[:end]])
            rest = []
        rest.append(block[end:])
    if any(rest):
        yield b"".join(rest)
