"""The golden numbers of each preset, and what contradicts the evidence that a preset states."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import getdoc

from rankadapters import presets
from rankadapters.presets.tool import Tool
from tests.helpers.checkout import golden_file

FILES = {name: golden_file(name) for name in ("measures", "toolkits", "libraries", "retrieval", "evaluators", "tools")}
CORRELATIONS = golden_file("correlations")

Releases = Mapping[str, Mapping[str, set[str]]]  # by preset and release, the golden files that have its numbers

_RUN = re.compile(r"\bRun\b(?: against ((?:[\d.]+(?:-rc\d+)?(?:, | and )?)+))?")
_ADD = "add them, as tests/golden/README.md says, or declare evidence='read' in the preset"


@cache
def releases() -> Releases:
    """Return, by preset and release of its tool, the golden files whose numbers the tests compare with ours."""
    files: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for preset, release, file in _rows():
        files[preset][release].add(file)
    return files


def _rows() -> Iterator[tuple[str, str, str]]:
    for name, file in FILES.items():
        for tool, rows in file["numbers"].items():
            for _, text, _, mean, *_ in rows:
                if mean is not None:  # the tool did not refuse the data
                    for release in file["releases"].get(tool, "").split(" and "):
                        yield re.split("[@+]", text, maxsplit=1)[0], release, name
    for record in CORRELATIONS["records"]:
        yield re.split("[@+]", record["preset"], maxsplit=1)[0], record["library"].split()[-1], "correlations"


@cache
def stated_tolerance(name: str) -> float:
    """Return how far a preset's docstring says that the tool's numbers are from ours, infinity if it says nothing."""
    tool, _, method = name.partition(".")
    stated = re.search(r"\bRun\b.*?within (\d+e-\d+)", _docstring(presets.TOOLS[tool], method or "__call__"))
    return float(stated[1]) if stated else math.inf


def _docstring(tool: Tool, method: str) -> str:
    """Return the docstring of a preset in one line; the one of NDCG is that of the tool."""
    return re.sub(r"\s+", " ", getdoc(type(tool) if method == "__call__" else getattr(tool, method)) or "")


def contradiction(tool: Tool, method: str, golden: Releases) -> str | None:
    """Return what contradicts a preset's evidence, in golden files or in its docstring, and what to change."""
    name = tool.name if method == "__call__" else f"{tool.name}.{method}"
    evidence = tool.evidence_of(method)
    kind, _, release = evidence.partition(" ")
    run = _RUN.search(_docstring(tool, method))
    if evidence == "read":
        return run and f"{name}: evidence='read', but its docstring says {run[0]!r}"
    if kind != "run" or not release:
        return f"{name}: evidence={evidence!r}; allowed are 'read' and 'run' with a release, such as 'run 1.2'"
    if release not in golden.get(name, {}):
        others = ", ".join(golden.get(name, {})) or "none"
        numbers = f"no file in tests/golden has its numbers (other releases: {others})"
        return f"{name}: evidence={evidence!r}, but {numbers}; {_ADD}"
    if run is None or (run[1] and release not in re.split(", | and ", run[1])):
        return (
            f"{name}: evidence={evidence!r}, but its docstring does not say 'Run: ...' or 'Run against {release}: ...'"
        )
    return None
