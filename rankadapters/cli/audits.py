"""What is made of scores in files, a subcommand each: `explain`, `order`, `profile`, and `report` as a page."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rankadapters.cli import sources
from rankadapters.cli.common import SAME, bar, cutoff, resolve, resolved, whole_from
from rankadapters.cli.helping import add_conventions, examples, of_conventions
from rankadapters.cli.printing import Answer, answers
from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import MEASURES


def add_explain(commands: Any) -> None:
    """Add `rankadapters explain`."""
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
    answers(parser, _explain)


def _explain(arguments: argparse.Namespace) -> Answer:
    a, b = resolve(arguments.a, "--a"), resolve(arguments.b, "--b")
    with bar("explaining"):
        judgments = sources.read(arguments, docids=sources.by_docid([a, b]))
        from rankadapters.audit import explain

        with sources.locating(judgments):
            found = explain(judgments.queries, judgments.scores, a, b, top=arguments.top)
    return Answer(found, [judgments.note])


def add_order(commands: Any) -> None:
    """Add `rankadapters order`."""
    parser = commands.add_parser(
        "order",
        help="compare models under several conventions",
        description="Evaluate the scores of several models under several conventions: values and ranks, rank "
        "correlations, and the pairs of models that change places, with tests of their differences.",
        epilog=examples(
            "order --features test.txt --predictions a.txt --predictions b.txt --convention letor4@10 yahoo@10",
        ),
    )
    _add_comparison(parser)
    answers(parser, _order)


def _add_comparison(parser: argparse.ArgumentParser) -> None:
    """Add the options of conventions, of the tests, and of the models' files."""
    add_conventions(parser, f"preset@k or a signature. Presets: {', '.join(presets.names())}")
    parser.add_argument(
        "--resamples", type=whole_from(1), default=9999, metavar="N", help="of each test and interval (default: 9999)"
    )
    parser.add_argument("--seed", type=whole_from(0), default=0, metavar="N", help="of the resamples (default: 0)")
    sources.add(parser, several=True)


def _compared(arguments: argparse.Namespace) -> tuple[sources.Models, list[Convention], dict[str, Any]]:
    """Read models and conventions, and what the tests of their differences are asked for."""
    conventions = resolved(arguments)
    models = sources.read_models(arguments, docids=sources.by_docid(conventions))
    return models, conventions, {"n_resamples": arguments.resamples, "random_state": arguments.seed}


def _order(arguments: argparse.Namespace) -> Answer:
    with bar("comparing") as step:
        models, conventions, tests = _compared(arguments)
        from rankadapters.audit import order

        with models.locating():
            found = order(models.queries, models.scores, conventions, progress=step, **tests)
    return Answer(found, models.notes)


def add_profile(commands: Any) -> None:
    """Add `rankadapters profile`."""
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
    answers(parser, _profile)


def add_measure(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option that names a measure."""
    known = f"what {what}: {', '.join(MEASURES)} (default: ndcg)"
    parser.add_argument("--measure", choices=MEASURES, metavar="NAME", default="ndcg", help=known)


def _profile(arguments: argparse.Namespace) -> Answer:
    with bar("looking"):
        judgments = sources.read_judged(arguments)
        from rankadapters.audit import profile

        scores = getattr(judgments, "scores", None)
        with sources.locating(judgments):
            found = profile(judgments.queries, k=arguments.k, scores=scores, measure=arguments.measure)
    return Answer(found, [judgments.note])


def add_report(commands: Any) -> None:
    """Add `rankadapters report`."""
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
    _add_comparison(parser)
    parser.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> int:
    with bar("comparing") as step:
        models, conventions, tests = _compared(arguments)
        from rankadapters.audit import page

        with models.locating():
            text = page(models.queries, models.scores, conventions, title=arguments.title, progress=step, **tests)
    from rankadapters.io.writing import write_text

    write_text(arguments.out, text)
    for note in models.notes:
        print(note, file=sys.stderr)
    print(arguments.out)
    return SAME
