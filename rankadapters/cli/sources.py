"""The options that say where judgments and scores are, and the readers behind them."""

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
SPLIT_QUERIES = ("error", "merge", "separate")  # those of io.judgments, which is not read for --help
_OPTIONS = {  # what each source needs, and what it may have
    "features": ((), ("predictions", "feature", "split_queries", "by")),
    "table": ((), ("label", "score", "qid", "docid", "query_weight", "split_queries", "unsorted", "by")),
    "qrels": (("run_file",), ("by",)),
}
_COLUMNS = {"label": "label", "score": "score", "qid": "qid"}  # of a table, by default
_SCORES = {"table": "score", "qrels": "run_file"}  # where scores are; beside features, in one of two options
_WAYS_OUT = {  # where two models have one name
    "score": "name each column once",
    "feature": "name each feature once",
    "predictions": "--predictions NAME=FILE",
    "run_file": "--run NAME=FILE",
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
    feature = f"a feature as the score, without predictions{more}"
    letor.add_argument("--feature", type=whole_from(0), metavar="N", help=feature, **number)
    table = parser.add_argument_group("a CSV or Parquet table", 'needs pip install "rankadapters[files]"')
    table.add_argument("--table", metavar="FILE", help="a row per document; CSV with commas and a header")
    for name, what in (
        ("label", "of labels (default: label)"), ("score", f"of scores{more} (default: score)"),
        ("qid", "of queries (default: qid)"), ("docid", "of docids"),
        ("query-weight", "of query weights, on each row of the query"),
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


def read(arguments: argparse.Namespace, *, docids: bool | None) -> ScoredJudgments:
    """Read one model; docids are needed (True), not read (False), or taken where there are any (None)."""
    files = _Files.of(arguments)
    return files.scored(docids, files.scores)


def read_judged(arguments: argparse.Namespace) -> Judgments:
    """Read judgments, with scores where the options say where these are."""
    files = _Files.of(arguments, scored=False)
    return files.judged(None) if files.scores is None else files.scored(None, files.scores)


class Models(NamedTuple):
    """Several models: by name, what was read, and whether the queries are the same for all, as not from TREC runs."""

    judgments: dict[str, ScoredJudgments]
    same_queries: bool

    @property
    def first(self) -> ScoredJudgments:
        """Give the first model."""
        return next(iter(self.judgments.values()))

    @property
    def queries(self) -> Queries | dict[str, Queries]:
        """Queries of all models, or of each."""
        each = {name: judgments.queries for name, judgments in self.judgments.items()}
        return self.first.queries if self.same_queries else each

    @property
    def scores(self) -> dict[str, Any]:
        """Scores by name."""
        return {name: judgments.scores for name, judgments in self.judgments.items()}

    def locating(self) -> AbstractContextManager[None]:
        """Add file and line to an error that names a row, where the models have the same rows."""
        return locating(self.first) if self.same_queries else nullcontext()

    @property
    def notes(self) -> list[str]:
        """What was left out in reading each model."""
        return [f"{name}: {judgments.note}" for name, judgments in self.judgments.items() if judgments.note]


def read_models(arguments: argparse.Namespace, *, docids: bool | None) -> Models:
    """Read every model of options made with `several`."""
    from rankadapters.io.predictions import read_predictions

    files = _Files.of(arguments)
    found: dict[str, ScoredJudgments] = {}
    for value in files.scores:
        name, scores = _named(files.option, value)
        if name in found:
            raise _same_name(files.option, name)
        if found and files.option == "predictions":
            first = next(iter(found.values()))
            predictions = read_predictions(scores, first.queries.n_docs, files.arguments.features)
            found[name] = first.with_scores(predictions)
        else:
            found[name] = files.scored(docids, scores)
    return Models(found, same_queries=files.source != "qrels")


def stream(arguments: argparse.Namespace, *, docids: bool) -> tuple[AnyPath, StreamColumns]:
    """Say which columns of the table are read as a stream."""
    from rankadapters.io.stream_rows import StreamColumns

    given = _Files.of(arguments).arguments
    require_docid(given, docids=docids)
    for number, name in enumerate(given.score):
        if name in given.score[:number]:
            raise _same_name("score", name)
    return given.table, StreamColumns(given.label, tuple(given.score), given.qid, given.query_weight, None, given.docid)


def with_run_content(arguments: argparse.Namespace) -> argparse.Namespace:
    """Put the content of the one run in the place of its file."""
    from rankadapters.io.text import LoadedFile, readable

    arguments = with_standard_input(arguments, _FILES)
    name, [path] = _named_files(arguments.run_file)
    if not isinstance(path, LoadedFile):
        with readable(path):
            path = LoadedFile(str(path), Path(path).read_bytes(), model=name)
    return argparse.Namespace(**{**vars(arguments), "run_file": [path]})


def require_docid(arguments: argparse.Namespace, *, docids: bool | None) -> None:
    """Refuse a table without docids for a convention that needs them."""
    if docids and arguments.docid is None:
        msg = "a convention orders ties by docid, but --docid was not given.\nHint: --docid COL, or other ties."
        raise InputError(msg)


def _same_name(option: str, name: str) -> InputError:
    return InputError(f"two models are named {name!r}.\nHint: {_WAYS_OUT[option]}.")


@contextmanager
def locating(judgments: Judgments) -> Iterator[None]:
    """Add file and line to an error that names a row."""
    try:
        yield
    except InputError as error:
        raise (error if error.row is None else error.about(judgments.place(error.row))) from None


class _Files(NamedTuple):
    """Files and columns that the options name."""

    source: str  # the option that says what is read
    option: str  # the one that says where scores are
    arguments: argparse.Namespace

    @classmethod
    def of(cls, arguments: argparse.Namespace, *, scored: bool = True) -> _Files:
        """Look at the options, and read standard input where it is one of the files."""
        source = _source(arguments, scored=scored)
        if source == "table":
            arguments = _with_default_columns(arguments, scored=scored)
        option = _SCORES.get(source, "predictions" if arguments.feature is None else "feature")
        return cls(source, option, with_standard_input(arguments, _FILES))

    @property
    def scores(self) -> Any:
        """Where the scores are; of each model, where there may be several."""
        return getattr(self.arguments, self.option)

    def scored(self, docids: bool | None, scores: Any) -> ScoredJudgments:  # noqa: FBT001 - three-valued
        """Read judgments and the scores of one model."""
        return cast("ScoredJudgments", self.judged(docids, **{self.option.removesuffix("_file"): scores}))

    def judged(self, docids: bool | None, **scores: Any) -> Judgments:  # noqa: FBT001 - three-valued
        """Read judgments, and scores from the place that is named, if one is."""
        from rankadapters.io import read_letor, read_table, read_trec

        given = self.arguments
        split_queries = given.split_queries or "error"
        found: Judgments
        if self.source == "qrels":
            found = read_trec(given.qrels, **scores)
        elif self.source == "features":
            found = read_letor(given.features, docids=docids, split_queries=split_queries, **scores)
        else:
            require_docid(given, docids=docids)
            columns = {name: getattr(given, name) for name in ("label", "qid", "docid", "query_weight")}
            found = read_table(given.table, **{"score": None, **columns, **scores}, split_queries=split_queries)
        return found


def _with_default_columns(arguments: argparse.Namespace, *, scored: bool) -> argparse.Namespace:
    """Fill in the columns of a table that no option names; that of scores only where scores are needed."""
    wanted = _COLUMNS if scored else {name: column for name, column in _COLUMNS.items() if name != "score"}
    columns: dict[str, Any] = {name: column for name, column in wanted.items() if getattr(arguments, name) is None}
    if "score" in columns and arguments.several_models:
        columns["score"] = [columns["score"]]
    return argparse.Namespace(**{**vars(arguments), **columns})


def _named(option: str, value: Any) -> tuple[str, Any]:
    """Give the name of a model, and where its scores are."""
    if option == "run_file":
        name, [path] = _named_files([value])
        return name, path
    if option == "predictions":
        return _named_files(value)
    return f"feature {value}" if option == "feature" else value, value


def _named_files(files: list[Any]) -> tuple[str, list[Any]]:
    """Read NAME=FILE; without a name it is the file's, also where the path itself has an equals sign."""
    if isinstance(files[0], os.PathLike):  # standard input
        return getattr(files[0], "model", None) or str(files[0]), files
    name, equals, first = files[0].partition("=")
    if equals and name and "/" not in name and "\\" not in name and not Path(files[0]).exists():
        return name, [first, *files[1:]]
    return Path(files[0]).stem, files


def _source(arguments: argparse.Namespace, *, scored: bool) -> str:
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
        if name in needed and name not in given and (scored or name != _SCORES[source]):
            msg = f"{flag(source)} was given without {flag(name)}.\nHint: --help shows what each needs."
            raise InputError(msg)
        if name in given and name not in (*needed, *allowed):
            msg = f"{flag(name)} was given, which {flag(source)} has no use for.\nHint: drop it."
            raise InputError(msg)
    n_scores = len(given & {"predictions", "feature"})
    if source == "features" and (n_scores > 1 or scored > n_scores):
        msg = "--features needs exactly one of --predictions and --feature.\nHint: the scores are in one of the two."
        raise InputError(msg)
    return source


def with_standard_input(arguments: argparse.Namespace, options: Sequence[str]) -> argparse.Namespace:
    """Put what standard input holds in the place of the file that is `-`, or `NAME=-` where models have names.

    Parameters
    ----------
    arguments : Namespace
        It is not changed.
    options : sequence of str
        Those that take files: a text, a list of texts, or a list of such lists.
    """
    named = getattr(arguments, "several_models", False)
    given = {name: value for name in options if (value := getattr(arguments, name, None)) is not None}
    dashes = [flag(name) for name, value in given.items() for file in _flat(value) if _is_dash(file, named=named)]
    if not dashes:
        return arguments
    if len(dashes) > 1:
        times = f"'-' was given {len(dashes)} times ({', '.join(dashes)})"
        raise InputError(f"{times}, but standard input can be read once.\nHint: files for the others.")
    if sys.stdin is None or sys.stdin.closed:
        msg = "standard input is closed.\nHint: pipe a file into it, or name a file in place of '-'."
        raise InputError(msg)
    data = sys.stdin.buffer.read()
    filled = {name: _filled(value, data, named=named) for name, value in given.items()}
    return argparse.Namespace(**{**vars(arguments), **filled})


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for each in value:
            yield from _flat(each)
    else:
        yield value


def _is_dash(file: Any, *, named: bool) -> bool:
    return file == "-" or (named and isinstance(file, str) and file.endswith("=-"))


def _filled(value: Any, data: bytes, *, named: bool) -> Any:
    from rankadapters.io.text import LoadedFile

    if isinstance(value, list):
        return [_filled(each, data, named=named) for each in value]
    return LoadedFile("standard input", data, model=value[:-2] or None) if _is_dash(value, named=named) else value
