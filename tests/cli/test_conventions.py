"""`rankadapters conventions` prints presets and the fields in which they differ."""

from __future__ import annotations

import csv
import io
import json

import pytest

from rankadapters import presets
from rankadapters.core.measures import MEASURES
from tests.helpers.command import error_of, output_of, report_of

NAMES = presets.names(None)


def test_every_preset_is_printed_with_every_field(capsys):
    report = report_of(capsys, "conventions", "--k", "5")
    assert list(report["presets"]) == list(presets.names())
    for name, fields in report["presets"].items():
        parts = str(getattr(presets, name)(5)).split("/")[1:-1]
        assert [f"{field}={text}" for field, text in fields.items()] == parts
    assert report["diff"] is None
    assert not any(report["differs"].values())


@pytest.mark.parametrize("reference", ["yahoo", "yahoo@10", str(presets.yahoo(10))])
def test_diff_lists_the_fields_that_differ(capsys, reference):
    report = report_of(capsys, "conventions", "letor4", "yahoo", "--diff", reference)
    assert report["diff"] == str(presets.yahoo(10))
    assert report["differs"] == {"letor4": ["gain", "discount", "short", "empty"], "yahoo": []}


def test_the_table_is_never_cut(capsys, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "40")
    out = output_of(capsys, "conventions", "--diff", "lightgbm")
    for name in presets.names():
        [line] = [line for line in out.splitlines() if line.startswith(f"{name} ")]
        for part in str(getattr(presets, name)(10)).split("/")[1:-1]:
            assert part.partition("=")[2] in line
    assert f"* differs from ndcg@10/lightgbm: {presets.lightgbm(10)}" in out


def test_the_measure_may_have_a_tools_word(capsys):
    for word, measure in (("map", "ap"), ("mrr", "rr"), ("recip_rank", "rr"), ("ap", "ap")):
        assert list(report_of(capsys, "conventions", "--measure", word)["presets"]) == list(presets.names(measure))


@pytest.mark.parametrize("form", ["csv", "json", "table"])
def test_all_measures_prints_every_preset(capsys, form):
    out = output_of(capsys, "conventions", "--measure", "all", "--format", form)
    if form == "json":
        printed = list(json.loads(out)["presets"])
    elif form == "csv":
        printed = [row["preset"] for row in csv.DictReader(io.StringIO(out))]
    else:
        printed = [line.split()[0] for line in out.splitlines() if line.split()[:1] and line.split()[0] in NAMES]
        captions = [line.split()[2] for line in out.splitlines() if line.startswith("Presets of ")]
        assert set(captions) == set(MEASURES)
        assert len(captions) == len(MEASURES)
    assert sorted(printed) == sorted(NAMES)


def test_presets_and_tools_are_found_by_their_other_names(capsys):
    report = report_of(capsys, "conventions", "scikit-learn", "lgbm.map", "trec_eval", "--k", "5")
    assert report["presets"]["lgbm.map"]["divisor"] == presets.lightgbm.map(5).divisor
    assert list(report["presets"]) == ["scikit-learn", "lgbm.map", "trec_eval"]
    tools = report_of(capsys, "presets", "--tools", "lgbm", "lenskit")
    assert list(tools) == ["lightgbm", "lenskit_2026"]
    assert "invalid choice: 'nothing'" in error_of(capsys, "parity", "--toolkits", "lgb", "nothing")


def test_a_named_convention_keeps_its_own_cutoff(capsys):
    options = ("lightgbm.map@5", "letor4", "trec_eval_9.ndcg_cut.5", "--k", "all", "--diff", "yahoo")
    report = report_of(capsys, "conventions", *options)
    assert "/short=pad/" in str(presets.trec_eval_9(5))
    assert report["presets"]["trec_eval_9.ndcg_cut.5"]["gain"] == presets.trec_eval_9(5).gain
    assert report["presets"]["lightgbm.map@5"]["measure"] == "ap"  # letor4 is an NDCG
    assert "measure" in report["differs"]["lightgbm.map@5"]
    assert "measure" not in report["presets"]["letor4"]
    assert report["presets"]["letor4"]["short"] == "pad"  # without a cutoff
    assert report["diff"] == str(presets.yahoo(None))
