"""What type checkers see through the public face, whose names load when they are first used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
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


CLIENT = """
import rankadapters as ra

convention = ra.presets.lightgbm(10)
score = ra.evaluate([1, 0], [0.2, 0.9], convention, qid=["a", "a"])
reveal_type(score.value)
reveal_type(convention.k)
reveal_type(ra.Tally.merge([ra.Evaluator([1, 0], convention, qid=["a", "a"]).tally([1.0, 2.0])]).n_queries)
reveal_type(ra.learners.AdaRank)
ra.evaluate([1, 0], [0.2, 0.9], convention, sizes=[2])
"""


def test_a_client_of_the_installed_package_sees_its_types(tmp_path):
    try:
        metadata.distribution("rankadapters")
    except metadata.PackageNotFoundError:
        pytest.skip("rankadapters is not installed here, only its checkout is tested")
    (tmp_path / "client.py").write_text(CLIENT)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", sys.executable, "--cache-dir", ".cache"]
    installed_only = {name: text for name, text in os.environ.items() if name not in {"PYTHONPATH", "MYPYPATH"}}
    found = subprocess.run(
        [*mypy, "client.py"], cwd=tmp_path, env=installed_only, capture_output=True, text=True, check=False
    ).stdout
    revealed = re.findall(r'Revealed type is "(.*)"', found)
    assert [text.replace("builtins.", "") for text in revealed[:3]] == ["float", "int | None", "int"], found
    assert "adarank.AdaRank" in revealed[3]
    assert set(re.findall(r":(\d+): error: .*\[(.*)\]", found)) == {("10", "call-overload")}, found
