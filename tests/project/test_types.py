"""Type checkers see the types of the public names, although these are loaded lazily."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
pytest.importorskip("mypy")  # in the lint extra
for toolkit in ("lightgbm", "xgboost", "catboost", "sklearn"):
    pytest.importorskip(toolkit)

ROOT = Path(__file__).parents[2]
MISTAKES = Path("tests", "helpers", "typing_mistakes.py")


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """Write a configuration that skips the types of other packages: reading them takes ten times as long as ours."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    packages = [*rules["flake8-tidy-imports"]["banned-module-level-imports"], "joblib"]
    path = tmp_path_factory.mktemp("mypy") / "mypy.ini"
    path.write_text(
        "[mypy]\nstrict = True\n"
        f"[mypy-{','.join(f'{name}.*' for name in packages)}]\nfollow_imports = skip\nignore_missing_imports = True\n"
    )
    return path


def mypy(config, folder, file):
    command = [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", os.devnull]
    environment = {name: text for name, text in os.environ.items() if name not in {"PYTHONPATH", "MYPYPATH"}}
    process = subprocess.run(
        [*command, "--python-executable", sys.executable, file],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return process.stdout + process.stderr


def test_mypy_flags_exactly_the_marked_mistakes(config):
    expected = {
        (number, mistake[1])
        for number, line in enumerate((ROOT / MISTAKES).read_text(encoding="utf-8").splitlines(), 1)
        if (mistake := re.search(r"# mistake: ([a-z-]+)$", line))
    }
    printed = mypy(config, ROOT, MISTAKES)
    flagged = re.findall(rf"^{re.escape(str(MISTAKES))}:(\d+): error: .*\[([a-z-]+)\]$", printed, re.MULTILINE)
    assert {(int(line), code) for line, code in flagged} == expected, printed


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


def test_a_client_of_the_installed_package_sees_its_types(config, tmp_path):
    try:
        metadata.distribution("rankadapters")
    except metadata.PackageNotFoundError:
        pytest.skip("rankadapters is not installed, and only the checkout is tested")
    (tmp_path / "client.py").write_text(CLIENT)
    printed = mypy(config, tmp_path, "client.py")
    revealed = re.findall(r'Revealed type is "(.*)"', printed)
    assert [text.replace("builtins.", "") for text in revealed[:3]] == ["float", "int | None", "int"], printed
    assert "adarank.AdaRank" in revealed[3]
    assert set(re.findall(r":(\d+): error: .*\[(.*)\]", printed)) == {("10", "call-overload")}, printed
