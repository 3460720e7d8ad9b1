from __future__ import annotations

import dataclasses
import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import parity
from rankadapters.datasets import RankingData, mq2008_like
from rankadapters.parity import trainers
from rankadapters.parity.trainers import Trainer
from tests.helpers.stand_in import trainer

ALL = ("sklearn", "lightgbm", "xgboost", "catboost")
NEEDS = {"sklearn": ("sklearn",), "lightgbm": ("lightgbm", "sklearn"), "xgboost": ("xgboost", "sklearn")}
KEYS = [
    "model", "toolkit", "version", "native_metric", "native_value", "native_convention", "our_value", "difference",
    "declared", "note",
]  # fmt: skip
LETOR, TEXTBOOK = ra.presets.letor4(5), ra.presets.textbook(10)


@pytest.fixture(scope="module")
def data():
    return mq2008_like(random_state=1, n_train_queries=50, n_test_queries=40)


def need(toolkit):
    for package in NEEDS.get(toolkit, (toolkit,)):
        pytest.importorskip(package)


def stand_in(monkeypatch, name, **more):
    """A toolkit that is always installed."""
    monkeypatch.setitem(trainers.TOOLKITS, name, trainer(name, **more))


@pytest.mark.parametrize("toolkit", ALL)
def test_every_toolkit_reports_what_we_compute(data, toolkit):
    k = 3  # all others ask for 10
    need(toolkit)
    report = parity.crosscheck_models(*data, k=k, toolkits=[toolkit], convention=[LETOR, TEXTBOOK])
    [row] = report.rows
    preset = getattr(ra.presets, toolkit)(k)
    assert row.toolkit == toolkit
    assert row.version == sys.modules[toolkit].__version__
    assert row.native_convention == str(preset)
    assert f"{k}" in row.native_metric
    assert row.difference == pytest.approx(0, abs=1e-12)
    assert row.native_value - row.our_value == row.difference
    assert list(row.declared) == [str(LETOR), str(TEXTBOOK)]
    assert all(0 < value < 1 for value in row.declared.values())
    assert report.ok


@pytest.mark.parametrize("toolkit", ALL)
def test_the_models_tie_and_so_put_the_order_of_ties_to_the_test(data, toolkit, monkeypatch):
    need(toolkit)
    asked = trainers.TOOLKITS[toolkit]
    said, train = [], Trainer.train
    monkeypatch.setattr(Trainer, "train", lambda *given: said.append(train(*given)) or said[-1])
    best_and_worst = [asked.convention(10).replace(ties=ties) for ties in ("best", "worst")]
    [row] = parity.crosscheck_models(*data, toolkits=[toolkit], convention=best_and_worst).rows
    best, worst = row.declared.values()
    assert best > worst
    assert said[0][0].dtype == (np.float32 if toolkit == "xgboost" else np.float64)


@pytest.mark.parametrize("toolkit", ALL)
def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(data, toolkit):
    need(toolkit)
    rows = [parity.crosscheck_models(*data, toolkits=[toolkit], random_state=seed).rows[0] for seed in (5, 5, 6)]
    assert rows[0] == rows[1]
    assert rows[0].our_value != rows[2].our_value


@pytest.mark.parametrize("toolkit", ALL)
def test_queries_that_are_not_contiguous_are_brought_together(data, toolkit):
    need(toolkit)
    order = np.random.default_rng(0).permutation(data[1].qid.size)
    shuffled = RankingData(X=data[1].X[order], labels=data[1].labels[order], qid=data[1].qid[order] + 2**40)
    averaged = ra.presets.sklearn(10)
    one, other = (
        parity.crosscheck_models(data[0], test, toolkits=[toolkit], convention=[averaged])
        for test in (data[1], shuffled)
    )
    assert one.ok
    assert other.ok
    one, other = (report.rows[0].declared[str(averaged)] for report in (one, other))
    assert one == pytest.approx(other, abs=1e-12)


def test_without_conventions_the_toolkits_own_are_declared(data, monkeypatch):
    for name in ("sklearn", "catboost"):
        stand_in(monkeypatch, name)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    report = parity.crosscheck_models(*data, k=3, toolkits=["lightgbm", "sklearn", "catboost"])
    assert report.conventions == (ra.presets.yahoo(3),)
    assert [row.toolkit for row in report.rows] == ["lightgbm", "sklearn", "catboost"]


def test_one_document_queries_are_left_out_on_both_sides_and_counted(data):
    need("sklearn")
    _, test = data
    sizes = np.unique(test.qid, return_counts=True)[1]
    [row] = parity.crosscheck_models(*data, toolkits=["sklearn"], convention=[ra.presets.sklearn(10)]).rows
    assert row.note == f"scikit-learn refuses one-document queries: {(sizes == 1).sum()} left out on both sides."
    assert row.our_value == pytest.approx(row.native_value, abs=1e-12)
    assert row.declared[row.native_convention] != row.our_value


def test_labels_that_catboost_rounds_to_float32_are_rounded_on_both_sides_and_noted(data):
    need("catboost")
    train, test = (dataclasses.replace(part, labels=part.labels * 0.3 + 1e-3 * part.X[:, 0]) for part in data)
    report = parity.crosscheck_models(train, test, toolkits=["catboost"])
    [row] = report.rows
    assert report.ok
    assert row.note == "labels rounded to float32, as CatBoost stores them."
    assert abs(row.declared[row.native_convention] - row.native_value) > 1e-12


def test_nothing_but_one_document_queries_leaves_scikit_learn_without_a_value(data):
    need("sklearn")
    train, test = data
    alone = RankingData(X=test.X, labels=test.labels, qid=np.arange(test.qid.size))
    report = parity.crosscheck_models(train, alone, toolkits=["sklearn"])
    assert (report.rows[0].native_value, report.rows[0].our_value, report.rows[0].difference) == (None, None, None)
    assert all(value is not None for value in report.rows[0].declared.values())
    assert not report.ok


def test_a_toolkit_that_is_not_installed_is_a_row_of_nulls_and_does_not_touch_parity(data, monkeypatch):
    stand_in(monkeypatch, "sklearn")
    monkeypatch.setitem(sys.modules, "catboost", None)
    report = parity.crosscheck_models(*data, toolkits=["sklearn", "catboost"], convention=[LETOR])
    row = report.to_dict()["rows"][1]
    assert list(row) == KEYS
    assert row.pop("note") == 'catboost is not installed: pip install "rankadapters[catboost]"'
    assert row.pop("declared") == {str(LETOR): None}
    assert (row.pop("model"), row.pop("toolkit")) == ("CatBoostRanker", "catboost")
    assert set(row.values()) == {None}
    assert report.ok


def test_rankers_that_miss_scikit_learn_say_so(data, monkeypatch):
    pytest.importorskip("lightgbm")
    stand_in(monkeypatch, "catboost")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    report = parity.crosscheck_models(*data, toolkits=["catboost", "lightgbm"])
    assert report.rows[1].note == 'sklearn is not installed: pip install "rankadapters[lightgbm]"'


def test_a_toolkit_that_cannot_be_loaded_says_why(data, monkeypatch, tmp_path):
    (tmp_path / "broken_toolkit.py").write_text("raise OSError('libgomp.so.1: cannot open\\nshared object file')\n")
    monkeypatch.syspath_prepend(tmp_path)
    stand_in(monkeypatch, "sklearn")
    stand_in(monkeypatch, "catboost", package="broken_toolkit")
    report = parity.crosscheck_models(*data, toolkits=["sklearn", "catboost"])
    assert report.rows[1].version is None
    assert report.rows[1].note == (
        "broken_toolkit is installed but cannot be imported: libgomp.so.1: cannot open shared object file"
    )


def test_with_no_toolkit_at_all_the_extra_is_named(data, monkeypatch):
    for name in ("sklearn", "lightgbm", "xgboost", "catboost"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ra.MissingToolkitError, match=r"(?s)lightgbm is not installed.*rankadapters\[all\]"):
        parity.crosscheck_models(*data)


@pytest.mark.parametrize(("shift", "ok"), [(0.0, True), (9e-10, True), (1.1e-9, False), (-0.1, False)])
def test_parity_holds_within_1e_9(data, monkeypatch, shift, ok):
    stand_in(monkeypatch, "sklearn", shift=shift)
    stand_in(monkeypatch, "catboost")
    report = parity.crosscheck_models(*data, toolkits=["sklearn", "catboost"])
    assert report.ok is ok
    assert [row.agrees for row in report.rows] == [ok, True]


def test_a_preset_that_were_wrong_would_be_found_out(data, monkeypatch):
    need("lightgbm")
    asked = trainers.TOOLKITS["lightgbm"]
    wrong = dataclasses.replace(
        asked,
        convention=lambda k: ra.presets.lightgbm(k + 1),
        fit=lambda model, task, words: asked.fit(model, task, {**words, "eval_at": [10]}),
    )
    monkeypatch.setitem(trainers.TOOLKITS, "lightgbm", wrong)
    assert not parity.crosscheck_models(*data, toolkits=["lightgbm"]).ok


def test_the_report_is_plain_json_with_the_agreed_keys(data, monkeypatch):
    stand_in(monkeypatch, "sklearn")
    report = parity.crosscheck_models(*data, toolkits=["sklearn"], convention=[LETOR, LETOR, TEXTBOOK])
    found = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert list(found) == ["ok", "conventions", "rows"]
    assert found["conventions"] == [str(LETOR), str(TEXTBOOK)]
    assert list(found["rows"][0]) == KEYS


def test_progress_counts_the_toolkits(data, monkeypatch):
    stand_in(monkeypatch, "sklearn")
    monkeypatch.setitem(sys.modules, "catboost", None)
    told = []
    parity.crosscheck_models(
        *data, toolkits=["catboost", "sklearn"], progress=lambda done, total: told.append((done, total))
    )
    assert told == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_draws_the_seed_of_the_models(data, make, monkeypatch):
    seeds = []
    stand_in(monkeypatch, "sklearn", train=lambda task, words: seeds.append(task.seed) or task.test.X[:, 0])
    for seed in (1, 1, 2):
        parity.crosscheck_models(*data, toolkits=["sklearn"], random_state=make(seed))
    assert seeds[0] == seeds[1] != seeds[2]


def test_an_unknown_toolkit_is_refused(data):
    with pytest.raises(ra.InputError, match="toolkits='ranklib'; allowed are 'sklearn', 'lightgbm'"):
        parity.crosscheck_models(*data, toolkits=["ranklib"])


def test_features_that_do_not_meet_are_refused(data, monkeypatch):
    stand_in(monkeypatch, "sklearn")
    narrow = dataclasses.replace(data[1], X=data[1].X[:, :3])
    with pytest.raises(ra.InputError, match="train has 46 features, test 3"):
        parity.crosscheck_models(data[0], narrow, toolkits=["sklearn"])


def test_a_convention_that_the_data_does_not_fit_is_refused_before_anything_is_trained(data, monkeypatch):
    stand_in(monkeypatch, "sklearn", train=lambda task, words: pytest.fail("trained"))
    graded = dataclasses.replace(data[1], labels=data[1].labels * 2)
    with pytest.raises(ra.InputError, match=r"test: labels\[\d+\] is 4, outside the gain table"):
        parity.crosscheck_models(data[0], graded, toolkits=["sklearn"], convention=[LETOR])


@pytest.mark.parametrize(
    ("toolkit", "change", "match"),
    [
        ("lightgbm", lambda y: y * 20, r"test: labels\[\d+\] is 40, but lightgbm takes whole labels from 0 to 30"),
        ("lightgbm", lambda y: y - 1, "is -1, but lightgbm"),
        ("xgboost", lambda y: y / 2, r"is 0\.5, but xgboost takes whole labels from 0 to 31"),
        (
            "sklearn",
            lambda y: y - 1,
            r"is -1, negative, which sklearn's ndcg_score refuses\.\nHint",
        ),
    ],
)
def test_labels_that_a_toolkit_refuses_are_named(data, toolkit, change, match):
    need(toolkit)
    changed = dataclasses.replace(data[1], labels=change(data[1].labels))
    with pytest.raises(ra.InputError, match=match):
        parity.crosscheck_models(data[0], changed, toolkits=[toolkit], convention=[ra.presets.sklearn(10)])


def test_a_query_too_long_for_lightgbm_is_named():
    need("lightgbm")
    n = 10_001
    long = RankingData(X=np.zeros((n, 1)), labels=np.zeros(n), qid=np.zeros(n, int))
    with pytest.raises(ra.InputError, match="train: a query has 10001 rows, but lightgbm takes 10000"):
        parity.crosscheck_models(long, long, toolkits=["lightgbm"])


def test_a_toolkit_that_fails_is_named_in_one_sentence_without_the_time_of_day(data, monkeypatch):
    def fail(task, words):
        raise RuntimeError("[10:00:59] Check failed: [1, 2]\nStack trace:\n  [bt] (0) somewhere")

    stand_in(monkeypatch, "sklearn", train=fail)
    with pytest.raises(ra.InputError, match=r"^sklearn fails: Check failed: \[1, 2\]\.\nHint"):
        parity.crosscheck_models(*data, toolkits=["sklearn"])


def test_the_example_runs(capsys):
    pytest.importorskip("catboost")
    runpy.run_path(str(Path(__file__).parent.parent.parent / "examples" / "parity.py"))
    out = capsys.readouterr().out
    assert "CatBoostRanker                 0." in out
    assert out.endswith("parity holds\n")


def test_importing_it_imports_no_toolkit():
    code = (
        "import sys, rankadapters.parity\n"
        "print(sorted({'sklearn', 'lightgbm', 'xgboost', 'catboost', 'rich'} & set(sys.modules)))"
    )
    root = Path(__file__).parent.parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "[]\n"
