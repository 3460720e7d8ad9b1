"""`rankadapters profile`: what the data are like, and which choices of a convention matter on them."""

from __future__ import annotations

import argparse
from typing import Any

from rankadapters.cli import sources
from rankadapters.cli.common import SAME, bar, cutoff
from rankadapters.cli.helping import examples
from rankadapters.cli.identify import add_measure
from rankadapters.cli.printing import add_format, check_format, print_document
from rankadapters.core.errors import InputError


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "profile",
        help="describe judged queries, and what matters on them",
        description="Describe judgments and scores in files: what is peculiar about the queries, the largest change "
        "that each field of a convention makes, and the pitfalls that concern them.",
        epilog=examples(
            "profile --features test.txt --feature 25 --k 1 5 10",
        ),
    )
    parser.add_argument("--k", type=cutoff, nargs="+", default=[10], help="cutoffs in question, or 'all' (default: 10)")
    add_measure(parser, "is measured")
    sources.add(parser)
    add_format(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_format(arguments)
    with bar("looking"):
        judgments = sources.read_judged(arguments)
        from rankadapters.audit import profile
        from rankadapters.io import ScoredJudgments

        scores = judgments.scores if isinstance(judgments, ScoredJudgments) else None
        try:
            found = profile(judgments.queries, k=arguments.k, scores=scores, measure=arguments.measure)
        except InputError as error:
            raise sources.located(error, judgments) from None
    print_document(found, arguments, [judgments.note])
    return SAME
