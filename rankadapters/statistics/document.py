"""The base class of every report: it writes text, Markdown, LaTeX, JSON, CSV and HTML for notebooks."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.evaluation.table import Table, Written
from rankadapters.statistics.cells import spelled


class Document(Written):
    """A report: paragraphs and tables for people, plain data for programs."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the report as plain JSON types, as `plain` converts them."""
        return fields_as_dict(self)

    def __str__(self) -> str:
        """Return the paragraphs and aligned tables as text."""
        return "\n\n".join(map(str, self.blocks()))

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_html(self) -> str:
        """Return the paragraphs and tables as HTML without scripts or style sheets."""
        return "\n".join(b.html() if isinstance(b, Table) else as_paragraph(b) for b in self.blocks())

    def to_csv(self) -> str:
        """Return the first table as CSV."""
        table = next((block for block in self.blocks() if isinstance(block, Table)), Table("", (), ()))
        return as_csv([table.head, *table.lines])

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def fields_as_dict(report: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as plain JSON types."""
    return {field.name: plain(getattr(report, field.name)) for field in fields(report)}


def plain(value: Any) -> Any:
    """Convert a value to plain JSON types.

    A convention becomes its signature, a non-finite number None, a dataclass or named tuple a dict of its fields.

    >>> import numpy as np
    >>> plain({None: (np.float64(0.5), float("nan")), 3: np.arange(2)})
    {'all': [0.5, None], '3': [0, 1]}
    """
    if isinstance(value, Convention):
        value = str(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "tolist"):  # a numpy array or number
        value = value.tolist()
    if is_dataclass(value):
        return fields_as_dict(value)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key) if isinstance(key, Convention) else spelled(key): plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def as_csv(lines: Iterable[Iterable[object]]) -> str:
    """Return rows of cells as CSV text."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def as_paragraph(text: str) -> str:
    """Return a text as an HTML paragraph that keeps its line ends."""
    return f"<p>{'<br>'.join(map(escape, text.split(chr(10))))}</p>"
