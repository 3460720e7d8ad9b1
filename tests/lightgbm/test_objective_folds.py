"""Objectives on parts of a Dataset: folds of lgb.cv, and subsets."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.objective_data import graded
from tests.helpers.objective_drivers import XENDCG
from tests.tables import short

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from tests.helpers.lightgbm_objective_data import (  # noqa: E402 - after the skip
    CONVENTIONS,
    DEFAULTS,
    PARAMS,
    assert_same,
    built_in,
    dataset,
    ours,
    preset,
)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize(("name", "options"), DEFAULTS, ids=short)
def test_cv_with_folds_of_whole_queries_equals_the_built_in_objective(name, options, shuffled):
    from sklearn.model_selection import GroupKFold

    data = graded(12)
    folds = list(GroupKFold(3).split(data.X, data.y, data.qid))
    folds = folds[::-1] if shuffled else folds
    results = [
        lgb.cv({**PARAMS, **objective}, dataset(data), 8, folds=folds, feval=ra.lightgbm.eval_metric(CONVENTIONS[0]),
               eval_train_metric=True, return_cvbooster=True)
        for objective in (ours(preset(name, options)), built_in(name, options))
    ]  # fmt: skip
    mine, theirs = (result.pop("cvbooster").boosters for result in results)
    for first, second in zip(mine, theirs, strict=True):
        assert_same(first.predict(data.X, raw_score=True), second.predict(data.X, raw_score=True))
    assert results[0] == results[1]


@pytest.mark.parametrize("how", [{}, {"stratified": False}, {"stratified": False, "shuffle": False}], ids=short)
def test_cv_with_its_default_folds_is_refused_and_the_way_out_works(how):
    from sklearn.model_selection import GroupKFold

    data = graded(12)
    params = {**PARAMS, **ours(preset("lambdarank", {}))}
    message = r"has \d+ of the \d+ rows of query \d+: its queries were cut(.|\n)*Hint: lgb.cv\(folds=.*GroupKFold"
    with pytest.raises(ra.InputError, match=message):
        lgb.cv(params, dataset(data), 2, nfold=3, **how)
    group = data.sizes
    folds = GroupKFold(5).split(data.X, data.y, groups=np.repeat(np.arange(len(group)), group))
    result = lgb.cv(params, dataset(data), 2, folds=folds, feval=ra.lightgbm.eval_metric(CONVENTIONS[0]), **how)
    assert len(result[f"valid {CONVENTIONS[0].name}-mean"]) == 2


def test_folds_that_cut_queries_are_refused_too():
    from sklearn.model_selection import KFold

    data = graded(12)
    folds = list(KFold(3).split(data.X))
    with pytest.raises(ra.InputError, match="its queries were cut"):
        lgb.cv({**PARAMS, **ours(XENDCG)}, dataset(data), 2, folds=folds)


def test_a_subset_of_whole_queries_trains_as_its_own_dataset():
    data = graded(13)
    rows = np.flatnonzero(data.qid % 3 > 0)
    subset = dataset(data).subset(rows)
    found = lgb.train({**PARAMS, **ours(XENDCG)}, subset, 5).predict(data.X)
    expected = lgb.train({**PARAMS, **built_in("rank_xendcg", {})}, dataset(data).subset(rows), 5)
    assert_same(found, expected.predict(data.X, raw_score=True))


def test_of_several_queries_that_are_cut_the_first_is_named():
    whole = lgb.Dataset(np.eye(40, 2), np.arange(40) % 3, group=[5, 20, 15], free_raw_data=False)
    part = whole.construct().subset(range(12, 30)).construct()
    with pytest.raises(ra.InputError, match="has 13 of the 20 rows of query 1: its queries were cut"):
        ours(XENDCG)["objective"](np.zeros(18), part)


def test_a_cut_is_seen_through_a_subset_of_a_subset():
    whole = lgb.Dataset(
        np.random.default_rng(0).random((60, 2)), np.arange(60) % 3, group=[20] * 3, free_raw_data=False
    )
    part = whole.construct().subset(range(5, 60)).subset(range(55)).construct()
    with pytest.raises(ra.InputError, match="has 15 of the 20 rows of query 0: its queries were cut"):
        ra.lightgbm.objective(ra.objectives.lightgbm.lambdarank())(np.zeros(55), part)
