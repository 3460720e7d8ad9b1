"""Every toolkit's check is one machine, which computes our number once."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.evaluation.panel import Panel
from rankadapters.core.kernels.dispatch import NEVER, NOW, kernels
from rankadapters.parity import Toolkit
from rankadapters.parity import toolkit as toolkits
from tests.helpers.ranking_data import ranking

TOOLKITS = ("sklearn", "lightgbm", "xgboost", "catboost")
OURS = str(Path(ra.__file__).parent)


def calls_of(function):
    """How often it calls functions of ours."""
    count = 0

    def see(frame, event, arg):
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(OURS)

    sys.setprofile(see)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("form", [NOW, NEVER])
@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_one_number_takes_less_than_900_calls(toolkit, form):
    pytest.importorskip(toolkit)
    data, check = ranking(0), getattr(ra, toolkit).check_parity
    with kernels(form):
        check(data.y, data.X[:, 1], f"{toolkit}@5", qid=data.qid)  # so that nothing is imported below
        assert calls_of(lambda: check(data.y, data.X[:, 1], f"{toolkit}@5", qid=data.qid)) < 900


@pytest.mark.parametrize("toolkit", TOOLKITS)
@pytest.mark.parametrize("tied", [False, True])
def test_our_number_takes_one_pass(toolkit, tied, monkeypatch):
    pytest.importorskip(toolkit)
    data, measured = ranking(0), []
    scores = data.X[:, 1] if tied else data.X[:, 1] + np.arange(data.y.size) * 1e-3
    measure = Panel.measure
    monkeypatch.setattr(Panel, "measure", lambda panel, given: measured.append(panel) or measure(panel, given))
    report = getattr(ra, toolkit).check_parity(data.y, scores, f"{toolkit}@5", qid=data.qid)
    assert [row.verdict for row in report.rows] == ["equal"]
    assert len(measured) == 1


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_a_toolkit_is_one_object_that_crosscheck_finds_by_its_name(toolkit):
    pytest.importorskip(toolkit)
    found = importlib.import_module(f"rankadapters.{toolkit}.parity").TOOLKIT
    assert isinstance(found, Toolkit)
    assert (found.vocabulary.name, found.version) == (toolkit, sys.modules[toolkit].__version__)
    assert ra.parity.trainers.TOOLKITS[toolkit].load(toolkit) is found
    assert found.vocabulary is getattr(ra.presets, toolkit)


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_the_words_it_is_asked_in_are_those_of_native_metric(toolkit):
    pytest.importorskip(toolkit)
    convention = getattr(ra.presets, toolkit)(5)
    found = importlib.import_module(f"rankadapters.{toolkit}.parity").TOOLKIT
    assert found.nearest(convention) == (convention, getattr(ra, toolkit).native_metric(convention))


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_every_check_has_the_same_first_arguments(toolkit):
    pytest.importorskip(toolkit)
    names = list(inspect.signature(getattr(ra, toolkit).check_parity).parameters)
    assert names[:6] == ["labels", "scores", "convention", "qid", "group_sizes", "query_weight"]


def test_scikit_learn_has_no_models_to_check():
    pytest.importorskip("sklearn")
    from rankadapters.sklearn.parity import TOOLKIT

    with pytest.raises(ra.InputError, match=r"scikit-learn has no models that know their metric\.\nHint: check_parity"):
        TOOLKIT.check_model(None, None, "sklearn@5")


@pytest.mark.parametrize(("metric", "weighted"), [("auc", True), ("auc", False), ("average_precision", True)])
def test_weights_of_rows_reach_lightgbms_metrics_of_all_rows(metric, weighted):
    pytest.importorskip("lightgbm")
    data = ranking(2)
    weights = np.random.default_rng(0).uniform(0.1, 3, data.y.size) if weighted else None
    queries = ra.Queries(data.y > 0, qid=data.qid, row_weight=weights)
    convention = getattr(ra.presets.lightgbm, metric)()
    report = ra.lightgbm.check_parity(queries, data.X[:, 1], convention)
    report.raise_if_failed()
    assert report.rows[0].reason == ("row_weight rounded to float32." if weighted else "")
    if weighted:
        plain = ra.evaluate(data.y > 0, data.X[:, 1], convention, qid=data.qid).value
        assert abs(report.rows[0].value - plain) > 1e-4


def trained(toolkit):
    module = pytest.importorskip(toolkit)
    data = ranking(1)
    given = (data.X, data.y, data.qid)
    if toolkit == "lightgbm":
        model = module.LGBMRanker(n_estimators=2, verbosity=-1, n_jobs=1)
        return model.fit(data.X, data.y, group=data.sizes), given, {"log": {"set": {"ndcg@5": [0.1, 0.2]}}}
    if toolkit == "xgboost":
        model = module.XGBRanker(n_estimators=2, n_jobs=1)
        return model.fit(data.X, data.y, qid=data.qid), given, {"log": {"set": {"ndcg@5": [0.1, 0.2]}}}
    pool = module.Pool(data.X, data.y, group_id=data.qid)
    options = {"iterations": 2, "thread_count": 1, "allow_writing_files": False, "logging_level": "Silent"}
    return module.CatBoostRanker(**options).fit(pool), pool, {}


@pytest.mark.parametrize(
    ("toolkit", "apart"),
    [("lightgbm", [True, False]), ("xgboost", [True, False, False]), ("catboost", [True, False, False])],
)
def test_what_a_model_says_of_all_its_queries_is_never_taken_for_one_of_them(toolkit, apart, monkeypatch):
    model, data, log = trained(toolkit)
    asked, judge = [], toolkits.judge
    monkeypatch.setattr(
        toolkits, "judge", lambda *given, **more: asked.append(more["per_query"]) or judge(*given, **more)
    )
    getattr(ra, toolkit).check_model(model, data, f"{toolkit}@5", dataset="set" if log else None, **log)
    assert [ask_each.func.__self__.by_query for ask_each in asked] == apart
