"""`-` in place of a file: standard input, which can be read once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rankadapters.cli.common import flag
from rankadapters.core.errors import InputError


def with_standard_input(arguments: argparse.Namespace, options: Sequence[str]) -> argparse.Namespace:
    """Put what standard input holds in the place of the file that is `-`, or `NAME=-` where models have names.

    Parameters
    ----------
    arguments : Namespace
        It is not changed.
    options : sequence of str
        Those that take files: a text, a list of texts, or a list of such lists.
    """
    given = {name: value for name in options if (value := getattr(arguments, name, None)) is not None}
    several = getattr(arguments, "several_models", False)
    found = [flag(name) for name, value in given.items() for file in _files(value) if _is_dash(file, several)]
    if not found:
        return arguments
    if len(found) > 1:
        msg = (
            f"'-' was given {len(found)} times ({', '.join(found)}), but standard input can be read once.\n"
            "Hint: files for the others."
        )
        raise InputError(msg)
    data = _read()
    filled = {name: _filled(value, data, several) for name, value in given.items()}
    return argparse.Namespace(**{**vars(arguments), **filled})


def _files(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for each in value:
            yield from _files(each)
    else:
        yield value


def _is_dash(file: Any, several: bool) -> bool:  # noqa: FBT001 - whether NAME=- names a model
    return file == "-" or (several and isinstance(file, str) and file.endswith("=-"))


def _filled(value: Any, data: bytes, several: bool) -> Any:  # noqa: FBT001 - as above
    from rankadapters.io.text import HeldFile

    if isinstance(value, list):
        return [_filled(each, data, several) for each in value]
    if not _is_dash(value, several):
        return value
    return HeldFile("standard input", data, model=value[:-2] or None)


def _read() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        msg = "standard input is closed.\nHint: pipe a file into it, or name a file in place of '-'."
        raise InputError(msg)
    return sys.stdin.buffer.read()
