"""The command `rankadapters`: the result on stdout and nothing else, everything about it on stderr.

A subcommand is a function that adds its parser and sets `run`; `COMMANDS` lists them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Any, NoReturn

from rankadapters import __version__
from rankadapters.cli import audits, compare, conformance, conventions, evaluate, identify, parity, probe, warmup
from rankadapters.cli import presets as preset_releases
from rankadapters.cli.common import BAD_INPUT
from rankadapters.cli.helping import Formatter, complete, examples, way_out
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
    "warmup": warmup.add,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        0 when everything asked holds, 1 when not, 2 on bad input, which one line on stderr names.
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
            hint = "check that the files and folders are there and yours to use, and that the disk has room"
            print(_one_line(f"{error}.\nHint: {hint}."), file=sys.stderr)
            return BAD_INPUT
        # Python would try once more, and complain once more, when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # whoever reads has read enough
            print(_one_line(f"the result cannot be written: {error}"), file=sys.stderr)
        return BAD_INPUT
    return code


class _Output:
    """Standard output, which remembers the error that a write met: errors of files that are read are not of it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def write(self, text: str) -> Any:
        return self._remembering(self._stream.write, text)

    def flush(self) -> None:
        self._remembering(self._stream.flush)

    def _remembering(self, act: Callable[..., Any], *given: str) -> Any:
        try:
            return act(*given)
        except OSError as error:
            self.error = error
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _one_line(message: str) -> str:
    return f"rankadapters: error: {' '.join(message.splitlines())}"


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage, and takes no option by half its name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=Formatter, allow_abbrev=False, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        parsed, others = super().parse_known_args(args, namespace)
        if others:  # said here, a subcommand knows whose options they are not
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return parsed, others

    def error(self, message: str) -> NoReturn:
        if "Hint: " not in message:
            message = f"{message}. Hint: {way_out(message, self.format_usage(), self.prog)}"
        self.exit(BAD_INPUT, _one_line(message) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="rankadapters",
        usage="%(prog)s [--help] [--version] COMMAND ...",
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
    title = "One declared ranking metric in every toolkit. Commands, each with a --help"
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title=title, prog="rankadapters")
    for add in COMMANDS.values():
        add(commands)
    return parser
