"""What every `--help` shares, examples among it, and completion in the shell."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Generator
from difflib import get_close_matches
from typing import Any

from rankadapters.core import presets
from rankadapters.core.errors import MissingToolkitError

_INDENT = "  "  # of lines that are not filled
_COLUMNS = 76  # of a terminal, without the indent and a backslash


class Formatter(argparse.HelpFormatter):
    """Fills paragraphs, keeps indented lines as they are, and commands on one line with what they do."""

    def _iter_indented_subactions(self, action: argparse.Action) -> Generator[argparse.Action]:
        yield from getattr(action, "_get_subactions", list)()  # without the indent that argparse leaves no room for

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)  # whose first line says no more than the title, where it is of commands
        return text.partition("\n")[2] if hasattr(action, "_get_subactions") else text

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines()
        return "\n".join(
            line if line.startswith(_INDENT) else super(Formatter, self)._fill_text(line, width, indent)
            for line in lines
        )


def examples(*lines: str, status: str = "0, or 2 on bad input") -> str:
    """Write an epilog: commands that can be typed as they are, but for the names of files, and the exit status.

    >>> examples("order --help").splitlines()
    ['examples:', '  rankadapters order --help', '', 'exit status:', '  0, or 2 on bad input']
    """
    shown = [f"{_INDENT}{line}" for each in lines for line in _continued(f"rankadapters {each}")]
    return "\n".join(["examples:", *shown, *(["", "exit status:", f"{_INDENT}{status}"] if status else [])])


def _continued(command: str) -> list[str]:
    """Break a command before an option where a terminal of 80 columns would break it anywhere."""
    found = [""]
    for part in re.split(r" (?=--)", command):
        if found[-1] and len(f"{found[-1]} {part}") > _COLUMNS:
            found[-1] += " \\"
            found.append(f"    {part}")
        else:
            found[-1] = f"{found[-1]} {part}" if found[-1] else part
    return found


def way_out(message: str, usage: str, command: str) -> str:
    """Say how a command line may be mended that argparse refused with a message.

    >>> way_out("invalid choice: 'evalute' (choose from 'evaluate', 'explain')", "", "rankadapters")
    "did you mean 'evaluate'?"
    >>> way_out("unrecognized arguments: --prediction", "[--features FILE] [--predictions FILE]", "rankadapters order")
    "did you mean '--predictions'?"
    """
    choice = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
    unknown = re.search(r"unrecognized arguments: (\S+)", message)
    known = re.findall(r"[\w.-]+", choice[2]) if choice else re.findall(r"--[a-z-]+", usage)
    given = choice or (unknown and unknown[1].startswith("-") and unknown)
    if given and (near := get_close_matches(given[1], known, 1)):
        return f"did you mean {near[0]!r}?"
    if unknown and not given:
        return f"what each file holds is said before it, as in --features test.txt; see `{command} --help`."
    return f"`{command} --help` has examples."


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks how a command line may go on, and end the process; without such a question do nothing.

    Raises
    ------
    MissingToolkitError
        A shell asks, and argcomplete is not installed.
    """
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        import argcomplete
    except ImportError:
        msg = 'argcomplete, which completes commands, is not installed.\nHint: pip install "rankadapters[cli]"'
        raise MissingToolkitError(msg) from None
    argcomplete.autocomplete(parser)


def add_conventions(parser: argparse.ArgumentParser, about: str, *, required: bool = True) -> None:
    """Add the option that names conventions."""
    option = parser.add_argument(
        "--convention", nargs="+", action="extend", required=required, default=None if required else [],
        metavar="SPEC", help=about,
    )  # fmt: skip
    of_conventions(option)


def of_conventions(option: argparse.Action) -> None:
    """Let the shell complete an option by the presets, at 10 where they have a cutoff."""
    option.completer = _presets  # type: ignore[attr-defined]


def _presets(prefix: str, **_: Any) -> list[str]:
    return [text for name in presets.names(None) if (text := presets.make(name, 10).short_name).startswith(prefix)]
