"""`rankadapters explain`: why two conventions give two numbers."""

from __future__ import annotations

import argparse
from typing import Any

from rankadapters.cli import sources
from rankadapters.cli.common import SAME, bar, resolve, whole_from
from rankadapters.cli.helping import examples, of_conventions
from rankadapters.cli.printing import add_format, check_format, print_document
from rankadapters.core.errors import InputError


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "explain",
        help="split the gap between two conventions over their fields",
        description="Evaluate scores in files under two conventions, and split the gap over the fields in which they "
        "differ, by exact Shapley values over all mixtures of the two.",
        epilog=examples(
            "explain --a yahoo@10 --b letor4@10 --features test.txt --predictions scores.txt",
        ),
    )
    of_conventions(
        parser.add_argument("--a", required=True, metavar="SPEC", help="from this convention: preset@k or a signature")
    )
    of_conventions(parser.add_argument("--b", required=True, metavar="SPEC", help="to this one"))
    parser.add_argument(
        "--top", type=whole_from(0), default=10, metavar="N", help="queries that contribute most to print (default: 10)"
    )
    sources.add(parser)
    add_format(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_format(arguments)
    a, b = resolve(arguments.a, "--a"), resolve(arguments.b, "--b")
    with bar("explaining"):
        judgments = sources.read(arguments, docids=sources.by_docid([a, b]))
        from rankadapters.audit import explain

        try:
            found = explain(judgments.queries, judgments.scores, a, b, top=arguments.top)
        except InputError as error:
            raise sources.located(error, judgments) from None
    print_document(found, arguments, [judgments.note])
    return SAME
