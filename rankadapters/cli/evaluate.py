"""`rankadapters evaluate`: evaluate files of judgments and scores under declared conventions."""

from __future__ import annotations

import argparse
import math
import warnings
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from rankadapters.cli import sources
from rankadapters.cli.options import add_conventions, add_metrics, conventions_of, describe
from rankadapters.cli.printing import Answer, add_output
from rankadapters.cli.recognition import place_files
from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, LabelsWarning
from rankadapters.evaluation.score import COUNTS
from rankadapters.evaluation.table import Cell, Table, fixed
from rankadapters.statistics.cells import percent
from rankadapters.statistics.document import Document, as_csv

NAMES = ("segment", "name", "signature", "model")  # columns that identify a value
JUDGED = "judged"  # column of the share of a run's documents that are judged


def add(parser: argparse.ArgumentParser) -> None:
    """Add the subcommand."""
    describe(
        parser,
        "Evaluate the scores of one or more models in files under one or more declared conventions. Text is UTF-8; "
        "gzip, bzip2 and zstd are decompressed.",
        "evaluate log.parquet --convention lightgbm@10",
        "evaluate qrels.txt run.txt --measure map ndcg_cut.10 recip_rank P.5,10",
        "evaluate --features test.txt --predictions scores.txt --convention letor4@10 yahoo@10",
        "evaluate --table test.parquet --label label --score score --qid qid --convention lightgbm.map@5",
        "evaluate --table test.csv --by market --convention textbook@10",
        "evaluate --qrels qrels.txt --run run.txt --convention trec_eval_9@10 --per-query",
    )
    add_conventions(
        parser,
        "a preset and its cutoff, such as lightgbm@10, with +field=value to change a field; a tool and its own name of "
        "a metric, such as trec_eval_9.ndcg_cut_10; or a signature. `rankadapters conventions --measure all` lists the "
        "presets",
    )
    add_metrics(parser)
    sources.add(parser, several_models=True)
    parser.add_argument(
        "--unsorted", action="store_true", default=argparse.SUPPRESS,
        help="sort the table by query first, on disk if it is large, so that the rows of a query need not be together; "
        'needs pip install "rankadapters[stream]"',
    )  # fmt: skip
    sources.add_by(parser, "also print the value of each segment of queries")
    parser.add_argument("--per-query", action="store_true", help="also print the value of each query")
    add_output(parser, _run, activity="evaluating")


class _Result(NamedTuple):
    """Results of models that share queries."""

    scores: Any  # by convention and model; with --by, Segments of these
    values: Any = None  # of each query, by convention and model
    query_ids: Any = None
    judged: float | None = None  # share of a run's documents that are judged; None for other sources


@frozen_class
@dataclass(frozen=True, slots=True)
class _Evaluation(Document):
    """Values of models under conventions."""

    conventions: list[Convention]
    summaries: list[dict[str, Any]]  # names, value and counts of each pair of convention and model; of a run, `JUDGED`
    segments: list[dict[str, Any]]  # the same of each segment, and its interval; empty without --by
    queries: list[tuple[dict[str, str], dict[str, float | None]]]  # names, and value of each query; None if skipped
    note: str

    @classmethod
    def of(cls, conventions: list[Convention], results: list[_Result], note: str) -> _Evaluation:
        """Arrange the results by convention, then by model; the name of a single model is left out."""
        summaries, queries = [], []
        for convention, result in product(conventions, results):
            for model, score in getattr(result.scores, "all", result.scores)[convention].items():
                names = {"model": model, "name": convention.name, "signature": str(convention)}
                summaries.append({**names, "value": score.value, **{count: getattr(score, count) for count in COUNTS}})
                if result.judged is not None:
                    summaries[-1][JUDGED] = result.judged
                if result.values is not None:
                    values = result.values[convention][model].tolist()
                    texts = map(str, result.query_ids.tolist())
                    queries.append((names, dict(zip(texts, map(_or_none, values), strict=True))))
        # Each result has its rows in the order of segments and conventions.
        tables = [result.scores.to_dict()["segments"] for result in results if hasattr(result.scores, "all")]
        segments = [row for rows in zip(*tables, strict=True) for row in rows]
        if len({row["model"] for row in summaries}) == 1:
            for row in (*summaries, *segments, *(names for names, _ in queries)):
                del row["model"]
        return cls(conventions, summaries, segments, queries, note)

    def to_dict(self) -> dict[str, Any]:
        """Return lists and mappings that pandas accepts; with more than one model, query values are nested by model."""
        queries: dict[str, Any] = {}
        for names, values in self.queries:
            if "model" in names:
                queries.setdefault(names["signature"], {})[names["model"]] = values
            else:
                queries[names["signature"]] = values
        more = {"segments": self.segments, "queries": queries}
        return {"conventions": self.summaries, **{k: v for k, v in more.items() if v}, "note": self.note}

    def to_csv(self) -> str:
        """Return a line per convention, model and segment; with --per-query, also one per query (column `qid`)."""
        rows = self.segments or self.summaries
        names = [name for name in rows[0] if name in NAMES]
        numbers = [name for name in rows[0] if name not in NAMES]
        lines: list[dict[str, Any]] = [*rows]
        for query_names, values in self.queries:
            lines += [{**query_names, "qid": query, "value": value} for query, value in values.items()]
        head = [*names, *(["qid"] if self.queries else []), *numbers]
        return as_csv([head, *([line.get(name, "") for name in head] for line in lines)])

    def blocks(self) -> list[str | Table]:
        """Return the tables of values, segments and queries, then the signatures and notes."""
        from rankadapters.evaluation.segments import table_of

        columns = [name for name in ("name", "model", "value", *COUNTS, JUDGED) if name in self.summaries[0]]
        by_name, lines = {convention.name: convention for convention in self.conventions}, []
        for row in self.summaries:
            contest, worth = row["name"] if "model" in row else None, by_name[row["name"]].worth(row["value"])
            value = Cell("{:.6f}", row["value"], contest=contest, worth=worth)
            shown = {**row, "value": value}
            if JUDGED in row:
                shown[JUDGED] = percent(row[JUDGED])
            lines.append([cell if isinstance(cell := shown[c], str) else str(cell) for c in columns])
        means = Table.of("Values", ["convention", *(name.removeprefix("n_") for name in columns[1:])], lines)
        legend = [*(f"{convention.name}: {convention}" for convention in self.conventions), self.note]
        segments = [table_of(self.segments, 6)] if self.segments else []
        queries = [self._query_table()] if self.queries else []
        return [means, *segments, *queries, "\n".join(filter(None, legend))]

    def _query_table(self) -> Table:
        """Return a table with a row per query and a column per model; all models have the same queries."""
        heads = [" ".join(names[name] for name in ("name", "model") if name in names) for names, _ in self.queries]
        columns = [values for _, values in self.queries]
        lines = [
            [query, *("-" if (value := column[query]) is None else fixed(value, 6) for column in columns)]
            for query in columns[0]
        ]
        return Table.of("Values of each query", ["query", *heads], lines)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _run(arguments: argparse.Namespace) -> Answer:
    arguments.convention = conventions_of(arguments)
    place_files(arguments)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", LabelsWarning)
        results, notes = (_stream if _can_stream(arguments) else _read)(arguments)
    notes = [*dict.fromkeys(str(warning.message) for warning in warned), *notes]
    note = "\n".join(" ".join(text.splitlines()) for text in notes)
    return Answer(_Evaluation.of(arguments.convention, results, note), [note] if arguments.format == "csv" else [])


def _can_stream(arguments: argparse.Namespace) -> bool:
    """Return whether the input is a table that can be read in parts; some conventions and options need it whole."""
    split_queries = getattr(arguments, "split_queries", None)
    if split_queries and "unsorted" in arguments:
        raise InputError(
            "--split-queries contradicts --unsorted, which makes one query of all rows of a qid.", hint="drop one"
        )
    in_parts = all(convention.over != "rows" for convention in arguments.convention)
    return "table" in arguments and in_parts and not arguments.per_query and split_queries in {None, "error"}


def _stream(arguments: argparse.Namespace) -> tuple[list[_Result], list[str]]:
    """Evaluate each score column of a table, keeping only a few of its rows in memory."""
    import rankadapters as ra

    _, _, scores = sources.scores_of(arguments)
    columns = sources.columns(arguments, docids=sources.needs_docids(arguments.convention))
    options = {name: getattr(arguments, name) for name in ("by", "unsorted") if name in arguments}
    if len(options.get("by", ())) == 1:
        [options["by"]] = options["by"]
    scored = ra.evaluate_table(arguments.table, arguments.convention, score=list(scores), **columns, **options)
    return [_Result(scored)], []


def _read(arguments: argparse.Namespace) -> tuple[list[_Result], list[str]]:
    """Evaluate models whose files are read whole; return also notes about lines that were not read."""
    import rankadapters as ra

    if "unsorted" in arguments:
        arguments.split_queries = "merge"
    models = sources.read_models(arguments, docids=sources.needs_docids(arguments.convention))
    by = sources.segments(arguments)
    results = []
    for group in models.groups:
        data = group.queries, group.scores, arguments.convention
        with group.locating():
            scores = ra.evaluate(*data, by=by)
            values = ra.per_query(*data) if arguments.per_query else None
        judged = group.queries.judged_share if "run" in arguments else None
        results.append(_Result(scores, values, group.queries.query_ids, judged))
    return results, models.notes
