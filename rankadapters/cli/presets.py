"""`rankadapters presets`: show which releases of each tool its presets match, and check installed tools."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from rankadapters import presets
from rankadapters.cli.common import quiet_stdout
from rankadapters.cli.helping import examples
from rankadapters.cli.printing import Answer, add_output
from rankadapters.core.evaluation.table import Table
from rankadapters.statistics.document import Document


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "presets",
        help="print the releases of each tool that its presets match",
        description="Print for which releases of each tool its presets were confirmed, and how: by running the tool "
        "(run) or by reading its source code (read). With --check, run every installed tool on small built-in queries "
        "and compare its numbers with those of the presets.",
        epilog=examples(
            "presets", "presets --check", "presets --check --tools lightgbm ranx --format json",
            status="0, or 1 when a number differs or a tool fails, 2 on bad input",
        ),
    )  # fmt: skip
    parser.add_argument("--check", action="store_true", help="compare the installed tools' numbers with ours")
    parser.add_argument(
        "--tools", nargs="+", action="extend", choices=presets.TOOLS, metavar="NAME", help="tools (default: all)"
    )
    add_output(parser, _run)


@dataclass(frozen=True, slots=True)
class Evidence(Document):
    """The releases for which the presets of each tool were confirmed, and how.

    >>> Evidence(("ranx",)).to_dict()
    {'ranx': {'package': 'ranx', 'versions': ['0.3.21'], 'evidence': 'run'}}
    """

    tools: tuple[str, ...] = tuple(presets.TOOLS)

    def blocks(self) -> list[str | Table]:
        """Return one table with a row for each tool."""
        lines = [
            (name, row["package"] or "-", " to ".join(row["versions"]), row["evidence"])
            for name, row in self.to_dict().items()
        ]
        return [Table.of("Releases that presets hold for", ("tool", "package", "releases", "evidence"), lines)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        tools = {name: presets.TOOLS[name] for name in self.tools}
        return {
            name: {"package": tool.package, "versions": list(tool.versions), "evidence": tool.evidence}
            for name, tool in tools.items()
        }


def _run(arguments: argparse.Namespace) -> Answer:
    tools = tuple(dict.fromkeys(arguments.tools or presets.TOOLS))
    if not arguments.check:
        return Answer(Evidence(tools))
    with quiet_stdout():
        from rankadapters.parity.preset_check import check_presets

        report = check_presets(tools=tools)
    return Answer(report, ok=report.ok)
