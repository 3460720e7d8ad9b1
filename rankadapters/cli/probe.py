"""`rankadapters probe`: which convention a function or a program computes."""

from __future__ import annotations

import argparse
from typing import Any

from rankadapters.cli import functions
from rankadapters.cli.common import DIFFERENT, SAME
from rankadapters.cli.helping import examples
from rankadapters.cli.identify import UNKNOWN, add_measure, cutoff_or_unknown
from rankadapters.cli.printing import add_format, check_format, print_document


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "probe",
        help="find the convention that a function computes",
        description="Call a function, or ask a program, about small data made for it, and say which convention it "
        "computes; or the nearest one, with the smallest example that shows the difference.",
        epilog=examples(
            "probe sklearn.metrics:ndcg_score --k all",
            'probe --command "node ndcg.js" --k 10',
            status="0 when there is a convention, 1 when there is none, 2 on bad input",
        ),
    )
    functions.add(parser)
    add_measure(parser, "it computes")
    parser.add_argument(
        "--k", type=cutoff_or_unknown, default=UNKNOWN, help="the cutoff that it applies, 'all', or 'unknown' (default)"
    )
    add_format(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_format(arguments)
    from rankadapters.audit import probe

    k = None if arguments.k == UNKNOWN else arguments.k
    with functions.opened(arguments, k) as (function, keywords):
        found = probe(function, k=arguments.k, measures=arguments.measure, **keywords)
    print_document(found, arguments)
    return DIFFERENT if found.convention is None else SAME
