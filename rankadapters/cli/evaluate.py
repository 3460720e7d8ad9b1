"""`rankadapters evaluate`: what files of judgments and scores are worth under declared conventions."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rankadapters.cli import sources
from rankadapters.cli.common import SAME, print_whole, require_rich, resolve
from rankadapters.cli.documents import bar
from rankadapters.cli.helping import examples, of_conventions
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.score import Score

if TYPE_CHECKING:
    from rankadapters.cli.sources import Models

COUNTS = ("n_queries", "n_scored", "n_empty", "n_short")


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "evaluate",
        help="evaluate predictions or runs under declared conventions",
        description="Evaluate the scores of one or more models in files under one or more declared conventions. Text "
        "is UTF-8; gzip and bzip2 are decompressed.",
        epilog=examples(
            "evaluate --features test.txt --predictions scores.txt --convention letor4@10 yahoo@10",
            "evaluate --table test.parquet --label label --score score --qid qid --convention lightgbm.map@5",
            "evaluate --qrels qrels.txt --run run.txt --convention trec_eval_9@10 --per-query",
        ),
    )
    conventions = parser.add_argument(
        "--convention", nargs="+", action="extend", required=True, metavar="SPEC",
        help="preset@k, with +field=value where a field differs, or a signature; `rankadapters conventions` lists the "
        "presets and fields",
    )  # fmt: skip
    of_conventions(conventions)
    sources.add(parser, several=True)
    parser.add_argument(
        "--unsorted", action="store_const", const=True,
        help="rows of a query may stand anywhere in the table, which is sorted first, on disk where it is large; needs "
        'pip install "rankadapters[stream]"',
    )  # fmt: skip
    parser.add_argument("--per-query", action="store_true", help="give the value of each query too")
    parser.add_argument("--format", choices=_FORMATS, default="table", help="of the result (default: table)")
    parser.set_defaults(run=_run)


class _Model(NamedTuple):
    """What is printed of one model."""

    scores: Mapping[Convention, Score]
    queries: dict[Convention, dict[str, float | None]]  # empty unless asked for; None where skipped


class _Found(NamedTuple):
    """Everything that is printed."""

    conventions: list[Convention]  # as asked for: two presets may have two names for one convention
    models: dict[str, _Model]
    note: str

    @property
    def several(self) -> bool:
        """Whether the models need names."""
        return len(self.models) > 1

    def each(self) -> Iterator[tuple[dict[str, str], Convention, _Model]]:
        """Names of every convention and model; values under one convention, which compare, stand together."""
        for convention in self.conventions:
            declared = {"name": convention.name, "signature": str(convention)}
            for name, model in self.models.items():
                yield ({"model": name} if self.several else {}) | declared, convention, model

    def summaries(self) -> Iterator[dict[str, Any]]:
        """Names, value and counts of each convention and model."""
        for names, convention, model in self.each():
            score = model.scores[convention]
            yield {**names, "value": score.value, **{name: getattr(score, name) for name in COUNTS}}

    def queries(self) -> Iterator[tuple[dict[str, str], dict[str, float | None]]]:
        """Names of each convention and model, and the values of their queries; nothing unless asked for."""
        return ((names, model.queries[convention]) for names, convention, model in self.each() if model.queries)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.format == "table":
        require_rich()
    conventions = [resolve(spec) for spec in dict.fromkeys(arguments.convention)]
    with bar("evaluating"):
        found = _stream(arguments, conventions) if _streams(arguments, conventions) else _read(arguments, conventions)
    _FORMATS[arguments.format](found)
    return SAME


def _streams(arguments: argparse.Namespace, conventions: list[Convention]) -> bool:
    """Tell whether a table is read in parts: not where a convention or the treatment of queries needs it whole."""
    if arguments.unsorted and arguments.split_queries:
        msg = (
            "--split-queries was given beside --unsorted, which makes one query of all rows of a qid.\nHint: drop one."
        )
        raise InputError(msg)
    in_parts = all(convention.over != "rows" for convention in conventions)
    return arguments.table is not None and in_parts and arguments.split_queries in {None, "error"}


def _stream(arguments: argparse.Namespace, conventions: list[Convention]) -> _Found:
    from rankadapters.cli.streamed import evaluate_table

    path, columns = sources.stream(arguments, docids=sources.by_docid(conventions))
    streamed = evaluate_table(
        path, columns, conventions, per_query=arguments.per_query, unsorted=bool(arguments.unsorted)
    )
    models = {name: _Model(each.scores, _by_query(each.query_ids, each.values)) for name, each in streamed.items()}
    notes = [note for name, each in streamed.items() for note in _about(name, each.notes, several=len(models) > 1)]
    return _Found(conventions, models, "\n".join(notes))


def _read(arguments: argparse.Namespace, conventions: list[Convention]) -> _Found:
    if arguments.unsorted:
        arguments.split_queries = "merge"
    models = sources.read_models(arguments, docids=sources.by_docid(conventions))
    return _evaluate(models, conventions, per_query=arguments.per_query)


def _evaluate(models: Models, conventions: list[Convention], *, per_query: bool) -> _Found:
    from rankadapters.core.evaluation.label_warnings import label_doubts
    from rankadapters.core.evaluation.panel import Panel

    panel, found, notes = None, {}, list[str]()
    for name, judgments in models.judgments.items():
        try:
            if panel is None or not models.same_queries:
                panel = Panel(judgments.queries, conventions)
                notes += _about(name, list(label_doubts(judgments.queries, conventions).values()), several=False)
            measured = panel.measure(judgments.scores)
            values = measured.per_query if per_query else {}
            found[name] = _Model(measured.scores, _by_query(judgments.queries.query_ids.tolist(), values))
        except InputError as error:
            raise sources.located(error, judgments) from None
        notes += _about(name, [judgments.note, *measured.above_values()], several=len(models.judgments) > 1)
    return _Found(conventions, found, "\n".join(notes))


def _about(name: str, notes: list[str], *, several: bool) -> list[str]:
    """Put each note into one line, which says the model where there are several."""
    about = f"{name}: " if several else ""
    return [about + " ".join(note.splitlines()) for note in notes if note]


def _by_query(query_ids: list[Any], values: Mapping[Convention, Any]) -> dict[Convention, dict[str, float | None]]:
    ids = list(map(str, query_ids))
    return {convention: dict(zip(ids, _none_where_nan(column), strict=True)) for convention, column in values.items()}


def _none_where_nan(column: Any) -> list[float | None]:
    return [None if math.isnan(value) else value for value in column.tolist()]


def _print_json(found: _Found) -> None:
    """Print lists and mappings as pandas takes them: values by query, by model where there are several."""
    shown: dict[str, Any] = {"conventions": list(found.summaries())}
    for names, values in found.queries():
        queries = shown.setdefault("queries", {})
        if found.several:
            queries.setdefault(names["signature"], {})[names["model"]] = values
        else:
            queries[names["signature"]] = values
    print(json.dumps({**shown, "note": found.note}, indent=2, allow_nan=False))


def _print_csv(found: _Found) -> None:
    """Print a row per convention and model; with queries, a column `qid`, empty in these, and a row per query after."""
    text = io.StringIO()
    queries = list(found.queries())
    names = ["name", "signature", *(["qid"] if queries else []), "value", *COUNTS]
    writer = csv.DictWriter(text, ["model", *names] if found.several else names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found.summaries())
    for name, values in queries:
        writer.writerows({**name, "qid": query, "value": value} for query, value in values.items())
    print(text.getvalue(), end="")
    if found.note:
        print(found.note, file=sys.stderr)


def _print_table(found: _Found) -> None:
    means = _table("convention", *(["model"] if found.several else []))
    for head in ("value", "queries", "scored", "empty", "short"):
        means.add_column(head, justify="right", no_wrap=True)
    for row in found.summaries():
        names = [row[name] for name in ("name", "model") if name in row]
        means.add_row(*names, f"{row['value']:.6f}", *(str(row[name]) for name in COUNTS))
    print_whole(means)
    queries = list(found.queries())
    if queries:
        print()
        print_whole(_query_table(queries))
    print()
    for line in _legend(found):
        print(line)


def _table(*heads: str) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for head in heads:
        table.add_column(head, no_wrap=True)
    return table


def _query_table(queries: list[tuple[dict[str, str], dict[str, float | None]]]) -> Any:
    """Lay the values of a query beside each other: all models judge the same queries."""
    table = _table("query")
    for names, _ in queries:
        head = [names["name"].replace("/", "/\n", 1), *([names["model"]] if "model" in names else [])]
        table.add_column("\n".join(head), justify="right", no_wrap=True)
    for query in queries[0][1]:
        values = (column[query] for _, column in queries)
        table.add_row(query, *("-" if value is None else f"{value:.6f}" for value in values))
    return table


def _legend(found: _Found) -> Iterator[str]:
    for convention in found.conventions:
        yield f"{convention.name}: {convention}"
    if found.note:
        yield found.note


_FORMATS: dict[str, Callable[[_Found], None]] = {"table": _print_table, "json": _print_json, "csv": _print_csv}
