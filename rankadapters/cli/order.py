"""`rankadapters order`: whether the choice of the convention changes which model wins."""

from __future__ import annotations

import argparse
from typing import Any

from rankadapters.cli import sources
from rankadapters.cli.common import SAME, bar, resolve, whole_from
from rankadapters.cli.helping import examples, of_conventions
from rankadapters.cli.printing import add_format, check_format, print_document
from rankadapters.core import presets
from rankadapters.core.errors import InputError


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "order",
        help="compare models under several conventions",
        description="Evaluate the scores of several models under several conventions: values and ranks, rank "
        "correlations, and the pairs of models that change places, with tests of their differences.",
        epilog=examples(
            "order --features test.txt --predictions a.txt --predictions b.txt --convention letor4@10 yahoo@10",
        ),
    )
    add_conventions(parser)
    add_tests(parser)
    sources.add(parser, several=True)
    add_format(parser)
    parser.set_defaults(run=_run)


def add_conventions(parser: argparse.ArgumentParser) -> None:
    """Add the option that names conventions."""
    conventions = parser.add_argument(
        "--convention", nargs="+", action="extend", required=True, metavar="SPEC",
        help=f"preset@k or a signature. Presets: {', '.join(presets.names())}",
    )  # fmt: skip
    of_conventions(conventions)


def add_tests(parser: argparse.ArgumentParser) -> None:
    """Add the options of the tests."""
    parser.add_argument(
        "--resamples", type=whole_from(1), default=9999, metavar="N", help="of each test and interval (default: 9999)"
    )
    parser.add_argument("--seed", type=whole_from(0), default=0, metavar="N", help="of the resamples (default: 0)")


def _run(arguments: argparse.Namespace) -> int:
    check_format(arguments)
    conventions = [resolve(spec) for spec in dict.fromkeys(arguments.convention)]
    with bar("comparing") as step:
        models = sources.read_models(arguments, docids=sources.by_docid(conventions))
        from rankadapters.audit import order

        try:
            found = order(
                models.queries, models.scores, conventions, n_resamples=arguments.resamples,
                random_state=arguments.seed,
                progress=step,
            )  # fmt: skip
        except InputError as error:
            raise models.located(error) from None
    print_document(found, arguments, models.notes)
    return SAME
