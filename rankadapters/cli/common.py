"""What the subcommands share: reading options, keeping stdout clean, progress."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.presets.texts import parse
from rankadapters.progress import advance, shown

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


def cutoff(text: str) -> int | None:
    """Read a cutoff for argparse; `all` is None."""
    if text == "all":
        return None
    try:
        return whole_from(1)(text)
    except argparse.ArgumentTypeError:
        msg = f"{text!r} is not a cutoff; allowed are whole numbers from 1 on, and 'all'"
        raise argparse.ArgumentTypeError(msg) from None


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
def bar(what: str) -> Iterator[Callable[[int, int], Any]]:
    """Show on a terminal's stderr how far a computation is; nothing elsewhere, or without rich."""
    with shown(what, after=0):
        yield advance
