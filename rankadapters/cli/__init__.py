"""The command `rankadapters`: it prints only the result on stdout; notes and errors go to stderr.

`COMMANDS` has the subcommands: for each, what adds its options and its function, and its line in the list of commands.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from rankadapters import __version__
from rankadapters.cli import audits, compare, conventions, evaluate, functions, parity
from rankadapters.cli.options import examples
from rankadapters.cli.printing import BAD_INPUT, write
from rankadapters.cli.standard_input import file, removing_copies, without_copies
from rankadapters.core.errors import MissingToolkitError, RankAdaptersError

COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str]] = {
    "evaluate": (evaluate.add, "evaluate predictions or runs under declared conventions"),
    "explain": (audits.add_explain, "split the gap between two conventions over their fields"),
    "identify": (audits.add_identify, "find the conventions that give published numbers"),
    "probe": (functions.add_probe, "find the convention that a function computes"),
    "conformance": (functions.add_conformance, "test an implementation of a convention, in any language"),
    "order": (audits.add_order, "compare models under several conventions"),
    "profile": (audits.add_profile, "describe the data, and which fields matter on it"),
    "compare": (compare.add, "compare methods over data sets, from a table of results"),
    "parity": (parity.add, "compare every installed toolkit's own value with ours"),
    "conventions": (conventions.add_conventions, "print the presets with all their fields"),
    "presets": (conventions.add_presets, "print the releases of each tool that its presets match"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        0 on success, 1 if the answer is negative, 2 on bad input, which one line on stderr describes.
    """
    with removing_copies():
        try:
            parser = _parser()
            _complete(parser)
            arguments = parser.parse_args(argv)
            code: int = arguments.print_answer(arguments)
        except RankAdaptersError as error:
            code = _report(str(error))
        except OSError as error:
            hint = "check that the files and folders exist, that you may use them, and that the disk has room"
            code = _report(f"{error}.\nHint: {hint}.")
        return code


def _report(message: str) -> int:
    """Print an error in one line, and return the exit status."""
    print(f"rankadapters: error: {' '.join(without_copies(message).splitlines())}", file=sys.stderr)
    return BAD_INPUT


_FILES = ". Hint: files have options: --table FILE, --features FILE --predictions FILE, or --qrels FILE --run FILE."


class _Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line without the usage, and accepts no abbreviated options."""

    def __init__(self, **options: Any) -> None:
        if sys.version_info >= (3, 14):
            options["suggest_on_error"] = True
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown and hasattr(parsed, "files") and not any(text.startswith("-") for text in unknown):
            try:
                parsed.files += map(file, unknown)  # those between options
            except argparse.ArgumentTypeError as error:
                self.error(str(error))
            return parsed, []
        if unknown:  # raised here, so that the error names the subcommand
            is_file = not unknown[0].startswith("-") and "--table" in self._option_string_actions
            near = get_close_matches(unknown[0], self._option_string_actions, 1, cutoff=0.55)
            hint = _FILES if is_file else "".join(f". Hint: did you mean {option}?" for option in near)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed, unknown

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        write("")  # the help that was printed: here, where a reader that stops early is no error
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        hint = "" if "Hint: " in message else f". Hint: `{self.prog} --help` has examples."
        sys.exit(_report(message + hint))


def _complete(parser: argparse.ArgumentParser) -> None:
    """If the shell asks for completions, print them and end the process; otherwise do nothing."""
    if "_ARGCOMPLETE" in os.environ:
        try:
            import argcomplete
        except ImportError:
            raise MissingToolkitError.of("argcomplete", "cli") from None
        argcomplete.autocomplete(parser)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="rankadapters",
        usage="%(prog)s [--help] [--version] COMMAND [--help] ...",
        description="A convention such as lightgbm@10 says how a metric is computed.",
        epilog=examples(
            "parity",
            "evaluate log.parquet --convention lightgbm@10",
            "evaluate qrels.txt run.txt --measure ndcg_cut.10",
            "identify 0.1623 --features test.txt --predictions scores.txt",
            "probe package.module:function --k 10",
        ),
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    version = f"rankadapters {__version__}"
    parser.add_argument("--version", action="version", version=version, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands", prog="rankadapters")
    for name, (add, summary) in COMMANDS.items():
        add(commands.add_parser(name, help=summary))
    return parser
