"""Tables as plain text, Markdown, LaTeX and HTML, and results written as paragraphs and tables."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

# Characters that LaTeX treats as markup or prints differently; after a line end, `[` and `*` would start an option.
_LATEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {letter: f"{{{letter}}}" for letter in "[*"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "`": r"\textasciigrave{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " "}
)
_MINUS, _DASHES = re.compile(r"(?<!\S)-(?=\d)"), re.compile(r"-(?=-)")


@dataclass(frozen=True, slots=True)
class Table:
    """A caption, a head, and lines of text; numeric columns after the first are right-aligned.

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
        """Make a table from any iterables."""
        return cls(caption, tuple(head), tuple(tuple(line) for line in lines))

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column has only numbers and dashes."""
        columns = zip(*self.lines, strict=True) if self.lines else [()] * len(self.head)
        return tuple(bool(column) and all(map(_is_number, column)) for column in columns)

    def __str__(self) -> str:
        """Return the table as text with aligned columns."""
        grid = [self.head, *self.lines]
        widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
        sides = [str.rjust if number else str.ljust for number in self.numeric]
        rows = (
            "  ".join(side(cell, width) for side, cell, width in zip(sides, line, widths, strict=True)) for line in grid
        )
        return "\n".join([self.caption, *(row.rstrip() for row in rows)])

    def markdown(self) -> str:
        """Return a Markdown table under its caption."""
        rule = ["---:" if number else "---" for number in self.numeric]
        escaped = ([as_markdown(cell) for cell in line] for line in (self.head, rule, *self.lines))
        return "\n".join([f"{self.caption}\n", *("| " + " | ".join(line) + " |" for line in escaped)])

    def latex(self) -> str:
        """Return a LaTeX tabular with booktabs rules, under its caption as a comment."""
        sides = "".join("r" if number else "l" for number in self.numeric)
        head, *lines = (" & ".join(map(as_latex, line)) + r" \\" for line in (self.head, *self.lines))
        caption = " ".join(self.caption.split())
        top = [f"% {caption}", rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule"]
        return "\n".join([*top, *lines, r"\bottomrule", r"\end{tabular}"])

    def html(self) -> str:
        """Return an HTML table with a caption and scoped headers."""
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


class Written(ABC):
    """Base class of results that can be written as paragraphs and tables."""

    __slots__ = ()

    @abstractmethod
    def blocks(self) -> list[str | Table]:
        """Return the paragraphs and tables in reading order."""

    def to_markdown(self) -> str:
        """Return the paragraphs and tables in Markdown."""
        return "\n\n".join(b.markdown() if isinstance(b, Table) else _markdown(b) for b in self.blocks()) + "\n"

    def to_latex(self) -> str:
        """Return the paragraphs and tables in LaTeX, which needs the package booktabs; captions are comments.

        Lines may break after the slashes of a signature.
        """
        return "\n\n".join(b.latex() if isinstance(b, Table) else _latex(b) for b in self.blocks()) + "\n"


def as_markdown(text: str) -> str:
    r"""Escape characters that Markdown would treat as markup.

    >>> print(as_markdown("a|b <log> *7*"))
    a\|b \<log> \*7\*
    """
    return "".join(f"\\{char}" if char in "\\|*`<[" else char for char in text)


def as_latex(text: str) -> str:
    r"""Escape characters that LaTeX would treat as markup, and write minus signs in math mode.

    >>> print(as_latex("50 % of a_b, -0.5"))
    50 \% of a\_b, $-$0.5
    """
    return _MINUS.sub("$-$", _DASHES.sub("-{}", text.translate(_LATEX)))


def _right(number: bool) -> str:  # noqa: FBT001 - of a cell
    return ' style="text-align:right"' if number else ""


def _is_number(cell: str) -> bool:
    return bool(cell) and all(part in "0123456789.+-e%, " for part in cell)


def _markdown(paragraph: str) -> str:
    return as_markdown(paragraph).replace("\n", "  \n")  # two spaces keep a line's end in Markdown


def _latex(paragraph: str) -> str:
    lines = [as_latex(line).replace("/", r"/\allowbreak{}") for line in paragraph.split("\n")]
    return "{\\footnotesize\\raggedright " + " \\\\\n".join(lines) + "\\par}"
