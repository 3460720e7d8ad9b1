"""`rankadapters evaluate`: evaluate files of judgments and scores under declared conventions."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rankadapters.cli import sources
from rankadapters.cli.common import bar, requested_conventions
from rankadapters.cli.helping import add_conventions, examples
from rankadapters.cli.printing import Answer, add_output
from rankadapters.cli.segments import read_by
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.table import Table
from rankadapters.segments.segments import plain, rows_of, table_of
from rankadapters.segments.sums import Outcome
from rankadapters.statistics.document import Document, as_csv

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
            "evaluate --table test.csv --by market --convention textbook@10",
            "evaluate --qrels qrels.txt --run run.txt --convention trec_eval_9@10 --per-query",
            "evaluate --qrels qrels.txt --run run.txt --convention trec_eval_9@10 --out annotated.txt",
        ),
    )
    add_conventions(
        parser,
        "a preset and its cutoff, such as lightgbm@10, with +field=value to change a field; a tool and its own name of "
        "a metric, such as trec_eval_9.ndcg_cut_10; or a signature. `rankadapters conventions --measure all` lists the "
        "presets",
    )
    sources.add(parser, several_models=True)
    parser.add_argument(
        "--unsorted", action="store_const", const=True,
        help="sort the table by query first, on disk if it is large, so that the rows of a query need not be together; "
        'needs pip install "rankadapters[stream]"',
    )  # fmt: skip
    parser.add_argument(
        "--by", metavar="COL",
        help="also print the value of each segment of queries: COL is a column of the table, constant within a query; "
        "for SVMlight, LETOR and TREC files, a file of lines 'query segment'",
    )  # fmt: skip
    parser.add_argument("--per-query", action="store_true", help="also print the value of each query")
    parser.add_argument(
        "--out", metavar="RUN",
        help="write a copy of the TREC run with its values in an ir_metadata header; needs pip install "
        '"rankadapters[files]"',
    )  # fmt: skip
    add_output(parser, _run)


class _Model(NamedTuple):
    """The results of one model."""

    outcomes: Mapping[Any, Mapping[Convention, Outcome]]  # by segment; the key None stands for all queries
    queries: dict[Convention, dict[str, float | None]]  # empty without --per-query; None for a skipped query


@dataclass(frozen=True, slots=True)
class _Evaluation(Document):
    """Values of models under conventions."""

    conventions: list[Convention]  # a list, since presets with different names can be equal
    models: dict[str, _Model]
    note: str

    def _pairs(self) -> Iterator[tuple[dict[str, str], Convention, _Model]]:
        """Yield names, convention and results of each convention and model; the name of a single model is omitted."""
        for convention in self.conventions:
            declared = {"name": convention.name, "signature": str(convention)}
            for name, model in self.models.items():
                yield ({"model": name} if len(self.models) > 1 else {}) | declared, convention, model

    def summaries(self) -> list[dict[str, Any]]:
        """Return names, value and counts for each pair of convention and model."""
        scores = [(names, model.outcomes[None][convention].score) for names, convention, model in self._pairs()]
        return [
            {**names, "value": score.value} | {count: getattr(score, count) for count in COUNTS}
            for names, score in scores
        ]

    def segments(self) -> list[dict[str, Any]]:
        """Return each segment's names, value, counts and interval; empty without --by."""
        by_model = {name: model.outcomes for name, model in self.models.items()}
        rows = list(rows_of(self.conventions, by_model, one_model=len(by_model) == 1))
        return plain(rows) if len({row["segment"] for row in rows}) > 1 else []

    def queries(self) -> list[tuple[dict[str, str], dict[str, float | None]]]:
        """Return names and per-query values for each pair of convention and model; empty without --per-query."""
        return [(names, model.queries[convention]) for names, convention, model in self._pairs() if model.queries]

    def to_dict(self) -> dict[str, Any]:
        """Return lists and mappings that pandas accepts; with more than one model, query values are nested by model."""
        queries: dict[str, Any] = {}
        for names, values in self.queries():
            if "model" in names:
                queries.setdefault(names["signature"], {})[names["model"]] = values
            else:
                queries[names["signature"]] = values
        more = {"segments": self.segments(), "queries": queries}
        return {"conventions": self.summaries(), **{k: v for k, v in more.items() if v}, "note": self.note}

    def to_csv(self) -> str:
        """Return a line per convention, model and segment; with --per-query, also one per query (column `qid`)."""
        rows, queries = self.segments() or self.summaries(), self.queries()
        names = [name for name in rows[0] if name in ("segment", "name", "signature", "model")]
        numbers = [name for name in rows[0] if name not in names]
        head = [*names, *(["qid"] if queries else []), *numbers]
        lines = [[row.get(name, "") for name in head] for row in rows]
        lines += [
            [*(query_names.get(name, "") for name in names), query, value, *("" for _ in numbers[1:])]
            for query_names, values in queries
            for query, value in values.items()
        ]
        return as_csv([head, *lines])

    def blocks(self) -> list[str | Table]:
        """Return the tables of values, segments and queries, then the signatures and notes."""
        names = [name for name in ("name", "model") if name in self.summaries()[0]]
        head = ["convention" if name == "name" else name for name in names]
        counts = [name.removeprefix("n_") for name in COUNTS]
        lines = [
            [*(row[name] for name in names), f"{row['value']:.6f}", *(str(row[count]) for count in COUNTS)]
            for row in self.summaries()
        ]
        means = Table.of("Values", [*head, "value", *counts], lines)
        legend = [*(f"{convention.name}: {convention}" for convention in self.conventions), self.note]
        segments = [table_of(self.segments(), ".6f")] if self.segments() else []
        queries = [_query_table(self.queries())] if self.queries() else []
        return [means, *segments, *queries, "\n".join(filter(None, legend))]


def _query_table(queries: list[tuple[dict[str, str], dict[str, float | None]]]) -> Table:
    """Return a table with a row per query and a column per model; all models have the same queries."""
    heads = [" ".join([names["name"], *([names["model"]] if "model" in names else [])]) for names, _ in queries]
    lines = [
        [query, *("-" if (value := column[query]) is None else f"{value:.6f}" for _, column in queries)]
        for query in queries[0][1]
    ]
    return Table.of("Values of each query", ["query", *heads], lines)


def _run(arguments: argparse.Namespace) -> Answer:
    conventions = requested_conventions(arguments)
    if arguments.out is not None:
        arguments = _with_one_run(arguments)
    with bar("evaluating"):
        evaluation = (_stream if _can_stream(arguments, conventions) else _read)(arguments, conventions)
    if arguments.out is not None:
        _write_run(arguments, evaluation)
    return Answer(evaluation, [evaluation.note] if arguments.format == "csv" else [])


def _with_one_run(arguments: argparse.Namespace) -> argparse.Namespace:
    """Return the options with the run's content loaded, because it is read twice and may be a pipe."""
    from rankadapters.io.writing import require_writable

    if arguments.qrels is None or len(arguments.run_file or ()) != 1:
        raise InputError("--out writes one TREC run.", hint="use it with --qrels and one file for --run")
    require_writable(arguments.out)
    return sources.with_run_content(arguments)


def _write_run(arguments: argparse.Namespace, evaluation: _Evaluation) -> None:
    """Write the annotated run, and print the name of its file on stderr."""
    from rankadapters.io import annotate_run

    [run], [model] = arguments.run_file, evaluation.models.values()
    annotate_run(run, [outcome.score for outcome in model.outcomes[None].values()], out=arguments.out)
    print(arguments.out, file=sys.stderr)


def _can_stream(arguments: argparse.Namespace, conventions: list[Convention]) -> bool:
    """Return whether the input is a table that can be read in parts; some conventions and options need it whole."""
    if arguments.unsorted and arguments.split_queries:
        msg = "--split-queries contradicts --unsorted, which makes one query of all rows of a qid.\nHint: drop one."
        raise InputError(msg)
    in_parts = all(convention.over != "rows" for convention in conventions)
    return arguments.table is not None and in_parts and arguments.split_queries in {None, "error"}


def _stream(arguments: argparse.Namespace, conventions: list[Convention]) -> _Evaluation:
    """Evaluate each score column of a table, keeping only a few of its rows in memory."""
    import numpy as np

    from rankadapters.io.streams import sum_stream

    path, columns = sources.stream(arguments, docids=sources.needs_docids(conventions))
    columns = columns._replace(by=arguments.by)
    sums, parts = sum_stream(
        path, conventions, columns, unsorted=bool(arguments.unsorted), per_query=arguments.per_query
    )
    ids = [query for part_ids, _ in parts for query in part_ids.tolist()]
    models, notes = dict[str, _Model](), list[str]()
    for name in columns.scores:
        model_parts = [values[name] for _, values in parts]
        values = {spec: np.concatenate([part[spec] for part in model_parts]) for spec in conventions if model_parts}
        outcomes = sums.outcomes(name)
        doubts = [] if models else sums.label_doubts.values()  # equal for all models, so print them once
        models[str(name)] = _Model(outcomes, _by_query(ids, values))
        notes += _one_line_notes(str(name), doubts, many_models=len(columns.scores) > 1)
    return _Evaluation(conventions, models, "\n".join(notes))


def _read(arguments: argparse.Namespace, conventions: list[Convention]) -> _Evaluation:
    from rankadapters.core.evaluation.evaluator import Evaluator
    from rankadapters.presets.label_rules import label_doubts
    from rankadapters.segments.assignment import assign
    from rankadapters.segments.evaluation import outcomes_of

    if arguments.unsorted:
        arguments.split_queries = "merge"
    if arguments.by is not None:  # a table is read a second time, for the segments
        arguments = sources.with_standard_input(arguments)
    models = sources.read_models(arguments, docids=sources.needs_docids(conventions))
    by = read_by(arguments)
    evaluator, results, notes = None, dict[str, _Model](), list[str]()
    for name, judgments in models.judgments.items():
        with sources.locating(judgments):
            if evaluator is None or not models.same_queries:
                evaluator = Evaluator.of(judgments.queries, conventions)
                notes += _one_line_notes(name, label_doubts(judgments.queries, conventions).values(), many_models=False)
            measured = evaluator.measure(judgments.scores)
            segments = None if by is None else assign(by, judgments.queries)
        outcomes = outcomes_of(evaluator, judgments.scores, measured, segments)
        values = measured.per_query if arguments.per_query else {}
        results[name] = _Model(outcomes, _by_query(judgments.queries.query_ids.tolist(), values))
        notes += _one_line_notes(name, [judgments.note], many_models=len(models.judgments) > 1)
    return _Evaluation(conventions, results, "\n".join(notes))


def _one_line_notes(name: str, notes: Iterable[str], *, many_models: bool) -> list[str]:
    """Return each note as one line, which names the model if there are many."""
    prefix = f"{name}: " if many_models else ""
    return [prefix + " ".join(note.splitlines()) for note in notes if note]


def _by_query(query_ids: list[Any], values: Mapping[Convention, Any]) -> dict[Convention, dict[str, float | None]]:
    """Return the values by query id; None for a skipped query."""
    ids = list(map(str, query_ids))
    plain = {key: [None if math.isnan(v) else v for v in column.tolist()] for key, column in values.items()}
    return {convention: dict(zip(ids, column, strict=True)) for convention, column in plain.items()}
