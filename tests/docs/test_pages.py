"""The code of the README and of the documentation runs unchanged and in order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests.helpers.parameters import long_except
from tests.helpers.python_processes import NO_AUTOLOAD, PLUGIN_OPTIONS
from tests.trackers.mlflow_registry import import_mlflow

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = [
    "README.md",
    *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")) if BLOCK.search(page.read_text("utf-8"))),
]


@pytest.mark.parametrize("page", long_except(PAGES, "README.md"))
def test_the_code_of_a_page_runs(page, monkeypatch, tmp_path):
    for toolkit in ("lightgbm", "xgboost", "catboost", "sklearn", "matplotlib", "dask"):
        pytest.importorskip(toolkit)
    if page == "docs/trackers.md":
        for name, value in {"MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_ERROR_REPORTING": "false"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # a folder needs no database
        monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
        for package in ("optuna_integration", "wandb"):
            pytest.importorskip(package)
        import_mlflow()
        warnings.filterwarnings("ignore", module="mlflow")  # about MLflow's own calls of pandas
    import sklearn

    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [(m.start(), m[1]) for m in BLOCK.finditer(text)]
    assert blocks
    namespace: dict[str, object] = {"__name__": "__main__"}
    with sklearn.config_context():  # restores what the README changes
        for start, code in blocks:
            line = text.count("\n", 0, start) + 1
            exec(compile("\n" * line + code, str(ROOT / page), "exec"), namespace)  # noqa: S102 - our own text


@pytest.mark.long
def test_the_tests_of_the_parity_page_pass(tmp_path):
    for toolkit in ("lightgbm", "xgboost", "catboost", "sklearn"):
        pytest.importorskip(toolkit)
    [code] = re.findall(
        r"^```py\n(import pytest\n.*?)^```", (ROOT / "docs/parity.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    (tmp_path / "test_page.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", *PLUGIN_OPTIONS, "-q", "--strict-markers", "test_page.py"]
    environment = {**os.environ, NO_AUTOLOAD: "1", "PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert f"{code.count('def test_')} passed" in result.stdout, result.stdout + result.stderr


def test_pages_install_from_a_checkout_until_the_index_has_a_release():
    """Only the section on installing has the line that adds an extra to an installed rankadapters."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")]
    lines = [(page.name, line) for page in pages for line in page.read_text("utf-8").splitlines()]
    from_index = [page for page, line in lines if re.search(r"pip install \"?rankadapters(?!\S* @ git\+)", line)]
    assert from_index == ["start.md"]


def test_no_example_prints_the_last_value_with_the_best_round():
    lines = [(page, line) for page in PAGES for line in (ROOT / page).read_text(encoding="utf-8").splitlines()]
    assert [(page, line) for page, line in lines if "best_iteration" in line and "history[-1]" in line] == []


def test_the_readme_states_the_speed_that_the_speed_page_measures():
    speed = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    ratios = dict(
        re.findall(r"^\| (NDCG@1|NDCG@10|all ranks) \| [\d.]+ \| [\d.]+ \| ([\d.]+) \|$", speed, re.MULTILINE)
    )
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    speedups = [round(float(ratios[name])) for name in ("NDCG@1", "NDCG@10", "all ranks")]
    assert (
        "NDCG {} times as fast as LightGBM at k = 1, {} times at k = 10 and {} times without a cutoff".format(*speedups)
        in readme
    )
    our_ms, lightgbm_ms = re.search(
        r"NDCG@10 of two million rows takes (\d+) ms where LightGBM takes (\d+)", " ".join(speed.split())
    ).groups()
    assert f"and there NDCG@10 takes {int(our_ms) / int(lightgbm_ms):.2f} of LightGBM's time" in readme
