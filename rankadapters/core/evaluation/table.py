"""A table: as text, in Markdown, in LaTeX and in HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

# What LaTeX would take for markup, or print as another letter; `[` and `*` end the line before with an option.
_LATEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {letter: f"{{{letter}}}" for letter in "[*"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "`": r"\textasciigrave{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " "}
)
_MINUS, _DASHES = re.compile(r"(?<!\S)-(?=\d)"), re.compile(r"-(?=-)")


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

    def latex(self) -> str:
        """Write a LaTeX tabular with the rules of booktabs, under its caption as a comment."""
        sides = "".join("r" if number else "l" for number in self.numeric)
        head, *lines = (" & ".join(map(as_latex, line)) + r" \\" for line in (self.head, *self.lines))
        caption = " ".join(self.caption.split())
        top = [f"% {caption}", rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule"]
        return "\n".join([*top, *lines, r"\bottomrule", r"\end{tabular}"])

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


def as_latex(text: str) -> str:
    r"""Escape what LaTeX would take for markup, and set the sign of a negative number.

    >>> print(as_latex("50 % of a_b, -0.5"))
    50 \% of a\_b, $-$0.5
    """
    return _MINUS.sub("$-$", _DASHES.sub("-{}", text.translate(_LATEX)))


def _right(number: bool) -> str:  # noqa: FBT001 - of a cell
    return ' style="text-align:right"' if number else ""


def _is_number(cell: str) -> bool:
    return bool(cell) and all(part in "0123456789.+-e%, " for part in cell)
