"""Check that the presets compute the same numbers as the installed tools."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any, Literal, NamedTuple

from rankadapters import presets
from rankadapters.core.declaration.arguments import choice, names
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.evaluate import evaluate
from rankadapters.core.evaluation.table import Table
from rankadapters.parity.checks import crosscheck
from rankadapters.parity.golden import golden, incomplete
from rankadapters.parity.rows import agree, relative
from rankadapters.parity.tool_runs import RUNS, K
from rankadapters.parity.trainers import TOOLKITS
from rankadapters.presets.tool import Tool
from rankadapters.statistics.document import Document

Outcome = Literal["confirmed", "outside its range", "wrong", "failed", "not run"]
GRADED = ("ndcg", "dcg")  # under other measures, some toolkits accept only the labels 0 and 1


class ToolNumber(NamedTuple):
    """A tool's metric value and ours under one preset."""

    preset: str
    tool_value: float
    our_value: float
    equal: bool


@dataclass(frozen=True, slots=True)
class PresetRow:
    """Whether the installed release of a tool agrees with its presets; `failed` if the tool raised an error."""

    tool: str
    package: str
    versions: tuple[str, ...]
    installed: str | None
    outcome: Outcome
    note: str  # the numbers that differ, or how many are equal, or why no number was compared


@dataclass(frozen=True, slots=True)
class PresetReport(Document):
    """The result of a preset check: one row per tool."""

    rows: tuple[PresetRow, ...]

    @property
    def ok(self) -> bool:
        """Whether no preset is wrong and no tool failed."""
        return all(row.outcome not in {"wrong", "failed"} for row in self.rows)

    def blocks(self) -> list[str | Table]:
        """Return a table of the tools."""
        lines = [(r.tool, r.outcome, r.installed or "-", " to ".join(r.versions), r.note) for r in self.rows]
        return [Table.of("Presets and installed tools", ("tool", "outcome", "installed", "releases", "note"), lines)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {"ok": self.ok, "rows": [{**asdict(row), "versions": list(row.versions)} for row in self.rows]}


def check_presets(*, tools: str | Iterable[str] | None = None) -> PresetReport:
    """Check the presets: compare metric values of all installed tools, or of the named tools, with ours.

    >>> check_presets(tools="yahoo").rows[0].outcome
    'not run'
    """
    requested = list(presets.TOOLS) if tools is None else names("tools", tools)
    return PresetReport(tuple(_check_tool(presets.TOOLS[choice("tools", name, presets.TOOLS)]) for name in requested))


def _check_tool(tool: Tool) -> PresetRow:
    try:
        installed = metadata.version(tool.package) if tool.package else None
    except metadata.PackageNotFoundError:
        installed = None
    return PresetRow(tool.name, tool.package, tool.versions, installed, *_outcome(tool, installed))


def _outcome(tool: Tool, installed: str | None) -> tuple[Outcome, str]:
    if installed is None:
        return "not run", "not installed" if tool.package else "pip does not install it"
    if (name := _tool_of_release(tool.package, installed)) != tool.name:
        return "not run", f"{installed} is of {name}"
    if tool.name not in RUNS and tool.name not in TOOLKITS:
        return "not run", "there is no check of it"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a tool's own deprecation warnings
            numbers = _toolkit_numbers(tool.name) if tool.name in TOOLKITS else _numbers(tool.name)
    except Exception as error:  # noqa: BLE001 - a changed tool can raise any error
        return "failed", " ".join(f"{type(error).__name__}: {error}".split())[:200]
    differences = [f"{n.preset}: {n.tool_value:.9g}, ours {n.our_value:.9g}" for n in numbers if not n.equal]
    if differences or not numbers:
        return ("wrong", "; ".join(differences)) if differences else ("failed", "it gave no number")
    in_range = _release(tool.versions[0]) <= _release(installed) <= _release(tool.versions[-1])
    return "confirmed" if in_range else "outside its range", f"equal numbers: {len(numbers)}"


def _tool_of_release(package: str, installed: str) -> str:
    """Return the tool whose presets cover a release: the latest that does not start after it, or else the earliest."""
    first = {tool.name: _release(tool.versions[0]) for tool in presets.TOOLS.values() if tool.package == package}
    started = [name for name in first if first[name] <= _release(installed)]
    return max(started, key=first.__getitem__) if started else min(first, key=first.__getitem__)


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers in a version; the local part after `+` is ignored."""
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])))


def _numbers(name: str) -> list[ToolNumber]:
    run, numbers = RUNS[name], []
    data = [golden(graded=run.graded)]
    if run.incomplete:
        data.append(incomplete(graded=run.graded, negative=run.negative))
    for rows in data:
        where = "" if rows.is_whole else " of incomplete queries"
        for preset, tool_value in run.ask(rows).items():
            our_value = evaluate(rows.queries, rows.scores, preset).value
            equal = bool(agree([our_value], tool_value, relative(run.tolerance, tool_value))[0])
            numbers.append(ToolNumber(f"{preset}{where}", tool_value, our_value, equal))
    return numbers


def _toolkit_numbers(name: str) -> list[ToolNumber]:
    """Cross-check each preset of a toolkit; skip presets for which the toolkit has no number."""
    numbers, tool = [], presets.TOOLS[name]
    for method, declared in tool.presets.items():
        k = {"k": K} if declared.takes_k else {}
        pairs = {"pairs": "label"} if "pairs" in declared.options else {}  # golden queries have no pairs
        convention: Convention = getattr(tool, method)(**k, **pairs)
        rows = golden(graded=convention.measure in GRADED)
        numbers += [
            ToolNumber(convention.short_name, float(row.value), float(row.our_value), row.verdict != "different")
            for row in crosscheck(rows.queries, rows.scores, convention, toolkits=name).rows
            if row.value is not None and row.our_value is not None
        ]
    return numbers
