"""The subcommands `explain`, `order`, `profile` and `report`, which analyze scores in files."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rankadapters import presets
from rankadapters.cli import sources
from rankadapters.cli.common import SAME, bar, cutoff, requested_conventions, resolve, whole_from
from rankadapters.cli.helping import add_conventions, complete_conventions, examples
from rankadapters.cli.printing import Answer, add_output
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import MEASURES
from rankadapters.presets.texts import measure_called


def add_explain(commands: Any) -> None:
    """Add `rankadapters explain`."""
    parser = commands.add_parser(
        "explain",
        help="split the gap between two conventions over their fields",
        description="Evaluate scores in files under two conventions, and attribute the gap to the fields in which they "
        "differ: exact Shapley values over all mixtures of the two conventions.",
        epilog=examples(
            "explain --a yahoo@10 --b letor4@10 --features test.txt --predictions scores.txt",
        ),
    )
    complete_conventions(
        parser.add_argument("--a", required=True, metavar="SPEC", help="convention such as yahoo@10, or a signature")
    )
    complete_conventions(parser.add_argument("--b", required=True, metavar="SPEC", help="the second convention"))
    parser.add_argument(
        "--top", type=whole_from(0), default=10, metavar="N",
        help="number of queries to print, largest contributions first (default: 10)",
    )  # fmt: skip
    sources.add(parser)
    add_output(parser, _explain)


def _explain(arguments: argparse.Namespace) -> Answer:
    a, b = resolve(arguments.a, "--a"), resolve(arguments.b, "--b")
    with bar("explaining"):
        judgments = sources.read(arguments, docids=sources.needs_docids([a, b]))
        from rankadapters.audit import explain

        with sources.locating(judgments):
            explanation = explain(judgments.queries, judgments.scores, a, b, top=arguments.top)
    return Answer(explanation, [judgments.note])


def add_order(commands: Any) -> None:
    """Add `rankadapters order`."""
    parser = commands.add_parser(
        "order",
        help="compare models under several conventions",
        description="Evaluate the scores of several models under several conventions: values and ranks, rank "
        "correlations, and the pairs of models that swap ranks, with significance tests of their differences.",
        epilog=examples(
            "order --features test.txt --predictions a.txt --predictions b.txt --convention letor4@10 yahoo@10",
        ),
    )
    _add_comparison(parser)
    add_output(parser, _order)


def _add_comparison(parser: argparse.ArgumentParser) -> None:
    """Add the options for conventions, significance tests and models' files."""
    add_conventions(parser, f"preset@k, such as yahoo@10, or a signature. Presets: {', '.join(presets.names())}")
    parser.add_argument(
        "--resamples", type=whole_from(1), default=9999, metavar="N",
        help="number of resamples for each test and interval (default: 9999)",
    )  # fmt: skip
    parser.add_argument("--seed", type=whole_from(0), default=0, metavar="N", help="seed of the resamples (default: 0)")
    sources.add(parser, several_models=True)


def _read_comparison(arguments: argparse.Namespace) -> tuple[sources.Models, list[Convention], dict[str, Any]]:
    """Return the models, the conventions, and the keywords of the significance tests."""
    conventions = requested_conventions(arguments)
    models = sources.read_models(arguments, docids=sources.needs_docids(conventions))
    return models, conventions, {"n_resamples": arguments.resamples, "random_state": arguments.seed}


def _order(arguments: argparse.Namespace) -> Answer:
    with bar("comparing") as step:
        models, conventions, tests = _read_comparison(arguments)
        from rankadapters.audit import order

        with models.locating():
            ordering = order(models.queries, models.scores, conventions, progress=step, **tests)
    return Answer(ordering, models.notes)


def add_profile(commands: Any) -> None:
    """Add `rankadapters profile`."""
    parser = commands.add_parser(
        "profile",
        help="describe the data, and which fields matter on it",
        description="Describe judgments and scores in files: unusual queries, the largest change that each field of a "
        "convention makes to the value, and the known pitfalls that apply to these data.",
        epilog=examples(
            "profile --features test.txt --feature 25 --k 1 5 10",
        ),
    )
    parser.add_argument("--k", type=cutoff, nargs="+", default=[10], help="cutoffs to examine, or 'all' (default: 10)")
    add_measure(parser, "measure to examine")
    sources.add(parser)
    add_output(parser, _profile)


def add_measure(parser: argparse.ArgumentParser, role: str, *others: str) -> None:
    """Add the option `--measure`; its help says the measure's role in the command. `others` are allowed besides."""
    names = (*MEASURES, *others)
    about = f"{role}: {', '.join(names)}; or a tool's own word, such as map or mrr (default: ndcg)"
    parser.add_argument("--measure", type=_measure, choices=names, metavar="NAME", default="ndcg", help=about)


def _measure(word: str) -> str:
    return measure_called(word) or word


def _profile(arguments: argparse.Namespace) -> Answer:
    with bar("profiling"):
        judgments = sources.read_judgments(arguments)
        from rankadapters.audit import profile

        scores = getattr(judgments, "scores", None)
        with sources.locating(judgments):
            data_profile = profile(judgments.queries, k=arguments.k, scores=scores, measure=arguments.measure)
    return Answer(data_profile, [judgments.note])


def add_report(commands: Any) -> None:
    """Add `rankadapters report`."""
    parser = commands.add_parser(
        "report",
        help="write a web page about models under several conventions",
        description="Write an HTML page about the scores of one or more models under several conventions: their values "
        "and order, the gaps between the first convention and the others, a plot of values by cutoff, the data and "
        "the signatures. The page is one file without scripts; no network is needed to view it.",
        epilog=examples(
            "report out.html --features test.txt --predictions scores.txt --convention letor4@10 yahoo@10",
        ),
    )
    parser.add_argument(
        "out", metavar="OUT.html",
        help="file to write; an existing file is replaced, missing folders are created",
    )  # fmt: skip
    parser.add_argument("--title", default="Ranking report", help="title of the page (default: Ranking report)")
    _add_comparison(parser)
    parser.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> int:
    with bar("comparing") as step:
        models, conventions, tests = _read_comparison(arguments)
        from rankadapters.audit import page

        with models.locating():
            text = page(models.queries, models.scores, conventions, title=arguments.title, progress=step, **tests)
    from rankadapters.io.writing import write_text

    write_text(arguments.out, text)
    for note in models.notes:
        print(note, file=sys.stderr)
    print(arguments.out)
    return SAME
