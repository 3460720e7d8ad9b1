"""`rankadapters identify`: which conventions give a published number."""

from __future__ import annotations

import argparse
from typing import Any

from rankadapters.cli import sources
from rankadapters.cli.common import DIFFERENT, SAME, whole_from
from rankadapters.cli.documents import add_format, bar, check_format, print_document
from rankadapters.cli.helping import examples
from rankadapters.core.errors import InputError
from rankadapters.core.measures import MEASURES

UNKNOWN = "unknown"


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "identify",
        help="find the conventions that give a published number",
        description="Find all conventions, presets first, under which the scores in files have the value that was "
        "printed.",
        epilog=examples(
            "identify 0.1623 --features test.txt --predictions scores.txt",
            "identify 0.3588 --measure ap --k 10 --qrels qrels.txt --run run.txt",
            status="0 when there is one, 1 when there is none, 2 on bad input",
        ),
    )
    parser.add_argument("value", metavar="VALUE", help="the number with all its decimals, such as 0.1623")
    add_measure(parser, "was measured")
    parser.add_argument(
        "--k",
        type=_cutoff_or_unknown,
        default=UNKNOWN,
        help="the cutoff, 'all', or 'unknown': 1 to 100 and all (default)",
    )
    sources.add(parser)
    add_format(parser)
    parser.set_defaults(run=_run)


def add_measure(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option that names a measure."""
    parser.add_argument(
        "--measure",
        choices=MEASURES,
        metavar="NAME",
        default="ndcg",
        help=f"what {what}: {', '.join(MEASURES)} (default: ndcg)",
    )


def cutoff(text: str) -> int | None:
    """Read a cutoff; `all` is None."""
    if text == "all":
        return None
    try:
        return whole_from(1)(text)
    except argparse.ArgumentTypeError:
        msg = f"{text!r} is not a cutoff; allowed are whole numbers from 1 on, and 'all'"
        raise argparse.ArgumentTypeError(msg) from None


def _cutoff_or_unknown(text: str) -> str | int | None:
    return text if text == UNKNOWN else cutoff(text)


def _run(arguments: argparse.Namespace) -> int:
    check_format(arguments)
    with bar("searching") as step:
        judgments = sources.read(arguments, docids=None)
        from rankadapters.audit import identify

        try:
            found = identify(
                arguments.value, judgments.queries, judgments.scores, measure=arguments.measure, k=arguments.k,
                progress=step,
            )  # fmt: skip
        except InputError as error:
            raise sources.located(error, judgments) from None
    print_document(found, arguments, [judgments.note])
    return SAME if found else DIFFERENT
