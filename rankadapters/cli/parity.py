"""`rankadapters parity`: compare each toolkit's own value with ours under the same convention."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from rankadapters.cli.options import add_conventions, describe, whole_from
from rankadapters.cli.printing import Answer, add_output
from rankadapters.cli.standard_input import file
from rankadapters.core.errors import InputError
from rankadapters.presets.texts import tool_name

if TYPE_CHECKING:
    from rankadapters.datasets import RankingData

TOOLKITS = ("sklearn", "lightgbm", "xgboost", "catboost")  # copied from parity.installed, which imports numpy
GRADED = ("ndcg", "dcg")  # for other measures, some toolkits accept only labels 0 and 1


def add(parser: argparse.ArgumentParser) -> None:
    """Add the subcommand."""
    describe(
        parser,
        "Train a small ranker with every installed toolkit. Print the value that the toolkit itself reports, our value "
        "under that toolkit's own convention, their difference, and our value under each --convention.",
        "parity",
        "parity --train train.txt --test test.txt --convention letor4@10",
        "parity --measure map --toolkits lightgbm xgboost --format json",
        status="0 if every toolkit's own value agrees with ours, 1 if not, 2 on bad input",
    )
    files = parser.add_argument_group(
        "data", "SVMlight or LETOR files with qid, where '-' is standard input; by default, a\ngenerated data set"
    )
    files.add_argument("--train", type=file, nargs="+", metavar="FILE", help="one or more files to train on")
    files.add_argument("--test", type=file, nargs="+", metavar="FILE", help="one or more files to test on")
    about = "preset@k, such as yahoo@10, or a signature (default: each toolkit's own)"
    add_conventions(parser, about)
    parser.add_argument("--k", type=whole_from(1), default=10, help="cutoff of the toolkits' values (default: 10)")
    parser.add_argument(
        "--measure", default="ndcg", metavar="NAME",
        help="measure that they report, by our name or a toolkit's: ap or map, auc, query-rmse, ... (default: ndcg); "
        "except for ndcg and dcg, the generated labels are 0 and 1",
    )  # fmt: skip
    parser.add_argument(
        "--toolkits", nargs="+", action="extend", type=tool_name, choices=TOOLKITS, metavar="NAME",
        help=f"toolkits to run: {', '.join(TOOLKITS)} (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=whole_from(0), default=0, metavar="N", help="seed of models and generated data (default: 0)"
    )
    add_output(parser, _run, activity="training", quiet=True)


def _run(arguments: argparse.Namespace) -> Answer:
    from rankadapters.parity import crosscheck_models

    toolkits = None if arguments.toolkits is None else list(dict.fromkeys(arguments.toolkits))
    train, test = _data(arguments)
    report = crosscheck_models(
        train, test, convention=arguments.convention, measure=arguments.measure, k=arguments.k, toolkits=toolkits,
        random_state=arguments.seed,
    )  # fmt: skip
    return Answer(report, ok=report.ok)


def _data(arguments: argparse.Namespace) -> tuple[RankingData, ...]:
    if not arguments.train and not arguments.test:
        import numpy as np

        from rankadapters.datasets import mq2008_like

        data_sets = mq2008_like(random_state=arguments.seed)
        if arguments.measure in GRADED:
            return data_sets
        return tuple(replace(data, labels=np.minimum(data.labels, 1)) for data in data_sets)
    if not (arguments.train and arguments.test):
        present, missing = ("--train", "--test") if arguments.train else ("--test", "--train")
        raise InputError(
            f"{present} was given without {missing}.", hint="give both, or neither for the generated data set"
        )
    from rankadapters.io import read_features

    return read_features(arguments.train, arguments.test)
