"""The list of mutants that no test can kill, `equivalent.toml`, each with the reason."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

LIST = Path(__file__).with_name("equivalent.toml")


class Change(NamedTuple):
    """A mutant, wherever it is in its module: the original lines and the mutated ones, without indentation."""

    module: str
    line: str
    mutated: str


def parse_diff(diff: str) -> Change:
    """Return the change that a diff shows."""
    header, *lines = [line for line in diff.splitlines() if not line.startswith("@@")]
    sides = ["".join(line[1:].strip() + "\n" for line in lines[1:] if line[0] == sign).strip() for sign in "-+"]
    return Change(header.removeprefix("--- ").strip(), *sides)


def equivalent_mutants(path: Path = LIST) -> dict[Change, str]:
    """Return the listed changes, with their reasons."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    return {Change(entry["module"], entry["line"], entry["mutated"]): entry["why"] for entry in entries}
