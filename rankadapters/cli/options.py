"""Parts that the subcommands share: the layout of their help, and the types of their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from textwrap import TextWrapper, fill

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import MEASURES
from rankadapters.presets.texts import measure_called, parse

LARGEST = 2**31 - 1  # every toolkit accepts cutoffs and seeds up to this
UNKNOWN = "unknown"  # cutoff
WIDTH = 79  # columns of a help


def describe(parser: argparse.ArgumentParser, about: str, *lines: str, status: str = "0, or 2 on bad input") -> None:
    """Give the help of a command a description, example commands and the meanings of its exit status."""
    parser.description = fill(about, WIDTH)
    parser.epilog = f"{examples(*lines)}\n\nexit status:\n  {status}"


def examples(*lines: str) -> str:
    """Return example commands, runnable except for file names, whose long lines end in a backslash.

    >>> examples("order --help").splitlines()
    ['examples:', '  rankadapters order --help']
    """
    wrapper = TextWrapper(WIDTH - 2, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
    return "\n".join(["examples:", *(" \\\n".join(wrapper.wrap(f"rankadapters {line}")) for line in lines)])


def whole_from(least: int, allowed: str = "") -> Callable[[str], int]:
    """Return an argparse type for whole numbers of at least `least`; its error says what is allowed."""

    def whole(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= LARGEST):
            msg = f"{text!r} is not {allowed or f'a whole number from {least} to {LARGEST}'}"
            raise argparse.ArgumentTypeError(msg)
        return int(text)

    return whole


def cutoff(text: str) -> int | None:
    """Argparse type of a cutoff; `all` becomes None."""
    return None if text == "all" else whole_from(1, "a cutoff; allowed are whole numbers from 1 on, and 'all'")(text)


def cutoff_or_unknown(text: str) -> str | int | None:
    """Argparse type of a cutoff or the word `unknown`."""
    return text if text == UNKNOWN else cutoff(text)


def convention(text: str) -> Convention:
    """Argparse type of a convention, in any form that `ra.parse` accepts."""
    try:
        return parse(text)
    except ConventionError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_conventions(parser: argparse.ArgumentParser, about: str, *, required: bool = True) -> None:
    """Add the option `--convention`."""
    parser.add_argument(
        "--convention", type=convention, nargs="+", action="extend", required=required, default=None, metavar="SPEC",
        help=about,
    )  # fmt: skip


def add_measure(parser: argparse.ArgumentParser, role: str, *others: str) -> None:
    """Add the option `--measure`; its help says the measure's role in the command. `others` are allowed besides."""
    names = (*MEASURES, *others)
    about = f"{role}: {', '.join(names)}; or a tool's own word, such as map or mrr (default: ndcg)"
    parser.add_argument("--measure", type=_measure, choices=names, metavar="NAME", default="ndcg", help=about)


def _measure(word: str) -> str:
    return measure_called(word) or word
