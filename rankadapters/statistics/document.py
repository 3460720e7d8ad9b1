"""What every result of an audit can be written as: text, Markdown, LaTeX, JSON and a notebook's HTML."""

from __future__ import annotations

import csv
import io
import json
from abc import abstractmethod
from collections.abc import Iterable
from html import escape
from typing import Any

from rankadapters.core.evaluation.table import Table
from rankadapters.core.evaluation.written import Written


class Document(Written):
    """A result that can be read: paragraphs and tables, and plain data."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types, conventions as their signatures."""

    def __str__(self) -> str:
        """Write paragraphs and aligned tables."""
        return "\n\n".join(map(str, self.blocks()))

    def to_json(self) -> str:
        """Write `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_html(self) -> str:
        """Write paragraphs and tables in HTML, without a script or a style sheet."""
        parts = (b.html() if isinstance(b, Table) else f"<p>{_breaks(b)}</p>" for b in self.blocks())
        return "\n".join(parts)

    def to_csv(self) -> str:
        """Write the first table as CSV."""
        table = next((block for block in self.blocks() if isinstance(block, Table)), Table("", (), ()))
        return as_csv([table.head, *table.lines])

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def as_csv(lines: Iterable[Iterable[object]]) -> str:
    """Write lines of cells as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _breaks(paragraph: str) -> str:
    return "<br>".join(map(escape, paragraph.split("\n")))
