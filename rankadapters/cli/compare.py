"""`rankadapters compare`: methods over data sets, from a table of results."""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

from rankadapters.cli.common import SAME
from rankadapters.cli.helping import examples
from rankadapters.cli.printing import add_format, check_format, print_document

DIRECTIONS = {"higher": True, "lower": False}


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "compare",
        help="compare methods over data sets by a table of results",
        description="Winning numbers of methods over data sets, from a CSV or Parquet file with the columns method, "
        "dataset, measure, value and, if wanted, source and higher_is_better. A measure may be a convention, such as "
        "letor4@10.",
        epilog=examples(
            "compare results.csv --better higher --out page.html",
        ),
    )
    parser.add_argument("results", metavar="RESULTS", help="CSV or Parquet, a row per method, data set and measure")
    parser.add_argument(
        "--better", choices=tuple(DIRECTIONS), help="whether higher or lower is better, of measures that do not say so"
    )
    parser.add_argument(
        "--on-mixed", choices=("error", "separate"), default="error",
        help="one measure under several conventions: an error, or measures of their own (default: error)",
    )  # fmt: skip
    parser.add_argument("--by", choices=("measure", "dataset"), default="measure", help="groups (default: measure)")
    parser.add_argument("--strict", action="store_true", help="a method is beaten only by one that is higher in both")
    parser.add_argument("--out", metavar="PAGE.html", help="write a page with everything as well")
    parser.add_argument("--title", default="Methods over data sets", help="of the page")
    add_format(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_format(arguments)
    from rankadapters.compare import MixedDecimalsWarning, Results, page, winning_numbers
    from rankadapters.io.writing import write_text

    better = None if arguments.better is None else DIRECTIONS[arguments.better]
    results = Results.read(arguments.results, higher_is_better=better, on_mixed=arguments.on_mixed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedDecimalsWarning)  # every format but CSV tells it
        winners = winning_numbers(results, by=arguments.by)
        if arguments.out:
            write_text(arguments.out, page(results, title=arguments.title, strict=arguments.strict))
            print(arguments.out, file=sys.stderr)
    csv_notes = winners.notes()[1:2] if arguments.format == "csv" and winners.n_undecided else []
    print_document(winners, arguments, csv_notes)
    return SAME
