"""`rankadapters conformance`: write test cases for a convention, and test an implementation with them."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rankadapters.cli import functions
from rankadapters.cli.common import SAME, resolve
from rankadapters.cli.helping import complete_conventions, examples
from rankadapters.cli.printing import Answer, add_output


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "conformance",
        help="test an implementation of a convention, in any language",
        description="Write test cases that distinguish a convention from all others, or test a function or a program "
        "with them and report, field by field, what is wrong.",
        epilog=examples(
            "conformance write sklearn@10 --out cases.json",
            'conformance check sklearn@10 --command "node ndcg.js"',
            "conformance check sklearn@10 package.module:function",
            status="0 if it conforms, 1 if not, 2 on bad input",
        ),
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    write = actions.add_parser("write", help="write the cases to a file, as JSON")
    _add_convention(write)
    write.add_argument("--out", metavar="FILE", required=True, help="file to write")
    write.add_argument("--labels", nargs="+", type=float, metavar="GRADE", help="grades to use (default: 0 to 4)")
    write.set_defaults(run=_write)
    check = actions.add_parser("check", help="test a function or a program with the cases")
    _add_convention(check)
    functions.add(check)
    add_output(check, _check)


def _add_convention(parser: argparse.ArgumentParser) -> None:
    complete_conventions(parser.add_argument("spec", metavar="CONVENTION", help="preset@k, such as yahoo@10"))


def _write(arguments: argparse.Namespace) -> int:
    convention = resolve(arguments.spec, "CONVENTION")
    from rankadapters.conformance import vectors
    from rankadapters.io.writing import write_text

    write_text(arguments.out, vectors(convention, labels=arguments.labels).to_json() + "\n")
    print(arguments.out, file=sys.stderr)
    return SAME


def _check(arguments: argparse.Namespace) -> Answer:
    convention = resolve(arguments.spec, "CONVENTION")
    from rankadapters.conformance import check

    with functions.open_function(arguments, getattr(convention, "k", None)) as (function, keywords):
        report = check(function, convention, **keywords)
    return Answer(report, ok=report.conforms)
