"""Run a command and print its answer as a table, Markdown, LaTeX, JSON, CSV or HTML."""

from __future__ import annotations

import argparse
import io
import os
import sys
from codecs import lookup
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rankadapters.cli.standard_input import without_copies
from rankadapters.core.errors import InputError
from rankadapters.progress import has_rich, shown

if TYPE_CHECKING:
    from rankadapters.evaluation.table import Table
    from rankadapters.statistics.document import Document

FORMATS = ("table", "markdown", "latex", "json", "csv", "html")
SAME, DIFFERENT, BAD_INPUT = 0, 1, 2  # exit statuses


class Answer(NamedTuple):
    """A command's result: a document for stdout, notes for stderr, and whether the exit status is 0 or 1."""

    document: Document | None  # None if the command wrote a file
    notes: Iterable[str | None] = ()  # empty ones are left out
    ok: bool = True


Run = Callable[[argparse.Namespace], Answer]


def add_output(
    parser: argparse.ArgumentParser, run: Run, *, activity: str = "", prints: bool = True, quiet: bool = False
) -> None:
    """Make the command print the answer of a function; add `--format`, unless the command `prints` no document.

    `activity` is the title of a progress bar. `quiet` is for functions that run code of others, whose output must not
    reach stdout.
    """
    if prints:
        parser.add_argument("--format", choices=FORMATS, default="table", help="format of the result (default: table)")
    parser.set_defaults(print_answer=partial(_print_answer, run, activity, quiet))


def _print_answer(run: Run, activity: str, quiet: bool, arguments: argparse.Namespace) -> int:  # noqa: FBT001
    """Run the command, print its answer, and return the exit status."""
    with _quiet_stdout() if quiet else nullcontext(), shown(activity, after=0) if activity else nullcontext():
        document, notes, ok = run(arguments)
    escaped = None
    if document is not None and sys.stdout is not None:  # the shell may have closed it
        text, escaped = _encodable(_text(document, arguments.format), arguments.format)
        write(text.removesuffix("\n") + "\n")
    how_read = "; ".join(f"{file}: {about}" for file, about in getattr(arguments, "how_read", {}).items())
    for note in filter(None, (without_copies(how_read), *notes, escaped)):
        print(note, file=sys.stderr)
    return SAME if ok else DIFFERENT


def write(text: str) -> None:
    """Write to stdout; a reader that stops early, such as `head`, is no error."""
    try:
        print(text, end="", flush=True)
    except OSError as error:
        # Redirect stdout, because Python flushes it at exit, which would print a second error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            msg = f"the result cannot be written: {error}."
            raise InputError(msg, hint="make room, or send the result elsewhere") from None


def _encodable(text: str, form: str) -> tuple[str, str | None]:
    """Escape the characters that the encoding of stdout lacks, and return a note about them."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"  # a stream in memory has none
    if form == "html":  # says that it is UTF-8, of which ASCII is a part
        encoding = encoding if lookup(encoding).name == "utf-8" else "ascii"
        return text.encode(encoding, "xmlcharrefreplace").decode(encoding), None
    if not "─".encode(encoding, "ignore"):
        text = text.replace("─", "-")  # the line below the head of a table
    escaped = text.encode(encoding, "backslashreplace").decode(encoding)
    note = f"note: stdout is {encoding}, so that other characters are escaped; set PYTHONIOENCODING=utf-8."
    return escaped, None if escaped == text else note


@contextmanager
def _quiet_stdout() -> Iterator[None]:
    """Redirect toolkits' output to stderr, whether Python or C code prints it."""
    if sys.stdout is None or sys.stderr is None:  # closed by the shell
        yield
        return
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def _text(document: Document, form: str) -> str:
    if form == "table":
        return "\n\n".join(map(_drawn, document.blocks()))
    if form == "html":
        from rankadapters.statistics.page import write_page

        return write_page(str(document.blocks()[0]).splitlines()[0], {"": [document]})
    text: str = getattr(document, f"to_{form}")()
    return text


def _drawn(block: str | Table) -> str:
    """Return a block as text; a table may be wider than the terminal, since a wrapped number would be unreadable."""
    if isinstance(block, str) or not has_rich():
        return str(block)  # without rich, a table is plain text
    from rich import box
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for head, number in zip(block.head, block.numeric, strict=True):
        # Put a convention's name on two lines and a model's on a third, so that more columns fit.
        text = head.replace("/", "/\n", 1).replace(" ", "\n") if "/" in head else head
        drawn.add_column(Text(text), justify="right" if number else "left", no_wrap=True)
    for line in block.lines:
        drawn.add_row(*map(Text, line))
    output = io.StringIO()
    is_terminal = sys.stdout.isatty() or None  # None reads the environment
    console = Console(file=output, force_terminal=is_terminal, highlight=False, markup=False)
    wide = console.options.update(max_width=10_000)
    if Measurement.get(console, wide, drawn).maximum > console.width:
        drawn.padding = (0,)
    console.width = max(console.width, Measurement.get(console, wide, drawn).maximum)
    console.print(drawn)
    return f"{block.caption}\n{output.getvalue()}".removesuffix("\n")
