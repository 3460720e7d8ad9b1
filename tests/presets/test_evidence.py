"""The evidence of each preset is true: of a release that was run, golden files have numbers."""

from __future__ import annotations

import re

import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.cli.conventions import range_of
from rankadapters.presets.tool import ToolWithoutNDCG, preset
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


class Claims(ToolWithoutNDCG, name="claims", evidence="run 1.2"):
    """A tool that was run, whose golden file has numbers of 1.2."""

    @preset(ra.RPrecision)
    def proved(self):
        """Run against 1.1 and 1.2: equal."""

    @preset(ra.RPrecision)
    def without_numbers(self):
        """Run: equal."""

    @preset(ra.RPrecision)
    def only_read(self):
        """Read only, not run."""

    @preset(ra.RPrecision)
    def another_release(self):
        """Run against 1.0: equal."""

    @preset(ra.RPrecision, evidence="run")
    def without_release(self):
        """Run: equal."""

    @preset(ra.RPrecision, evidence="run 2.0")
    def number_of_another_release(self):
        """Run against 2.0: equal."""

    @preset(ra.RPrecision, evidence="read")
    def said_to_be_run(self):
        """Run against 1.2: equal."""

    @preset(ra.RPrecision, evidence="read")
    def honest(self):
        """Read only, not run."""


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        ("proved", None),
        ("honest", None),
        (
            "without_numbers",
            r"no file in tests/golden has its numbers \(other releases: none\); add them, as ",
        ),
        (
            "number_of_another_release",
            r"'run 2.0', but no file in tests/golden has its numbers \(other releases: 1.2\)",
        ),
        ("only_read", "its docstring does not say 'Run: "),
        ("another_release", "its docstring does not say .* 'Run against 1.2: "),
        ("without_release", "evidence='run'; allowed are 'read' and 'run' with a release"),
        ("said_to_be_run", "evidence='read', but its docstring says 'Run against 1.2'"),
    ],
)
def test_untrue_evidence_is_named(method, problem):
    golden = {f"claims.{name}": {"1.2": {"a file"}} for name in Claims.presets if name != "without_numbers"}
    found = contradiction(Claims(), method, golden)
    assert (found is None) if problem is None else re.match(f"claims.{method}: .*{problem}", found)


def test_a_release_of_a_tool_does_not_inherit_the_numbers_of_its_parent():
    class Newer(Claims, name="newer", evidence="run 1.2"):
        """A release of the tool whose golden files have no numbers."""

    golden = {"claims.proved": {"1.2": {"a file"}}}
    assert contradiction(Claims(), "proved", golden) is None
    assert "newer.proved: evidence='run 1.2', but no file" in contradiction(Newer(), "proved", golden)


def test_a_subclass_must_state_its_own_evidence():
    class Newer(type(presets.ranx), name="ranx"):
        """Read only."""

    assert Newer.evidence == "read"


def test_a_preset_is_named_when_its_rows_are_taken_out_of_the_golden_files():
    golden = {name: files for name, files in releases().items() if name != "mteb.recall"}
    assert contradiction(presets.mteb, "precision", golden) is None
    assert "mteb.recall: evidence='run 2.26.24', but no file" in contradiction(presets.mteb, "recall", golden)
