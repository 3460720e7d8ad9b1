"""The options that name a function: one of a Python module, or a program that speaks JSON lines."""

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
    """Add the options."""
    parser.add_argument("function", nargs="?", metavar="FUNCTION", help="of Python, as package.module:function")
    parser.add_argument(
        "--command", metavar="COMMAND",
        help="a program that reads lines of questions and writes lines of answers, in JSON (docs/conformance.md)",
    )  # fmt: skip
    parser.add_argument(
        "--takes",
        choices=TAKES,
        help="what the function takes beside labels and scores: nothing, as they are of one query; the query of each "
        "row; or the rows of each query (default: query, and groups for a program)",
    )
    parser.add_argument("--timeout", type=float, default=10, metavar="S", help="seconds for an answer (default: 10)")
    parser.add_argument("--labels", nargs="+", type=float, metavar="GRADE", help="that it accepts (default: 0 to 4)")
    parser.add_argument(
        "--tolerance", type=float, default=1e-9, metavar="T", help="the largest difference allowed (default: 1e-9)"
    )


@contextmanager
def opened(arguments: argparse.Namespace, k: int | None) -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    """Give the function and the keywords of how to ask it; a program ends with the block."""
    if (arguments.function is None) == (arguments.command is None):
        msg = "FUNCTION and --command: one of them has to be given."
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
        raise InputError(msg, hint="a program is given the queries one by one, in a list")
    with Program(arguments.command, k=k, timeout=arguments.timeout) as program:
        yield program, {**keywords, "takes": takes}


def _imported(text: str) -> Callable[..., Any]:
    """Import a function, from the current folder too."""
    module, _, name = text.partition(":")
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as `python -m` has it
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
        msg = f"FUNCTION={text!r} is no function."
        raise InputError(msg, hint="package.module:function")
    return function  # type: ignore[no-any-return]
