"""Read prediction files of one number per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rankadapters.core.data.columns import EXACT_INT, Floats
from rankadapters.core.errors import InputError
from rankadapters.io.line_blocks import row_blocks
from rankadapters.io.text import NEWLINE, AnyPath, as_paths, bad_number, finite, is_finite, join_paths, shift_error_rows


def read_predictions(
    predictions: AnyPath | Sequence[AnyPath], n_rows: int, files: AnyPath | Sequence[AnyPath]
) -> Floats:
    """Read predictions; raise an error unless there is one for each row of the feature files."""
    numbers = Predictions(predictions)
    scores = numbers.take(n_rows)
    numbers.check_end(n_rows, as_paths(files))
    return scores


class Predictions:
    """Numbers of prediction files, read block by block."""

    def __init__(self, paths: AnyPath | Sequence[AnyPath]) -> None:
        self._paths = as_paths(paths)
        self._blocks = _blocks(self._paths)
        self._rest = np.empty(0)
        self._n_taken = 0

    def take(self, n: int) -> Floats:
        """Return the next n numbers, or fewer at the end of the files."""
        parts, n_read = [self._rest], self._rest.size
        while n_read < n and (block := next(self._blocks, None)) is not None:
            parts.append(block)
            n_read += block.size
        numbers = np.concatenate(parts)
        next_numbers, self._rest = numbers[:n], numbers[n:]
        self._n_taken += next_numbers.size
        return next_numbers

    def check_end(self, n_rows: int, files: Sequence[AnyPath]) -> None:
        """Raise an error if the number of predictions differs from the number of rows in the feature files."""
        n_numbers = self._n_taken + self._rest.size + sum(block.size for block in self._blocks)
        if n_numbers != n_rows:
            msg = (
                f"{join_paths(self._paths)}: {n_numbers} predictions for the {n_rows} rows of {join_paths(files)}.\n"
                "Hint: one number per row, in the order of the rows; for several models, repeat --predictions."
            )
            raise InputError(msg)


def read_numbers(path: AnyPath) -> Floats:
    """Read a file of one finite number per line; ignore blank lines at its end."""
    return np.concatenate(list(_blocks([path])))


def _blocks(paths: Sequence[AnyPath]) -> Iterator[Floats]:
    n_before = 0
    for path in paths:
        n_numbers = 0
        with shift_error_rows(n_before):
            for block in _without_blank_end(row_blocks(path)):
                lines = block.removesuffix(NEWLINE).split(NEWLINE)
                numbers = _numbers(path, lines, n_numbers)
                n_numbers += numbers.size
                yield numbers
        n_before += n_numbers


def _without_blank_end(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Drop the blank lines at the end of a file, and only those."""
    blank = b""
    for block in blocks:
        text = blank + block
        end = len(text.rstrip())
        end = end and (text.find(NEWLINE, end) + 1 or len(text))
        if end:
            yield text[:end]
        blank = text[end:]


def _numbers(path: AnyPath, lines: Sequence[bytes], n_before: int) -> Floats:
    try:
        numbers = np.asarray(list(map(float, lines)))
        for row in np.flatnonzero(~(np.abs(numbers) < EXACT_INT)).tolist():
            finite(lines[row])
        if not any(b"_" in line for line in lines):
            return numbers
    except ValueError:
        pass
    index = next(index for index, line in enumerate(lines) if not is_finite(line))
    hint = "a score for each row of the features, with a decimal point, without a header"
    expected, row = "one finite number per line", n_before + index
    raise bad_number(path, row + 1, lines[index], lines[index].strip(), expected, hint=hint, row=row)
