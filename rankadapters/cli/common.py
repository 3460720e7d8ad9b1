"""What the subcommands share: reading options, keeping stdout clean, progress, the rich extra."""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, MissingToolkitError
from rankadapters.core.presets.texts import parse
from rankadapters.progress import advance, has_rich, shown

SAME, DIFFERENT, BAD_INPUT = 0, 1, 2

LARGEST = 2**31 - 1  # what every toolkit takes as a cutoff or a seed


def whole_from(least: int) -> Callable[[str], int]:
    """Make a reader of whole numbers from `least` on, for argparse."""

    def whole(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= LARGEST):
            msg = f"{text!r} is not a whole number from {least} to {LARGEST}"
            raise argparse.ArgumentTypeError(msg)
        return int(text)

    return whole


def flag(name: str) -> str:
    """Write the option of an argument's name."""
    return f"--{name.removesuffix('_file').replace('_', '-')}"


def resolve(spec: str, option: str = "--convention") -> Convention:
    """Read a convention given as an option, in any of the forms that `ra.parse` takes."""
    try:
        return parse(spec)
    except ConventionError as error:
        raise error.about(f"argument {option}") from None


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """Send whatever the toolkits print, from Python or from C, to stderr."""
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


@contextmanager
def progress(n_models: int) -> Iterator[Callable[[str], None]]:
    """Show on a terminal's stderr which model is being trained; nothing elsewhere, or without rich."""
    steps = itertools.count()
    with shown("training", after=0):
        yield lambda name: advance(next(steps), n_models + 1, name)


def require_rich() -> None:
    """Refuse a table where rich is not installed."""
    if not has_rich():
        msg = (
            'rich, which prints the table, is not installed.\nHint: pip install "rankadapters[cli]", or --format json.'
        )
        raise MissingToolkitError(msg)


def print_whole(table: Any) -> None:
    """Print a rich table, wider than the terminal where it must be: a number that is cut in two cannot be read."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(highlight=False, markup=False)
    needed = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
    console.width = max(console.width, needed)
    console.print(table)


def print_lines(head: Iterable[str], lines: Iterable[Iterable[str]], bold: Callable[[str], bool]) -> None:
    """Print cells of text as a table, those in bold that `bold` tells."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for name in head:
        table.add_column(name, no_wrap=True)
    for line in lines:
        table.add_row(*(Text(cell, style="bold" if bold(cell) else "") for cell in line))
    print_whole(table)


def print_csv(lines: Iterable[Iterable[str]]) -> None:
    """Print cells of text as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    print(text.getvalue(), end="")
