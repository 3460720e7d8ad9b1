"""Print a command's answer as a table, Markdown, LaTeX, JSON, CSV or HTML."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from functools import partial
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from rankadapters.cli.common import DIFFERENT, SAME
from rankadapters.progress import has_rich

if TYPE_CHECKING:
    from rankadapters.core.evaluation.table import Table
    from rankadapters.statistics.document import Document

FORMATS = ("table", "markdown", "latex", "json", "csv", "html")


class Answer(NamedTuple):
    """A command's result: a document for stdout, notes for stderr, and whether the exit status is 0 or 1."""

    document: Document
    notes: Iterable[str] = ()
    ok: bool = True


def add_output(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], Answer]) -> None:
    """Add `--format`, and make the command print its answer in that format."""
    parser.add_argument("--format", choices=FORMATS, default="table", help="format of the result (default: table)")
    parser.set_defaults(run=partial(_print_answer, run))


def _print_answer(run: Callable[[argparse.Namespace], Answer], arguments: argparse.Namespace) -> int:
    document, notes, ok = run(arguments)
    writers: dict[str, Callable[[], str]] = {
        "markdown": document.to_markdown,
        "latex": document.to_latex,
        "json": document.to_json,
        "csv": document.to_csv,
        "html": lambda: _page(document),
    }
    if arguments.format == "table":
        _print_blocks(document.blocks())
    else:
        print(writers[arguments.format]().removesuffix("\n"))
    for note in filter(None, notes):
        print(note, file=sys.stderr)
    return SAME if ok else DIFFERENT


def _page(document: Document) -> str:
    title = escape(str(document.blocks()[0]).splitlines()[0])
    head = f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
    return f"{head}\n{document.to_html()}\n</body></html>"


def _print_blocks(blocks: Iterable[str | Table]) -> None:
    from rankadapters.core.evaluation.table import Table

    for number, block in enumerate(blocks):
        if number:
            print()
        if isinstance(block, Table) and has_rich():
            _print_table(block)
        else:
            print(block)  # without rich, a table is plain text


def _print_table(table: Table) -> None:
    """Print a table, even if it is wider than the terminal: a wrapped number would be unreadable."""
    from rich import box
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table as RichTable
    from rich.text import Text

    print(table.caption)
    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for head, number in zip(table.head, table.numeric, strict=True):
        # Put a convention's name on two lines and a model's on a third, so that more columns fit.
        text = head.replace("/", "/\n", 1).replace(" ", "\n") if "/" in head else head
        drawn.add_column(Text(text), justify="right" if number else "left", no_wrap=True)
    for line in table.lines:
        drawn.add_row(*map(Text, line))
    console = Console(highlight=False, markup=False)
    wide = console.options.update(max_width=10_000)
    if Measurement.get(console, wide, drawn).maximum > console.width:
        drawn.padding = (0,)
    console.width = max(console.width, Measurement.get(console, wide, drawn).maximum)
    console.print(drawn)
