"""`rankadapters compare`: compare methods over data sets, from a table of results."""

from __future__ import annotations

import argparse
import warnings

from rankadapters.cli.options import describe
from rankadapters.cli.printing import Answer, add_output
from rankadapters.cli.standard_input import file

DIRECTIONS = {"higher": True, "lower": False}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the subcommand."""
    describe(
        parser,
        "Compare methods over data sets by their winning numbers: how often each method beats another. The CSV or "
        "Parquet file has the columns method, dataset, measure and value, optionally source and higher_is_better. A "
        "measure may be a convention, such as letor4@10.",
        "compare results.csv --better higher --out page.html",
    )
    about = "CSV or Parquet, one row per method, data set and measure; '-' is standard input"
    parser.add_argument("results", type=file, metavar="RESULTS", help=about)
    better = "which values are better, for measures that do not say so themselves"
    parser.add_argument("--better", choices=tuple(DIRECTIONS), help=better)
    parser.add_argument(
        "--on-mixed", choices=("error", "separate"), default="error",
        help="if one measure has several conventions: stop, or treat each as a separate measure (default: error)",
    )  # fmt: skip
    parser.add_argument("--by", choices=("measure", "dataset"), default="measure", help="groups to count separately")
    parser.add_argument("--strict", action="store_true", help="page: to dominate, a method must be higher on both axes")
    parser.add_argument("--out", metavar="PAGE.html", help="also write a web page with all results")
    parser.add_argument("--title", default="Methods over data sets", help="title of the page")
    add_output(parser, _run)


def _run(arguments: argparse.Namespace) -> Answer:
    from rankadapters.compare import MixedDecimalsWarning, Results, page, winning_numbers
    from rankadapters.io.writing import write_text

    better = None if arguments.better is None else DIRECTIONS[arguments.better]
    results = Results.read(arguments.results, higher_is_better=better, on_mixed=arguments.on_mixed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedDecimalsWarning)  # every format except CSV reports mixed decimals itself
        winners = winning_numbers(results, by=arguments.by)
        if arguments.out:
            write_text(arguments.out, page(results, title=arguments.title, strict=arguments.strict))
    csv_notes = winners.notes()[1:2] if arguments.format == "csv" and winners.n_undecided else []
    return Answer(winners, [*csv_notes, arguments.out])
