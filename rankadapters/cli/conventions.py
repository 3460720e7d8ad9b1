"""`rankadapters conventions` and `presets`: print the fields of presets, and the releases of tools that they match."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from rankadapters import presets
from rankadapters.cli.options import add_measure, cutoff, describe
from rankadapters.cli.printing import Answer, add_output
from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.measures import MEASURES
from rankadapters.evaluation.table import Table
from rankadapters.presets.texts import maker, parse, tool_name
from rankadapters.presets.tool import Tool
from rankadapters.statistics.document import Document, as_csv

ALL = "all"  # measures
NONE = "-"  # for a field that the measure does not have
MARK = "*"  # after a differing value; color would be lost in a pipe


def add_conventions(parser: argparse.ArgumentParser) -> None:
    """Add `rankadapters conventions`."""
    describe(
        parser,
        "Print the presets of a measure, or the named ones, with all the fields of their conventions. With --diff, "
        "mark the fields that differ from one more convention. With --fields, print instead the values that each field "
        "may have; use them as in preset@k+field=value.",
        "conventions letor4 yahoo --diff ranklib",
        "conventions --measure all",
        "conventions --measure err --fields",
    )
    about = "presets to print, also as preset@k or a signature (default: all presets of the measure)"
    parser.add_argument("presets", nargs="*", metavar="PRESET", help=about)
    add_measure(parser, "measure of the presets and fields", ALL)
    parser.add_argument("--fields", action="store_true", help="print the measure's fields and their allowed values")
    parser.add_argument("--k", type=cutoff, default=10, help="cutoff, or all (default: 10)")
    parser.add_argument("--diff", metavar="SPEC", help="mark fields that differ from this preset or signature")
    add_output(parser, _conventions)


def _convention(text: str, k: int | None, option: str) -> Convention:
    try:
        return presets.make(text, k) if maker(text) is not None else parse(text)
    except ConventionError as error:
        raise error.about(f"argument {option}") from None


@frozen_class
@dataclass(frozen=True, slots=True)
class PresetFields(Document):
    """The fields of presets, and whether each differs from a reference convention.

    >>> PresetFields({"letor4": presets.letor4(10)}, presets.yahoo(10)).rows["letor4"]["gain"]
    ('table_0_1_3', True)
    """

    conventions: dict[str, Convention]
    reference: Convention | None

    @property
    def rows(self) -> dict[str, dict[str, tuple[str, bool]]]:
        """The fields of each preset, spelled as in signatures; also the measure, unless it is the expected one."""
        measures = {convention.measure for convention in self.conventions.values()}
        expected = measures if self.reference is None else {self.reference.measure}
        rows = {}
        for name, convention in self.conventions.items():
            differing = {} if self.reference is None else convention.diff(self.reference)
            texts = dict(part.split("=", 1) for part in str(convention).split("/")[1:-1])
            if {convention.measure} != expected:
                texts = {"measure": convention.measure, **texts}
            rows[name] = {field: (text, field in differing) for field, text in texts.items()}
        return rows

    def blocks(self) -> list[str | Table]:
        """Return a table of the presets of each measure, and a legend for the mark."""
        by_measure: dict[str, list[str]] = {}
        for name, convention in self.conventions.items():
            by_measure.setdefault(convention.measure, []).append(name)
        tables = [self._table(f"Presets of {measure} and their fields", names) for measure, names in by_measure.items()]
        note = [] if self.reference is None else [f"{MARK} differs from {self.reference.name}: {self.reference}"]
        return [*tables, *note]

    def to_csv(self) -> str:
        """Return one table of all presets as CSV."""
        table = self._table("", list(self.conventions))
        return as_csv([table.head, *table.lines])

    def _table(self, caption: str, names: list[str]) -> Table:
        rows = {name: row for name, row in self.rows.items() if name in names}
        fields = list(dict.fromkeys(field for row in rows.values() for field in row))
        cells = {name: {f: text + MARK * marked for f, (text, marked) in row.items()} for name, row in rows.items()}
        lines = [[name, *(row.get(field, NONE) for field in fields)] for name, row in cells.items()]
        return Table.of(caption, ["preset", *fields], lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        rows, diff = self.rows.items(), None if self.reference is None else str(self.reference)
        texts = {name: {field: text for field, (text, _) in row.items()} for name, row in rows}
        differs = {name: [field for field, (_, marked) in row.items() if marked] for name, row in rows}
        return {"presets": texts, "diff": diff, "differs": differs}


@frozen_class
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


def _conventions(arguments: argparse.Namespace) -> Answer:
    measure = None if arguments.measure == ALL else arguments.measure
    if not arguments.fields:
        names = arguments.presets or list(presets.names(measure))
        reference = None if arguments.diff is None else _convention(arguments.diff, arguments.k, "--diff")
        return Answer(PresetFields({name: _convention(name, arguments.k, "PRESET") for name in names}, reference))
    if arguments.presets or arguments.diff is not None or measure is None:
        extra = " ".join(arguments.presets) or ("all" if measure is None else f"--diff {arguments.diff}")
        raise InputError(
            f"--fields prints the fields of a measure, not of {extra}.", hint=f"--fields --measure {measure or 'ndcg'}"
        )
    return Answer(MeasureFields(measure))


def add_presets(parser: argparse.ArgumentParser) -> None:
    """Add `rankadapters presets`."""
    describe(
        parser,
        "Print for which releases of each tool its presets were confirmed, and how: by running the tool (run, with the "
        "release) or by reading its source code (read). Also print which release is installed, and whether it is "
        "outside the range of confirmed releases.",
        "presets",
        "presets --tools lightgbm ranx --format json",
    )
    parser.add_argument(
        "--tools",
        nargs="+",
        action="extend",
        type=tool_name,
        choices=presets.TOOLS,
        metavar="NAME",
        help="tools (default: all)",
    )
    add_output(parser, _presets, quiet=True)


@frozen_class
@dataclass(frozen=True, slots=True)
class Evidence(Document):
    """The releases for which the presets of each tool were confirmed, and how; and the installed release.

    >>> Evidence(("yahoo",)).to_dict()
    {'yahoo': {'package': '', 'versions': ['2010'], 'evidence': 'run 2010', 'installed': None, 'range': None}}
    """

    tools: tuple[str, ...] = tuple(presets.TOOLS)

    def blocks(self) -> list[str | Table]:
        """Return one table with a row for each tool."""
        lines = []
        for name, row in self.to_dict().items():
            installed = ", ".join(filter(None, (row["installed"], row["range"]))) or "-"
            lines.append((name, row["package"] or "-", " to ".join(row["versions"]), row["evidence"], installed))
        head = ("tool", "package", "releases", "evidence", "installed")
        return [Table.of("Releases that presets hold for", head, lines)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        rows = {}
        for tool in map(presets.TOOLS.__getitem__, self.tools):
            evidence = ", ".join(dict.fromkeys(map(tool.evidence_of, tool.presets)))
            row = {"package": tool.package, "versions": list(tool.versions), "evidence": evidence}
            installed = installed_release(tool.package)
            rows[tool.name] = {**row, "installed": installed, "range": installed and range_of(tool, installed)}
        return rows


def installed_release(package: str) -> str | None:
    """Return the installed release of a package; None if it is not installed."""
    try:
        return metadata.version(package) if package else None
    except metadata.PackageNotFoundError:
        return None


def range_of(tool: Tool, installed: str) -> str:
    """Return whether a release is inside or outside the range of a tool's presets, or that it is of a different tool.

    >>> range_of(presets.ranx, "0.1"), range_of(presets.TOOLS["lenskit_2025"], "2026.1.0")
    ('outside the range', 'release of lenskit_2026')
    """
    release = _numbers_of(installed)
    first = {t.name: _numbers_of(t.versions[0]) for t in presets.TOOLS.values() if t.package == tool.package}
    started = {name: numbers for name, numbers in first.items() if numbers <= release}
    name = max(started, key=started.__getitem__) if started else min(first, key=first.__getitem__)
    if name != tool.name:
        return f"release of {name}"
    inside = first[name] <= release <= _numbers_of(tool.versions[-1])
    return "inside the range" if inside else "outside the range"


def _numbers_of(version: str) -> tuple[int, ...]:
    """Return the numbers in a version; the local part after `+` is ignored."""
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])))


def _presets(arguments: argparse.Namespace) -> Answer:
    return Answer(Evidence(tuple(dict.fromkeys(arguments.tools or presets.TOOLS))))
