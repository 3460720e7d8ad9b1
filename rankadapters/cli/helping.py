"""What every `--help` shares, examples among it, and completion in the shell."""

from __future__ import annotations

import argparse
import os
from typing import Any

from rankadapters.core import presets
from rankadapters.core.errors import MissingToolkitError

_INDENT = "  "  # of lines that are not filled


class Formatter(argparse.HelpFormatter):
    """Fills paragraphs, and keeps indented lines as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines()
        return "\n".join(
            line if line.startswith(_INDENT) else super(Formatter, self)._fill_text(line, width, indent)
            for line in lines
        )


def examples(*lines: str) -> str:
    """Write an epilog of commands that can be typed as they are, but for the names of files.

    >>> examples("evaluate --help").splitlines()
    ['examples:', '  rankadapters evaluate --help']
    """
    return "\n".join(["examples:", *(f"{_INDENT}rankadapters {line}" for line in lines)])


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


def of_conventions(option: argparse.Action) -> None:
    """Let the shell complete an option by the presets, at 10 where they have a cutoff."""
    option.completer = _presets  # type: ignore[attr-defined]


def _presets(prefix: str, **_: Any) -> list[str]:
    return [text for name in presets.names(None) if (text := presets.make(name, 10).short_name).startswith(prefix)]
