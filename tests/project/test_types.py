"""Type checkers of an installed package see its types; mypy reads tests/project/typing_mistakes.py by itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest

from tests.helpers.checkout import CHECKOUT

pytestmark = pytest.mark.long
pytest.importorskip("mypy")  # in the lint extra
for toolkit in ("lightgbm", "xgboost", "catboost", "sklearn"):
    pytest.importorskip(toolkit)


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
    """The types of other packages are skipped: reading them takes ten times as long as ours."""
    try:
        metadata.distribution("rankadapters")
    except metadata.PackageNotFoundError:
        pytest.skip("rankadapters is not installed, and only the checkout is tested")
    (tmp_path / "client.py").write_text(CLIENT)
    rules = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    packages = [*rules["flake8-tidy-imports"]["banned-module-level-imports"], "joblib"]
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nstrict = True\n"
        f"[mypy-{','.join(f'{name}.*' for name in packages)}]\nfollow_imports = skip\nignore_missing_imports = True\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", os.devnull, "client.py"]
    environment = {name: text for name, text in os.environ.items() if name not in {"PYTHONPATH", "MYPYPATH"}}
    process = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    printed = process.stdout + process.stderr
    revealed = re.findall(r'Revealed type is "(.*)"', printed)
    assert [text.replace("builtins.", "") for text in revealed[:3]] == ["float", "int | None", "int"], printed
    assert "adarank.AdaRank" in revealed[3]
    assert set(re.findall(r":(\d+): error: .*\[(.*)\]", printed)) == {("10", "call-overload")}, printed
