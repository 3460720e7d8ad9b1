"""Mutants that no test can kill, each with the reason: `equivalent.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

LIST = Path(__file__).with_name("equivalent.toml")


class Change(NamedTuple):
    """What a mutant is, wherever in its module it stands: lines with and without it, without indentation."""

    module: str
    line: str
    mutated: str


def changed(diff: str) -> Change:
    """Read it off a diff."""
    header, *lines = [line for line in diff.splitlines() if not line.startswith("@@")]
    sides = ["".join(line[1:].strip() + "\n" for line in lines[1:] if line[0] == sign).strip() for sign in "-+"]
    return Change(header.removeprefix("--- ").strip(), *sides)


def listed(path: Path = LIST) -> dict[Change, str]:
    """All that are listed, with the reason."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    return {Change(each["module"], each["line"], each["mutated"]): each["why"] for each in entries}
