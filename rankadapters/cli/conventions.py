"""`rankadapters conventions`: the presets with all their fields, and what differs from one of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any

from rankadapters.cli import measure_fields
from rankadapters.cli.common import SAME, print_csv, print_lines, require_rich, resolve, whole_from
from rankadapters.cli.helping import examples, of_conventions
from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import NONE as NONE_CUT
from rankadapters.core.measures import MEASURES

NONE = "-"  # where a measure has no such field
MARK = "*"  # beside what differs; colour alone would be lost in a pipe

Marked = dict[str, tuple[str, bool]]


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "conventions",
        help="print the presets with all their fields",
        description="Print every preset of a measure, or those named, with all the fields of its convention. With "
        "--diff, mark what differs from another convention; with --fields, say what each field of the measure may be, "
        "as in preset@k+field=value.",
        epilog=examples("conventions letor4 yahoo --diff ranklib", "conventions --measure err --fields"),
    )
    named = parser.add_argument(
        "presets",
        nargs="*",
        metavar="PRESET",
        help="which to print, also as preset@k or a signature (default: all of the measure)",
    )
    of_conventions(named)
    parser.add_argument(
        "--measure", choices=MEASURES, metavar="NAME", default="ndcg", help=f"{', '.join(MEASURES)} (default: ndcg)"
    )
    parser.add_argument("--fields", action="store_true", help="print the fields of the measure and what each may be")
    parser.add_argument("--k", type=_cutoff, default=10, help="cutoff, or all (default: 10)")
    diff = parser.add_argument(
        "--diff", metavar="SPEC", help="mark what differs from it: a preset, preset@k or a signature"
    )
    of_conventions(diff)
    parser.add_argument("--format", choices=_FORMATS, default="table", help="of the result (default: table)")
    parser.set_defaults(run=_run)


def _cutoff(text: str) -> int | None:
    return None if text == NONE_CUT else whole_from(1)(text)


def _named(text: str, k: int | None, option: str) -> Convention:
    return presets.make(text, k) if text in presets.names(None) else resolve(text, option)


def rows(names: list[str], k: int | None, other: Convention | None = None) -> dict[str, Marked]:
    """Spell the fields of presets, each with whether it differs from another convention.

    >>> rows(["letor4"], 10, presets.yahoo(10))["letor4"]["gain"]
    ('table_0_1_3', True)
    """
    found = {}
    for name in names:
        convention = _named(name, k, "PRESET")
        differing = {} if other is None else convention.diff(other)
        texts = dict(part.split("=", 1) for part in str(convention).split("/")[1:-1])
        if other is not None and other.measure != convention.measure:
            texts = {"measure": convention.measure, **texts}
        found[name] = {field: (text, field in differing) for field, text in texts.items()}
    return found


def _run(arguments: argparse.Namespace) -> int:
    if arguments.format == "table":
        require_rich()
    if arguments.fields:
        measure_fields.show(arguments)
        return SAME
    names = arguments.presets or list(presets.names(arguments.measure))
    other = None if arguments.diff is None else _named(arguments.diff, arguments.k, "--diff")
    _FORMATS[arguments.format](rows(names, arguments.k, other), other)
    return SAME


def _print_json(found: dict[str, Marked], other: Convention | None) -> None:
    plain = {name: {field: text for field, (text, _) in row.items()} for name, row in found.items()}
    differing = {name: [field for field, (_, marked) in row.items() if marked] for name, row in found.items()}
    signature = None if other is None else str(other)
    print(json.dumps({"presets": plain, "diff": signature, "differs": differing}, indent=2))


def _print_csv(found: dict[str, Marked], _: Convention | None) -> None:
    print_csv(_lines(found))


def _print_table(found: dict[str, Marked], other: Convention | None) -> None:
    head, *lines = _lines(found)
    print_lines(head, lines, bold=lambda cell: cell.endswith(MARK))
    if other is not None:
        print(f"\n{MARK} differs from {other.name}: {other}")


def _lines(found: dict[str, Marked]) -> Iterator[list[str]]:
    fields = list(dict.fromkeys(field for row in found.values() for field in row))
    yield ["preset", *fields]
    for name, row in found.items():
        cells = (row.get(field, (NONE, False)) for field in fields)
        yield [name, *(text + MARK if marked else text for text, marked in cells)]


_FORMATS: dict[str, Callable[[dict[str, Marked], Convention | None], None]] = {
    "table": _print_table,
    "json": _print_json,
    "csv": _print_csv,
}
