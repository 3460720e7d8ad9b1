"""`rankadapters parity`: what each toolkit says beside what we compute under its convention."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankadapters.cli.common import DIFFERENT, SAME, bar, quiet_stdout, resolve, whole_from
from rankadapters.cli.helping import examples, of_conventions
from rankadapters.cli.printing import add_format, check_format, print_document
from rankadapters.cli.standard_input import with_standard_input
from rankadapters.core.errors import InputError

if TYPE_CHECKING:
    from rankadapters.datasets import RankingData

TOOLKITS = (
    "sklearn",
    "lightgbm",
    "xgboost",
    "catboost",
)  # those of parity.trainers, which brings numpy
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
    add_format(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_format(arguments)
    conventions = [resolve(spec) for spec in arguments.convention]
    toolkits = None if arguments.toolkits is None else list(dict.fromkeys(arguments.toolkits))
    with quiet_stdout(), bar("training") as step:
        from rankadapters.parity import crosscheck_models

        train, test = _data(arguments)
        report = crosscheck_models(
            train, test, convention=conventions or None, measure=arguments.measure, k=arguments.k, toolkits=toolkits,
            random_state=arguments.seed, progress=step,
        )  # fmt: skip
    print_document(report, arguments)
    return SAME if report.ok else DIFFERENT


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
