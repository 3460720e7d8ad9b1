"""`rankadapters parity`: what each toolkit says beside what we compute under its convention."""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from rankadapters.cli.common import (
    DIFFERENT,
    SAME,
    print_whole,
    progress,
    quiet_stdout,
    require_rich,
    resolve,
    whole_from,
)
from rankadapters.cli.helping import examples, of_conventions
from rankadapters.cli.standard_input import with_standard_input
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.measures import MEASURES

if TYPE_CHECKING:
    from rankadapters.crosscheck import CrossCheck, ModelRow
    from rankadapters.datasets import RankingData

TOOLKITS = ("sklearn", "lightgbm", "xgboost", "catboost")  # crosscheck.TOOLKITS, which would bring numpy for --help
MODEL_WIDTH = 17
GRADED = ("ndcg", "dcg")  # of other measures some toolkits take labels of 0 and 1 only


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "parity",
        help="compare every installed toolkit's own value with ours",
        description="Train a small ranker with every installed toolkit and print the value that the toolkit itself "
        "reports, ours under the same convention, their difference, and ours under each declared convention.",
        epilog=examples(
            "parity",
            "parity --train train.txt --test test.txt --convention letor4@10",
            "parity --measure map --toolkits lightgbm xgboost --format json",
            status="0 when all differ by their precision at most, 1 when not, 2 on bad input",
        ),
    )
    files = parser.add_argument_group(
        "data", "SVMlight or LETOR files with qid; one may be '-', standard input; without them, a generated data set"
    )
    files.add_argument("--train", nargs="+", metavar="FILE", help="one or more files to train on")
    files.add_argument("--test", nargs="+", metavar="FILE", help="one or more files to test on")
    conventions = parser.add_argument(
        "--convention", nargs="+", action="extend", default=[], metavar="SPEC",
        help="preset@k or a signature; by default the toolkits' own. `rankadapters conventions` lists the presets",
    )  # fmt: skip
    of_conventions(conventions)
    parser.add_argument("--k", type=whole_from(1), default=10, help="cutoff that the toolkits report at (default: 10)")
    parser.add_argument(
        "--measure", default="ndcg", metavar="NAME",
        help="what they report, by our name or one of theirs: ap or map, auc, query-rmse (default: ndcg); of the "
        "generated data every relevant row then has label 1",
    )  # fmt: skip
    parser.add_argument(
        "--toolkits", nargs="+", action="extend", choices=TOOLKITS, metavar="NAME",
        help=f"which to ask: {', '.join(TOOLKITS)} (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=whole_from(0), default=0, metavar="N", help="of the models and the generated data (default: 0)"
    )
    parser.add_argument("--format", choices=_FORMATS, default="table", help="of the result (default: table)")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.format == "table":
        require_rich()
    conventions = [resolve(spec) for spec in arguments.convention]
    with quiet_stdout(), progress(len(arguments.toolkits or TOOLKITS)) as step:
        from rankadapters import crosscheck

        step("reading")
        train, test = _data(arguments)
        report = crosscheck.check_models(
            train, test, k=arguments.k, measure=arguments.measure, conventions=conventions,
            toolkits=arguments.toolkits, seed=arguments.seed, progress=step,
        )  # fmt: skip
    _FORMATS[arguments.format](report)
    return SAME if report.parity else DIFFERENT


def _data(arguments: argparse.Namespace) -> tuple[RankingData, ...]:
    if not arguments.train and not arguments.test:
        import numpy as np

        from rankadapters.datasets import mq2008_like

        several = mq2008_like(random_state=arguments.seed)
        if arguments.measure in GRADED:
            return several
        return tuple(replace(data, labels=np.minimum(data.labels, 1)) for data in several)
    if not (arguments.train and arguments.test):
        given, missing = ("--train", "--test") if arguments.train else ("--test", "--train")
        msg = f"{given} was given without {missing}.\nHint: both, or neither for the generated data set."
        raise InputError(msg)
    from rankadapters.io import read_features

    files = with_standard_input(arguments, ("train", "test"))
    return read_features(files.train, files.test)


def _print_json(report: CrossCheck) -> None:
    print(json.dumps(report.to_dict(), indent=2, allow_nan=False))


def _print_csv(report: CrossCheck) -> None:
    text = io.StringIO()
    rows = [{**values, **declared} for values, declared in map(_apart, report.rows)]
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    print(text.getvalue(), end="")


def _apart(row: ModelRow) -> tuple[dict[str, Any], dict[str, float | None]]:
    values = asdict(row)
    return values, values.pop("declared")


def _print_table(report: CrossCheck) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0)
    table.add_column("model", no_wrap=True)
    heads = [f"its own\n{_measure(report)}", "ours\nlike it", "differ-\nence", *(_head(c) for c in report.conventions)]
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in report.rows:
        table.add_row(*_cells(row))
    print_whole(table)
    for line in ("", *_legend(report)):
        print(line)


def _measure(report: CrossCheck) -> str:
    """Name the measure that the toolkits report."""
    asked = next((row.native_convention for row in report.rows if row.native_convention), "ndcg")
    return MEASURES[re.split("[@/]", asked)[0]].__name__


def _head(convention: Convention) -> str:
    return convention.name.replace("/", "/\n", 1)


def _cells(row: ModelRow) -> list[str]:
    values = [row.native_value, row.our_value, *row.declared.values()]
    shown = ["-" if value is None else f"{value:.6f}" for value in values]
    difference = "-" if row.difference is None else f"{row.difference:.0e}" if row.difference else "0"
    return [f"{_broken(row.model)}\n{row.toolkit} {row.version or ''}".rstrip(), *shown[:2], difference, *shown[2:]]


def _broken(name: str) -> str:
    """Break the name of a class between its words, so that four conventions fit into 80 columns."""
    lines = [""]
    for word in re.findall("[A-Z]+[a-z]*", name):
        if len(lines[-1] + word) > MODEL_WIDTH:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def _legend(report: CrossCheck) -> Iterator[str]:
    """What the table has no room for: signatures, which metric was asked for, notes, and the outcome."""
    for convention in report.conventions:
        yield f"{convention.name}: {convention}"
    yield ""
    for row in report.rows:
        if row.native_convention:
            yield f"{row.toolkit}: {row.native_metric} is {_short(row.native_convention, report)}"
        if row.note:
            yield f"{row.toolkit}: {row.note}"
    differences = [abs(row.difference) for row in report.rows if row.difference is not None]
    yield ""
    yield (
        f"parity {'holds' if report.parity else 'fails'}: {len(differences)} models compared"
        + (f", largest difference {max(differences):.1e}" if differences else "")
    )


def _short(signature: str, report: CrossCheck) -> str:
    return next((c.name for c in report.conventions if str(c) == signature), signature)


_FORMATS: dict[str, Callable[[CrossCheck], None]] = {"table": _print_table, "json": _print_json, "csv": _print_csv}
