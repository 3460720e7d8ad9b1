"""Helpers that the subcommands share: reading options, keeping stdout clean, showing progress."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.presets.texts import parse
from rankadapters.progress import advance, shown

SAME, DIFFERENT, BAD_INPUT = 0, 1, 2

LARGEST = 2**31 - 1  # every toolkit accepts cutoffs and seeds up to this


def whole_from(least: int) -> Callable[[str], int]:
    """Return an argparse type for whole numbers of at least `least`."""

    def whole(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= LARGEST):
            msg = f"{text!r} is not a whole number from {least} to {LARGEST}"
            raise argparse.ArgumentTypeError(msg)
        return int(text)

    return whole


def cutoff(text: str) -> int | None:
    """Argparse type of a cutoff; `all` becomes None."""
    if text == "all":
        return None
    try:
        return whole_from(1)(text)
    except argparse.ArgumentTypeError:
        msg = f"{text!r} is not a cutoff; allowed are whole numbers from 1 on, and 'all'"
        raise argparse.ArgumentTypeError(msg) from None


def flag(name: str) -> str:
    """Return the command-line option for the name of an argument."""
    return f"--{name.removesuffix('_file').replace('_', '-')}"


def resolve(spec: str, option: str = "--convention") -> Convention:
    """Parse an option's value as a convention, in any form that `ra.parse` accepts."""
    try:
        return parse(spec)
    except ConventionError as error:
        raise error.about(f"argument {option}") from None


def requested_conventions(arguments: argparse.Namespace) -> list[Convention]:
    """Return the conventions that `--convention` names, without duplicates."""
    return [resolve(spec) for spec in dict.fromkeys(arguments.convention)]


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """Redirect toolkits' output to stderr, whether Python or C code prints it."""
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
def bar(activity: str) -> Iterator[Callable[[int, int], Any]]:
    """Show a progress bar on stderr; do nothing if stderr is not a terminal or tqdm is missing."""
    with shown(activity, after=0):
        yield advance
