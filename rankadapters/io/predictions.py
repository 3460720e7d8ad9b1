"""Read prediction files of one number per line."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from rankadapters.core.data.columns import Floats
from rankadapters.core.errors import InputError
from rankadapters.io.text import AnyPath, as_paths, bad_line, finite, join_paths, lines

_HINT = "a score for each row of the features, with a decimal point, without a header"


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


def read_numbers(path: AnyPath, *, n_before: int = 0, hint: str = _HINT) -> Floats:
    """Read a file of one finite number per line; `n_before` numbers precede it in the caller's data."""
    numbers = array("d")
    for number, line in lines(path):
        try:
            numbers.append(finite(line))
        except ValueError:
            row = n_before + len(numbers)
            raise bad_line(path, number, line, "one finite number per line", hint=hint, row=row) from None
    return np.asarray(numbers)
