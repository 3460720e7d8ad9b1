"""Measures other than NDCG, each toolkit's own number of its small model beside ours."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import parity
from rankadapters.parity.trainers import TOOLKITS, measure_named, own_convention
from tests.helpers.command import refused, run

DATA = tuple(
    replace(data, labels=np.minimum(data.labels, 1))
    for data in ra.datasets.mq2008_like(n_train_queries=40, n_test_queries=20)
)


@pytest.mark.parametrize("toolkit", TOOLKITS)
@pytest.mark.parametrize(("measure", "word"), [("ap", "ap"), ("map", "ap"), ("auc", "auc")])
def test_every_toolkit_that_computes_a_measure_agrees(toolkit, measure, word):
    pytest.importorskip(toolkit)
    pytest.importorskip("sklearn")
    report = parity.crosscheck_models(*DATA, k=5, measure=measure, toolkits=[toolkit])
    assert report.ok
    [row] = report.rows
    assert ra.parse(row.native_convention).measure == word
    assert row.difference == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("measure", ["query-rmse", "query_soft_max", "query-cross-entropy", "pair-logit", "mrr"])
def test_what_only_catboost_computes_is_said_of_the_others(measure):
    pytest.importorskip("catboost")
    pytest.importorskip("lightgbm")
    report = parity.crosscheck_models(*DATA, measure=measure, toolkits=["lightgbm", "catboost"])
    assert report.ok
    lightgbm, catboost = report.rows
    assert (lightgbm.native_value, lightgbm.note) == (None, f"lightgbm does not compute {measure}.")
    assert catboost.difference == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("toolkit", "measure", "means"),
    [
        ("lightgbm", "ndcg", "lightgbm@7"),
        ("xgboost", "map", "xgboost.map@7"),
        ("sklearn", "map", "sklearn.average_precision_score"),
        ("lightgbm", "average_precision", "lightgbm.average_precision"),
        ("catboost", "query_auc", "catboost.query_auc"),
        ("catboost", "pair_logit", "catboost.pair_logit+pairs=label+average=query"),
        ("catboost", "dcg", "catboost.dcg@7"),
    ],
)
def test_a_toolkits_own_name_of_a_measure_comes_first(toolkit, measure, means):
    assert own_convention(TOOLKITS[toolkit], measure, 7) == ra.parse(means)


def test_what_is_no_measure_is_refused():
    with pytest.raises(ra.InputError, match="measure='precise'; allowed are 'ndcg', 'dcg', 'ap'"):
        measure_named("precise")
    pytest.importorskip("lightgbm")
    with pytest.raises(ra.InputError, match="none of lightgbm computes rr"):
        parity.crosscheck_models(*DATA, measure="mrr", toolkits=["lightgbm"])


def test_the_command_asks_for_a_measure(capsys):
    pytest.importorskip("catboost")
    assert run("parity", "--measure", "query-rmse", "--toolkits", "catboost", "--format", "json") == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert row["native_metric"] == "QueryRMSE"
    assert run("parity", "--measure", "map", "--toolkits", "catboost") == 0
    assert "Each toolkit's own AP of its model" in capsys.readouterr().out
    assert "measure='precise'; allowed are" in refused(capsys, "parity", "--measure", "precise")
