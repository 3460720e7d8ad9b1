"""`rankadapters probe`: which convention a function or a program computes."""

from __future__ import annotations

import argparse
from typing import Any

from rankadapters.cli import functions
from rankadapters.cli.audits import add_measure
from rankadapters.cli.helping import examples
from rankadapters.cli.identify import UNKNOWN, cutoff_or_unknown
from rankadapters.cli.printing import Answer, answers


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
    answers(parser, _run)


def _run(arguments: argparse.Namespace) -> Answer:
    from rankadapters.audit import probe

    k = None if arguments.k == UNKNOWN else arguments.k
    with functions.opened(arguments, k) as (function, keywords):
        found = probe(function, k=arguments.k, measures=arguments.measure, **keywords)
    return Answer(found, holds=found.convention is not None)
