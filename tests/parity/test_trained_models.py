"""`crosscheck_models` trains a small ranker per toolkit and compares the toolkit's own value of it with ours."""

from __future__ import annotations

import dataclasses
import json
import re
import runpy
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.datasets import RankingData, mq2008_like
from rankadapters.parity import crosscheck_models
from rankadapters.parity.installed import load, own_convention
from tests.helpers.parameters import long_except
from tests.helpers.stand_in_toolkit import use_stand_in

ALL = ("sklearn", "lightgbm", "xgboost", "catboost")
PACKAGES = {"sklearn": ("sklearn",), "lightgbm": ("lightgbm", "sklearn"), "xgboost": ("xgboost", "sklearn")}
LETOR, TEXTBOOK, AVERAGED = ra.presets.letor4(5), ra.presets.textbook(10), ra.presets.sklearn(10)
DATA = TRAIN, TEST = mq2008_like(random_state=1, n_train_queries=50, n_test_queries=40)
BINARY = [dataclasses.replace(part, labels=np.minimum(part.labels, 1)) for part in DATA]


def skip_without(toolkit):
    for package in PACKAGES.get(toolkit, (toolkit,)):
        pytest.importorskip(package)


def conventions_of(toolkit):
    best_and_worst = (getattr(ra.presets, toolkit)(3).replace(ties=ties) for ties in ("best", "worst"))
    return [LETOR, TEXTBOOK, AVERAGED, *best_and_worst]


def crosschecked(toolkit, data=DATA, seed=0, measure=None):
    skip_without(toolkit)
    conventions = None if measure else conventions_of(toolkit)
    options = {"measure": measure} if measure else {}
    return crosscheck_models(*data, k=3, toolkits=[toolkit], convention=conventions, random_state=seed, **options)


crosschecked_once = cache(crosschecked)


@pytest.mark.parametrize("toolkit", long_except(ALL, "sklearn", "xgboost"))
def test_every_toolkits_value_of_a_model_with_ties_equals_ours(toolkit, monkeypatch):
    skip_without(toolkit)
    results, adapter = [], type(load(toolkit))
    train = adapter.train
    monkeypatch.setattr(adapter, "train", lambda *arguments: results.append(train(*arguments)) or results[-1])
    report = crosschecked(toolkit)
    [row] = report.rows
    assert (row.source, row.version) == (toolkit, sys.modules[toolkit].__version__)
    assert row.convention == getattr(ra.presets, toolkit)(3)
    assert re.search("Its own metric is .*3", row.reason)
    assert row.difference == pytest.approx(0, abs=1e-12)
    assert row.value - row.our_value == row.difference
    assert list(row.declared) == [str(convention) for convention in conventions_of(toolkit)]
    assert all(0 < value < 1 for value in row.declared.values())
    assert report.ok
    *_, best, worst = row.declared.values()
    assert best > worst
    assert crosschecked(toolkit, BINARY, measure="map").ok
    assert results[0][0].dtype == (np.float32 if toolkit == "xgboost" else np.float64)


@pytest.mark.long
@pytest.mark.parametrize("toolkit", ALL)
def test_the_same_seed_gives_the_same_numbers_and_a_different_seed_does_not(toolkit):
    [row] = crosschecked_once(toolkit).rows
    assert crosschecked(toolkit).rows == (row,)
    assert crosschecked(toolkit, seed=6).rows[0].our_value != row.our_value


@pytest.mark.long
def test_one_document_queries_are_left_out_on_both_sides_and_counted():
    skip_without("sklearn")
    sizes = TEST.group_sizes
    [row] = crosscheck_models(*DATA, toolkits=["sklearn"], convention=[AVERAGED]).rows
    note = f"scikit-learn refuses one-document queries: {(sizes == 1).sum()} left out on both sides."
    assert row.reason.splitlines()[1:] == [note]
    assert row.our_value == pytest.approx(row.value, abs=1e-12)
    assert row.declared[row.signature] != row.our_value
    one_document_test = RankingData(X=TEST.X, labels=TEST.labels, qid=np.arange(TEST.qid.size))
    report = crosscheck_models(TRAIN, one_document_test, toolkits=["sklearn"])
    [row] = report.rows
    assert (row.value, row.our_value, row.difference) == (None, None, None)
    assert all(value is not None for value in row.declared.values())
    assert not report.ok


def test_conventions_under_which_no_toolkit_was_compared_are_named(monkeypatch):
    use_stand_in(monkeypatch, "sklearn")
    alone = "These columns are our values alone, as no toolkit was compared under them: "
    for conventions, named in (
        ([LETOR, ra.presets.sklearn(3), TEXTBOOK], f"{alone}{LETOR.name}, {TEXTBOOK.name}."),
        (None, ""),
    ):
        report = crosscheck_models(*DATA, k=3, toolkits=["sklearn"], convention=conventions)
        assert (alone in str(report), named in str(report)) == (bool(named), True)
        assert str(report).startswith("parity holds: 1 equal\n")


@pytest.mark.long
def test_labels_are_rounded_to_float32_on_both_sides_and_noted_for_catboost():
    skip_without("catboost")
    train, test = (dataclasses.replace(part, labels=part.labels * 0.3 + 1e-3 * part.X[:, 0]) for part in DATA)
    report = crosscheck_models(train, test, toolkits=["catboost"])
    [row] = report.rows
    assert report.ok
    assert row.reason.endswith("\nlabels rounded to float32, as CatBoost stores them.")
    assert abs(row.declared[row.signature] - row.value) > 1e-12


def test_a_toolkit_that_is_not_installed_is_a_row_of_nulls_and_parity_still_holds(monkeypatch):
    use_stand_in(monkeypatch, "sklearn")
    monkeypatch.setitem(sys.modules, "catboost", None)
    steps = []
    report = crosscheck_models(
        *DATA, toolkits=["sklearn", "catboost"], convention=[LETOR, LETOR, TEXTBOOK],
        progress=lambda *step: steps.append(step),
    )  # fmt: skip
    assert steps == [(0, 2), (1, 2), (2, 2)]
    assert report.ok
    head, _, missing = report.to_csv().splitlines()
    assert head == f"verdict,source,version,its value,our value,difference,tolerance,{LETOR},{TEXTBOOK},reason"
    note = 'catboost is not installed: pip install "rankadapters[catboost]"'
    assert missing == f"not-comparable,catboost,,,,,,,,{note.replace(chr(34), chr(34) * 2).join([chr(34)] * 2)}"
    assert report.conventions == (LETOR, TEXTBOOK)
    row = json.loads(report.to_json())["rows"][1]
    assert (row["source"], row["reason"]) == ("catboost", note)
    assert row["declared"] == {str(LETOR): None, str(TEXTBOOK): None}
    assert row["value"] is row["our_value"] is row["difference"] is None


def test_a_missing_sklearn_is_noted_for_lightgbm(monkeypatch):
    pytest.importorskip("lightgbm")
    use_stand_in(monkeypatch, "catboost")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    row, _ = crosscheck_models(*DATA, k=3, toolkits=["lightgbm", "catboost"]).rows
    assert row.reason == 'sklearn is not installed: pip install "rankadapters[lightgbm]"'


def test_the_note_says_why_a_toolkit_cannot_be_imported(monkeypatch, tmp_path):
    (tmp_path / "broken_toolkit.py").write_text("raise OSError('libgomp.so.1: cannot open\\nshared object file')\n")
    monkeypatch.syspath_prepend(tmp_path)
    use_stand_in(monkeypatch, "sklearn")
    use_stand_in(monkeypatch, "catboost", package="broken_toolkit")
    own, row = crosscheck_models(*DATA, toolkits=["sklearn", "catboost"]).rows
    assert own.convention == ra.presets.sklearn(10)
    assert row.version == ""
    assert (
        row.reason == "broken_toolkit is installed but cannot be imported: libgomp.so.1: cannot open shared object file"
    )


@pytest.mark.parametrize("make_generator", [np.random.default_rng, np.random.RandomState])
def test_a_generator_draws_the_seed_of_the_models(make_generator, monkeypatch):
    seeds = []
    use_stand_in(monkeypatch, "sklearn", train=lambda task: seeds.append(task.seed) or task.test.X[:, 0])
    for seed in (1, 1, 2):
        crosscheck_models(*DATA, toolkits=["sklearn"], random_state=make_generator(seed))
    assert seeds[0] == seeds[1] != seeds[2]
    for seed in (2**31 - 1, 2**31, 2**32):  # toolkits take seeds below 2^31
        crosscheck_models(*DATA, toolkits=["sklearn"], random_state=seed)
    assert seeds[3:] == [2**31 - 1, 0, 0]


# Refused arguments and data.


def fail_to_train(task):
    raise RuntimeError("[10:00:59] Check failed: [1, 2]\nStack trace:\n  [bt] (0) somewhere")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"test": dataclasses.replace(TEST, labels=TEST.labels * 2), "convention": [LETOR]},
         r"test: labels\[\d+\] is 4, outside the gain table"),  # before anything is trained
        ({}, r"^sklearn fails: Check failed: \[1, 2\]\.\nHint"),  # one sentence, without the time of day
    ],
)  # fmt: skip
def test_bad_input_and_a_failing_training_raise(arguments, message, monkeypatch):
    use_stand_in(monkeypatch, "sklearn", train=fail_to_train)
    call_arguments = {"train": TRAIN, "test": TEST, "toolkits": ["sklearn"], **arguments}
    with pytest.raises(ra.RankAdaptersError, match=message):
        crosscheck_models(call_arguments.pop("train"), call_arguments.pop("test"), **call_arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"train": 5}, "train=5; allowed are RankingData"),
        ({"test": 5}, "test=5; allowed are RankingData"),
        ({"test": dataclasses.replace(TEST, X=TEST.X[:, 1:])}, r"train has 46 features, test 45\."),
        ({"measure": "err"}, r"none of sklearn computes err\."),
    ],
)
def test_other_types_features_and_measures_are_refused_before_training(arguments, message, monkeypatch):
    use_stand_in(monkeypatch, "sklearn", train=fail_to_train)
    call_arguments = {"train": TRAIN, "test": TEST, "toolkits": ["sklearn"], **arguments}
    with pytest.raises(ra.InputError, match=message):
        crosscheck_models(call_arguments.pop("train"), call_arguments.pop("test"), **call_arguments)


# Measures other than NDCG.


@pytest.mark.long
def test_a_toolkit_that_lacks_the_measure_is_a_row_that_says_so():
    pytest.importorskip("catboost")
    pytest.importorskip("lightgbm")
    report = crosscheck_models(*BINARY, measure="query-rmse", toolkits=["lightgbm", "catboost"])
    assert report.ok
    lightgbm, catboost = report.rows
    assert (lightgbm.value, lightgbm.reason) == (None, "lightgbm does not compute query-rmse.")
    assert catboost.difference == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("toolkit", "measure", "expected"),
    [
        ("lightgbm", "ndcg", "lightgbm@7"),
        ("xgboost", "map", "xgboost.map@7"),
        ("xgboost", "ap", "xgboost.map@7"),
        ("sklearn", "map", "sklearn.average_precision_score"),
        ("lightgbm", "average_precision", "lightgbm.average_precision"),
        ("catboost", "query_auc", "catboost.query_auc"),
        ("catboost", "pair_logit", "catboost.pair_logit+pairs=label+average=query"),
        ("catboost", "dcg", "catboost.dcg@7"),
    ],
)
def test_a_measure_is_first_looked_up_by_the_toolkits_own_name(toolkit, measure, expected):
    assert own_convention(toolkit, measure, 7) == ra.parse(expected)


@pytest.mark.long
def test_the_parity_example_runs(capsys):
    pytest.importorskip("catboost")
    runpy.run_path(str(Path(__file__).parent.parent.parent / "examples" / "parity.py"))
    out = capsys.readouterr().out
    assert "catboost    0." in out
    assert out.endswith("parity holds\n")
