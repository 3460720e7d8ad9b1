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
from rankadapters.core.evaluation.evaluator import evaluate
from rankadapters.core.evaluation.table import Table
from rankadapters.core.presets.tool import Evidence, Tool
from rankadapters.parity.checks import crosscheck
from rankadapters.parity.golden import Golden
from rankadapters.parity.rows import agree, relative
from rankadapters.parity.tool_runs import RUNS, K
from rankadapters.parity.trainers import TOOLKITS
from rankadapters.statistics.document import Document

Outcome = Literal["confirmed", "outside its range", "wrong", "failed", "not run"]
GRADED = ("ndcg", "dcg")  # of other measures some toolkits take labels of 0 and 1 only


class Number(NamedTuple):
    """A tool's own number of a preset beside ours."""

    preset: str
    theirs: float
    ours: float
    equal: bool


@dataclass(frozen=True, slots=True)
class PresetRow:
    """Whether the presets of a tool are what its installed release computes.

    Attributes
    ----------
    tool, package : str
        The name of the tool's presets, and what pip installs it as.
    versions, evidence
        As of the tool.
    installed : str or None
        The installed release.
    outcome : {'confirmed', 'outside its range', 'wrong', 'failed', 'not run'}
        Whether its numbers are ours; `failed` where it raised an error.
    note : str
        The numbers that differ, how many are equal, or why there are none.
    """

    tool: str
    package: str
    versions: tuple[str, ...]
    evidence: Evidence
    installed: str | None
    outcome: Outcome
    note: str


@dataclass(frozen=True, slots=True)
class PresetReport(Document):
    """Which presets the installed tools confirm.

    >>> PresetReport((PresetRow("yahoo", "", ("2010",), "run", None, "not run", "pip does not install it"),)).ok
    True
    """

    rows: tuple[PresetRow, ...]

    @property
    def ok(self) -> bool:
        """Tell whether no preset is wrong and no tool failed."""
        return all(row.outcome not in {"wrong", "failed"} for row in self.rows)

    def blocks(self) -> list[str | Table]:
        """Return a table of the tools."""
        lines = [
            (row.tool, row.outcome, row.installed or "-", spelled(row.versions), row.evidence, row.note)
            for row in self.rows
        ]
        head = ("tool", "presets", "installed", "releases", "evidence", "note")
        return [Table.of("Presets against the installed tools", head, lines)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {"ok": self.ok, "rows": [{**asdict(row), "versions": list(row.versions)} for row in self.rows]}


def spelled(versions: Iterable[str]) -> str:
    """Write the releases for which presets were confirmed.

    >>> spelled(("4.6.0", "4.7.0")), spelled(("0.3.21",))
    ('4.6.0 to 4.7.0', '0.3.21')
    """
    return " to ".join(versions)


def check_presets(*, tools: str | Iterable[str] | None = None) -> PresetReport:
    """Ask every installed tool for its own numbers of the golden queries, and compare them with ours.

    Parameters
    ----------
    tools : str or iterable of str, optional
        The tools to check, by the names of their presets; all by default.

    Returns
    -------
    PresetReport
        A row for each tool.

    Raises
    ------
    InputError
        There are no presets of that name.

    Examples
    --------
    >>> check_presets(tools="yahoo").rows[0].outcome
    'not run'
    """
    chosen = list(presets.TOOLS) if tools is None else names("tools", tools)
    return PresetReport(tuple(_checked(presets.TOOLS[choice("tools", name, presets.TOOLS)]) for name in chosen))


def _checked(tool: Tool) -> PresetRow:
    installed = _installed(tool.package) if tool.package else None
    outcome, note = _outcome(tool, installed)
    return PresetRow(tool.name, tool.package, tool.versions, tool.evidence, installed, outcome, note)


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


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
            numbers = _numbers(tool.name)
    except Exception as error:  # noqa: BLE001 - a tool whose functions have changed raises what it likes
        return "failed", " ".join(f"{type(error).__name__}: {error}".split())[:200]
    differ = [f"{n.preset}: {n.theirs:.9g}, ours {n.ours:.9g}" for n in numbers if not n.equal]
    if differ or not numbers:
        return ("wrong", "; ".join(differ)) if differ else ("failed", "it gave no number")
    first, last = _release(tool.versions[0]), _release(tool.versions[-1])
    within = first <= _release(installed) <= last
    return "confirmed" if within else "outside its range", f"{len(numbers)} numbers equal"


def _current(package: str, installed: str) -> str:
    """Name the tool whose presets are of a release: the newest that began by then, or else the oldest."""
    tools = sorted(
        (tool for tool in presets.TOOLS.values() if tool.package == package), key=lambda t: _release(t.versions[0])
    )
    begun = [tool for tool in tools if _release(tool.versions[0]) <= _release(installed)]
    return (begun or tools[:1])[-1].name


def _release(version: str) -> tuple[int, ...]:
    """Read the numbers of a release, without those of a local build."""
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])))


def _numbers(name: str) -> list[Number]:
    if name in TOOLKITS:
        return _toolkit_numbers(name)
    run, numbers = RUNS[name], []
    golden = Golden.make(graded=run.graded)
    for preset, theirs in run.ask(golden).items():
        ours = evaluate(golden.queries, golden.scores, preset).value
        equal = bool(agree([ours], theirs, relative(run.tolerance, theirs))[0])
        numbers.append(Number(preset, theirs, ours, equal))
    return numbers


def _toolkit_numbers(name: str) -> list[Number]:
    """Cross-check each preset of a toolkit, without those that the toolkit does not compute for plain rows."""
    numbers = []
    for preset in (name, *(f"{name}.{measure}" for measure in presets.TOOLS[name].measures())):
        convention = presets.make(preset, K)
        if getattr(convention, "pairs", None) == "given":
            convention = convention.replace(pairs="label")
        golden = Golden.make(graded=convention.measure in GRADED)
        rows = crosscheck(golden.queries, golden.scores, convention, toolkits=name).rows
        numbers += [
            Number(convention.short_name, float(row.value), float(row.our_value), row.verdict != "different")
            for row in rows
            if row.value is not None and row.our_value is not None
        ]
    return numbers
