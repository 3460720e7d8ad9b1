"""Printing a document, and a bar while it is made."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rankadapters.cli.common import print_whole, require_rich
from rankadapters.progress import advance, shown

if TYPE_CHECKING:
    from rankadapters.core.evaluation.table import Table
    from rankadapters.statistics.document import Document

FORMATS = ("table", "markdown", "json")


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how to print."""
    parser.add_argument("--format", choices=FORMATS, default="table", help="of the result (default: table)")


def check_format(arguments: argparse.Namespace) -> None:
    """Refuse tables without rich before anything is read."""
    if arguments.format == "table":
        require_rich()


def print_document(document: Document, arguments: argparse.Namespace, notes: Iterable[str] = ()) -> None:
    """Print a document as asked for; what was left out in reading goes to stderr."""
    from rankadapters.core.evaluation.table import Table

    if arguments.format == "json":
        print(document.to_json())
    elif arguments.format == "markdown":
        print(document.to_markdown(), end="")
    else:
        for number, block in enumerate(document.blocks()):
            if number:
                print()
            if isinstance(block, Table):
                _print_table(block)
            else:
                print(block)
    for note in filter(None, notes):
        print(note, file=sys.stderr)


def _print_table(table: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    print(table.caption)
    shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for head, number in zip(table.head, table.numeric, strict=True):
        shown.add_column(Text(head), justify="right" if number else "left", no_wrap=True)
    for line in table.lines:
        shown.add_row(*map(Text, line))
    print_whole(shown)


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], Any]]:
    """Show on a terminal's stderr how far a computation is; nothing elsewhere, or without rich."""
    with shown(what, after=0):
        yield advance
