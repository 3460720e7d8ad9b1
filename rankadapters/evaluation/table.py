"""Tables as plain text, Markdown, LaTeX and HTML, and results written as paragraphs, tables, frames and figures."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from typing import Any, Self

from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.arguments import whole
from rankadapters.core.errors import MissingToolkitError

# Characters that LaTeX treats as markup or prints differently; after a line end, `[` and `*` would start an option.
_LATEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {letter: f"{{{letter}}}" for letter in "[*"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "`": r"\textasciigrave{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " "}
)
_MINUS, _DASHES = re.compile(r"(?<!\S)-(?=\d)"), re.compile(r"-(?=-)")
_SIGNED_ZERO, _PRECISION = re.compile(r"[+-](0(?:\.0+)?)(?![.\d])"), re.compile(r"!r|:([+]?)\.\d+f")
_DECIMALS, _LARGE = re.compile(r"(:[+]?\.\d+)f"), 1e16  # from this number on, a float64 has no decimals
_FEWEST_DECIMALS, _ENOUGH_DECIMALS = 4, 8  # differences of a smaller size may come from the order of summation alone
_MOST_DECIMALS = 17  # of a float64 in [0, 1]
_LINE_ENDS = ("\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")  # of str.splitlines


class Cell(str):
    """The text of a cell that shows numbers; it keeps the numbers, to print them with other decimals.

    The cells of one `contest` compete: the best of at least two, with the highest `worth`, is printed in bold.

    >>> Cell("{:.4f}", 0.12345), Cell("{:+.2f} to {:+.2f}", -0.0001, 0.25).rounded(1), Cell("{:.1f}", 5e299)
    ('0.1235', '0.0 to +0.2', '5.0e+299')
    """

    __slots__ = ("contest", "form", "numbers", "worth")

    form: str
    numbers: tuple[float, ...]
    contest: Hashable
    worth: float

    def __new__(cls, form: str, *numbers: float, contest: Hashable = None, worth: float = 0.0) -> Self:
        """Format the numbers; a zero has no sign, and a number of more than 16 digits an exponent."""
        shown = _DECIMALS.sub(r"\1e", form) if any(abs(number) >= _LARGE for number in numbers) else form
        cell = super().__new__(cls, _SIGNED_ZERO.sub(r"\1", shown.format(*numbers)))
        cell.form, cell.numbers, cell.contest, cell.worth = form, numbers, contest, worth
        return cell

    def rounded(self, decimals: int) -> Cell:
        """Return the cell with as many decimals."""
        form = _PRECISION.sub(rf":\g<1>.{decimals}f", self.form)
        return Cell(form, *self.numbers, contest=self.contest, worth=self.worth)


@frozen_class
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
        """Make a table from any iterables; line ends in a cell are shown as in `repr`."""
        return cls(caption, tuple(map(_in_one_line, head)), tuple(tuple(map(_in_one_line, line)) for line in lines))

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

    def rounded(self, decimals: int | None) -> Table:
        """Return the table with as many decimals in every `Cell`; None leaves it as it is."""
        if decimals is None:
            return self
        lines = ([cell.rounded(decimals) if isinstance(cell, Cell) else cell for cell in line] for line in self.lines)
        return Table.of(self.caption, self.head, lines)

    def transposed(self, first: str) -> Table:
        """Return the table with its rows as columns; `first` is the head of the first column."""
        (_, *head), *lines = zip(self.head, *self.lines, strict=True)
        return Table.of(self.caption, (first, *head), lines)

    def written(self, write: Callable[[str], str], bold: str) -> list[list[str]]:
        """Return the lines with every cell written by a function, and the best ones in `bold`, such as `<b>{}</b>`.

        The best cell of a contest is bold, and so are its rivals that print the same.
        """
        contests: dict[Hashable, list[Cell]] = {}
        for cell in chain(*self.lines):
            if isinstance(cell, Cell) and cell.contest is not None:
                contests.setdefault(cell.contest, []).append(cell)
        best = {key: max(cells, key=lambda cell: cell.worth) for key, cells in contests.items() if len(cells) > 1}

        def marked(cell: str) -> str:
            is_best = isinstance(cell, Cell) and cell == best.get(cell.contest)
            return bold.format(write(cell)) if is_best else write(cell)

        return [[*map(marked, line)] for line in self.lines]

    def markdown(self) -> str:
        """Return a Markdown table under its caption, with the best values in bold."""
        rule = ["---:" if number else "---" for number in self.numeric]
        lines = (map(as_markdown, self.head), rule, *self.written(as_markdown, "**{}**"))
        return "\n".join([f"{self.caption}\n", *("| " + " | ".join(line) + " |" for line in lines)])

    def latex(self) -> str:
        """Return a LaTeX tabular with booktabs rules, under its caption as a comment; the best values are bold."""
        sides = "".join("r" if number else "l" for number in self.numeric)
        written = (map(as_latex, self.head), *self.written(as_latex, r"\textbf{{{}}}"))
        head, *lines = (" & ".join(line) + r" \\" for line in written)
        caption = " ".join(self.caption.split())
        top = [f"% {caption}", rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule"]
        return "\n".join([*top, *lines, r"\bottomrule", r"\end{tabular}"])

    def html(self) -> str:
        """Return an HTML table with a caption and scoped headers; the best values are bold."""
        heads = zip(self.numeric, self.head, strict=True)
        head = "".join(f'<th scope="col"{_right(number)}>{escape(cell)}</th>' for number, cell in heads)
        body = "".join(f"<tr>{self._cells(line)}</tr>" for line in self.written(escape, "<b>{}</b>"))
        caption = f"<caption>{escape(self.caption)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cells(self, line: list[str]) -> str:
        first, *rest = line
        pairs = zip(self.numeric[1:], rest, strict=True)
        cells = (f"<td{_right(number)}>{cell}</td>" for number, cell in pairs)
        return f'<th scope="row">{first}</th>' + "".join(cells)


class Written(ABC):
    """Base class of results that can be written as paragraphs and tables, and be a data frame and a figure."""

    __slots__ = ()

    @abstractmethod
    def blocks(self) -> list[str | Table]:
        """Return the paragraphs and tables in reading order."""

    def table(self) -> Table:
        """Return the main table, which is the first one."""
        return next((block for block in self.blocks() if isinstance(block, Table)), Table("", (), ()))

    def _printed(self) -> Table:
        """Return the table that `print` and notebooks show, by default the main one."""
        return self.table()

    def __str__(self) -> str:
        """Return the printed table as text."""
        return str(self._printed())

    def _repr_html_(self) -> str:
        return self._printed().html()

    def _repr_markdown_(self) -> str:
        return self._printed().markdown()

    def to_markdown(self, *, decimals: int | None = None) -> str:
        """Return the paragraphs and tables in Markdown, with the decimals and the bold values of `to_latex`."""
        return self._written(decimals, Table.markdown, _markdown)

    def to_latex(self, *, decimals: int | None = None) -> str:
        r"""Return the paragraphs and tables in LaTeX, which needs the package booktabs; captions are comments.

        In a comparison of models, the best value under each convention is `\textbf`, as is any that prints the same.
        Lines may break after the slashes of a signature.

        Parameters
        ----------
        decimals : int, optional
            Number of decimals; by default those of the printed result.
        """
        return self._written(decimals, Table.latex, _latex)

    def _written(self, decimals: int | None, table: Callable[[Table], str], paragraph: Callable[[str], str]) -> str:
        decimals = None if decimals is None else whole("decimals", decimals, least=0, most=_MOST_DECIMALS)
        blocks = self.blocks()
        return "\n\n".join(table(b.rounded(decimals)) if isinstance(b, Table) else paragraph(b) for b in blocks) + "\n"

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with exact numbers: a row for each score, segment, comparison, match, effect, ...

        Raises
        ------
        MissingToolkitError
            pandas is not installed.
        """
        return as_frame(self._frame_rows())

    def _frame_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the main table, by column."""
        table = self.table()
        return [dict(zip(table.head, map(_exact, line), strict=True)) for line in table.lines]

    def plot(self) -> Any:
        """Return a matplotlib Figure of the main table: its values as bars, or as lines if it has more columns of them.

        A table without values is drawn as text.

        Raises
        ------
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.plots import bars, lines_by_row, text

        table = self.table()
        columns = enumerate(zip(*table.lines, strict=True))
        shown = [index for index, column in columns if any(isinstance(cell, Cell) for cell in column)]
        if not shown:
            return text(str(table) if table.lines else str(self))
        names = [", ".join(line[: shown[0]]) for line in table.lines]
        cells = [[line[index] for index in shown] for line in table.lines]
        values = [[cell.numbers[0] if isinstance(cell, Cell) else math.nan for cell in line] for line in cells]
        heads = [table.head[index] for index in shown]
        if len(shown) == 1:
            named = list(zip(names, chain(*values), strict=True))
            return bars(named, heads[0], table.caption, models=table.head[0] == "model")
        return lines_by_row(heads, list(zip(names, values, strict=True)), "value", table.caption)


def as_frame(data: Any, columns: Sequence[str] | None = None) -> Any:
    """Return a pandas DataFrame of rows or columns."""
    try:
        from pandas import DataFrame
    except ImportError:
        raise MissingToolkitError.of("pandas", "frame") from None
    return DataFrame(data, columns=columns)


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


def fixed(value: float, decimals: int) -> str:
    """Return a number with as many decimals, with the exceptions of a `Cell`."""
    return str(Cell(f"{{:.{decimals}f}}", value))


def distinct_decimals(values: Iterable[float]) -> int:
    """Return how many decimals to print, from 4 to 8, so that different values do not look equal.

    >>> distinct_decimals([0.5, 0.25]), distinct_decimals([0.12341, 0.12342]), distinct_decimals([0.5, 0.5])
    (4, 5, 4)
    """
    distinct = {f"{value:.{_ENOUGH_DECIMALS}f}": value for value in values}.values()
    counts = {n: len({f"{value:.{n}f}" for value in distinct}) for n in range(_FEWEST_DECIMALS, _ENOUGH_DECIMALS)}
    return next((n for n, count in counts.items() if count == len(distinct)), _ENOUGH_DECIMALS)


def _in_one_line(cell: str) -> str:
    r"""Return a cell with escapes for its line ends, of whatever kind.

    >>> print(_in_one_line("two\nlines"))
    two\nlines
    """
    if len(cell.splitlines()) <= 1 and not cell.endswith(_LINE_ENDS):
        return cell
    return "".join(repr(letter)[1:-1] if letter in _LINE_ENDS else letter for letter in cell)


def _exact(cell: str) -> Any:
    """Return the first number of a cell; None for a dash."""
    return cell.numbers[0] if isinstance(cell, Cell) else None if cell == "-" else cell


def _right(number: bool) -> str:  # noqa: FBT001 - of a cell
    return ' style="text-align:right"' if number else ""


def _is_number(cell: str) -> bool:
    return bool(cell) and all(part in "0123456789.+-e%, " for part in cell)


def _markdown(paragraph: str) -> str:
    return as_markdown(paragraph).replace("\n", "  \n")  # two spaces keep a line's end in Markdown


def _latex(paragraph: str) -> str:
    lines = [as_latex(line).replace("/", r"/\allowbreak{}") for line in paragraph.split("\n")]
    return "{\\footnotesize\\raggedright " + " \\\\\n".join(lines) + "\\par}"
