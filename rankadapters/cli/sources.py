"""The options that name files of judgments and scores, and the functions that read those files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from rankadapters.cli.options import whole_from
from rankadapters.cli.recognition import name_columns, named, place_files
from rankadapters.cli.standard_input import file
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError

SPLIT_QUERIES = ("error", "merge", "separate")  # copied from io, which --help should not import
DUPLICATES = ("error", "best", "first")
COLUMNS = {  # of a table, besides the scores
    "label": "of labels (default: label)",
    "qid": "of query ids (default: qid)",
    "docid": "of docids",
    "query_weight": "of query weights, repeated on each row of a query",
}
_OPTIONS = {  # by kind of file: options that name scores, and other options
    "features": (("predictions", "feature"), ("split_queries", "by")),
    "table": (("score",), (*COLUMNS, "split_queries", "unsorted", "by")),
    "qrels": (("run",), ("duplicates", "by")),
}
_NAME_HINTS = {  # by option, for the error that two models have the same name
    "score": "name each column once",
    "feature": "name each feature once",
    "predictions": "--predictions NAME=FILE",
    "run": "--run NAME=FILE",
}


def add(parser: argparse.ArgumentParser, *, several_models: bool = False, files: bool = True) -> None:
    """Add the options; with `several_models`, the options for scores accept more than one model.

    With `files`, files need no options if their content says what they are.

    The parsed arguments lack the options that are not given.
    """
    more = " (one or more)" if several_models else ""
    number: dict[str, Any] = {"nargs": "+"} if several_models else {}
    if files:
        parser.add_argument(
            "files", type=file, nargs="*", metavar="[NAME=]FILE" if several_models else "FILE",
            help="files without options, before all options: a table; rows and predictions; or qrels and runs. Their "
            "content says which; the options below are for other cases",
        )  # fmt: skip
    letor = _group(
        parser,
        "SVMlight or LETOR files",
        "docids come from comments '#docid = NAME'; here and below, the FILE '-' is\nstandard input",
    )
    letor.add_argument(
        "--features", type=file, nargs="+", metavar="FILE", help="one or more files, read as one data set"
    )
    letor.add_argument(
        "--predictions", type=file, nargs="+", metavar="[NAME=]FILE" if several_models else "FILE",
        action="append" if several_models else "store",
        help="scores: one number per line for each row of the features"
        + "; repeat the option for each model" * several_models,
    )  # fmt: skip
    feature = f"use feature N as the score, instead of predictions{more}"
    letor.add_argument("--feature", type=whole_from(0), metavar="N", help=feature, **number)
    table = _group(parser, "a table", 'needs pip install "rankadapters[files]"')
    table.add_argument(
        "--table",
        type=file,
        metavar="FILE",
        help="one row per document: a Parquet file or folder, or CSV with a header",
    )
    several: dict[str, Any] = {**number, "action": "extend"} if several_models else {}
    table.add_argument("--score", metavar="COL", help=f"column of scores{more} (default: score)", **several)
    for name, content in COLUMNS.items():
        table.add_argument(option_string(name), metavar="COL", help=f"column {content}")
    trec = _group(parser, "TREC files", "only the queries in the qrels are evaluated, as in trec_eval")
    trec.add_argument(
        "--qrels", type=file, metavar="FILE", help="lines 'query iteration document label', JSON, or a folder of BEIR"
    )
    trec.add_argument(
        "--run", type=file, metavar="FILE",
        help=f"lines 'query Q0 document rank score tag'; the rank is ignored{more}", **number,
    )  # fmt: skip
    trec.add_argument(
        "--duplicates", choices=DUPLICATES,
        help="if a run lists a document of a query more than once: stop (error, the default), or keep its best score "
        "(best) or its first row (first)",
    )  # fmt: skip
    parser.set_defaults(several_models=several_models)
    parser.add_argument(
        "--split-queries", choices=SPLIT_QUERIES, default=argparse.SUPPRESS,
        help="if the rows of a query are not together: stop (error, the default), make them one query (merge), or make "
        "each part a query (separate)",
    )  # fmt: skip


def add_by(parser: argparse.ArgumentParser, effect: str) -> None:
    """Add the option `--by`."""
    parser.add_argument(
        "--by", metavar="COL", nargs="+", default=argparse.SUPPRESS,
        help=f"{effect}: COL is a column of the table, constant within a query, or several columns; for SVMlight, "
        "LETOR and TREC files, a file of lines 'query segment'",
    )  # fmt: skip


def _group(parser: argparse.ArgumentParser, title: str, about: str) -> Any:
    return parser.add_argument_group(title, about, argument_default=argparse.SUPPRESS)


def option_string(name: str) -> str:
    """Return the command-line option for the name of an argument."""
    return f"--{name.replace('_', '-')}"


class Models(NamedTuple):
    """Judgments and scores of each model by name, and whether all models have the same queries."""

    judgments: dict[str, Any]
    same_queries: bool  # False for several TREC runs

    @property
    def first(self) -> Any:
        """The judgments and scores of the first model."""
        return next(iter(self.judgments.values()))

    @property
    def queries(self) -> Any:
        """The queries that all models share, or the queries of each model by name."""
        by_model = {name: judgments.queries for name, judgments in self.judgments.items()}
        return self.first.queries if self.same_queries else by_model

    @property
    def scores(self) -> dict[str, Any]:
        """The scores of each model by name."""
        return {name: judgments.scores for name, judgments in self.judgments.items()}

    @property
    def groups(self) -> list[Models]:
        """The models that share queries, together."""
        if self.same_queries:
            return [self]
        return [Models({name: judgments}, same_queries=True) for name, judgments in self.judgments.items()]

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Add file and line to an error that names a row, if all models have the same rows."""
        from rankadapters.io.rows import locating

        with locating(range(self.first.queries.n_docs), self.first.place) if self.same_queries else nullcontext():
            yield

    @property
    def notes(self) -> list[str]:
        """A note for each model whose files have skipped rows or queries; of many models, each note names its own."""
        notes = {name: judgments.note for name, judgments in self.judgments.items() if judgments.note}
        return [note if len(self.judgments) == 1 else f"{name}: {note}" for name, note in notes.items()]


def read_models(arguments: argparse.Namespace, *, docids: bool | None = None, scored: bool = True) -> Models:
    """Read every model that the options name.

    Docids are required (True), ignored (False) or optional (None). Without `scored`, there may be no scores.
    """
    from rankadapters.io.text import read_predictions

    place_files(arguments)
    kind, option, scores_by_model = scores_of(arguments, scored=scored)
    models: dict[str, Any] = {}
    for name, scores in scores_by_model.items():
        if not models or kind == "qrels":
            models[name] = _read(arguments, kind, {option: scores}, docids)
            continue
        first = next(iter(models.values()))
        if option == "predictions":
            models[name] = first.with_scores(read_predictions(scores, first.queries.n_docs, arguments.features))
        else:
            models[name] = first.with_scores(_read(arguments, kind, {option: scores}, docids).scores)
    return Models(models, same_queries=kind != "qrels" or len(models) == 1)


def _read(arguments: argparse.Namespace, kind: str, scores: dict[str, Any], docids: bool | None) -> Any:  # noqa: FBT001 - three-valued
    """Read judgments, and the scores that a file, column or feature has."""
    from rankadapters.io import read_letor, read_table, read_trec

    if kind == "qrels":
        return read_trec(arguments.qrels, **scores, duplicates=getattr(arguments, "duplicates", "error"))
    split_queries = getattr(arguments, "split_queries", "error")
    if kind == "features":
        return read_letor(arguments.features, docids=docids, split_queries=split_queries, **scores)
    return read_table(arguments.table, **columns(arguments, docids=docids), split_queries=split_queries, **scores)


def columns(arguments: argparse.Namespace, *, docids: bool | None) -> dict[str, Any]:
    """Return the names of a table's columns that the options give, besides the scores."""
    if docids and "docid" not in arguments:
        raise InputError(
            "a convention orders ties by docid, but --docid is missing.", hint="--docid COL, or choose other ties"
        )
    return {name: getattr(arguments, name) for name in COLUMNS if name in arguments}


def needs_docids(conventions: Iterable[Convention]) -> bool:
    """Return whether any of the conventions needs document ids."""
    fields = [(field, getattr(spec, name)) for spec in conventions for name, field in spec.declared().items()]
    return any(field.fits(value, ["docid"]) and not field.fits(value, []) for field, value in fields)


def scores_of(arguments: argparse.Namespace, *, scored: bool = True) -> tuple[str, str, dict[str, Any]]:
    """Return the kind of files, the option with the scores, and the file, column or feature of each model by name."""
    kind = _kind(arguments, scored=scored)
    if kind == "table":
        name_columns(arguments, scored=scored)
    option = next((name for name in _OPTIONS[kind][0] if name in arguments), _OPTIONS[kind][0][0])
    value = getattr(arguments, option, None)
    if value is None:
        default = "score" if scored else None  # the default column of a table, or no scores
        return kind, option, {str(default): default}
    models: dict[str, Any] = {}
    for entry in value if arguments.several_models else [value]:
        name, scores = _name_and_scores(option, entry)
        if name in models:
            raise InputError(f"two models are named {name!r}.", hint=_NAME_HINTS[option])
        models[name] = scores
    return kind, option, models


def _kind(arguments: argparse.Namespace, *, scored: bool) -> str:
    """Return the option that names the judgments; raise an error if other options contradict it."""
    kinds = [kind for kind in _OPTIONS if kind in arguments]
    if len(kinds) != 1:
        problem = f"{option_string(kinds[1])} contradicts {option_string(kinds[0])}" if kinds else "nothing to evaluate"
        raise InputError(
            f"{problem}.", hint="--features with --predictions or --feature, --table, or --qrels with --run"
        )
    [kind] = kinds
    scores, others = _OPTIONS[kind]
    for name in (name for options in _OPTIONS.values() for names in options for name in names):
        if name in arguments and name not in (*scores, *others):
            raise InputError(f"{option_string(name)} has no effect with {option_string(kind)}.", hint="drop it")
    n_scores = sum(name in arguments for name in scores)
    if n_scores > 1 or (scored and not n_scores and kind != "table"):
        needed = " and ".join(map(option_string, scores))
        msg = f"{option_string(kind)} needs {'exactly one of ' if len(scores) > 1 else ''}{needed}."
        raise InputError(msg, hint="--help shows the options for each kind of file")
    return kind


def _name_and_scores(option: str, value: Any) -> tuple[str, Any]:
    """Return a model's name, and the file, column or feature with its scores."""
    if option == "feature":
        return f"feature {value}", value
    if option == "score":
        return value, value
    paths = [value] if option == "run" else value
    name, first = named(paths[0])
    return name or Path(first).stem, first if option == "run" else [first, *paths[1:]]


def segments(arguments: argparse.Namespace) -> Any:
    """Return the segment of each table row, or of each query by id; None without `--by`."""
    if "by" not in arguments:
        return None
    if "table" not in arguments:
        if len(arguments.by) > 1:
            raise InputError(f"--by has {len(arguments.by)} entries.", hint="one file of lines 'query segment'")
        return _segments_of_queries(file(arguments.by[0]))
    from rankadapters.io import read_table

    # Read a column as if it named queries: it may have any type of an id, and a value in each row.
    options: dict[str, Any] = {"label": getattr(arguments, "label", "label"), "score": None, "split_queries": "merge"}
    rows = {name: read_table(arguments.table, qid=name, **options).queries for name in arguments.by}
    columns = {name: of_name.per_row(of_name.query_ids) for name, of_name in rows.items()}
    return columns if len(columns) > 1 else next(iter(columns.values()))


def _segments_of_queries(path: str) -> dict[str, str]:
    """Read lines `query segment`; a segment may contain spaces."""
    from rankadapters.io.text import lines

    segments: dict[str, str] = {}
    for number, line in lines(path):
        query, *rest = line.decode().split(maxsplit=1)
        segment = "".join(rest).strip()
        if not segment or segments.setdefault(query, segment) != segment:
            msg = f"{path}, line {number} is {line.decode()!r:.80}; expected a query and its only segment."
            raise InputError(msg, hint="write a line such as 'q7 long tail' for each query")
    return segments
