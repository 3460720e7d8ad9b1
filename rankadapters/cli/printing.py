"""The one printer of the command: a document as a table, Markdown, JSON, CSV or HTML."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING

from rankadapters.core.errors import MissingToolkitError
from rankadapters.progress import has_rich

if TYPE_CHECKING:
    from rankadapters.core.evaluation.table import Table
    from rankadapters.statistics.document import Document

FORMATS = ("table", "markdown", "json", "csv", "html")


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how to print."""
    parser.add_argument("--format", choices=FORMATS, default="table", help="of the result (default: table)")


def check_format(arguments: argparse.Namespace) -> None:
    """Refuse tables without rich before anything is read."""
    if arguments.format == "table" and not has_rich():
        hint = 'pip install "rankadapters[cli]", or --format json'
        raise MissingToolkitError(f"rich, which prints the table, is not installed.\nHint: {hint}.")


def print_document(document: Document, arguments: argparse.Namespace, notes: Iterable[str] = ()) -> None:
    """Print a document in the format asked for; notes go to stderr."""
    writers: dict[str, Callable[[], str]] = {
        "markdown": document.to_markdown,
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
