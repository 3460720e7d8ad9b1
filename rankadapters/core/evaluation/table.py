"""A table: as text, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Table:
    """A caption, a head, and lines of text; columns after the first stand to the right where they hold numbers.

    >>> print(Table.of("two values", ("name", "value"), [("a", "0.5"), ("bcd", "12")]))
    two values
    name  value
    a       0.5
    bcd      12
    """

    caption: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, caption: str, head: Iterable[str], lines: Iterable[Iterable[str]]) -> Table:
        """Make a table of any iterables."""
        return cls(caption, tuple(head), tuple(tuple(line) for line in lines))

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold nothing but numbers and dashes."""
        columns = zip(*self.lines, strict=True) if self.lines else [()] * len(self.head)
        return tuple(bool(column) and all(map(_is_number, column)) for column in columns)

    def __str__(self) -> str:
        """Write aligned columns."""
        grid = [self.head, *self.lines]
        widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
        sides = [str.rjust if number else str.ljust for number in self.numeric]
        rows = (
            "  ".join(side(cell, width) for side, cell, width in zip(sides, line, widths, strict=True)) for line in grid
        )
        return "\n".join([self.caption, *(row.rstrip() for row in rows)])

    def markdown(self) -> str:
        """Write a Markdown table under its caption."""
        rule = ["---:" if number else "---" for number in self.numeric]
        escaped = ([as_markdown(cell) for cell in line] for line in (self.head, rule, *self.lines))
        return "\n".join([f"{self.caption}\n", *("| " + " | ".join(line) + " |" for line in escaped)])

    def html(self) -> str:
        """Write an HTML table with a caption and headers that say what they head."""
        heads = zip(self.numeric, self.head, strict=True)
        head = "".join(f'<th scope="col"{_right(number)}>{escape(cell)}</th>' for number, cell in heads)
        body = "".join(f"<tr>{self._cells(line)}</tr>" for line in self.lines)
        caption = f"<caption>{escape(self.caption)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cells(self, line: tuple[str, ...]) -> str:
        first, *rest = line
        pairs = zip(self.numeric[1:], rest, strict=True)
        cells = (f"<td{_right(number)}>{escape(cell)}</td>" for number, cell in pairs)
        return f'<th scope="row">{escape(first)}</th>' + "".join(cells)


def as_markdown(text: str) -> str:
    r"""Escape what Markdown, or a table of it, would take for markup.

    >>> print(as_markdown("a|b <log> *7*"))
    a\|b \<log> \*7\*
    """
    return "".join(f"\\{char}" if char in "\\|*`<[" else char for char in text)


def _right(number: bool) -> str:  # noqa: FBT001 - of a cell
    return ' style="text-align:right"' if number else ""


def _is_number(cell: str) -> bool:
    return bool(cell) and all(part in "0123456789.+-e%, " for part in cell)
