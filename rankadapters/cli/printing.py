"""The one printer of the command: a document as a table, Markdown, JSON, CSV or HTML."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from functools import partial
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from rankadapters.cli.common import DIFFERENT, SAME
from rankadapters.core.errors import MissingToolkitError
from rankadapters.progress import has_rich

if TYPE_CHECKING:
    from rankadapters.core.evaluation.table import Table
    from rankadapters.statistics.document import Document

FORMATS = ("table", "markdown", "latex", "json", "csv", "html")


class Answer(NamedTuple):
    """What a command found: a document, notes for stderr, and whether everything asked holds."""

    document: Document
    notes: Iterable[str] = ()
    holds: bool = True


def answers(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], Answer]) -> None:
    """Make a command print what it answers, in the format that an option names."""
    parser.add_argument("--format", choices=FORMATS, default="table", help="of the result (default: table)")
    parser.set_defaults(run=partial(_print_answer, run))


def _print_answer(run: Callable[[argparse.Namespace], Answer], arguments: argparse.Namespace) -> int:
    if arguments.format == "table" and not has_rich():  # before anything is read
        hint = 'pip install "rankadapters[cli]", or --format json'
        raise MissingToolkitError(f"rich, which prints the table, is not installed.\nHint: {hint}.")
    document, notes, holds = run(arguments)
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
    return SAME if holds else DIFFERENT


def _page(document: Document) -> str:
    title = escape(str(document.blocks()[0]).splitlines()[0])
    head = f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
    return f"{head}\n{document.to_html()}\n</body></html>"


def _print_blocks(blocks: Iterable[str | Table]) -> None:
    from rankadapters.core.evaluation.table import Table

    for number, block in enumerate(blocks):
        if number:
            print()
        if isinstance(block, Table):
            _print_table(block)
        else:
            print(block)


def _print_table(table: Table) -> None:
    """Print a table, wider than the terminal where it must be: a number that is cut in two cannot be read."""
    from rich import box
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table as RichTable
    from rich.text import Text

    print(table.caption)
    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for head, number in zip(table.head, table.numeric, strict=True):
        # The name of a convention takes two lines and that of a model a third, so that more columns fit.
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
