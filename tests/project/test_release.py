"""All files agree on the version, the requirements and the Python releases of a release."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import rankadapters as ra

ROOT = Path(__file__).parent.parent.parent
PYTHONS = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_changelog_has_a_section_for_the_version():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1].split()[0] == ra.__version__


def test_the_recipe_and_the_citation_name_the_current_version():
    recipe = (ROOT / "docs" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert re.findall(r'^  version: "(.*)"$', recipe, re.MULTILINE) == [ra.__version__]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [ra.__version__]


def test_the_conda_recipe_has_the_requirements_of_the_package():
    recipe = (ROOT / "docs" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run_section = recipe.partition("  run:\n")[2].partition("  run_constraints:\n")[0]
    python, *requirements = re.findall(r"- (\S+) (\S+)", run_section)
    assert python == ("python", PROJECT["requires-python"])
    matches = [re.match(r"([\w-]+)(>=[\d.]+)", dependency) for dependency in PROJECT["dependencies"]]
    assert requirements == [match.groups() for match in matches]


def test_tox_has_an_environment_for_every_python():
    environments = re.search(r"py\{([\d,]+)\}", (ROOT / "tox.ini").read_text(encoding="utf-8"))
    assert environments is not None
    assert [f"3.{digits[1:]}" for digits in environments[1].split(",")] == PYTHONS


def test_the_workflow_runs_every_python():
    workflow = ROOT / ".github" / "workflows" / "ci.yml"
    if not workflow.exists():
        pytest.skip("a source distribution has no workflow")
    text = workflow.read_text(encoding="utf-8")
    assert re.search(r"python: \[(.*)\]", text)[1] == ", ".join(f'"{python}"' for python in PYTHONS)
    assert "bash .ci/run" in text


def test_the_minimum_environment_pins_every_lower_bound():
    extras = PROJECT["optional-dependencies"]
    optional = [dependency for name in extras if name not in {"docs", "lint"} for dependency in extras[name]]
    lower_bounds = dict(re.findall(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", "\n".join([*PROJECT["dependencies"], *optional])))
    lines = (ROOT / "tests" / "constraints-minimum.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    missing = {name: low for name, low in lower_bounds.items() if not f"{pinned.get(name)}.".startswith(f"{low}.")}
    assert missing == {}


@pytest.mark.parametrize("name", ["1-wrong-number", "2-bug", "3-missing"])
def test_an_issue_form_has_a_name_a_description_and_a_required_question(name):
    yaml, path = pytest.importorskip("yaml"), ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml"
    if not path.exists():
        pytest.skip("a source distribution has no issue forms")
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"]
    assert form["description"]
    assert any(part.get("validations", {}).get("required") for part in form["body"])
