"""Whether the presets are still what the installed tools compute."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any, Literal, NamedTuple

from rankadapters.core import presets
from rankadapters.core.declaration.arguments import choice, names
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.table import Table
from rankadapters.core.presets.preset import presets_of
from rankadapters.core.presets.tool import Tool
from rankadapters.parity.checks import crosscheck
from rankadapters.parity.golden import golden
from rankadapters.parity.rows import agree, relative
from rankadapters.parity.tool_runs import RUNS, K
from rankadapters.parity.trainers import TOOLKITS
from rankadapters.segments.evaluation import evaluate
from rankadapters.statistics.document import Document

Outcome = Literal["confirmed", "outside its range", "wrong", "failed", "not run"]
GRADED = ("ndcg", "dcg")  # of other measures some toolkits take labels of 0 and 1 only


class ToolNumber(NamedTuple):
    """A tool's own number of a preset beside ours."""

    preset: str
    theirs: float
    ours: float
    equal: bool


@dataclass(frozen=True, slots=True)
class PresetRow:
    """Whether the presets of a tool are what its installed release computes; `failed` where it raised an error."""

    tool: str
    package: str
    versions: tuple[str, ...]
    installed: str | None
    outcome: Outcome
    note: str  # the numbers that differ, how many are equal, or why there are none


@dataclass(frozen=True, slots=True)
class PresetReport(Document):
    """Which presets the installed tools confirm."""

    rows: tuple[PresetRow, ...]

    @property
    def ok(self) -> bool:
        """Tell whether no preset is wrong and no tool failed."""
        return all(row.outcome not in {"wrong", "failed"} for row in self.rows)

    def blocks(self) -> list[str | Table]:
        """Return a table of the tools."""
        lines = [(r.tool, r.outcome, r.installed or "-", " to ".join(r.versions), r.note) for r in self.rows]
        return [Table.of("Presets and installed tools", ("tool", "outcome", "installed", "releases", "note"), lines)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {"ok": self.ok, "rows": [{**asdict(row), "versions": list(row.versions)} for row in self.rows]}


def check_presets(*, tools: str | Iterable[str] | None = None) -> PresetReport:
    """Ask every installed tool, or those named, for its own numbers of the golden queries, and compare them with ours.

    >>> check_presets(tools="yahoo").rows[0].outcome
    'not run'
    """
    chosen = list(presets.TOOLS) if tools is None else names("tools", tools)
    return PresetReport(tuple(_checked(presets.TOOLS[choice("tools", name, presets.TOOLS)]) for name in chosen))


def _checked(tool: Tool) -> PresetRow:
    try:
        installed = metadata.version(tool.package) if tool.package else None
    except metadata.PackageNotFoundError:
        installed = None
    return PresetRow(tool.name, tool.package, tool.versions, installed, *_outcome(tool, installed))


def _outcome(tool: Tool, installed: str | None) -> tuple[Outcome, str]:
    if installed is None:
        return "not run", "not installed" if tool.package else "pip does not install it"
    if (current := _current(tool.package, installed)) != tool.name:
        return "not run", f"{installed} is of {current}"
    if tool.name not in RUNS and tool.name not in TOOLKITS:
        return "not run", "there is no check of it"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations of the tool are not ours to mend
            numbers = _toolkit_numbers(tool.name) if tool.name in TOOLKITS else _numbers(tool.name)
    except Exception as error:  # noqa: BLE001 - a tool whose functions have changed raises what it likes
        return "failed", " ".join(f"{type(error).__name__}: {error}".split())[:200]
    differ = [f"{n.preset}: {n.theirs:.9g}, ours {n.ours:.9g}" for n in numbers if not n.equal]
    if differ or not numbers:
        return ("wrong", "; ".join(differ)) if differ else ("failed", "it gave no number")
    within = _release(tool.versions[0]) <= _release(installed) <= _release(tool.versions[-1])
    return "confirmed" if within else "outside its range", f"equal numbers: {len(numbers)}"


def _current(package: str, installed: str) -> str:
    """Name the tool whose presets are of a release: the newest that began by then, or else the oldest."""
    begins = {tool.name: _release(tool.versions[0]) for tool in presets.TOOLS.values() if tool.package == package}
    begun = [name for name in begins if begins[name] <= _release(installed)]
    return max(begun, key=begins.__getitem__) if begun else min(begins, key=begins.__getitem__)


def _release(version: str) -> tuple[int, ...]:
    """Read the numbers of a release, without those of a local build."""
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])))


def _numbers(name: str) -> list[ToolNumber]:
    run, numbers = RUNS[name], []
    rows = golden(graded=run.graded)
    for preset, theirs in run.ask(rows).items():
        ours = evaluate(rows.queries, rows.scores, preset).value
        equal = bool(agree([ours], theirs, relative(run.tolerance, theirs))[0])
        numbers.append(ToolNumber(preset, theirs, ours, equal))
    return numbers


def _toolkit_numbers(name: str) -> list[ToolNumber]:
    """Cross-check each preset of a toolkit, and leave out those that the toolkit has no number for."""
    numbers, tool = [], presets.TOOLS[name]
    for method, declared in presets_of(type(tool)).items():
        k = {"k": K} if declared.takes_k else {}
        pairs = {"pairs": "label"} if "pairs" in declared.options else {}  # the golden rows have no pairs
        convention: Convention = getattr(tool, method)(**k, **pairs)
        rows = golden(graded=convention.measure in GRADED)
        numbers += [
            ToolNumber(convention.short_name, float(row.value), float(row.our_value), row.verdict != "different")
            for row in crosscheck(rows.queries, rows.scores, convention, toolkits=name).rows
            if row.value is not None and row.our_value is not None
        ]
    return numbers
