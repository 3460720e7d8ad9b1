"""Shared parts of every `--help` (layout, examples), suggestions after errors, and shell completion."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Generator
from difflib import get_close_matches
from typing import Any

from rankadapters import presets
from rankadapters.core.errors import MissingToolkitError

_INDENT = "  "  # marks lines that must not be wrapped
_COLUMNS = 76  # 80, minus the indent and a backslash at the line end


class Formatter(argparse.HelpFormatter):
    """A help formatter that wraps paragraphs, keeps indented lines, and lists each subcommand on one line."""

    def _iter_indented_subactions(self, action: argparse.Action) -> Generator[argparse.Action]:
        yield from getattr(action, "_get_subactions", list)()  # without argparse's extra indent, which would wrap lines

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)  # in the list of subcommands, the first line only repeats the title
        return text.partition("\n")[2] if hasattr(action, "_get_subactions") else text

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines()
        return "\n".join(
            line if line.startswith(_INDENT) else super(Formatter, self)._fill_text(line, width, indent)
            for line in lines
        )


def examples(*lines: str, status: str = "0, or 2 on bad input") -> str:
    """Return an epilog: example commands, runnable except for file names, and the exit status.

    >>> examples("order --help").splitlines()
    ['examples:', '  rankadapters order --help', '', 'exit status:', '  0, or 2 on bad input']
    """
    shown = [f"{_INDENT}{line}" for command in lines for line in _wrapped(f"rankadapters {command}")]
    return "\n".join(["examples:", *shown, *(["", "exit status:", f"{_INDENT}{status}"] if status else [])])


def _wrapped(command: str) -> list[str]:
    """Wrap a command to 80 columns, breaking lines only before options."""
    lines = [""]
    for part in re.split(r" (?=--)", command):
        if lines[-1] and len(f"{lines[-1]} {part}") > _COLUMNS:
            lines[-1] += " \\"
            lines.append(f"    {part}")
        else:
            lines[-1] = f"{lines[-1]} {part}" if lines[-1] else part
    return lines


def suggested_fix(message: str, usage: str, command: str) -> str:
    """Return a hint on how to fix a command line that argparse rejected with this message.

    >>> suggested_fix("invalid choice: 'evalute' (choose from 'evaluate', 'explain')", "", "rankadapters")
    "did you mean 'evaluate'?"
    >>> suggested_fix("unrecognized arguments: --prediction", "[--features FILE] [--predictions FILE]", "")
    "did you mean '--predictions'?"
    """
    choice = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
    unknown = re.search(r"unrecognized arguments: (\S+)", message)
    candidates = re.findall(r"[\w.-]+", choice[2]) if choice else re.findall(r"--[a-z-]+", usage)
    misspelled = choice or (unknown and unknown[1].startswith("-") and unknown)
    if misspelled and (near := get_close_matches(misspelled[1], candidates, 1)):
        return f"did you mean {near[0]!r}?"
    if unknown and not misspelled:
        return f"put an option before each file, as in --features test.txt; see `{command} --help`."
    return f"`{command} --help` has examples."


def complete(parser: argparse.ArgumentParser) -> None:
    """If the shell asks for completions, print them and end the process; otherwise do nothing.

    Raises
    ------
    MissingToolkitError
        The shell asks for completions, but argcomplete is not installed.
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
    """Add the option `--convention`."""
    option = parser.add_argument(
        "--convention", nargs="+", action="extend", required=required, default=None if required else [],
        metavar="SPEC", help=about,
    )  # fmt: skip
    complete_conventions(option)


def complete_conventions(option: argparse.Action) -> None:
    """Let the shell complete an option with names of presets; presets with a cutoff are offered at 10."""
    option.completer = _presets  # type: ignore[attr-defined]


def _presets(prefix: str, **_: Any) -> list[str]:
    return [text for name in presets.names(None) if (text := presets.make(name, 10).short_name).startswith(prefix)]
