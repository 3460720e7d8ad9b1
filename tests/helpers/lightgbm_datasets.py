"""Parameters and data sets that the tests of LightGBM's callbacks train with."""

from __future__ import annotations

import inspect

import pytest

import rankadapters as ra

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")


IGNORED = r"the data has weights, but ndcg@10/textbook ignores them \(average='uniform'\)\.\nHint: convention\.replace"
LETOR, TEXTBOOK = ra.presets.letor4(5), ra.presets.textbook(10)
PARAMS = {
    "objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5,
    "num_leaves": 7, "seed": 1,
}  # fmt: skip


def dataset(data, **more):
    return lgb.Dataset(data.X, label=data.y, group=data.sizes, free_raw_data=False, **more)


def fit(ranker, train, valid, **more):
    """`eval_set` until LightGBM 4.6, `eval_X` and `eval_y` since."""
    new = "eval_X" in inspect.signature(ranker.fit).parameters
    evals = {"eval_X": valid.X, "eval_y": valid.y} if new else {"eval_set": [(valid.X, valid.y)]}
    return ranker.fit(train.X, train.y, group=train.sizes, eval_group=[valid.sizes], **evals, **more)
