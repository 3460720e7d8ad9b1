"""`rankadapters identify`: which conventions give a published number."""

from __future__ import annotations

import argparse
from typing import Any

from rankadapters.cli import sources
from rankadapters.cli.common import DIFFERENT, SAME, bar, cutoff
from rankadapters.cli.helping import examples
from rankadapters.cli.printing import add_format, check_format, print_document
from rankadapters.core.errors import InputError
from rankadapters.core.measures import MEASURES

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
    add_format(parser)
    parser.set_defaults(run=_run)


def add_measure(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option that names a measure."""
    parser.add_argument(
        "--measure",
        choices=MEASURES,
        metavar="NAME",
        default="ndcg",
        help=f"what {what}: {', '.join(MEASURES)} (default: ndcg)",
    )


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


def _run(arguments: argparse.Namespace) -> int:
    check_format(arguments)
    with bar("searching") as step:
        models = sources.read_models(arguments, docids=None)
        from rankadapters.audit import identify

        names = list(models.scores)
        values, one = _values(arguments.value, names), len(names) == 1
        try:
            found = identify(
                models.first.queries if one else models.queries,
                models.first.scores if one else models.scores, value=values,
                measure=arguments.measure, k=arguments.k, progress=step,
            )  # fmt: skip
        except InputError as error:
            raise models.located(error) from None
    print_document(found, arguments, [models.first.note] if one else models.notes)
    return SAME if found else DIFFERENT
