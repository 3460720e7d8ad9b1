"""What a release says of itself, in several places, is one."""

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


def test_every_file_that_names_the_version_names_this_one():
    recipe = (ROOT / "docs" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert re.findall(r'^  version: "(.*)"$', recipe, re.MULTILINE) == [ra.__version__]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [ra.__version__]


def test_the_conda_recipe_needs_what_the_package_needs():
    recipe = (ROOT / "docs" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    needed = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    python, *others = re.findall(r"- (\S+) (\S+)", needed)
    assert python == ("python", PROJECT["requires-python"])
    bounds = [re.match(r"([\w-]+)(>=[\d.]+)", dependency) for dependency in PROJECT["dependencies"]]
    assert others == [bound.groups() for bound in bounds]


def test_tox_has_an_environment_for_every_python():
    found = re.search(r"py\{([\d,]+)\}", (ROOT / "tox.ini").read_text(encoding="utf-8"))
    assert found is not None
    assert [f"3.{each[1:]}" for each in found[1].split(",")] == PYTHONS


def test_the_workflow_runs_every_python():
    workflow = ROOT / ".github" / "workflows" / "ci.yml"
    if not workflow.exists():
        pytest.skip("a source distribution has no workflow")
    text = workflow.read_text(encoding="utf-8")
    assert re.search(r"python: \[(.*)\]", text)[1] == ", ".join(f'"{each}"' for each in PYTHONS)
    assert "bash .ci/run" in text


def test_every_lower_bound_is_what_the_minimum_environment_installs():
    extras = PROJECT["optional-dependencies"]
    tested = [each for name in extras if name not in {"docs", "lint"} for each in extras[name]]
    bounds = dict(re.findall(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", "\n".join([*PROJECT["dependencies"], *tested])))
    lines = (ROOT / "tests" / "constraints-minimum.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    missing = {name: bound for name, bound in bounds.items() if not f"{pinned.get(name)}.".startswith(f"{bound}.")}
    assert missing == {}


@pytest.mark.parametrize("form", ["1-wrong-number", "2-bug", "3-missing"])
def test_a_form_for_issues_asks_for_what_an_answer_needs(form):
    yaml, path = pytest.importorskip("yaml"), ROOT / ".github" / "ISSUE_TEMPLATE" / f"{form}.yml"
    if not path.exists():
        pytest.skip("a source distribution has no forms")
    asked = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert asked["name"]
    assert asked["description"]
    assert any(part.get("validations", {}).get("required") for part in asked["body"])
