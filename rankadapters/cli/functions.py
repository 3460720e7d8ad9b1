"""Options that name the function to test: a Python function or a program that speaks JSON lines."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from rankadapters.cli.common import quiet_stdout
from rankadapters.core.errors import InputError

TAKES = ("query", "queries", "groups")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the function."""
    parser.add_argument("function", nargs="?", metavar="FUNCTION", help="a Python function, package.module:function")
    parser.add_argument(
        "--command", metavar="COMMAND",
        help="a program that answers each line of JSON on stdin with a line on stdout (docs/conformance.md)",
    )  # fmt: skip
    parser.add_argument(
        "--takes", choices=TAKES,
        help="how to call it: query: labels and scores of one query; queries: of all, then the query of each row; "
        "groups: of all, then the size of each query (default: query; groups for a program)",
    )  # fmt: skip
    parser.add_argument("--timeout", type=float, default=10, metavar="S", help="seconds for an answer (default: 10)")
    parser.add_argument("--labels", nargs="+", type=float, metavar="GRADE", help="accepted grades (default: 0 to 4)")
    parser.add_argument(
        "--tolerance", type=float, default=1e-9, metavar="T", help="largest allowed difference (default: 1e-9)"
    )


@contextmanager
def open_function(arguments: argparse.Namespace, k: int | None) -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    """Yield the function and the keywords to test it with; a program is stopped when the block ends."""
    if (arguments.function is None) == (arguments.command is None):
        msg = "exactly one of FUNCTION and --command is required."
        raise InputError(msg, hint="package.module:function, or --command 'node ndcg.js'")
    keywords = {"labels": arguments.labels, "tolerance": arguments.tolerance}
    if arguments.command is None:
        with quiet_stdout():
            yield _imported(arguments.function), {**keywords, "takes": arguments.takes or "query"}
        return
    from rankadapters.conformance import Program

    takes = arguments.takes or "groups"
    if takes == "queries":
        msg = "--takes='queries'; allowed are 'query', 'groups' for a program."
        raise InputError(msg, hint="a program receives the queries one by one, in a list")
    with Program(arguments.command, k=k, timeout=arguments.timeout) as program:
        yield program, {**keywords, "takes": takes}


def _imported(text: str) -> Callable[..., Any]:
    """Import a function; its module may be in the current folder."""
    module, _, name = text.partition(":")
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - `python -m` also adds the current folder
    try:
        function: Any = import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
    except (ImportError, AttributeError, ValueError) as error:
        msg = f"FUNCTION={text!r} cannot be imported: {error}."
        raise InputError(msg, hint="package.module:function, from the folder that contains the package") from None
    finally:
        sys.path.pop(0)
    if not callable(function):
        msg = f"FUNCTION={text!r} is not a function."
        raise InputError(msg, hint="package.module:function")
    return function  # type: ignore[no-any-return]
