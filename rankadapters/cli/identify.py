"""`rankadapters identify`: which conventions give a published number."""

from __future__ import annotations

import argparse
from typing import Any

from rankadapters.cli import sources
from rankadapters.cli.audits import add_measure
from rankadapters.cli.common import bar, cutoff
from rankadapters.cli.helping import examples
from rankadapters.cli.printing import Answer, answers
from rankadapters.core.errors import InputError

UNKNOWN = "unknown"


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "identify",
        help="find the conventions that give published numbers",
        description="Find all conventions, presets first, under which the scores in files have the values that were "
        "printed, and say how many random numbers match as well. Several numbers of one table leave little to chance.",
        epilog=examples(
            "identify 0.1623 --features test.txt --predictions scores.txt",
            "identify 5=0.4382 10=0.4711 --features test.txt --predictions scores.txt",
            "identify a:10=0.43 b:10=0.47 --features test.txt --predictions a=a.txt --predictions b=b.txt",
            "identify 0.3588 --measure ap --k 10 --qrels qrels.txt --run run.txt",
            status="0 when there is one, 1 when there is none, 2 on bad input",
        ),
    )
    parser.add_argument(
        "value", nargs="+", metavar="VALUE",
        help="the number with all its decimals, such as 0.1623; several with their cutoffs, 5=0.4382 10=0.4711 or "
        "ndcg@5=0.4382, and of several models with their names, MODEL:0.1623 or MODEL:10=0.1623",
    )  # fmt: skip
    add_measure(parser, "was measured")
    parser.add_argument(
        "--k",
        type=cutoff_or_unknown,
        default=UNKNOWN,
        help="the cutoff of numbers without one, 'all', or 'unknown': 1 to 100 and all (default)",
    )
    sources.add(parser, several=True)
    answers(parser, _run)


def cutoff_or_unknown(text: str) -> str | int | None:
    """Read a cutoff, or the word for an unknown one, for argparse."""
    return text if text == UNKNOWN else cutoff(text)


def _values(texts: list[str], models: list[str]) -> Any:
    """Read `0.43`, `10=0.43` and `model:10=0.43`: a number, or numbers by cutoff, or these by model."""
    found: dict[str, Any] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        model, colon, named = (name or number).rpartition(":")
        key, number = (named, number) if name else (None, named)
        own = found.setdefault(model if colon else "", {})
        if key in own or (own and None in (key, *own)):
            msg = f"VALUE {text!r} is one of several for the same model and cutoff, or has no cutoff."
            raise InputError(f"{msg}\nHint: 5=0.4382 10=0.4711, or MODEL:10=0.4711.")
        own[key] = number
    values = {model: own.get(None, own) for model, own in found.items()}
    unnamed = {""} if len(models) > 1 else {"", models[0]}  # the name of a single model need not be said
    return next(iter(values.values())) if len(values) == 1 and unnamed >= {*values} else values


def _run(arguments: argparse.Namespace) -> Answer:
    with bar("searching") as step:
        models = sources.read_models(arguments, docids=None)
        from rankadapters.audit import identify

        names, one = list(models.scores), len(models.scores) == 1
        queries, scores = (models.first.queries, models.first.scores) if one else (models.queries, models.scores)
        asked = {"value": _values(arguments.value, names), "measure": arguments.measure, "k": arguments.k}
        with models.locating():
            found = identify(queries, scores, progress=step, **asked)
    return Answer(found, [models.first.note] if one else models.notes, bool(found))
