"""`rankadapters conventions`: print presets with all their fields, and mark the fields that differ."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any, Self

from rankadapters.cli.audits import add_measure
from rankadapters.cli.common import cutoff, resolve
from rankadapters.cli.helping import complete_conventions, examples
from rankadapters.cli.printing import Answer, add_output
from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.table import Table
from rankadapters.core.measures import MEASURES
from rankadapters.statistics.document import Document

NONE = "-"  # for a field that the measure does not have
MARK = "*"  # after a differing value; color would be lost in a pipe


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "conventions",
        help="print the presets with all their fields",
        description="Print the presets of a measure, or the named ones, with all the fields of their conventions. With "
        "--diff, mark the fields that differ from one more convention. With --fields, print instead the values that "
        "each field may have; use them as in preset@k+field=value.",
        epilog=examples("conventions letor4 yahoo --diff ranklib", "conventions --measure err --fields"),
    )
    about = "presets to print, also as preset@k or a signature (default: all presets of the measure)"
    option = parser.add_argument("presets", nargs="*", metavar="PRESET", help=about)
    complete_conventions(option)
    add_measure(parser, "measure of the presets and fields")
    parser.add_argument("--fields", action="store_true", help="print the measure's fields and their allowed values")
    parser.add_argument("--k", type=cutoff, default=10, help="cutoff, or all (default: 10)")
    diff = parser.add_argument("--diff", metavar="SPEC", help="mark fields that differ from this preset or signature")
    complete_conventions(diff)
    add_output(parser, _run)


def _convention(text: str, k: int | None, option: str) -> Convention:
    return presets.make(text, k) if text in presets.names(None) else resolve(text, option)


@dataclass(frozen=True, slots=True)
class PresetFields(Document):
    """The fields of presets, and whether each differs from a reference convention.

    >>> PresetFields.of({"letor4": presets.letor4(10)}, presets.yahoo(10)).rows["letor4"]["gain"]
    ('table_0_1_3', True)
    """

    rows: dict[str, dict[str, tuple[str, bool]]]
    reference: Convention | None

    @classmethod
    def of(cls, conventions: dict[str, Convention], reference: Convention | None) -> Self:
        """Collect the fields of the conventions, spelled as in their signatures."""
        rows = {}
        for name, convention in conventions.items():
            differing = {} if reference is None else convention.diff(reference)
            texts = dict(part.split("=", 1) for part in str(convention).split("/")[1:-1])
            if reference is not None and reference.measure != convention.measure:
                texts = {"measure": convention.measure, **texts}
            rows[name] = {field: (text, field in differing) for field, text in texts.items()}
        return cls(rows, reference)

    def blocks(self) -> list[str | Table]:
        """Return a table of the presets and a legend for the mark."""
        fields = list(dict.fromkeys(field for row in self.rows.values() for field in row))
        cells = {
            name: {f: text + MARK * marked for f, (text, marked) in row.items()} for name, row in self.rows.items()
        }
        lines = [[name, *(row.get(field, NONE) for field in fields)] for name, row in cells.items()]
        note = [] if self.reference is None else [f"{MARK} differs from {self.reference.name}: {self.reference}"]
        return [Table.of("Presets and their fields", ["preset", *fields], lines), *note]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        rows, diff = self.rows.items(), None if self.reference is None else str(self.reference)
        texts = {name: {field: text for field, (text, _) in row.items()} for name, row in rows}
        differs = {name: [field for field, (_, marked) in row.items() if marked] for name, row in rows}
        return {"presets": texts, "diff": diff, "differs": differs}


@dataclass(frozen=True, slots=True)
class MeasureFields(Document):
    """The fields of a measure: what they decide, their allowed values and the meaning of each value.

    >>> MeasureFields("auc").to_dict()["pool"]["values"]["queries"]
    "the mean of the queries' values"
    """

    measure: str

    def blocks(self) -> list[str | Table]:
        """Return a table with a row for each field and a row for each of its values."""
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


def _run(arguments: argparse.Namespace) -> Answer:
    if not arguments.fields:
        names = arguments.presets or list(presets.names(arguments.measure))
        reference = None if arguments.diff is None else _convention(arguments.diff, arguments.k, "--diff")
        return Answer(PresetFields.of({name: _convention(name, arguments.k, "PRESET") for name in names}, reference))
    if arguments.presets or arguments.diff is not None:
        extra = " ".join(arguments.presets) or f"--diff {arguments.diff}"
        msg = f"--fields prints the fields of a measure, not of {extra}.\nHint: --fields --measure {arguments.measure}."
        raise InputError(msg)
    return Answer(MeasureFields(arguments.measure))
