"""Read and check Arrow columns for files, streams, Dask and Spark; errors name the row of the wrong value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import EXACT_INT, Array, text_column
from rankadapters.core.data.ids import id_column
from rankadapters.core.data.queries import stretches
from rankadapters.core.errors import InputError

MERGED = (
    "is an integer beyond 2^53, where float64 would merge neighbors into ties.\n"
    "Hint: subtract a constant or rescale first."
)


class ArrowColumns(NamedTuple):
    """Checked columns of a table."""

    columns: Any  # a pyarrow table
    source: str  # the file or other source, for messages; empty if the caller adds it
    locate: Callable[[int], str]  # returns the location of a row of the table

    def numbers(self, name: str | int) -> Array:
        """Return a column of finite numbers; float32, float16 and bool keep their type, others become float64."""
        from pyarrow import types

        column = self._column(name)
        exact = types.is_integer(column.type) or types.is_decimal(column.type)
        if not (exact or types.is_floating(column.type) or types.is_boolean(column.type)):
            raise self._wrong_type(name, column, "numbers are")
        values: Array = (column.cast("float64") if types.is_decimal(column.type) else column).to_numpy()
        if exact:
            self._refuse_merged(name, column, values)
            return values.astype(np.float64, copy=False)  # float64 needs no second check for merged integers
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            msg = f"{self.locate(row)}: {name} is {values[row]}; expected a finite number.\nHint: fix or drop the row."
            raise InputError(msg, row=row)
        return values

    def queries(self, name: str | int) -> tuple[Array, NDArray[np.int64]]:
        """Return the query of each run of consecutive rows with the same query, and the first row of each run."""
        from pyarrow import types

        column = self._column(name)
        if types.is_nested(column.type):
            raise self._wrong_type(name, column, "one value per row is")
        if is_text(column.type):
            return text_stretches(column)
        qid = column.to_numpy()
        if types.is_floating(column.type) and np.isnan(qid).any():
            raise self._missing(name, int(np.argmax(np.isnan(qid))))
        starts = stretches(qid)
        return qid[starts], starts

    def codes(self, name: str | int) -> tuple[Array, Array | None]:
        """Return integer query ids, and None; for text, each row's index in the distinct texts, and the texts."""
        from pyarrow import types

        column = self._column(name)
        if types.is_integer(column.type):
            return id_column(column.to_numpy()), None
        if not is_text(column.type):
            raise self._wrong_type(name, column, "strings or integers are")
        encoded = column.combine_chunks().dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        return encoded.indices.to_numpy().astype(np.int64), np.fromiter(texts, dtype=object, count=len(texts))

    def docids(self, name: str | int) -> list[str]:
        """Return the document of each row; integers become their decimal digits."""
        from pyarrow import types

        column = self._column(name)
        if not (is_text(column.type) or types.is_integer(column.type)):
            raise self._wrong_type(name, column, "strings or integers are")
        texts: list[str] = column.cast("large_string").to_pylist()
        return texts

    def sort_keys(self, name: str | int) -> Array:
        """Return a column of numbers or times as sort keys."""
        from pyarrow import types

        column = self._column(name)
        if types.is_floating(column.type):
            return self.numbers(name)
        if not (types.is_integer(column.type) or types.is_temporal(column.type)):
            raise self._wrong_type(name, column, "numbers or times are")
        keys: Array = column.to_numpy()
        return keys

    def _refuse_merged(self, name: str | int, column: Any, values: Array) -> None:
        """Refuse integers and decimals so large that float64 may round neighboring values to the same number."""
        if max(float(values.max()), -float(values.min())) < EXACT_INT:
            return
        for row in np.flatnonzero(np.abs(values.astype(np.float64)) >= EXACT_INT).tolist():
            exact = column[row].as_py()
            if abs(exact) > EXACT_INT:
                msg = f"{self.locate(row)}: {name} is {exact}, which {MERGED}"
                raise InputError(msg, row=row)

    def _column(self, name: str | int) -> Any:
        column = self._valid(name)
        if hasattr(column.type, "value_type") and hasattr(column.type, "index_type"):
            column = column.cast(column.type.value_type)  # a dictionary, such as pandas' categories
        if str(column.type) == "string_view":
            column = column.cast("large_string")  # more functions of pyarrow support large_string
        row = _first_missing(column)
        if row >= 0:
            raise self._missing(name, row)
        return column

    def _missing(self, name: str | int, row: int) -> InputError:
        return InputError(f"{self.locate(row)}: {name} is missing.\nHint: fix or drop the row.", row=row)

    def _valid(self, name: str | int) -> Any:
        """Refuse data that pyarrow reads unchecked: text that is not UTF-8, indices outside a dictionary."""
        import pyarrow as pa

        column = self.columns.column(name)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise self._refused(f"column {name!r} is broken: {error}.\nHint: write the data again.") from None
        return column

    def _wrong_type(self, name: str | int, column: Any, needed: str) -> InputError:
        return self._refused(f"column {name!r} has type {column.type}, but {needed} needed.\nHint: convert it first.")

    def _refused(self, problem: str) -> InputError:
        return InputError(f"{self.source}: {problem}" if self.source else problem)


def _first_missing(column: Any) -> int:
    """Return the first row that is null or, as in CSV, empty text; -1 if there is none."""
    from pyarrow import compute

    if not (column.null_count or is_text(column.type)):
        return -1
    is_missing = column.is_null()
    if is_text(column.type):
        is_missing = compute.or_kleene(is_missing, compute.equal(column, ""))
    row: int = is_missing.index(True).as_py()
    return row


def text_stretches(column: Any) -> tuple[Array, NDArray[np.int64]]:
    """Return the text and the first row of each run of rows with equal text, making only one Python string per run."""
    import pyarrow as pa
    from pyarrow import compute

    if str(column.type) == "string_view":
        column = column.cast("large_string")
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    runs = compute.run_end_encode(whole, run_end_type=pa.int64())
    starts = np.append(0, runs.run_ends.to_numpy()[:-1])
    return text_column(runs.values.to_pylist()), starts


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type is text."""
    return str(kind) in {"string", "large_string", "string_view"}
