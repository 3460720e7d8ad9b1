"""Predictions: files of one number per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import EXACT_INT
from rankadapters.core.errors import InputError
from rankadapters.io.blocks import parsed, parsed_blocks
from rankadapters.io.byte_words import PAD, Text
from rankadapters.io.decimals import read_decimals
from rankadapters.io.line_blocks import row_blocks
from rankadapters.io.text import (
    NEWLINE,
    AnyPath,
    after_rows,
    as_paths,
    bad_number,
    finite,
    is_finite,
    listed,
    read_rows_of_text,
)


def read_predictions(
    predictions: AnyPath | Sequence[AnyPath], n_rows: int, files: AnyPath | Sequence[AnyPath]
) -> NDArray[np.float64]:
    """Read as many numbers as the feature files have rows."""
    paths, scores = as_paths(predictions), np.empty(0)
    for path in paths:
        with after_rows(scores.size):
            scores = np.append(scores, read_numbers(path))
    if scores.size != n_rows:
        raise _wrong_count(paths, scores.size, n_rows, files)
    return scores


class NumberStream:
    """Numbers of prediction files, read a few blocks at a time."""

    def __init__(self, paths: Sequence[AnyPath]) -> None:
        self._paths = paths
        self._blocks = _stream_numbers(paths)
        self._held = np.empty(0)
        self._n_taken = 0

    def take(self, n: int) -> NDArray[np.float64]:
        """Give the next numbers, fewer where the files end."""
        while self._held.size < n and (block := next(self._blocks, None)) is not None:
            self._held = np.append(self._held, block)
        taken, self._held = self._held[:n], self._held[n:]
        self._n_taken += taken.size
        return taken

    def check_end(self, n_rows: int, files: Sequence[AnyPath]) -> None:
        """Refuse files that do not hold as many numbers as the feature files have rows."""
        n_numbers = self._n_taken + self._held.size + sum(block.size for block in self._blocks)
        if n_numbers != n_rows:
            raise _wrong_count(self._paths, n_numbers, n_rows, files)


def _wrong_count(
    paths: Sequence[AnyPath], n_numbers: int, n_rows: int, files: AnyPath | Sequence[AnyPath]
) -> InputError:
    return InputError(
        f"{listed(paths)}: {n_numbers} predictions for the {n_rows} rows of {listed(as_paths(files))}.\n"
        "Hint: one number per row, in the order of the rows; of several models, --predictions once for each."
    )


def _stream_numbers(paths: Sequence[AnyPath]) -> Iterator[NDArray[np.float64]]:
    n_before = 0
    for path in paths:
        n_numbers = 0
        with after_rows(n_before):
            for block, numbers in parsed_blocks(_without_blank_end(row_blocks(path)), _numbers):
                if numbers is None:
                    raise _no_number(path, block.removesuffix(NEWLINE).split(NEWLINE), n_numbers)
                n_numbers += numbers.size
                yield numbers
        n_before += n_numbers


def _without_blank_end(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Leave out the blank lines at the end of a file; others stay."""
    blank = b""
    for block in blocks:
        text = blank + block
        end = len(text.rstrip())
        end = end and (text.find(NEWLINE, end) + 1 or len(text))
        if end:
            yield text[:end]
        blank = text[end:]


def read_numbers(path: AnyPath) -> NDArray[np.float64]:
    """Read a file of one finite number per line; blank lines at its end are not lines."""
    data = read_rows_of_text(path).rstrip()
    found = []
    for _, numbers in parsed(data, _numbers):
        if numbers is None:
            raise _no_number(path, data.split(NEWLINE))
        found.append(numbers)
    return np.concatenate(found)


def _numbers(block: bytes) -> NDArray[np.float64] | None:
    """Read lines; None where one is not a finite number, or an integer beyond 2^53."""
    n_lines = block.count(NEWLINE) + (not block.endswith(NEWLINE))
    text = Text.of(block)
    feeds = np.flatnonzero(text.letters == ord("\n"))[PAD - 1 : PAD + n_lines]
    starts, ends = feeds[:-1] + 1, feeds[1:]
    numbers = read_decimals(text, starts, ends)
    others = np.flatnonzero(~(np.abs(numbers) < EXACT_INT))
    try:
        numbers[others] = list(map(finite, text.tokens(starts[others], ends[others])))
    except ValueError:
        return None
    return numbers


def _no_number(path: AnyPath, every: list[bytes], before: int = 0) -> InputError:
    """Name the first line without a number, of which so many stand before."""
    at, line = next((at, line) for at, line in enumerate(every, start=before) if not is_finite(line))
    hint = "a score for each row of the features, with a decimal point, without a header"
    return bad_number(path, at + 1, line, line.strip(), "one finite number per line", hint=hint, row=at)
