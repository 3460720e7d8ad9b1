"""`rankadapters presets --check` confirms presets by installed tools and reports wrong numbers and other releases."""

from __future__ import annotations

import json
import re
from hashlib import sha1
from importlib import import_module, metadata
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import cli, presets
from rankadapters.parity import preset_check, tool_runs
from rankadapters.parity.golden import golden, incomplete
from tests.helpers.tables import for_each

ROOT = Path(__file__).parents[2]


@pytest.fixture
def installed(monkeypatch):
    """Return a function that lets some releases of packages appear to be the only packages installed."""

    def pretend(**releases):
        versions = {name.replace("_", "-"): version for name, version in releases.items()}

        def version(package):
            if package not in versions:
                raise metadata.PackageNotFoundError(package)
            return versions[package]

        monkeypatch.setattr(preset_check.metadata, "version", version)

    return pretend


@pytest.fixture
def answer(monkeypatch):
    """Return a function that lets a tool give our values of its presets plus a difference."""

    def set_answer(tool, *, plus=0.0, texts=None):
        def values_of(rows):
            preset_texts = texts or [f"{tool}@5"]
            return {text: ra.evaluate(rows.queries, rows.scores, text).value + plus for text in preset_texts}

        monkeypatch.setitem(tool_runs.RUNS, tool, tool_runs.Run(values_of))

    return set_answer


def row_of(tool):
    [row] = preset_check.check_presets(tools=tool).rows
    return row


def test_a_tool_with_our_numbers_is_confirmed_if_its_release_is_in_the_range(installed, answer):
    answer("ranx", texts=["ranx@5", "ranx.map@5"])
    installed(ranx="0.3.21")
    row = row_of("ranx")
    assert (row.outcome, row.installed, row.note) == ("confirmed", "0.3.21", "equal numbers: 2")
    for release in ("0.3.22", "1.0rc1", "0.3.2"):
        installed(ranx=release)
        report = preset_check.check_presets(tools="ranx")
        assert (report.rows[0].outcome, report.ok) == ("outside its range", True)


def test_the_first_and_the_last_release_of_a_range_are_confirmed(installed, answer):
    tool = next(tool for tool in presets.TOOLS.values() if tool.name in tool_runs.RUNS and len(tool.versions) == 2)
    answer(tool.name)
    for release in tool.versions:
        installed(**{tool.package: release})
        assert row_of(tool.name).outcome == "confirmed"


def test_a_tool_with_a_wrong_number_is_wrong_whatever_its_release(installed, answer):
    answer("ranx", plus=1e-6)
    for release in ("0.3.21", "0.4"):
        installed(ranx=release)
        report = preset_check.check_presets(tools=["ranx", "yahoo"])
        assert not report.ok
        assert [row.outcome for row in report.rows] == ["wrong", "not run"]
        assert re.fullmatch(r"ranx@5: 0\.\d+, ours 0\.\d+", report.rows[0].note)


def test_a_tool_that_raises_has_failed(installed, monkeypatch):
    def raise_error(_):
        raise AttributeError("no attribute\n  'evaluate'")

    installed(ranx="0.3.21")
    monkeypatch.setitem(tool_runs.RUNS, "ranx", tool_runs.Run(raise_error))
    report = preset_check.check_presets(tools="ranx")
    assert (report.rows[0].outcome, report.ok) == ("failed", False)
    assert report.rows[0].note == "AttributeError: no attribute 'evaluate'"


@for_each(
    ("release", "preset"),
    [
        ("2025.8.1", "lenskit_2025"),
        ("2024.1", "lenskit_2025"),
        ("2026.1.0", "lenskit_2026"),
        ("2027.2", "lenskit_2026"),
    ],
)
def test_the_presets_of_the_installed_release_are_checked(release, preset, installed, answer):
    installed(lenskit=release)
    for name in ("lenskit_2025", "lenskit_2026"):
        answer(name)
    rows = preset_check.check_presets(tools=["lenskit_2025", "lenskit_2026"]).rows
    assert [row.tool for row in rows if row.outcome != "not run"] == [preset]
    assert f"{release} is of {preset}" in [row.note for row in rows]


def test_the_note_says_why_a_tool_is_not_checked(installed):
    installed(pyspark="4.3.0")
    notes = {name: row_of(name).note for name in ("letor4", "ranx", "spark")}
    assert notes == {"letor4": "pip does not install it", "ranx": "not installed", "spark": "there is no check of it"}
    with pytest.raises(ra.InputError, match=r"tools='rankx'; allowed are "):
        preset_check.check_presets(tools="rankx")


MIN_NUMBERS = {"sklearn": 6, "lightgbm": 4, "xgboost": 4, "catboost": 15}  # fewest numbers that a toolkit confirms


@pytest.mark.parametrize("tool", sorted({*tool_runs.RUNS, *MIN_NUMBERS}))
def test_the_installed_tools_confirm_their_presets(tool):
    row = row_of(tool)
    if row.outcome == "not run":
        pytest.skip(row.note)
    assert row.outcome in {"confirmed", "outside its range"}, row.note
    assert int(row.note.rpartition(" ")[2]) >= MIN_NUMBERS.get(tool, 1)


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
    monkeypatch.setattr(preset_check.metadata, "version", lambda _: presets.TOOLS[name].versions[-1])
    row = row_of(name)
    assert row.outcome == "wrong"
    assert "of incomplete queries" in row.note or changes == {"empty": 0}


def test_a_toolkit_with_a_wrong_number_is_wrong(monkeypatch):
    lightgbm = pytest.importorskip("rankadapters.lightgbm.parity")
    route_of = type(lightgbm.TOOLKIT).score_route

    def wrong_route(self, words):
        route = route_of(self, words)
        return route._replace(ask=lambda data: route.ask(data) + 1e-3)

    monkeypatch.setattr(type(lightgbm.TOOLKIT), "score_route", wrong_route)
    assert row_of("lightgbm").outcome == "wrong"


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


def test_the_command_prints_the_evidence(capsys):
    assert cli.main(["presets", "--tools", "ranx", "yahoo", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "ranx": {"package": "ranx", "versions": ["0.3.21"], "evidence": "run"},
        "yahoo": {"package": "", "versions": ["2010"], "evidence": "run"},
    }
    assert cli.main(["presets", "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(presets.TOOLS)


def test_the_command_ends_with_1_when_a_number_is_wrong(capsys, installed, answer):
    installed(ranx="0.3.21")
    answer("ranx")
    assert cli.main(["presets", "--check", "--tools", "ranx", "yahoo", "--format", "markdown"]) == 0
    assert "| ranx | confirmed | 0.3.21 | 0.3.21 | equal numbers: 1 |" in capsys.readouterr().out
    answer("ranx", plus=0.1)
    assert cli.main(["presets", "--check", "--tools", "ranx", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["rows"][0]["outcome"] == "wrong"


def test_the_tox_environments_install_every_tool_that_has_a_check():
    text = (ROOT / "tox.ini").read_text(encoding="utf-8")
    sections = re.findall(r"^\[testenv:presets.*?(?=^\[)", text, re.MULTILINE | re.DOTALL)
    listed = {line.strip().partition("<")[0] for section in sections for line in section.splitlines()}
    assert {presets.TOOLS[name].package for name in tool_runs.RUNS} - listed == {"allrank", "autogluon.multimodal"}
