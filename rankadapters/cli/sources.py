"""The options that say where judgments and scores are, and the readers behind them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rankadapters.cli.common import flag, whole_from
from rankadapters.cli.standard_input import with_standard_input
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError

if TYPE_CHECKING:
    from rankadapters.core.queries import Queries
    from rankadapters.io import Judgments

_FILES = ("features", "predictions", "table", "qrels", "run_file")
SPLIT_QUERIES = ("error", "merge", "separate")  # io.splitting's, which is not read for --help
_OPTIONS = {  # what each source needs, and what it may have
    "features": ((), ("predictions", "feature", "split_queries")),
    "table": (("label", "score", "qid"), ("docid", "weight", "split_queries")),
    "qrels": (("run_file",), ()),
}


def add(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the options; with `several`, each of those that give scores may name more than one model."""
    more = " (one or more)" if several else ""
    number: dict[str, Any] = {"nargs": "+"} if several else {}
    letor = parser.add_argument_group(
        "SVMlight or LETOR files", "docids from the comments '#docid = NAME'; here and below, one file may be '-', "
        "standard input",
    )  # fmt: skip
    letor.add_argument("--features", nargs="+", metavar="FILE", help="one or more, which follow each other")
    predictions = "one number per line for each of their rows"
    if several:
        letor.add_argument(
            "--predictions", nargs="+", action="append", metavar="[NAME=]FILE",
            help=f"a model's, {predictions}; repeat the option for each model",
        )  # fmt: skip
    else:
        letor.add_argument("--predictions", nargs="+", metavar="FILE", help=predictions)
    letor.add_argument(
        "--feature",
        type=whole_from(0),
        metavar="N",
        help=f"a feature as the score, without predictions{more}",
        **number,
    )
    table = parser.add_argument_group("a CSV or Parquet table", 'needs pip install "rankadapters[files]"')
    table.add_argument("--table", metavar="FILE", help="a row per document; CSV with commas and a header")
    for name, what in (
        ("label", "of labels"), ("score", f"of scores{more}"), ("qid", "of queries"), ("docid", "of docids"),
        ("weight", "of query weights, on each row of the query"),
    ):  # fmt: skip
        table.add_argument(f"--{name}", metavar="COL", help=f"column {what}", **(number if name == "score" else {}))
    trec = parser.add_argument_group("TREC files", "only queries of the qrels are evaluated, as by trec_eval")
    trec.add_argument("--qrels", metavar="FILE", help="lines 'query iteration document label'")
    trec.add_argument(
        "--run", metavar="FILE", dest="run_file",
        help=f"lines 'query Q0 document rank score tag'; the rank is not read{more}", **number,
    )  # fmt: skip
    parser.set_defaults(several_models=several)
    parser.add_argument(
        "--split-queries", choices=SPLIT_QUERIES,
        help="what a query is that returns after another one: an error (default), one query, or a query of its own",
    )  # fmt: skip


def by_docid(conventions: Iterable[Convention]) -> bool:
    """Tell whether a convention needs document ids."""
    fields = [(kind, getattr(one, name)) for one in conventions for name, kind in one.declared().items()]
    return any(kind.fits(value, ["docid"]) and not kind.fits(value, []) for kind, value in fields)


def read(arguments: argparse.Namespace, *, docids: bool | None) -> Judgments:
    """Read one model; docids are needed (True), not read (False), or taken where there are any (None)."""
    source = _source(arguments)
    return _read(source, with_standard_input(arguments, _FILES), docids)


def read_judged(arguments: argparse.Namespace) -> tuple[Judgments, bool]:
    """Read judgments, with scores or without, and tell which."""
    arguments = with_standard_input(arguments, _FILES)
    options = vars(arguments)
    if arguments.features is not None and arguments.predictions is None and arguments.feature is None:
        from rankadapters.io.letor_lines import first_feature

        first = first_feature(arguments.features[0])
        return read(argparse.Namespace(**{**options, "feature": first}), docids=None), False
    if arguments.table is not None and arguments.score is None:
        return read(argparse.Namespace(**{**options, "score": arguments.label}), docids=None), False
    return read(arguments, docids=None), True


class Models(NamedTuple):
    """Several models: their queries, one for all or, from TREC runs, one for each, and their scores by name."""

    queries: Queries | dict[str, Queries]
    scores: dict[str, Any]
    first: Judgments
    notes: tuple[str, ...]


def read_models(arguments: argparse.Namespace, *, docids: bool | None) -> Models:
    """Read every model of options made with `several`."""
    source = _source(arguments)
    arguments = with_standard_input(arguments, _FILES)
    found: dict[str, Judgments] = {}
    for name, model in _each(source, arguments):
        if name in found:
            way_out = {"table": "name each column once", "qrels": "--run NAME=FILE"}.get(
                source, "--predictions NAME=FILE"
            )
            way_out = "name each feature once" if arguments.feature else way_out
            msg = f"two models are named {name!r}.\nHint: {way_out}."
            raise InputError(msg)
        found[name] = _read(source, model, docids)
    several = {name: judgments.queries for name, judgments in found.items()}
    notes = (f"{name}: {judgments.note}" for name, judgments in found.items() if judgments.note)
    queries = several if source == "qrels" else next(iter(several.values()))
    scores = {name: judgments.scores for name, judgments in found.items()}
    return Models(queries, scores, next(iter(found.values())), tuple(notes))


def located(error: InputError, judgments: Judgments) -> InputError:
    """Add file and line to an error that names a row."""
    return error if error.row is None else InputError(f"{judgments.place(error.row)}: {error}", row=error.row)


def _each(source: str, arguments: argparse.Namespace) -> Iterator[tuple[str, argparse.Namespace]]:
    """Give the name of each model, and the options as if it were alone."""
    option = {"table": "score", "qrels": "run_file"}.get(source, "feature" if arguments.feature else "predictions")
    for value in getattr(arguments, option) or [None]:
        name, alone = str(value), value
        if option == "predictions" and value is not None:
            name, alone = _named(value)
        elif option == "run_file":
            name, [alone] = _named([value])
        elif option == "feature":
            name = f"feature {value}"
        others = {"predictions": _first(arguments.predictions)} if option == "feature" else {}
        yield name, argparse.Namespace(**{**vars(arguments), **others, option: alone})


def _first(several: list[list[str]] | None) -> list[str] | None:
    return several[0] if several else None


def _named(files: list[Any]) -> tuple[str, list[Any]]:
    """Read NAME=FILE; without a name it is the file's."""
    if isinstance(files[0], os.PathLike):  # standard input
        return getattr(files[0], "model", None) or str(files[0]), files
    name, equals, first = files[0].partition("=")
    if equals and name and "/" not in name and "\\" not in name:
        return name, [first, *files[1:]]
    return Path(files[0]).stem, files


def _source(arguments: argparse.Namespace) -> str:
    """Name the option that says what is read, refusing options that contradict it."""
    given = {name for name, value in vars(arguments).items() if value is not None}
    sources = [name for name in _OPTIONS if name in given]
    if len(sources) != 1:
        what = f"{flag(sources[1])} was given beside {flag(sources[0])}" if sources else "nothing to evaluate"
        msg = f"{what}.\nHint: --features with --predictions or --feature, --table, or --qrels with --run."
        raise InputError(msg)
    source = sources[0]
    needed, allowed = _OPTIONS[source]
    for name in (option for options in _OPTIONS.values() for option in (*options[0], *options[1])):
        if name in needed and name not in given:
            msg = f"{flag(source)} was given without {flag(name)}.\nHint: --help shows what each needs."
            raise InputError(msg)
        if name in given and name not in (*needed, *allowed):
            msg = f"{flag(name)} was given, which {flag(source)} has no use for.\nHint: drop it."
            raise InputError(msg)
    return source


def _read(source: str, arguments: argparse.Namespace, docids: bool | None) -> Judgments:  # noqa: FBT001 - three-valued
    from rankadapters.io import read_letor, read_table, read_trec

    split_queries = arguments.split_queries or "error"
    if source == "qrels":
        return read_trec(arguments.qrels, arguments.run_file)
    if source == "table":
        if docids and arguments.docid is None:
            msg = "a convention orders ties by docid, but --docid was not given.\nHint: --docid COL, or other ties."
            raise InputError(msg)
        columns = {name: getattr(arguments, name) for name in ("label", "score", "qid", "docid", "weight")}
        return read_table(arguments.table, **columns, split_queries=split_queries)
    if (arguments.predictions is None) == (arguments.feature is None):
        msg = "--features needs exactly one of --predictions and --feature.\nHint: the scores are in one of the two."
        raise InputError(msg)
    return read_letor(
        arguments.features, predictions=arguments.predictions, feature=arguments.feature, docids=docids,
        split_queries=split_queries,
    )  # fmt: skip
