"""`rankadapters evaluate`: what files of judgments and scores are worth under declared conventions."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rankadapters.cli.common import SAME, print_whole, require_rich, resolve, whole_from
from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.score import Score

if TYPE_CHECKING:
    from rankadapters.io import Judgments

COUNTS = ("n_queries", "n_scored", "n_empty", "n_short")
SPLIT_QUERIES = ("error", "merge", "separate")  # io.splitting's, which is not read for --help
_OPTIONS = {  # what each source needs, and what it may have
    "features": ((), ("predictions", "feature", "split_queries")),
    "table": (("label", "score", "qid"), ("docid", "weight", "split_queries")),
    "qrels": (("run_file",), ()),
}


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "evaluate",
        allow_abbrev=False,
        help="evaluate predictions or runs in files under declared conventions",
        description="Evaluate scores in files under one or more declared conventions. Text is UTF-8; gzip and bzip2 "
        "are decompressed. Exit status: 0, or 2 on bad input.",
    )
    parser.add_argument(
        "--convention", nargs="+", action="extend", required=True, metavar="SPEC",
        help=f"preset@k or a signature. Presets: {', '.join(presets.names())}",
    )  # fmt: skip
    _add_sources(parser)
    parser.add_argument(
        "--split-queries", choices=SPLIT_QUERIES,
        help="what a query is that returns after another one: an error (default), one query, or a query of its own",
    )  # fmt: skip
    parser.add_argument("--per-query", action="store_true", help="give the value of each query too")
    parser.add_argument("--format", choices=_FORMATS, default="table", help="of the result (default: table)")
    parser.set_defaults(run=_run)


def _add_sources(parser: argparse.ArgumentParser) -> None:
    letor = parser.add_argument_group("SVMlight or LETOR files", "docids from the comments '#docid = NAME'")
    letor.add_argument("--features", nargs="+", metavar="FILE", help="one or more, which follow each other")
    letor.add_argument("--predictions", nargs="+", metavar="FILE", help="one number per line for each of their rows")
    letor.add_argument("--feature", type=whole_from(0), metavar="N", help="a feature as the score, without predictions")
    table = parser.add_argument_group("a CSV or Parquet table", 'needs pip install "rankadapters[files]"')
    table.add_argument("--table", metavar="FILE", help="a row per document; CSV with commas and a header")
    for name, what in (
        ("label", "of labels"), ("score", "of scores"), ("qid", "of queries"), ("docid", "of docids"),
        ("weight", "of row weights, equal within a query"),
    ):  # fmt: skip
        table.add_argument(f"--{name}", metavar="COL", help=f"column {what}")
    trec = parser.add_argument_group("TREC files", "only queries of the qrels are evaluated, as by trec_eval")
    trec.add_argument("--qrels", metavar="FILE", help="lines 'query iteration document label'")
    trec.add_argument(
        "--run", metavar="FILE", dest="run_file", help="lines 'query Q0 document rank score tag'; the rank is not read"
    )


class _Found(NamedTuple):
    """Everything that is printed."""

    conventions: list[Convention]  # as asked for: two presets may have two names for one convention
    scores: dict[Convention, Score]
    queries: dict[Convention, dict[str, float | None]]  # empty unless asked for; None where skipped
    note: str

    def summaries(self) -> Iterator[dict[str, Any]]:
        """Name, signature, value and counts of each convention."""
        for convention in self.conventions:
            score = self.scores[convention]
            counts = {name: getattr(score, name) for name in COUNTS}
            yield {"name": convention.name, "signature": str(convention), "value": score.value, **counts}


def _run(arguments: argparse.Namespace) -> int:
    if arguments.format == "table":
        require_rich()
    conventions = [resolve(spec) for spec in dict.fromkeys(arguments.convention)]
    source = _source(arguments)
    found = _evaluate(_read(source, arguments, conventions), conventions, per_query=arguments.per_query)
    _FORMATS[arguments.format](found)
    return SAME


def _source(arguments: argparse.Namespace) -> str:
    """Name the option that says what is read, refusing options that contradict it."""
    given = {name for name, value in vars(arguments).items() if value is not None}
    sources = [name for name in _OPTIONS if name in given]
    if len(sources) != 1:
        what = f"{_flag(sources[1])} was given beside {_flag(sources[0])}" if sources else "nothing to evaluate"
        msg = f"{what}.\nHint: --features with --predictions or --feature, --table, or --qrels with --run."
        raise InputError(msg)
    source = sources[0]
    needed, allowed = _OPTIONS[source]
    for name in (option for options in _OPTIONS.values() for option in (*options[0], *options[1])):
        if name in needed and name not in given:
            msg = f"{_flag(source)} was given without {_flag(name)}.\nHint: rankadapters evaluate --help shows each."
            raise InputError(msg)
        if name in given and name not in (*needed, *allowed):
            msg = f"{_flag(name)} was given, which {_flag(source)} has no use for.\nHint: drop it."
            raise InputError(msg)
    return source


def _flag(name: str) -> str:
    return f"--{name.removesuffix('_file').replace('_', '-')}"


def _read(source: str, arguments: argparse.Namespace, conventions: list[Convention]) -> Judgments:
    from rankadapters.io import read_letor, read_table, read_trec

    split_queries = arguments.split_queries or "error"
    by_docid = any(convention.ties.startswith("docid") for convention in conventions)
    if source == "qrels":
        return read_trec(arguments.qrels, arguments.run_file)
    if source == "table":
        if by_docid and arguments.docid is None:
            msg = "a convention orders ties by docid, but --docid was not given.\nHint: --docid COL, or other ties."
            raise InputError(msg)
        columns = {name: getattr(arguments, name) for name in ("label", "score", "qid", "docid", "weight")}
        return read_table(arguments.table, **columns, split_queries=split_queries)
    if (arguments.predictions is None) == (arguments.feature is None):
        msg = "--features needs exactly one of --predictions and --feature.\nHint: the scores are in one of the two."
        raise InputError(msg)
    return read_letor(
        arguments.features, predictions=arguments.predictions, feature=arguments.feature, docids=by_docid,
        split_queries=split_queries,
    )  # fmt: skip


def _evaluate(judgments: Judgments, conventions: list[Convention], *, per_query: bool) -> _Found:
    from rankadapters.core.evaluator import Panel

    try:
        panel = Panel(judgments.queries, conventions)
        scores = panel.evaluate(judgments.scores)
        values = panel.per_query(judgments.scores) if per_query else {}
    except InputError as error:
        raise _located(error, judgments) from None
    ids = [str(query) for query in judgments.queries.query_ids.tolist()]
    queries = {
        convention: dict(zip(ids, _none_where_nan(column), strict=True)) for convention, column in values.items()
    }
    return _Found(conventions, scores, queries, judgments.note)


def _none_where_nan(column: Any) -> list[float | None]:
    return [None if math.isnan(value) else value for value in column.tolist()]


def _located(error: InputError, judgments: Judgments) -> InputError:
    """Add file and line to an error that names a row."""
    row = re.match(r"(?:labels\[|scores\[|row )(\d+)", str(error))
    return InputError(f"{judgments.place(int(row[1]))}: {error}") if row else error


def _print_json(found: _Found) -> None:
    shown: dict[str, Any] = {"conventions": list(found.summaries())}
    if found.queries:
        shown["queries"] = {str(convention): values for convention, values in found.queries.items()}
    print(json.dumps({**shown, "note": found.note}, indent=2, allow_nan=False))


def _print_csv(found: _Found) -> None:
    """Print a row per convention; with queries, a column `qid` that is empty in these, and a row per query after."""
    text = io.StringIO()
    names = ["name", "signature", *(["qid"] if found.queries else []), "value", *COUNTS]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found.summaries())
    for convention in found.conventions if found.queries else ():
        name = {"name": convention.name, "signature": str(convention)}
        values = found.queries[convention].items()
        writer.writerows({**name, "qid": query, "value": value} for query, value in values)
    print(text.getvalue(), end="")
    if found.note:
        print(found.note, file=sys.stderr)


def _print_table(found: _Found) -> None:
    from rich import box
    from rich.table import Table

    means = Table(box=box.SIMPLE_HEAD, show_edge=False)
    means.add_column("convention", no_wrap=True)
    for head in ("value", "queries", "scored", "empty", "short"):
        means.add_column(head, justify="right", no_wrap=True)
    for row in found.summaries():
        means.add_row(row["name"], f"{row['value']:.6f}", *(str(row[name]) for name in COUNTS))
    print_whole(means)
    if found.queries:
        print()
        print_whole(_query_table(found))
    print()
    for line in _legend(found):
        print(line)


def _query_table(found: _Found) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("query", no_wrap=True)
    for convention in found.conventions:
        table.add_column(convention.name.replace("/", "/\n", 1), justify="right", no_wrap=True)
    columns = [found.queries[convention] for convention in found.conventions]
    for query in columns[0]:
        values = (column[query] for column in columns)
        table.add_row(query, *("-" if value is None else f"{value:.6f}" for value in values))
    return table


def _legend(found: _Found) -> Iterator[str]:
    for convention in found.conventions:
        yield f"{convention.name}: {convention}"
    if found.note:
        yield found.note


_FORMATS: dict[str, Callable[[_Found], None]] = {"table": _print_table, "json": _print_json, "csv": _print_csv}
