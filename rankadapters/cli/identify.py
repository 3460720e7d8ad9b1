"""`rankadapters identify`: find the conventions that give a published number."""

from __future__ import annotations

import argparse
from typing import Any

from rankadapters.cli import sources
from rankadapters.cli.audits import add_measure
from rankadapters.cli.common import bar, cutoff
from rankadapters.cli.helping import examples
from rankadapters.cli.printing import Answer, add_output
from rankadapters.core.errors import InputError

UNKNOWN = "unknown"


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "identify",
        help="find the conventions that give published numbers",
        description="Find all conventions, presets first, under which the scores in files give the published numbers, "
        "and estimate how often a random number would match too. Several numbers from one table make a match by "
        "chance unlikely.",
        epilog=examples(
            "identify 0.1623 --features test.txt --predictions scores.txt",
            "identify 5=0.4382 10=0.4711 --features test.txt --predictions scores.txt",
            "identify a:10=0.43 b:10=0.47 --features test.txt --predictions a=a.txt --predictions b=b.txt",
            "identify 0.3588 --measure ap --k 10 --qrels qrels.txt --run run.txt",
            status="0 if a convention matches, 1 if none does, 2 on bad input",
        ),
    )
    parser.add_argument(
        "value", nargs="+", metavar="VALUE",
        help="the number with all its decimals, such as 0.1623; for several numbers, each with its cutoff: 5=0.4382 "
        "10=0.4711 or ndcg@5=0.4382; for several models, each with its name: MODEL:0.1623 or MODEL:10=0.1623",
    )  # fmt: skip
    add_measure(parser, "measure of the numbers")
    parser.add_argument(
        "--k", type=cutoff_or_unknown, default=UNKNOWN,
        help="cutoff of numbers given without one: a number, 'all', or 'unknown' to try 1 to 100 and all (default)",
    )  # fmt: skip
    sources.add(parser, several_models=True)
    add_output(parser, _run)


def cutoff_or_unknown(text: str) -> str | int | None:
    """Argparse type of a cutoff or the word `unknown`."""
    return text if text == UNKNOWN else cutoff(text)


def _values(texts: list[str], models: list[str]) -> Any:
    """Parse values such as `0.43`, `10=0.43` or `model:10=0.43` to a number, a dict by cutoff, or a dict by model."""
    by_model: dict[str, Any] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        model, colon, rest = (name or number).rpartition(":")
        k, number = (rest, number) if name else (None, rest)
        numbers = by_model.setdefault(model if colon else "", {})
        if k in numbers or (numbers and None in (k, *numbers)):
            msg = f"VALUE {text!r} repeats a model and cutoff, or has no cutoff although there are several values."
            raise InputError(f"{msg}\nHint: 5=0.4382 10=0.4711, or MODEL:10=0.4711.")
        numbers[k] = number
    values = {model: numbers.get(None, numbers) for model, numbers in by_model.items()}
    optional = {""} if len(models) > 1 else {"", models[0]}  # the name of a single model may be omitted
    return next(iter(values.values())) if len(values) == 1 and optional >= {*values} else values


def _run(arguments: argparse.Namespace) -> Answer:
    with bar("searching") as step:
        models = sources.read_models(arguments, docids=None)
        from rankadapters.audit import identify

        names, is_single = list(models.scores), len(models.scores) == 1
        queries, scores = (models.first.queries, models.first.scores) if is_single else (models.queries, models.scores)
        keywords = {"value": _values(arguments.value, names), "measure": arguments.measure, "k": arguments.k}
        with models.locating():
            matches = identify(queries, scores, progress=step, **keywords)
    return Answer(matches, [models.first.note] if is_single else models.notes, bool(matches))
