"""The base class of every report: it writes text, Markdown, LaTeX, JSON, CSV and HTML for notebooks."""

from __future__ import annotations

import csv
import io
import json
from abc import abstractmethod
from collections.abc import Iterable
from html import escape
from typing import Any

from rankadapters.core.evaluation.table import Table, Written


class Document(Written):
    """A report: paragraphs and tables for people, plain data for programs."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; conventions become their signatures."""

    def __str__(self) -> str:
        """Return the paragraphs and aligned tables as text."""
        return "\n\n".join(map(str, self.blocks()))

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_html(self) -> str:
        """Return the paragraphs and tables as HTML without scripts or style sheets."""
        parts = (b.html() if isinstance(b, Table) else f"<p>{_breaks(b)}</p>" for b in self.blocks())
        return "\n".join(parts)

    def to_csv(self) -> str:
        """Return the first table as CSV."""
        table = next((block for block in self.blocks() if isinstance(block, Table)), Table("", (), ()))
        return as_csv([table.head, *table.lines])

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def as_csv(lines: Iterable[Iterable[object]]) -> str:
    """Return rows of cells as CSV text."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _breaks(paragraph: str) -> str:
    return "<br>".join(map(escape, paragraph.split("\n")))
