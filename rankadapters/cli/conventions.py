"""`rankadapters conventions`: the presets with all their fields, and what differs from one of them."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any, Self

from rankadapters.cli.common import SAME, cutoff, resolve
from rankadapters.cli.helping import examples, of_conventions
from rankadapters.cli.printing import add_format, check_format, print_document
from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.table import Table
from rankadapters.core.measures import MEASURES
from rankadapters.statistics.document import Document

NONE = "-"  # where a measure has no such field
MARK = "*"  # beside what differs; colour alone would be lost in a pipe


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
    parser.add_argument("--k", type=cutoff, default=10, help="cutoff, or all (default: 10)")
    diff = parser.add_argument(
        "--diff", metavar="SPEC", help="mark what differs from it: a preset, preset@k or a signature"
    )
    of_conventions(diff)
    add_format(parser)
    parser.set_defaults(run=_run)


def _named(text: str, k: int | None, option: str) -> Convention:
    return presets.make(text, k) if text in presets.names(None) else resolve(text, option)


@dataclass(frozen=True, slots=True)
class PresetFields(Document):
    """The fields of presets, each with whether it differs from another convention.

    >>> PresetFields.of({"letor4": presets.letor4(10)}, presets.yahoo(10)).rows["letor4"]["gain"]
    ('table_0_1_3', True)
    """

    rows: dict[str, dict[str, tuple[str, bool]]]
    other: Convention | None

    @classmethod
    def of(cls, conventions: dict[str, Convention], other: Convention | None) -> Self:
        """Spell the fields."""
        rows = {}
        for name, convention in conventions.items():
            differing = {} if other is None else convention.diff(other)
            texts = dict(part.split("=", 1) for part in str(convention).split("/")[1:-1])
            if other is not None and other.measure != convention.measure:
                texts = {"measure": convention.measure, **texts}
            rows[name] = {field: (text, field in differing) for field, text in texts.items()}
        return cls(rows, other)

    def blocks(self) -> list[str | Table]:
        """Return a table of the presets, and what the mark means."""
        fields = list(dict.fromkeys(field for row in self.rows.values() for field in row))
        lines = [
            [name, *(_cell(*row.get(field, (NONE, False))) for field in fields)] for name, row in self.rows.items()
        ]
        note = [] if self.other is None else [f"{MARK} differs from {self.other.name}: {self.other}"]
        return [Table.of("Presets and their fields", ["preset", *fields], lines), *note]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        rows, diff = self.rows.items(), None if self.other is None else str(self.other)
        texts = {name: {field: text for field, (text, _) in row.items()} for name, row in rows}
        differs = {name: [field for field, (_, marked) in row.items() if marked] for name, row in rows}
        return {"presets": texts, "diff": diff, "differs": differs}


def _cell(text: str, marked: bool) -> str:  # noqa: FBT001 - a cell of the table
    return text + MARK if marked else text


@dataclass(frozen=True, slots=True)
class MeasureFields(Document):
    """What each field of a measure decides, what it may be, and what that means.

    >>> MeasureFields("auc").to_dict()["pool"]["values"]["queries"]
    "the mean of the queries' values"
    """

    measure: str

    def blocks(self) -> list[str | Table]:
        """Return a table with a line for each field, and for each of its values."""
        lines = [line for name, field in self.to_dict().items() for line in _lines(name, **field)]
        return [Table.of(f"Fields of {self.measure}", ("field", "may be", "meaning"), lines)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            name: {"about": field.about, "allowed": field.allowed, "values": field.meanings()}
            for name, field in MEASURES[self.measure].declared().items()
        }


def _lines(name: str, *, about: str, allowed: str, values: dict[str, str]) -> list[list[str]]:
    return [[name, "" if values else allowed, about], *([name, value, meaning] for value, meaning in values.items())]


def _run(arguments: argparse.Namespace) -> int:
    check_format(arguments)
    print_document(_fields(arguments) if arguments.fields else _presets(arguments), arguments)
    return SAME


def _presets(arguments: argparse.Namespace) -> Document:
    names = arguments.presets or list(presets.names(arguments.measure))
    other = None if arguments.diff is None else _named(arguments.diff, arguments.k, "--diff")
    return PresetFields.of({name: _named(name, arguments.k, "PRESET") for name in names}, other)


def _fields(arguments: argparse.Namespace) -> Document:
    if arguments.presets or arguments.diff is not None:
        other = " ".join(arguments.presets) or f"--diff {arguments.diff}"
        msg = f"--fields are those of a measure, not of {other}.\nHint: --fields --measure {arguments.measure}."
        raise InputError(msg)
    return MeasureFields(arguments.measure)
