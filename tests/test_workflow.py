"""The hosted checks are those of the checkout, and issues ask for what an answer needs."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOSTED = ROOT / ".github"


@pytest.fixture(scope="module")
def yaml():
    if not HOSTED.is_dir():
        pytest.skip("an sdist has none")
    return pytest.importorskip("yaml")


def test_the_workflow_runs_what_anyone_can_run(yaml):
    [job] = yaml.safe_load((HOSTED / "workflows" / "ci.yml").read_text("utf-8"))["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_the_workflow_tests_the_oldest_python_supported(yaml):
    [job] = yaml.safe_load((HOSTED / "workflows" / "ci.yml").read_text("utf-8"))["jobs"].values()
    assert job["strategy"]["matrix"]["python"][0] == "3.11"
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text("utf-8")


@pytest.mark.parametrize("form", ["another_number", "something_else"])
def test_a_form_has_a_name_and_asks_something(yaml, form):
    asked = yaml.safe_load((HOSTED / "ISSUE_TEMPLATE" / f"{form}.yml").read_text("utf-8"))
    assert asked["name"]
    assert asked["description"]
    assert all(part["validations"]["required"] for part in asked["body"])
