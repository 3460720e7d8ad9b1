"""The command `rankadapters`: it prints only the result on stdout; notes and errors go to stderr.

`COMMANDS` maps each subcommand to a function that adds its parser and sets `run`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Any, NoReturn

from rankadapters import __version__
from rankadapters.cli import audits, compare, conformance, conventions, evaluate, identify, parity, probe
from rankadapters.cli import presets as preset_releases
from rankadapters.cli.common import BAD_INPUT
from rankadapters.cli.helping import Formatter, complete, examples, suggested_fix
from rankadapters.core.errors import RankAdaptersError

COMMANDS: dict[str, Callable[[Any], None]] = {
    "evaluate": evaluate.add,
    "explain": audits.add_explain,
    "identify": identify.add,
    "probe": probe.add,
    "conformance": conformance.add,
    "order": audits.add_order,
    "profile": audits.add_profile,
    "report": audits.add_report,
    "compare": compare.add,
    "parity": parity.add,
    "conventions": conventions.add,
    "presets": preset_releases.add,
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
    output = _Output(sys.stdout)
    try:
        with redirect_stdout(output):
            parser = _parser()
            complete(parser)
            arguments = parser.parse_args(argv)
            run: Callable[[argparse.Namespace], int] = arguments.run
            code = run(arguments)
            output.flush()
    except RankAdaptersError as error:
        print(_one_line(str(error)), file=sys.stderr)
        return BAD_INPUT
    except OSError as error:
        if error is not output.error:
            hint = "check that the files and folders exist, that you may use them, and that the disk has room"
            print(_one_line(f"{error}.\nHint: {hint}."), file=sys.stderr)
            return BAD_INPUT
        # Redirect stdout, because Python flushes it at exit, which would print a second error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # a broken pipe means only that the reader stopped early
            print(_one_line(f"the result cannot be written: {error}"), file=sys.stderr)
        return BAD_INPUT
    return code


class _Output:
    """Standard output that records its own write error, to tell it apart from errors of input files."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def write(self, text: str) -> Any:
        return self._recording_error(self._stream.write, text)

    def flush(self) -> None:
        self._recording_error(self._stream.flush)

    def _recording_error(self, method: Callable[..., Any], *arguments: str) -> Any:
        try:
            return method(*arguments)
        except OSError as error:
            self.error = error
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _one_line(message: str) -> str:
    return f"rankadapters: error: {' '.join(message.splitlines())}"


class _Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line without the usage, and accepts no abbreviated options."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=Formatter, allow_abbrev=False, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:  # raised here, so that the error names the subcommand
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        if "Hint: " not in message:
            message = f"{message}. Hint: {suggested_fix(message, self.format_usage(), self.prog)}"
        self.exit(BAD_INPUT, _one_line(message) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="rankadapters",
        usage="%(prog)s [--help] [--version] COMMAND [--help] ...",
        epilog=examples(
            "parity",
            "evaluate --qrels q.txt --run r.txt --convention trec_eval_9@10",
            "identify 0.1623 --features test.txt --predictions scores.txt",
            "probe package.module:function --k 10",
            status="",
        ),
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    version = f"rankadapters {__version__}"
    parser.add_argument("--version", action="version", version=version, help=argparse.SUPPRESS)
    title = "A convention such as lightgbm@10 says how a metric is computed. Commands"
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title=title, prog="rankadapters")
    for add in COMMANDS.values():
        add(commands)
    return parser
