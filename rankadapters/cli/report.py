"""`rankadapters report`: one page to look at, which needs nothing else."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rankadapters.cli import sources
from rankadapters.cli.common import SAME, bar, resolve
from rankadapters.cli.helping import examples
from rankadapters.cli.order import add_conventions, add_tests
from rankadapters.core.errors import InputError


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "report",
        help="write a page about models under several conventions",
        description="Write an HTML page about the scores of one or more models under several conventions: values, "
        "order, the gaps between the first convention and the others, values against the cutoff, the data, the "
        "signatures. It needs no network, no script and no other file.",
        epilog=examples(
            "report out.html --features test.txt --predictions scores.txt --convention letor4@10 yahoo@10",
        ),
    )
    parser.add_argument(
        "out",
        metavar="OUT.html",
        help="where to write the page; a file there is replaced, folders that are missing are made",
    )
    parser.add_argument("--title", default="Ranking report", help="of the page (default: Ranking report)")
    add_conventions(parser)
    add_tests(parser)
    sources.add(parser, several=True)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    conventions = [resolve(spec) for spec in dict.fromkeys(arguments.convention)]
    with bar("comparing") as step:
        models = sources.read_models(arguments, docids=sources.by_docid(conventions))
        from rankadapters.audit import page

        try:
            text = page(
                models.queries, models.scores, conventions, title=arguments.title, n_resamples=arguments.resamples,
                random_state=arguments.seed, progress=step,
            )  # fmt: skip
        except InputError as error:
            raise models.located(error) from None
    from rankadapters.io.writing import write_text

    write_text(arguments.out, text)
    for note in models.notes:
        print(note, file=sys.stderr)
    print(arguments.out)
    return SAME
