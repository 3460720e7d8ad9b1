"""Parameters and Datasets that the tests of LightGBM's metrics share."""

from __future__ import annotations

import inspect

import pytest

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

PARAMS = {
    "objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5,
    "num_leaves": 7, "seed": 1,
}  # fmt: skip


def dataset(data, **columns):
    return lgb.Dataset(data.X, label=data.y, group=data.sizes, free_raw_data=False, **columns)


def fit_ranker(ranker, train, valid, **options):
    if "eval_X" in inspect.signature(ranker.fit).parameters:  # since LightGBM 4.7
        evals = {"eval_X": valid.X, "eval_y": valid.y}
    else:
        evals = {"eval_set": [(valid.X, valid.y)]}
    return ranker.fit(train.X, train.y, group=train.sizes, eval_group=[valid.sizes], **evals, **options)
