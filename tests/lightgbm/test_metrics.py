"""`lightgbm.eval_metric` called in ways that only LightGBM has: LGBMRanker, arrays, and row weights.

Properties shared with XGBoost's metric are tested in `tests/callbacks`.
"""

import inspect

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import LETOR
from tests.helpers.rankings import ranking

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from rankadapters.evaluation.evaluator import Evaluator  # noqa: E402 - after the skip
from rankadapters.lightgbm.metrics import mean_weights  # noqa: E402 - after the skip
from tests.helpers.lightgbm_datasets import fit_ranker  # noqa: E402 - after the skip

LIGHTGBM = ra.presets.lightgbm(5)
TRAIN, VALID = ranking(5, 60), ranking(6, 40)


def ranker(n_estimators=3, **more):
    return lgb.LGBMRanker(n_estimators=n_estimators, verbosity=-1, min_child_samples=5, n_jobs=1, **more)


def value(data, scores, convention, **weights):
    return ra.evaluate(data.y, scores, convention, group_sizes=data.sizes, **weights).value


@pytest.mark.parametrize("in_list", [False, True], ids=["alone", "in a list"])
def test_lgbmranker_logs_the_values_and_binds_each_set_once(in_list, monkeypatch):
    metric, bound_sets, bind = ra.lightgbm.eval_metric([LETOR, LETOR.at(3)]), [], Evaluator.of
    monkeypatch.setattr(
        Evaluator, "of", lambda queries, *args, **options: bound_sets.append(queries) or bind(queries, *args, **options)
    )
    model = ranker(metric="None")
    for _ in range(2):
        fit_ranker(model, TRAIN, VALID, eval_metric=[metric, lambda y, s: ("zero", 0.0, True)] if in_list else metric)
        history = ra.History.of(model.evals_result_)
        for convention in (LETOR, LETOR.at(3)):
            entries = history.only(dataset="valid_0", convention=convention)
            assert [entry.iteration for entry in entries] == [0, 1, 2]
            assert entries[-1].value == value(VALID, model.predict(VALID.X), convention)
    assert [queries.n_docs for queries in bound_sets].count(VALID.y.size) == 2


def test_query_weights_add_up_in_float32_one_by_one():
    weights, total = np.random.default_rng(1).random(1000).astype(np.float32), np.float32(0)
    for weight in weights:
        total += weight
    assert mean_weights(weights, np.array([1000]))[0] == total / np.float32(1000)


@pytest.mark.parametrize(("weights", "sizes"), [([1, 2], [3]), ([1, 2], [1]), ([], []), ([1.0], [1, 0])])
def test_query_weights_need_sizes_that_add_up(weights, sizes):
    with pytest.raises(ra.InputError, match="adds up to"):
        mean_weights(np.array(weights), np.array(sizes, int))


def test_arrays_changed_in_place_are_noticed():
    metric = ra.lightgbm.eval_metric(LIGHTGBM)
    labels, sizes, weights = VALID.y.copy(), VALID.sizes.copy(), np.ones(VALID.y.size)
    scores = np.random.default_rng(0).random(labels.size)
    changes = [
        (labels, VALID.y),
        (labels, 2 - VALID.y),
        (sizes, VALID.sizes[::-1]),
        (weights, np.arange(labels.size) % 4 + 1),
    ]
    for column, new in changes:
        column[:] = new
        by_query = mean_weights(weights, sizes)
        expected = ra.evaluate(labels, scores, LIGHTGBM, group_sizes=sizes, query_weight=by_query).value
        assert metric(labels, scores, weights, sizes)[0][1] == expected


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_direct_call_takes_lists(kind):
    metric = ra.lightgbm.eval_metric(LIGHTGBM)
    columns = VALID.y, VALID.X[:, 0], np.repeat(VALID.sizes % 3 + 1.0, VALID.sizes), VALID.sizes
    arrays = metric(*columns)
    assert metric(*(kind(column.tolist()) for column in columns)) == arrays


def test_a_regressor_without_groups_is_refused():
    regressor = lgb.LGBMRegressor(n_estimators=1, verbosity=-1)
    new = "eval_X" in inspect.signature(regressor.fit).parameters
    evals = {"eval_X": VALID.X, "eval_y": VALID.y} if new else {"eval_set": [(VALID.X, VALID.y)]}
    with pytest.raises(ra.InputError, match="the data has no group"):
        regressor.fit(VALID.X, VALID.y, eval_metric=ra.lightgbm.eval_metric(LETOR), **evals)
