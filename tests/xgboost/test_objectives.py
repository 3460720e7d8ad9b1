"""Presets of XGBoost's objectives train the models that its built-in ones train."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_data import golden, graded, lightgbm_example, mq2008
from tests.tables import for_each

xgb = pytest.importorskip("xgboost")
from tests.helpers.xgboost_objective_data import (  # noqa: E402 - after the skip
    BUILT_IN,
    DRAWN,
    MEAN,
    OTHERS,
    PRESETS,
    SAME,
    assert_same,
    dmatrix,
    fitting,
    margins,
    ours,
)

DATA = {"made": lambda: graded(1, grades=5), "MQ2008": mq2008, "LightGBM's example": lightgbm_example}
RECORDS = [case for case in golden("xgboost") if "lambdarank_unbiased" not in case.values[0].get("params", {})]


@for_each(("name", "options"), BUILT_IN)
def test_a_preset_trains_the_built_in_model_with_weights(name, options):
    data = fitting(graded(1, grades=5), name)
    weights = np.random.default_rng(0).random(data.sizes.size)
    expected = margins(data, weight=weights, objective=name, **options)
    assert_same(margins(data, weight=weights, obj=ours(PRESETS[name](**options))), expected)


@pytest.mark.parametrize("source", ["MQ2008", "LightGBM's example"])
@for_each("name", PRESETS)
def test_a_preset_trains_the_built_in_model_of_real_data(source, name):
    data = fitting(DATA[source](), name)
    assert_same(margins(data, obj=ours(PRESETS[name]())), margins(data, objective=name))


def test_a_sampling_preset_trains_the_built_in_model():
    data = graded(2)
    assert_same(margins(data, obj=ours(DRAWN[0])), margins(data, objective="rank:ndcg", **MEAN))


@for_each(("name", "options", "distinct"), [(*case, distinct) for case, distinct in zip(BUILT_IN, cycle((2, 4)))])
def test_tied_rows_are_ranked_as_by_the_built_in_objective(name, options, distinct):
    data = fitting(graded(3, distinct=distinct), name)
    data = data._replace(X=data.X[:, :2])
    expected = margins(data, objective=name, **options)
    assert np.unique(expected).size <= distinct**2
    assert_same(margins(data, obj=ours(PRESETS[name](**options))), expected)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("name", PRESETS)
def test_short_queries_train_the_built_in_model(name, size):
    data = graded(4, 200, 1)
    data = data._replace(qid=np.arange(200) // size, y=(data.X[:, 0] > 0.5).astype(float))
    found = margins(data, obj=ours(PRESETS[name]()))
    np.testing.assert_allclose(found, margins(data, objective=name), rtol=0, atol=SAME)


def recorded(record, **more):
    X, weight = np.asarray(record["X"]), record["query_weight"]
    return xgb.DMatrix(X, label=record["labels"], group=record["group"], weight=weight, nthread=1, **more)


@for_each("record", RECORDS)
def test_gradients_add_up_to_the_recorded_leaf_sums(record):
    value = PRESETS[record["objective"]](**record["params"])
    data = xgb.DMatrix(
        np.asarray(record["X"]), label=record["labels"], group=record["group"], weight=record["query_weight"]
    )
    grad, hess = ours(value)(np.asarray(record["scores"], np.float32), data)
    leaves = np.asarray(record["leaf_of_row"])
    for found, name in ((grad, "leaf_sum_gradient"), (hess, "leaf_sum_hessian")):
        sums = [found[leaves == leaf].sum(dtype=float) for leaf in record["leaf_ids"]]
        np.testing.assert_allclose(sums, record[name], rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings(r"ignore:[^\0]*draws the pairs of `mean` differently:UserWarning")  # the records are of 3.2
@for_each("record", RECORDS)
def test_the_recorded_predictions_are_trained(record):
    value = PRESETS[record["objective"]](**record["params"])
    data = recorded(record, base_margin=record["scores"])
    objective = ours(value)
    for rounds in (1, 3):
        objective.reset()
        found = xgb.train(record["train_params"], data, rounds, obj=objective).predict(data, output_margin=True)
        np.testing.assert_allclose(found, record[f"pred_after_{rounds}"], rtol=0, atol=SAME)


@pytest.mark.parametrize("source", DATA)
@pytest.mark.parametrize("name", ["rank:ndcg", "rank:pairwise"])
def test_the_exact_sigmoid_is_close_to_float32_and_not_the_same(name, source):
    data, value = DATA[source](), PRESETS[name]()
    exact, replayed = (margins(data, obj=ours(v)) for v in (value.replace(sigmoid="exact"), value))
    np.testing.assert_allclose(exact, replayed, rtol=0, atol=1e-5)
    assert not np.array_equal(exact, replayed)


WEIGHTED = [value for value in (objectives.xgboost.ndcg(), *OTHERS) if value.uses_weights]


@for_each("value", WEIGHTED, ids=lambda value: value.kind)
def test_query_weights_multiply_divided_by_their_mean(value):
    data = fitting(graded(8), value)
    weights = np.random.default_rng(6).random(data.sizes.size).astype(np.float32)
    scores = np.random.default_rng(5).normal(size=data.y.size)
    plain, weighted = ours(value)(scores, dmatrix(data)), ours(value)(scores, dmatrix(data, weight=weights))
    factors = np.repeat(weights / weights.mean(dtype=float), data.sizes)
    for array, found in zip(plain, weighted, strict=True):
        np.testing.assert_allclose(found, array * factors, rtol=1e-6)


def test_weights_of_nothing_but_0_are_refused():
    data = graded(8)
    with pytest.raises(ra.InputError, match=r"weights add up to 0.\nHint: some query needs a weight above 0"):
        margins(data, obj=ours(objectives.xgboost.ndcg()), weight=np.zeros(data.sizes.size))


def test_weights_that_do_not_count_may_all_be_0():
    xgb = pytest.importorskip("xgboost")
    matrix = xgb.DMatrix(np.eye(4), [0, 1, 1, 0], qid=[0, 0, 1, 1], weight=[0, 0])
    uniform = ra.xgboost.lambdarank(ra.presets.yahoo(5), truncation=5)
    assert uniform(np.zeros(4), matrix)[0].all()
    weighted = ra.xgboost.lambdarank(ra.presets.xgboost(5), truncation=5)
    with pytest.raises(ra.InputError, match=r"weights add up to 0\.\nHint"):
        weighted(np.zeros(4), matrix)
