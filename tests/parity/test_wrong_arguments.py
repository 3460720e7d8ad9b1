"""Arguments of checks that are of no use: an error of ours, never Python's own."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.tables import for_each

DATA = ([2, 0, 1, 0], [0.9, 0.4, 0.1, 0.3])
QID = [1, 1, 2, 2]


def checked(**arguments):
    return ra.parity.crosscheck(*DATA, qid=QID, **arguments)


def models(**arguments):
    train, test = ra.datasets.mq2008_like(n_train_queries=10, n_test_queries=5)
    return ra.parity.crosscheck_models(arguments.pop("train", train), test, **({"toolkits": ["sklearn"]} | arguments))


def lightgbm_model(**arguments):
    lgb = pytest.importorskip("lightgbm")
    X = np.arange(40.0)[:, None]
    labels, qid = np.arange(40) % 3, np.repeat([0, 1], 20)
    params = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1}
    model = lgb.train(params, lgb.Dataset(X, labels, group=[20, 20]), 2)
    X = arguments.pop("X", X)
    return ra.lightgbm.check_model(model, (X, labels, qid), "lightgbm@5", **arguments)


def catboost_scores(**arguments):
    pytest.importorskip("catboost")
    return ra.catboost.check_parity(*DATA, "catboost@2", qid=QID, **arguments)


def compared(**arguments):
    return ra.parity.checks.compare_numbers(0.5, 0.4, convention=ra.parse("yahoo@2"), **arguments)


WRONG = [
    (checked, {"measure": ["map"]}, r"measure=\['map'\]; allowed are 'ndcg'"),
    (
        checked,
        {"convention": "yahoo@2", "toolkits": [["lightgbm"]]},
        r"toolkits=\[\['lightgbm'\]\]; allowed are different texts",
    ),
    (checked, {"convention": "yahoo@2", "toolkits": 5}, "toolkits=5; allowed are different texts, at least 1"),
    (models, {"train": 5}, "train=5; allowed are RankingData"),
    (models, {"measure": {}}, r"measure=\{\}; allowed are"),
    (models, {"toolkits": 5}, "toolkits=5; allowed are different texts, at least 1"),
    (checked, {"measure": "map", "k": "x"}, "k='x'; allowed are whole numbers from 1 on"),
    (models, {"random_state": "x"}, "random_state='x'; allowed are whole numbers from 0 on"),
    (models, {"k": 0}, "k=0; allowed are whole numbers from 1 on"),
    (models, {"convention": 5}, "is not a convention"),
    (lightgbm_model, {"dataset": "valid", "log": 5}, "log=5; allowed are dicts of sets"),
    (lightgbm_model, {"dataset": [], "log": {"valid": {}}}, r"the training logged no \[\]"),
    (lightgbm_model, {"X": 5}, "X has 0 rows but labels has 40"),
    (catboost_scores, {"metrics": 5}, "metrics=5; allowed are lists of metric strings"),
    (catboost_scores, {"metrics": [5]}, "allowed are lists of metric strings"),
    (catboost_scores, {"weight": "x"}, "weight"),
    (compared, {"queries": 5, "scores": DATA[1]}, "queries=5; allowed are Queries"),
]


@for_each(("check", "arguments", "message"), WRONG, ids=lambda value: getattr(value, "__name__", f"{value!s:.40}"))
def test_a_wrong_argument_is_refused_by_an_error_of_ours(check, arguments, message):
    with pytest.raises(ra.RankAdaptersError, match=message):
        check(**arguments)


@pytest.mark.parametrize("n", ["x", 1.5, 0, True])
def test_a_number_of_bars_is_whole(n):
    pytest.importorskip("catboost")
    report = ra.catboost.check_parity(DATA[0], [0.9, 0.4, 0.1, 0.1], "textbook@2", qid=QID)
    with pytest.raises(ra.InputError, match="allowed are whole numbers from 1 on"):
        report.plot(n=n)
