"""`rankadapters probe` and `conformance`: find and test the convention that a function or a program computes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import Any

from rankadapters.cli.options import UNKNOWN, add_measure, convention, cutoff_or_unknown, describe
from rankadapters.cli.printing import Answer, add_output
from rankadapters.core.errors import InputError

TAKES = ("query", "queries", "groups", "ranked", "items")


def add_probe(parser: argparse.ArgumentParser) -> None:
    """Add `rankadapters probe`."""
    describe(
        parser,
        "Run a function or a program on small generated data, and print the convention that it computes. If there is "
        "none, print the nearest one with a minimal example that shows the difference.",
        "probe sklearn.metrics:ndcg_score --k all",
        'probe --command "node ndcg.js" --k 10',
        status="0 if a convention matches, 1 if none does, 2 on bad input",
    )
    _add_function(parser)
    add_measure(parser, "measure that it computes")
    parser.add_argument(
        "--k", type=cutoff_or_unknown, default=UNKNOWN, help="cutoff that it applies, 'all', or 'unknown' (default)"
    )
    add_output(parser, _probe, quiet=True)


def add_conformance(parser: argparse.ArgumentParser) -> None:
    """Add `rankadapters conformance`."""
    describe(
        parser,
        "Write test cases that distinguish a convention from all others, or test a function or a program with them and "
        "report, field by field, what is wrong.",
        "conformance write sklearn@10 --out cases.json",
        'conformance check sklearn@10 --command "node ndcg.js"',
        "conformance check sklearn@10 package.module:function",
        status="0 if it conforms, 1 if not, 2 on bad input",
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    write = actions.add_parser("write", help="write the cases to a file, as JSON")
    _add_convention(write)
    write.add_argument("--out", metavar="FILE", required=True, help="file to write")
    write.add_argument("--labels", nargs="+", type=float, metavar="GRADE", help="grades to use (default: 0 to 4)")
    add_output(write, _write, prints=False)
    check = actions.add_parser("check", help="test a function or a program with the cases")
    _add_convention(check)
    _add_function(check)
    add_output(check, _check, quiet=True)


def _add_convention(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("convention", type=convention, metavar="CONVENTION", help="preset@k, such as yahoo@10")


def _add_function(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the function."""
    parser.add_argument("function", nargs="?", metavar="FUNCTION", help="a Python function, package.module:function")
    parser.add_argument(
        "--command", metavar="COMMAND",
        help="a program that answers each line of JSON on stdin with a line on stdout (docs/parity.md)",
    )  # fmt: skip
    parser.add_argument(
        "--takes", choices=TAKES,
        help="how to call it: query: labels and scores of one query; queries: of all, then the query of each row; "
        "groups: of all, then the size of each query; ranked: labels of one query by rank; items: ids of one query's "
        "items by rank, then the relevant ids (default: query; groups for a program)",
    )  # fmt: skip
    parser.add_argument("--timeout", type=float, default=10, metavar="S", help="seconds for an answer (default: 10)")
    parser.add_argument("--labels", nargs="+", type=float, metavar="GRADE", help="accepted grades (default: 0 to 4)")
    parser.add_argument(
        "--tolerance", type=float, default=1e-9, metavar="T", help="largest allowed difference (default: 1e-9)"
    )


def _probe(arguments: argparse.Namespace) -> Answer:
    from rankadapters.audit import probe

    k = None if arguments.k == UNKNOWN else arguments.k
    with _function(arguments, k) as (function, keywords):
        result = probe(function, k=arguments.k, measures=arguments.measure, **keywords)
    return Answer(result, ok=result.convention is not None)


def _write(arguments: argparse.Namespace) -> Answer:
    from rankadapters.conformance import vectors
    from rankadapters.io.writing import write_text

    write_text(arguments.out, vectors(arguments.convention, labels=arguments.labels).to_json() + "\n")
    return Answer(None, [arguments.out])


def _check(arguments: argparse.Namespace) -> Answer:
    from rankadapters.conformance import check

    with _function(arguments, arguments.convention.get("k")) as (function, keywords):
        report = check(function, arguments.convention, **keywords)
    return Answer(report, ok=report.conforms)


@contextmanager
def _function(arguments: argparse.Namespace, k: int | None) -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    """Yield the function and the keywords to test it with; a program is stopped when the block ends."""
    if (arguments.function is None) == (arguments.command is None):
        msg = "exactly one of FUNCTION and --command is required."
        raise InputError(msg, hint="package.module:function, or --command 'node ndcg.js'")
    keywords = {"labels": arguments.labels, "tolerance": arguments.tolerance}
    if arguments.command is None:
        yield _imported(arguments.function), {**keywords, "takes": arguments.takes or "query"}
        return
    from rankadapters.conformance import Program

    takes = arguments.takes or "groups"
    if takes not in {"query", "groups"}:
        msg = f"--takes={takes!r}; allowed are 'query', 'groups' for a program."
        raise InputError(msg, hint="a program receives the queries one by one, in a list")
    with Program(arguments.command, k=k, timeout=arguments.timeout) as program:
        yield program, {**keywords, "takes": takes}


def _imported(text: str) -> Callable[..., Any]:
    """Import a function; its module may be in the current folder."""
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - `python -m` also adds the current folder
    try:
        function: Any = resolve_name(text)
    except (ImportError, AttributeError, ValueError) as error:
        msg = f"FUNCTION={text!r} cannot be imported: {error}."
        raise InputError(msg, hint="package.module:function, from the folder that contains the package") from None
    finally:
        sys.path.pop(0)
    if not callable(function):
        raise InputError(f"FUNCTION={text!r} is not a function.", hint="package.module:function")
    return function  # type: ignore[no-any-return]
