"""The subcommands `explain`, `identify`, `order` and `profile`, which analyze scores in files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rankadapters import presets
from rankadapters.cli import sources
from rankadapters.cli.options import (
    UNKNOWN,
    add_conventions,
    add_measure,
    add_metrics,
    convention,
    conventions_of,
    cutoff,
    cutoff_or_unknown,
    describe,
    whole_from,
)
from rankadapters.cli.printing import Answer, add_output
from rankadapters.core.errors import InputError


def add_explain(parser: argparse.ArgumentParser) -> None:
    """Add `rankadapters explain`."""
    describe(
        parser,
        "Evaluate scores in files under two conventions, and attribute the gap to the fields in which they differ: "
        "exact Shapley values over all mixtures of the two conventions.",
        "explain --a yahoo@10 --b letor4@10 --features test.txt --predictions scores.txt",
    )
    about = "convention such as yahoo@10, or a signature"
    parser.add_argument("--a", type=convention, required=True, metavar="SPEC", help=about)
    parser.add_argument("--b", type=convention, required=True, metavar="SPEC", help="the second convention")
    parser.add_argument(
        "--top", type=whole_from(0), default=10, metavar="N",
        help="number of queries to print, largest contributions first (default: 10)",
    )  # fmt: skip
    sources.add(parser)
    add_output(parser, _explain, activity="explaining")


def _explain(arguments: argparse.Namespace) -> Answer:
    a, b = arguments.a, arguments.b
    models = sources.read_models(arguments, docids=sources.needs_docids([a, b]))
    from rankadapters.audit import explain

    with models.locating():
        return Answer(explain(models.queries, models.first.scores, a, b, top=arguments.top), models.notes)


def add_identify(parser: argparse.ArgumentParser) -> None:
    """Add `rankadapters identify`."""
    describe(
        parser,
        "Find all conventions, presets first, under which the scores in files give the published numbers, and estimate "
        "how often a random number would match too. Several numbers from one table make a match by chance unlikely.",
        "identify 0.1623 test.txt scores.txt",
        "identify 5=0.4382 10=0.4711 --features test.txt --predictions scores.txt",
        "identify a:10=0.43 b:10=0.47 --features test.txt --predictions a=a.txt --predictions b=b.txt",
        "identify 0.3588 --measure ap --k 10 --qrels qrels.txt --run run.txt",
        status="0 if a convention matches, 1 if none does, 2 on bad input",
    )
    parser.add_argument(
        "value", nargs="+", type=_value, metavar="VALUE",
        help="the number with all its decimals, such as 0.1623; for several numbers, each with its cutoff: 5=0.4382 "
        "10=0.4711; for several models, each with its name: MODEL:0.1623 or MODEL:10=0.1623. "
        "Files may follow, as for evaluate",
    )  # fmt: skip
    add_measure(parser, "measure of the numbers")
    parser.add_argument(
        "--k", type=cutoff_or_unknown, default=UNKNOWN,
        help="cutoff of numbers given without one: a number, 'all', or 'unknown' to try 1 to 100 and all (default)",
    )  # fmt: skip
    sources.add(parser, several_models=True, files=False)
    add_output(parser, _identify, activity="searching")


def _identify(arguments: argparse.Namespace) -> Answer:
    arguments.files = [text for *_, text in arguments.value if Path(text).exists()]
    arguments.value = [value for value in arguments.value if value[-1] not in arguments.files]
    models = sources.read_models(arguments)
    from rankadapters.audit import identify

    scores = models.first.scores if len(models.scores) == 1 else models.scores
    value = _values(arguments.value, list(models.scores))
    with models.locating():
        matches = identify(models.queries, scores, value=value, measure=arguments.measure, k=arguments.k)
    return Answer(matches, models.notes, bool(matches))


def _value(text: str) -> tuple[str, str | int | None, str, str]:
    """Argparse type of `0.43`, `10=0.43` or `model:10=0.43`: the model, the cutoff, the number, and the whole text."""
    name, _, number = text.rpartition("=")
    model, _, rest = (name or number).rpartition(":")
    return (model, cutoff(rest), number, text) if name else (model, UNKNOWN, rest, text)


def _values(values: list[tuple[str, str | int | None, str, str]], models: list[str]) -> Any:
    """Return a number, a dict of numbers by cutoff, or a dict by model."""
    by_model: dict[str, Any] = {}
    for model, k, number, text in values:
        numbers = by_model.setdefault(model, {})
        if k in numbers or (numbers and UNKNOWN in (k, *numbers)):
            msg = f"VALUE {text!r} repeats a model and cutoff, or has no cutoff although there are several values."
            raise InputError(msg, hint="5=0.4382 10=0.4711, or MODEL:10=0.4711")
        numbers[k] = number
    numbers_by_model = {model: numbers.get(UNKNOWN, numbers) for model, numbers in by_model.items()}
    optional = {""} if len(models) > 1 else {"", models[0]}  # the name of a single model may be omitted
    single = len(numbers_by_model) == 1 and optional >= {*numbers_by_model}
    return next(iter(numbers_by_model.values())) if single else numbers_by_model


def add_order(parser: argparse.ArgumentParser) -> None:
    """Add `rankadapters order`."""
    describe(
        parser,
        "Evaluate the scores of several models under several conventions: values and ranks, rank correlations, and the "
        "pairs of models that swap ranks, with significance tests of their differences. With --out, write a web page "
        "instead, for one or more models. It also has the gaps between the first convention and the others, a plot of "
        "values by cutoff, the data and the signatures. The page is one file without scripts; no network is needed to "
        "view it.",
        "order --features test.txt --predictions a.txt --predictions b.txt --convention letor4@10 yahoo@10",
        "order --table test.parquet --score a --score b --by market --convention textbook@10",
        "order --out page.html --features test.txt --predictions scores.txt --convention letor4@10 yahoo@10",
    )
    add_conventions(parser, f"preset@k, such as yahoo@10, or a signature. Presets: {', '.join(presets.names())}")
    add_metrics(parser)
    parser.add_argument(
        "--resamples", type=whole_from(1), default=9999, metavar="N",
        help="number of resamples for each test and interval (default: 9999)",
    )  # fmt: skip
    parser.add_argument("--seed", type=whole_from(0), default=0, metavar="N", help="seed of the resamples (default: 0)")
    parser.add_argument(
        "--out", metavar="FILE",
        help="write a web page, or for a name that ends in .md the result as Markdown, instead of printing the result; "
        "an existing file is replaced, missing folders are created",
    )  # fmt: skip
    parser.add_argument("--title", default="Ranking report", help="title of the page (default: Ranking report)")
    sources.add(parser, several_models=True)
    sources.add_by(parser, "also compare the models in each segment of queries")
    add_output(parser, _order, activity="comparing")


def _order(arguments: argparse.Namespace) -> Answer:
    arguments.convention = conventions_of(arguments)
    tests = {"n_resamples": arguments.resamples, "random_state": arguments.seed}
    as_page = arguments.out is not None and not arguments.out.endswith(".md")
    in_parts = not as_page and _can_stream(arguments)
    result, notes = _order_values(arguments, tests) if in_parts else _order_rows(arguments, tests, as_page=as_page)
    if arguments.out is None:
        return Answer(result, [*notes, *(result.notes if arguments.format == "csv" else ())])
    from rankadapters.io.writing import write_text

    write_text(arguments.out, result if as_page else result.to_markdown())
    return Answer(None, [*notes, arguments.out])


def _can_stream(arguments: argparse.Namespace) -> bool:
    """Return whether the input is a table whose values of queries are enough for the comparison."""
    from rankadapters.audit.query_values import is_mean

    in_rows = "split_queries" in arguments or "query_weight" in arguments
    return "table" in arguments and not in_rows and all(map(is_mean, arguments.convention))


def _order_values(arguments: argparse.Namespace, tests: dict[str, Any]) -> tuple[Any, list[str]]:
    """Compare columns of a table, keeping only values of its queries in memory."""
    *_, scores = sources.scores_of(arguments)
    columns = sources.columns(arguments, docids=sources.needs_docids(arguments.convention))
    from rankadapters.audit import order
    from rankadapters.io.streams import query_values

    by = getattr(arguments, "by", None)
    by = by[0] if by and len(by) == 1 else by
    values = query_values(arguments.table, arguments.convention, score=list(scores), by=by, **columns)
    return order(values, convention=arguments.convention, by=by, **tests), []


def _order_rows(arguments: argparse.Namespace, tests: dict[str, Any], *, as_page: bool) -> tuple[Any, list[str]]:
    models = sources.read_models(arguments, docids=sources.needs_docids(arguments.convention))
    from rankadapters.audit import order, page

    data = models.queries, models.scores, arguments.convention
    tests["by"] = sources.segments(arguments)
    with models.locating():
        return page(*data, title=arguments.title, **tests) if as_page else order(*data, **tests), models.notes


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add `rankadapters profile`."""
    describe(
        parser,
        "Describe judgments and scores in files: unusual queries, the largest change that each field of a convention "
        "makes to the value, and the known pitfalls that apply to these data.",
        "profile --features test.txt --feature 25 --k 1 5 10",
    )
    parser.add_argument("--k", type=cutoff, nargs="+", default=[10], help="cutoffs to examine, or 'all' (default: 10)")
    add_measure(parser, "measure to examine")
    sources.add(parser)
    add_output(parser, _profile, activity="profiling")


def _profile(arguments: argparse.Namespace) -> Answer:
    models = sources.read_models(arguments, scored=False)
    from rankadapters.audit import profile

    with models.locating():
        data_profile = profile(models.queries, k=arguments.k, scores=models.first.scores, measure=arguments.measure)
    return Answer(data_profile, models.notes)
