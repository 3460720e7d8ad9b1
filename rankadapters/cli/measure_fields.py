"""`rankadapters conventions --fields`: what each field of a measure decides and may be."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rankadapters.cli.common import print_csv, print_lines
from rankadapters.core.errors import InputError
from rankadapters.core.measures import MEASURES

HEAD = ["field", "may be", "meaning"]


def fields(measure: str) -> dict[str, dict[str, Any]]:
    """Say what each field of a measure decides, what it may be, and what that means.

    >>> fields("auc")["pool"]["values"]["queries"]
    "the mean of the queries' values"
    """
    return {
        name: {"about": field.about, "allowed": field.allowed, "values": field.meanings()}
        for name, field in MEASURES[measure].declared().items()
    }


def show(arguments: argparse.Namespace) -> None:
    """Print them.

    Raises
    ------
    InputError
        Presets are named beside.
    """
    if arguments.presets or arguments.diff is not None:
        other = " ".join(arguments.presets) or f"--diff {arguments.diff}"
        msg = f"--fields are those of a measure, not of {other}.\nHint: --fields --measure {arguments.measure}."
        raise InputError(msg)
    found = fields(arguments.measure)
    if arguments.format == "json":
        print(json.dumps(found, indent=2))
        return
    lines = [line for name, field in found.items() for line in _of(name, field)]
    if arguments.format == "csv":
        print_csv([HEAD, *lines])
        return
    before = ["", *(name for name, *_ in lines)]
    once = [["" if name == last else name, *rest] for last, (name, *rest) in zip(before, lines, strict=False)]
    print_lines(HEAD, once, bold=lambda cell: cell in found)


def _of(name: str, field: dict[str, Any]) -> list[list[str]]:
    head = [name, "" if field["values"] else field["allowed"], field["about"]]
    return [head, *([name, value, meaning] for value, meaning in field["values"].items())]
