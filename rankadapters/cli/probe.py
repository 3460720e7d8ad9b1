"""`rankadapters probe`: find the convention that a function or a program computes."""

from __future__ import annotations

import argparse
from typing import Any

from rankadapters.cli import functions
from rankadapters.cli.audits import add_measure
from rankadapters.cli.helping import examples
from rankadapters.cli.identify import UNKNOWN, cutoff_or_unknown
from rankadapters.cli.printing import Answer, add_output


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "probe",
        help="find the convention that a function computes",
        description="Run a function or a program on small generated data, and print the convention that it computes. "
        "If there is none, print the nearest one with a minimal example that shows the difference.",
        epilog=examples(
            "probe sklearn.metrics:ndcg_score --k all",
            'probe --command "node ndcg.js" --k 10',
            status="0 if a convention matches, 1 if none does, 2 on bad input",
        ),
    )
    functions.add(parser)
    add_measure(parser, "measure that it computes")
    parser.add_argument(
        "--k", type=cutoff_or_unknown, default=UNKNOWN, help="cutoff that it applies, 'all', or 'unknown' (default)"
    )
    add_output(parser, _run)


def _run(arguments: argparse.Namespace) -> Answer:
    from rankadapters.audit import probe

    k = None if arguments.k == UNKNOWN else arguments.k
    with functions.open_function(arguments, k) as (function, keywords):
        result = probe(function, k=arguments.k, measures=arguments.measure, **keywords)
    return Answer(result, ok=result.convention is not None)
