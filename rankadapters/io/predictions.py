"""Predictions: files of one number per line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.columns import EXACT_INT
from rankadapters.core.errors import InputError
from rankadapters.io.blocks import parsed
from rankadapters.io.byte_words import PAD, Text
from rankadapters.io.decimals import read_decimals
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
        msg = (
            f"{listed(paths)}: {scores.size} predictions for the {n_rows} rows of {listed(as_paths(files))}.\n"
            "Hint: one number per row, in the order of the rows."
        )
        raise InputError(msg)
    return scores


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


def _no_number(path: AnyPath, every: list[bytes]) -> InputError:
    row = next(row for row, line in enumerate(every) if not is_finite(line))
    return bad_number(path, row + 1, every[row], every[row].strip(), "one finite number per line", row=row)
