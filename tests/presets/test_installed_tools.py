"""The installed tools compute the numbers of their presets; each tool is called as in the run that confirmed them.

`tox -e presets` installs the newest releases of the tools and runs these tests.
"""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest

from rankadapters import cli, presets
from rankadapters.cli import conventions
from tests.presets import tool_runs

ROOT = Path(__file__).parents[2]
MIN_NUMBERS = {"sklearn": 6, "lightgbm": 4, "xgboost": 4, "catboost": 15}  # fewest numbers that a toolkit gives


@pytest.mark.long
@pytest.mark.parametrize("name", sorted({*tool_runs.RUNS, *MIN_NUMBERS}))
def test_the_installed_release_computes_the_numbers_of_its_presets(name):
    tool = presets.TOOLS[name]
    installed = conventions.installed_release(tool.package)
    if installed is None:
        pytest.skip(f"{tool.package} is not installed")
    if (where := conventions.range_of(tool, installed)).startswith("release of"):
        pytest.skip(f"{installed} is a {where}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a tool's own deprecation warnings
        numbers = tool_runs.tool_numbers(name)
    assert [number for number in numbers if not number.equal] == [], f"{name} {installed} is {where}"
    assert len(numbers) >= MIN_NUMBERS.get(name, 1)


@pytest.fixture
def installed(monkeypatch):
    """Return a function that lets some releases of packages appear to be the only packages installed."""

    def pretend(**releases):
        versions = {name.replace("_", "-"): version for name, version in releases.items()}
        monkeypatch.setattr(conventions, "installed_release", versions.get)

    return pretend


def printed(capsys, *arguments):
    assert cli.main(["presets", *arguments]) == 0
    return capsys.readouterr().out


def test_the_command_prints_the_evidence_and_the_installed_release(capsys, installed):
    installed(ranx="0.3.21")
    assert json.loads(printed(capsys, "--tools", "ranx", "yahoo", "--format", "json")) == {
        "ranx": {
            "package": "ranx", "versions": ["0.3.21"], "evidence": "run 0.3.21",
            "installed": "0.3.21", "range": "inside the range",
        },
        "yahoo": {"package": "", "versions": ["2010"], "evidence": "run 2010", "installed": None, "range": None},
    }  # fmt: skip
    assert len(printed(capsys, "--format", "csv").splitlines()) == 1 + len(presets.TOOLS)


@pytest.mark.parametrize("release", ["0.3.22", "1.0rc1", "0.3.2"])
def test_the_command_says_that_a_release_is_outside_the_range(release, capsys, installed):
    installed(ranx=release)
    out = printed(capsys, "--tools", "ranx", "yahoo", "--format", "markdown")
    assert f"| ranx | ranx | 0.3.21 | run 0.3.21 | {release}, outside the range |" in out
    assert "| yahoo | - | 2010 | run 2010 | - |" in out


@pytest.mark.parametrize(
    ("release", "preset", "where"),
    [
        ("2025.8.1", "lenskit_2025", None),
        ("2024.1", "lenskit_2025", "outside the range"),
        ("2026.1.0", "lenskit_2026", None),
        ("2027.2", "lenskit_2026", "outside the range"),
    ],
)
def test_a_release_belongs_to_one_tool_of_its_package(release, preset, where):
    ranges = {name: conventions.range_of(presets.TOOLS[name], release) for name in ("lenskit_2025", "lenskit_2026")}
    assert ranges.pop(preset) == where or where is None
    assert list(ranges.values()) == [f"release of {preset}"]


def test_the_tox_environments_install_every_tool_that_has_a_check():
    text = (ROOT / "tox.ini").read_text(encoding="utf-8")
    sections = re.findall(r"^\[testenv:presets.*?(?=^\[)", text, re.MULTILINE | re.DOTALL)
    listed = {line.strip().partition("<")[0] for section in sections for line in section.splitlines()}
    assert {presets.TOOLS[name].package for name in tool_runs.RUNS} - listed == {"allrank", "autogluon.multimodal"}
