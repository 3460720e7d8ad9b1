"""The installed tools compute the numbers of their presets; each tool is called as in the run that confirmed them.

`tox -e presets` installs the newest releases of the tools and runs these tests.
"""

from __future__ import annotations

import json
import re
import warnings
from hashlib import sha1
from importlib import import_module
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import cli, presets
from rankadapters.cli import conventions
from tests.helpers.tables import for_each
from tests.presets import tool_runs
from tests.presets.golden import golden, incomplete

ROOT = Path(__file__).parents[2]
MIN_NUMBERS = {"sklearn": 6, "lightgbm": 4, "xgboost": 4, "catboost": 15}  # fewest numbers that a toolkit gives


def wrong_presets(tool):
    return [number.preset for number in tool_runs.tool_numbers(tool) if not number.equal]


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


def plain(value):
    """Return an argument as plain JSON types: frames and arrays as lists, results of mocked tools as `tool`."""
    if isinstance(value, MagicMock):
        return "tool"
    if isinstance(value, dict):
        return [[str(name), plain(item)] for name, item in value.items()]
    if isinstance(value, float | int | np.number):
        return round(float(value), 9)
    if hasattr(value, "to_dict"):
        return plain(value.to_dict("list") if value.ndim == 2 else value.tolist())  # pandas
    if isinstance(value, set):
        return sorted(value)
    return value if isinstance(value, str) else [plain(item) for item in value]


def test_these_tools_are_checked_on_graded_labels_and_ties():
    graded = {name for name, run in tool_runs.RUNS.items() if run.graded}
    assert graded == {"scipy", "pandas", "polars", "pytrec_eval", "allrank_1_4_1", "ignite", "polars_ds", "haystack"}


# Digest of each tool's calls, values and tolerance in the run in which it confirmed its presets.
CALLS = {
    "ranx": "d09661a2", "ir_measures": "2497e655", "pytrec_eval": "3c2bd2d8", "torchmetrics": "c95ffe0f",
    "allrank_1_4_1": "ccdea671", "ignite": "e01e6bd4", "metrax": "a834abb1", "polars_ds": "1f86bf5b",
    "haystack": "7af2179f", "sentence_transformers": "6498680e", "recommenders": "8b1890c3", "replay": "7a58d569",
    "rectools": "9ba7c902", "cornac": "a994f885", "mlflow": "9ec67bb6", "lenskit_2025": "751ec4df",
    "lenskit_2026": "cea4b733", "autogluon": "ff35ce59",
}  # fmt: skip


@for_each("name", [name for name in tool_runs.RUNS if name not in {"scipy", "pandas", "polars"}])
def test_every_tool_is_called_as_in_the_run_that_confirmed_its_presets(name, monkeypatch):
    pytest.importorskip("pandas")
    run, tools = tool_runs.RUNS[name], MagicMock()
    query_results = tools.pytrec_eval.RelevanceEvaluator.return_value.evaluate.return_value
    query_results.values.return_value = [MagicMock()]
    monkeypatch.setattr(
        tool_runs,
        "load",
        lambda module: import_module(module) if module in {"pandas", "numpy"} else getattr(tools, module),
    )
    values = run.ask(golden(graded=run.graded))
    mock_calls = [call for call in tools.mock_calls if not call[0].endswith("__float__")]
    calls = [[text, plain(args), plain(kwargs)] for text, args, kwargs in mock_calls]
    digest = sha1(json.dumps([calls, plain(values), run.tolerance]).encode(), usedforsecurity=False).hexdigest()
    assert digest[:8] == CALLS[name]


@for_each(
    ("name", "changes"),
    [
        *((name, {"missing": "skip"}) for name in ("ranx", "ir_measures", "haystack", "rectools", "recommenders")),
        *((name, {"missing": "zero"}) for name in ("pytrec_eval", "lenskit_2025")),
        *((name, {"unjudged": "drop"}) for name in ("ranx", "ir_measures", "pytrec_eval", "mlflow", "cornac")),
        *((name, {"gain": "linear"}) for name in ("ranx", "ir_measures", "pytrec_eval")),  # labels below 0
        *((name, {"ideal": "retrieved-only"}) for name in ("pytrec_eval", "haystack")),
        ("rectools", {"empty": 0}),
    ],
)
def test_a_tool_that_treats_missing_rows_otherwise_is_wrong(name, changes, monkeypatch):
    convention = ra.parse(f"{name}@5").replace(**changes)

    def values_of(rows):
        return {f"{name}@5": ra.evaluate(rows.queries, rows.scores, convention).value}

    monkeypatch.setitem(tool_runs.RUNS, name, tool_runs.RUNS[name]._replace(ask=values_of))
    wrong = wrong_presets(name)
    assert f"{name}@5 of incomplete queries" in wrong or (changes == {"empty": 0} and wrong)


def test_a_toolkit_with_a_wrong_number_is_wrong(monkeypatch):
    lightgbm = pytest.importorskip("rankadapters.lightgbm.parity")
    route_of = type(lightgbm.TOOLKIT).score_route

    def wrong_route(self, words):
        route = route_of(self, words)
        return route._replace(ask=lambda data: route.ask(data) + 1e-3)

    monkeypatch.setattr(type(lightgbm.TOOLKIT), "score_route", wrong_route)
    assert "lightgbm@5" in wrong_presets("lightgbm")


def test_the_golden_queries_have_grades_ties_and_a_query_with_nothing_relevant():
    graded, binary = (golden.__wrapped__(graded=is_graded) for is_graded in (True, False))  # without the cache
    assert set(graded.labels) == {0, 1, 2}
    assert set(binary.labels) == {0, 1}
    assert not all(graded.relevant.values())  # a query with nothing relevant
    assert min(map(len, graded.run.values())) < tool_runs.K
    assert max(map(len, graded.run.values())) == 15  # every tool's sort is stable up to 15 rows
    assert any(len(set(rows.values())) < len(rows) for rows in graded.run.values())
    _, data = ra.datasets.mq2008_like(random_state=0, n_train_queries=1, n_test_queries=40)
    rows = np.flatnonzero(np.isin(data.qid, [int(qid[1:]) for qid in graded.run]))
    assert graded.scores.tolist() == data.X[rows, 3].tolist()
    assert graded.docid == binary.docid == [f"d{row:04}" for row in range(rows.size)]
    assert np.lexsort((graded.scores,)).tolist() == np.argsort(binary.scores).tolist()
    assert all(len(set(rows.values())) == len(rows) for rows in binary.run.values())


@for_each("graded", [True, False])
def test_the_incomplete_queries_have_every_kind_of_missing_row(graded):
    rows = incomplete(graded=graded, negative=True)
    with_relevant = [qid for qid, docids in rows.relevant.items() if docids]
    assert [qid for qid in rows.qrels if qid not in rows.run] == with_relevant[:1]
    assert list(rows.run.keys() - rows.qrels) == ["outside"]
    unknown = [qid for qid in rows.qrels if qid in rows.run and not rows.run[qid].keys() & rows.qrels[qid].keys()]
    assert any(rows.relevant[qid] for qid in unknown)  # nothing judged is retrieved
    assert any(rows.qrels[qid].keys() - run.keys() for qid, run in rows.run.items() if qid != "outside")
    assert any(run.keys() - rows.qrels[qid].keys() for qid, run in rows.run.items() if qid != "outside")
    assert any(label < 0 and docid in rows.run[qid] for qid, labels in rows.qrels.items() if qid in rows.run
               for docid, label in labels.items())  # fmt: skip
    assert rows.queries.n_queries == len(rows.qrels)


@for_each("name", presets.TOOLS)
def test_every_tool_states_its_releases_and_its_evidence(name):
    tool = presets.TOOLS[name]
    assert tool.evidence in {"run", "read"}
    assert 1 <= len(tool.versions) <= 2
    assert all(re.search(r"\d", version) for version in tool.versions)
    docstring = re.sub(r"\s+", " ", type(tool).__doc__)
    assert re.search(r"\brun\b|\bRun\b" if tool.evidence == "run" else r"Read only|definition", docstring)


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
            "package": "ranx", "versions": ["0.3.21"], "evidence": "run",
            "installed": "0.3.21", "range": "inside the range",
        },
        "yahoo": {"package": "", "versions": ["2010"], "evidence": "run", "installed": None, "range": None},
    }  # fmt: skip
    assert len(printed(capsys, "--format", "csv").splitlines()) == 1 + len(presets.TOOLS)


@for_each("release", ["0.3.22", "1.0rc1", "0.3.2"])
def test_the_command_says_that_a_release_is_outside_the_range(release, capsys, installed):
    installed(ranx=release)
    out = printed(capsys, "--tools", "ranx", "yahoo", "--format", "markdown")
    assert f"| ranx | ranx | 0.3.21 | run | {release}, outside the range |" in out
    assert "| yahoo | - | 2010 | run | - |" in out


@for_each(
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


@for_each("name", [name for name, tool in presets.TOOLS.items() if tool.package])
def test_the_confirmed_releases_are_inside_their_range(name):
    tool = presets.TOOLS[name]
    assert "outside the range" not in {conventions.range_of(tool, version) for version in tool.versions}


def test_the_tox_environments_install_every_tool_that_has_a_check():
    text = (ROOT / "tox.ini").read_text(encoding="utf-8")
    sections = re.findall(r"^\[testenv:presets.*?(?=^\[)", text, re.MULTILINE | re.DOTALL)
    listed = {line.strip().partition("<")[0] for section in sections for line in section.splitlines()}
    assert {presets.TOOLS[name].package for name in tool_runs.RUNS} - listed == {"allrank", "autogluon.multimodal"}
