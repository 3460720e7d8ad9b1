"""`rankadapters evaluate`: what files of judgments and scores are worth under declared conventions."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rankadapters.cli import sources
from rankadapters.cli.common import SAME, print_whole, require_rich, resolve
from rankadapters.cli.documents import bar
from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.score import Score

if TYPE_CHECKING:
    from rankadapters.io import Judgments

COUNTS = ("n_queries", "n_scored", "n_empty", "n_short")


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
        help="preset@k, with +field=value where a field differs, or a signature. "
        f"Presets: {', '.join(presets.names(None))}",
    )  # fmt: skip
    sources.add(parser)
    parser.add_argument("--per-query", action="store_true", help="give the value of each query too")
    parser.add_argument("--format", choices=_FORMATS, default="table", help="of the result (default: table)")
    parser.set_defaults(run=_run)


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
    with bar("evaluating"):
        judgments = sources.read(arguments, docids=sources.by_docid(conventions))
        found = _evaluate(judgments, conventions, per_query=arguments.per_query)
    _FORMATS[arguments.format](found)
    return SAME


def _evaluate(judgments: Judgments, conventions: list[Convention], *, per_query: bool) -> _Found:
    from rankadapters.core.panel import Panel

    try:
        found = Panel(judgments.queries, conventions).measure(judgments.scores)
        scores, values = found.scores, found.per_query if per_query else {}
    except InputError as error:
        raise sources.located(error, judgments) from None
    ids = [str(query) for query in judgments.queries.query_ids.tolist()]
    queries = {
        convention: dict(zip(ids, _none_where_nan(column), strict=True)) for convention, column in values.items()
    }
    notes = [judgments.note, *(" ".join(message.splitlines()) for message in found.above_values())]
    return _Found(conventions, scores, queries, "\n".join(filter(None, notes)))


def _none_where_nan(column: Any) -> list[float | None]:
    return [None if math.isnan(value) else value for value in column.tolist()]


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
