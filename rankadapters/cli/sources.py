"""The options that name files of judgments and scores, and the functions that read those files."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from rankadapters.cli.common import flag, whole_from
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError

if TYPE_CHECKING:
    from rankadapters.core.data.queries import Queries
    from rankadapters.io import Judgments, ScoredJudgments
    from rankadapters.io.stream_rows import StreamColumns
    from rankadapters.io.text import AnyPath

_FILES = ("features", "predictions", "table", "qrels", "run_file")
SPLIT_QUERIES = ("error", "merge", "separate")  # copied from io.judgments, which --help should not import
_OPTIONS = {  # by kind of file: required and optional options
    "features": ((), ("predictions", "feature", "split_queries", "by")),
    "table": ((), ("label", "score", "qid", "docid", "query_weight", "split_queries", "unsorted", "by")),
    "qrels": (("run_file",), ("by",)),
}
_COLUMNS = {"label": "label", "score": "score", "qid": "qid"}  # default columns of a table
_SCORES = {"table": "score", "qrels": "run_file"}  # the option with scores; --features has a choice of two
_NAME_HINTS = {  # by option, for the error that two models have the same name
    "score": "name each column once",
    "feature": "name each feature once",
    "predictions": "--predictions NAME=FILE",
    "run_file": "--run NAME=FILE",
}


def add(parser: argparse.ArgumentParser, *, several_models: bool = False) -> None:
    """Add the options; with `several_models`, the options for scores accept more than one model."""
    more = " (one or more)" if several_models else ""
    number: dict[str, Any] = {"nargs": "+"} if several_models else {}
    letor = parser.add_argument_group(
        "SVMlight or LETOR files", "docids come from comments '#docid = NAME'; here and below, one FILE may be '-' "
        "(standard input)",
    )  # fmt: skip
    letor.add_argument("--features", nargs="+", metavar="FILE", help="one or more files, read as one data set")
    predictions = "one number per line for each row of the features"
    if several_models:
        letor.add_argument(
            "--predictions", nargs="+", action="append", metavar="[NAME=]FILE",
            help=f"scores of a model: {predictions}; repeat the option for each model",
        )  # fmt: skip
    else:
        letor.add_argument("--predictions", nargs="+", metavar="FILE", help=f"scores: {predictions}")
    feature = f"use feature N as the score, instead of predictions{more}"
    letor.add_argument("--feature", type=whole_from(0), metavar="N", help=feature, **number)
    table = parser.add_argument_group("a CSV or Parquet table", 'needs pip install "rankadapters[files]"')
    table.add_argument("--table", metavar="FILE", help="one row per document; CSV with commas and a header")
    for name, content in (
        ("label", "of labels (default: label)"), ("score", f"of scores{more} (default: score)"),
        ("qid", "of query ids (default: qid)"), ("docid", "of docids"),
        ("query-weight", "of query weights, repeated on each row of a query"),
    ):  # fmt: skip
        table.add_argument(f"--{name}", metavar="COL", help=f"column {content}", **(number if name == "score" else {}))
    trec = parser.add_argument_group("TREC files", "only the queries in the qrels are evaluated, as in trec_eval")
    trec.add_argument("--qrels", metavar="FILE", help="lines 'query iteration document label'")
    trec.add_argument(
        "--run", metavar="FILE", dest="run_file",
        help=f"lines 'query Q0 document rank score tag'; the rank is ignored{more}", **number,
    )  # fmt: skip
    parser.set_defaults(several_models=several_models)
    parser.add_argument(
        "--split-queries", choices=SPLIT_QUERIES,
        help="if the rows of a query are not together: stop (error, the default), make them one query (merge), or make "
        "each part a query (separate)",
    )  # fmt: skip


def needs_docids(conventions: Iterable[Convention]) -> bool:
    """Return whether any of the conventions needs document ids."""
    fields = [(field, getattr(spec, name)) for spec in conventions for name, field in spec.declared().items()]
    return any(field.fits(value, ["docid"]) and not field.fits(value, []) for field, value in fields)


def read(arguments: argparse.Namespace, *, docids: bool | None) -> ScoredJudgments:
    """Read the files of one model; docids are required (True), ignored (False) or optional (None)."""
    files = _Files.of(arguments)
    return files.read_scored(docids, files.scores)


def read_judgments(arguments: argparse.Namespace) -> Judgments:
    """Read judgments, and also scores if an option names them."""
    files = _Files.of(arguments, scored=False)
    return files.read(None) if files.scores is None else files.read_scored(None, files.scores)


class Models(NamedTuple):
    """Judgments and scores of each model by name, and whether all models have the same queries."""

    judgments: dict[str, ScoredJudgments]
    same_queries: bool  # False for TREC runs

    @property
    def first(self) -> ScoredJudgments:
        """The judgments and scores of the first model."""
        return next(iter(self.judgments.values()))

    @property
    def queries(self) -> Queries | dict[str, Queries]:
        """The queries that all models share, or the queries of each model by name."""
        by_model = {name: judgments.queries for name, judgments in self.judgments.items()}
        return self.first.queries if self.same_queries else by_model

    @property
    def scores(self) -> dict[str, Any]:
        """The scores of each model by name."""
        return {name: judgments.scores for name, judgments in self.judgments.items()}

    def locating(self) -> AbstractContextManager[None]:
        """Add file and line to an error that names a row, if all models have the same rows."""
        return locating(self.first) if self.same_queries else nullcontext()

    @property
    def notes(self) -> list[str]:
        """A note for each model whose files have rows or queries that were skipped."""
        return [f"{name}: {judgments.note}" for name, judgments in self.judgments.items() if judgments.note]


def read_models(arguments: argparse.Namespace, *, docids: bool | None) -> Models:
    """Read every model that the options name."""
    from rankadapters.io.predictions import read_predictions

    files = _Files.of(arguments)
    models: dict[str, ScoredJudgments] = {}
    for value in files.scores:
        name, scores = _name_and_scores(files.option, value)
        if name in models:
            raise _same_name(files.option, name)
        if models and files.option == "predictions":
            first = next(iter(models.values()))
            predictions = read_predictions(scores, first.queries.n_docs, files.arguments.features)
            models[name] = first.with_scores(predictions)
        else:
            models[name] = files.read_scored(docids, scores)
    return Models(models, same_queries=files.source != "qrels")


def stream(arguments: argparse.Namespace, *, docids: bool) -> tuple[AnyPath, StreamColumns]:
    """Return the table's path and the columns to stream from it."""
    from rankadapters.io.stream_rows import StreamColumns

    args = _Files.of(arguments).arguments
    require_docid(args, docids=docids)
    for number, name in enumerate(args.score):
        if name in args.score[:number]:
            raise _same_name("score", name)
    return args.table, StreamColumns(args.label, tuple(args.score), args.qid, args.query_weight, None, args.docid)


def with_run_content(arguments: argparse.Namespace) -> argparse.Namespace:
    """Return the arguments with the run's content loaded in place of its path."""
    from rankadapters.io.text import LoadedFile, readable

    arguments = with_standard_input(arguments)
    name, [path] = _named_files(arguments.run_file)
    if not isinstance(path, LoadedFile):
        with readable(path):
            path = LoadedFile(str(path), Path(path).read_bytes(), model=name)
    return argparse.Namespace(**{**vars(arguments), "run_file": [path]})


def require_docid(arguments: argparse.Namespace, *, docids: bool | None) -> None:
    """Raise an error if a convention needs docids but --docid is missing."""
    if docids and arguments.docid is None:
        msg = "a convention orders ties by docid, but --docid is missing.\nHint: --docid COL, or choose other ties."
        raise InputError(msg)


def _same_name(option: str, name: str) -> InputError:
    return InputError(f"two models are named {name!r}.\nHint: {_NAME_HINTS[option]}.")


@contextmanager
def locating(judgments: Judgments) -> Iterator[None]:
    """Add file and line to an error that names a row."""
    try:
        yield
    except InputError as error:
        raise (error if error.row is None else error.about(judgments.place(error.row))) from None


class _Files(NamedTuple):
    """The files and columns that the options name."""

    source: str  # the option with the judgments: features, table or qrels
    option: str  # the option with the scores
    arguments: argparse.Namespace

    @classmethod
    def of(cls, arguments: argparse.Namespace, *, scored: bool = True) -> _Files:
        """Check the options, fill in defaults, and read standard input if a file is `-`."""
        source = _source(arguments, scored=scored)
        if source == "table":
            arguments = _with_default_columns(arguments, scored=scored)
        option = _SCORES.get(source, "predictions" if arguments.feature is None else "feature")
        return cls(source, option, with_standard_input(arguments))

    @property
    def scores(self) -> Any:
        """The file, column or feature with the scores; a list of them if several models are allowed."""
        return getattr(self.arguments, self.option)

    def read_scored(self, docids: bool | None, scores: Any) -> ScoredJudgments:  # noqa: FBT001 - three-valued
        """Read judgments and the scores of one model."""
        return cast("ScoredJudgments", self.read(docids, **{self.option.removesuffix("_file"): scores}))

    def read(self, docids: bool | None, **scores: Any) -> Judgments:  # noqa: FBT001 - three-valued
        """Read judgments, and scores if a file, column or feature is named."""
        from rankadapters.io import read_letor, read_table, read_trec

        args = self.arguments
        split_queries = args.split_queries or "error"
        judgments: Judgments
        if self.source == "qrels":
            judgments = read_trec(args.qrels, **scores)
        elif self.source == "features":
            judgments = read_letor(args.features, docids=docids, split_queries=split_queries, **scores)
        else:
            require_docid(args, docids=docids)
            columns = {name: getattr(args, name) for name in ("label", "qid", "docid", "query_weight")}
            judgments = read_table(args.table, **{"score": None, **columns, **scores}, split_queries=split_queries)
        return judgments


def _with_default_columns(arguments: argparse.Namespace, *, scored: bool) -> argparse.Namespace:
    """Fill in default column names; the name of the score column only if scores are needed."""
    defaults = _COLUMNS if scored else {name: column for name, column in _COLUMNS.items() if name != "score"}
    columns: dict[str, Any] = {name: column for name, column in defaults.items() if getattr(arguments, name) is None}
    if "score" in columns and arguments.several_models:
        columns["score"] = [columns["score"]]
    return argparse.Namespace(**{**vars(arguments), **columns})


def _name_and_scores(option: str, value: Any) -> tuple[str, Any]:
    """Return a model's name, and the file, column or feature with its scores."""
    if option == "run_file":
        name, [path] = _named_files([value])
        return name, path
    if option == "predictions":
        return _named_files(value)
    return f"feature {value}" if option == "feature" else value, value


def _named_files(files: list[Any]) -> tuple[str, list[Any]]:
    """Split NAME=FILE; without NAME, or if the whole text is an existing path, use the file's stem as the name."""
    if isinstance(files[0], os.PathLike):  # a LoadedFile, such as standard input
        return getattr(files[0], "model", None) or str(files[0]), files
    name, equals, first = files[0].partition("=")
    if equals and name and "/" not in name and "\\" not in name and not Path(files[0]).exists():
        return name, [first, *files[1:]]
    return Path(files[0]).stem, files


def _source(arguments: argparse.Namespace, *, scored: bool) -> str:
    """Return the option that names the judgments; raise an error if other options contradict it."""
    present = {name for name, value in vars(arguments).items() if value is not None}
    sources = [name for name in _OPTIONS if name in present]
    if len(sources) != 1:
        problem = f"{flag(sources[1])} contradicts {flag(sources[0])}" if sources else "nothing to evaluate"
        msg = f"{problem}.\nHint: --features with --predictions or --feature, --table, or --qrels with --run."
        raise InputError(msg)
    source = sources[0]
    needed, allowed = _OPTIONS[source]
    for name in (option for options in _OPTIONS.values() for option in (*options[0], *options[1])):
        if name in needed and name not in present and (scored or name != _SCORES[source]):
            msg = f"{flag(source)} needs {flag(name)}.\nHint: --help shows the options for each kind of file."
            raise InputError(msg)
        if name in present and name not in (*needed, *allowed):
            msg = f"{flag(name)} has no effect with {flag(source)}.\nHint: drop it."
            raise InputError(msg)
    n_scores = len(present & {"predictions", "feature"})
    if source == "features" and (n_scores > 1 or scored > n_scores):
        msg = "--features needs exactly one of --predictions and --feature.\nHint: scores come from one of the two."
        raise InputError(msg)
    return source


def with_standard_input(arguments: argparse.Namespace, options: Sequence[str] = ()) -> argparse.Namespace:
    """Return the arguments with the content of standard input in place of the file `-` or `NAME=-`.

    Parameters
    ----------
    arguments : Namespace
        The parsed options, which stay unchanged.
    options : sequence of str
        Names of the options that take files: each value is a text, a list of texts, or a list of such lists. By default
        those of this module, and `by`, which is a column only if there is a table.
    """
    if not options:
        options = _FILES if arguments.table is not None else (*_FILES, "by")
    named = getattr(arguments, "several_models", False)
    values = {name: value for name in options if (value := getattr(arguments, name, None)) is not None}
    dashes = [flag(name) for name, value in values.items() for file in _flat(value) if _is_dash(file, named=named)]
    if not dashes:
        return arguments
    if len(dashes) > 1:
        times = f"'-' was given {len(dashes)} times ({', '.join(dashes)})"
        raise InputError(f"{times}, but standard input can be read only once.\nHint: name a file for the others.")
    if sys.stdin is None or sys.stdin.closed:
        msg = "standard input is closed.\nHint: pipe a file into it, or name a file in place of '-'."
        raise InputError(msg)
    data = sys.stdin.buffer.read()
    filled = {name: _filled(value, data, named=named) for name, value in values.items()}
    return argparse.Namespace(**{**vars(arguments), **filled})


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for element in value:
            yield from _flat(element)
    else:
        yield value


def _is_dash(file: Any, *, named: bool) -> bool:
    return file == "-" or (named and isinstance(file, str) and file.endswith("=-"))


def _filled(value: Any, data: bytes, *, named: bool) -> Any:
    from rankadapters.io.text import LoadedFile

    if isinstance(value, list):
        return [_filled(element, data, named=named) for element in value]
    return LoadedFile("standard input", data, model=value[:-2] or None) if _is_dash(value, named=named) else value
