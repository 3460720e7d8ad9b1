"""What type checkers see through the public face, whose names load when they are first used."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
for toolkit in ("lightgbm", "xgboost", "catboost", "sklearn"):
    pytest.importorskip(toolkit)

ROOT = Path(__file__).parents[1]
MISTAKES = Path("tests", "typing_mistakes.py")


def test_each_mistake_is_flagged_and_nothing_else(tmp_path):
    expected = {
        (number, found[1])
        for number, line in enumerate((ROOT / MISTAKES).read_text().splitlines(), 1)
        if (found := re.search(r"# mistake: ([a-z-]+)$", line))
    }

    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path]
    found = subprocess.run([*mypy, MISTAKES], cwd=ROOT, capture_output=True, text=True, check=False)

    flagged = re.findall(rf"^{re.escape(str(MISTAKES))}:(\d+): error: .*\[([a-z-]+)\]$", found.stdout, re.MULTILINE)
    assert {(int(line), code) for line, code in flagged} == expected, found.stdout + found.stderr
