"""The evidence of each preset is true: of a release that was run, golden files have numbers."""

from __future__ import annotations

import re

import pytest

from rankadapters import presets
from rankadapters.cli.conventions import range_of
from tests.presets.evidence import FILES, contradiction, releases


@pytest.mark.parametrize("name", presets.names(None))
def test_a_preset_that_was_run_has_numbers_of_that_release(name):
    tool, _, method = name.partition(".")
    problem = contradiction(presets.TOOLS[tool], method or "__call__", releases())
    assert problem is None, problem


@pytest.mark.parametrize("name", FILES)
def test_a_golden_file_names_the_release_of_each_program(name):
    without_release = set(FILES[name]["numbers"]) - set(FILES[name]["releases"])
    assert not without_release, f'"releases" of tests/golden/{name}.json lacks {without_release}'


@pytest.mark.parametrize("name", presets.TOOLS)
def test_every_tool_states_its_releases_and_its_evidence(name):
    tool = presets.TOOLS[name]
    assert 1 <= len(tool.versions) <= 2
    assert all(re.search(r"\d", version) for version in tool.versions)
    _, _, release = tool.evidence.partition(" ")
    assert not release or not tool.package or range_of(tool, release) == "inside the range"
    assert release or re.search("Read only|definition", re.sub(r"\s+", " ", type(tool).__doc__))


def test_a_subclass_must_state_its_own_evidence():
    class Newer(type(presets.ranx), name="ranx"):
        """Read only."""

    assert Newer.evidence == "read"
