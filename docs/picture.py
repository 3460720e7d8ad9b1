"""The README's picture of `rankadapters parity`, drawn from the command's output with the installed packages.

`python docs/picture.py` redraws `docs/parity.svg`; a test compares its text with the command's output.
"""

from __future__ import annotations

import html
import io
import re
from contextlib import redirect_stdout
from pathlib import Path

from rankadapters.cli import main

FILE = Path(__file__).parent / "parity.svg"
COMMAND = ("parity", "--convention", "textbook@10", "letor4@10", "yahoo@10")
WIDTH = 80


def printed() -> list[str]:
    """Return the command, its first line and its table, without the legend below."""
    out = io.StringIO()
    with redirect_stdout(out):
        main(COMMAND)
    first, space, *rest = [line.rstrip() for line in out.getvalue().splitlines()]
    return [f"$ rankadapters {' '.join(COMMAND)}", "", first, space, *rest[: rest.index("")]]


def drawn(lines: list[str]) -> str:
    """Draw lines of text as a terminal shows them."""
    from rich.console import Console

    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False, markup=False)
    console.print("\n".join(lines))
    return console.export_svg(title="rankadapters", unique_id="parity")


def read(svg: str) -> list[str]:
    """Return the lines that a picture shows."""
    shown = re.findall(r'<text class="parity-r\d+" x="0" .*?>(.*?)</text>', svg)
    return [html.unescape(line).replace("\xa0", " ").rstrip() for line in shown]


if __name__ == "__main__":
    FILE.write_text(drawn(printed()), encoding="utf-8")
