"""Presets of LightGBM's objectives train the models that its built-in ones train."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.objective_data import golden, graded, lightgbm_example, mq2008
from tests.tables import for_each, short

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from tests.helpers.lightgbm_objective_data import (  # noqa: E402 - after the skip
    BUILT_IN,
    DEFAULTS,
    OTHERS,
    PARAMS,
    SAME,
    assert_same,
    built_in,
    constructed,
    dataset,
    in_unit_interval,
    ours,
    predictions,
    preset,
)

DATA = {"made": lambda: graded(1, grades=5), "MQ2008": mq2008, "LightGBM's example": lightgbm_example}


@for_each(
    ("name", "options", "source"),
    [(*case, "made") for case in BUILT_IN] + [(*case, source) for case in DEFAULTS for source in list(DATA)[1:]],
)
def test_a_preset_trains_the_built_in_model(name, options, source):
    data = DATA[source]()
    expected = predictions(built_in(name, options), data, 50)
    assert_same(predictions(ours(preset(name, options)), data, 50), expected)


@pytest.mark.parametrize(("source", "uneven"), [("made", False), ("MQ2008", True)], ids=["by query", "within queries"])
@for_each(("name", "options"), DEFAULTS)
def test_row_weights_count_as_in_the_built_in_objective(source, name, options, uneven):
    data = DATA[source]()
    rng = np.random.default_rng(2)
    weights = rng.random(data.y.size) if uneven else np.repeat(rng.random(data.sizes.size), data.sizes)
    expected = predictions(built_in(name, options), data, 50, weight=weights)
    assert_same(predictions(ours(preset(name, options)), data, 50, weight=weights), expected)
    assert np.ptp(expected - predictions(built_in(name, options), data, 50)) > 0.01


@for_each(("name", "options", "distinct"), [(*case, distinct) for case, distinct in zip(BUILT_IN, cycle((2, 4)))])
def test_tied_rows_are_ranked_as_by_the_built_in_objective(name, options, distinct):
    data = graded(3, distinct=distinct)
    data = data._replace(X=data.X[:, :2])
    expected = predictions(built_in(name, options), data, 50)
    assert np.unique(expected).size < data.y.size / 20
    assert_same(predictions(ours(preset(name, options)), data, 50), expected)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize(("name", "options"), DEFAULTS, ids=short)
def test_short_queries_train_the_built_in_model(name, options, size):
    data = graded(4, 200, 1)
    data = data._replace(sizes=np.bincount(np.arange(200) // size), y=data.X[:, 0] > 0.5)
    first, second = (predictions(o, data, 5) for o in (ours(preset(name, options)), built_in(name, options)))
    np.testing.assert_allclose(first, second, rtol=0, atol=SAME)


@pytest.mark.parametrize(("name", "options", "spread"), [("lambdarank", {}, 20), ("rank_xendcg", {}, 1)], ids=short)
def test_initial_scores_and_bagging_train_the_built_in_model(name, options, spread):
    # lambdarank's table ends at sigmoid arguments of 25. Where a softmax rounds to 1, rank_xendcg divides by 0.
    data = graded(5)
    start = np.random.default_rng(3).normal(0, spread, data.y.size)
    params = {"bagging_fraction": 0.5, "bagging_freq": 1, "bagging_seed": 3}
    first, second = (
        predictions(o, data, params=params, init_score=start)
        for o in (ours(preset(name, options)), built_in(name, options))
    )
    assert_same(first, second)


def test_sampled_features_are_those_of_any_callable_objective():
    # Booster.update(fobj=) first resets the parameter "objective", and every reset makes LightGBM draw features anew.
    data, params = graded(5), {**PARAMS, "feature_fraction": 0.5}
    booster = lgb.Booster({**params, **built_in("lambdarank", {})}, dataset(data)).reset_parameter({"verbosity": -1})
    for _ in range(10):
        booster.update()
    assert_same(
        predictions(ours(preset("lambdarank", {})), data, params=params), booster.predict(data.X, raw_score=True)
    )


@for_each("record", golden("lightgbm"))
def test_gradients_add_up_to_the_recorded_leaf_sums(record):
    value = preset(record["objective"], record["params"])
    weights = None if record["row_weight"] is None else np.asarray(record["row_weight"])
    data = lgb.Dataset(
        np.asarray(record["X"]), label=record["labels"], group=record["group"], weight=weights
    ).construct()
    grad, hess = ra.lightgbm.objective(value)(np.asarray(record["scores"]), data)
    leaves = np.asarray(record["leaf_of_row"])
    for found, name in ((grad, "leaf_sum_gradient"), (hess, "leaf_sum_hessian")):
        sums = [found[leaves == leaf].sum(dtype=float) for leaf in record["leaf_ids"]]
        np.testing.assert_allclose(sums, record[name], rtol=1e-5, atol=1e-5)


@for_each("record", golden("lightgbm"))
def test_the_recorded_predictions_are_trained(record):
    X = np.asarray(record["X"])
    params = {**record["train_params"], **ours(preset(record["objective"], record["params"]))}
    for rounds in (1, 3):
        data = lgb.Dataset(X, label=record["labels"], group=record["group"], weight=record["row_weight"],
                           init_score=record["scores"])  # fmt: skip
        found = lgb.train(params, data, rounds).predict(X)
        np.testing.assert_allclose(found, record[f"pred_after_{rounds}"], rtol=0, atol=SAME)


def test_the_exact_sigmoid_is_close_to_the_table_and_not_the_same():
    data = graded(1)
    start = np.random.default_rng(0).normal(size=data.y.size)
    values = [preset("lambdarank", {}), preset("lambdarank", {}).replace(sigmoid="exact")]
    (table, table_hess), (exact, exact_hess) = (
        ra.lightgbm.objective(value)(start, constructed(data)) for value in values
    )
    np.testing.assert_allclose(exact, table, rtol=0, atol=1e-4 * abs(table).max())
    np.testing.assert_allclose(exact_hess, table_hess, rtol=0, atol=1e-4 * table_hess.max())
    assert not np.array_equal(exact, table)
    first, second = (predictions(ours(value), data, 3, init_score=start) for value in values)
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-2)


@for_each("value", [value for value in OTHERS if value.uses_weights], ids=lambda value: value.kind)
def test_row_weights_multiply_under_every_objective(value):
    data = in_unit_interval(graded(22), value)
    scores = np.random.default_rng(5).normal(size=data.y.size)
    weights = np.random.default_rng(9).random(data.y.size)
    train = constructed(data)
    plain, weighted = ra.lightgbm.objective(value)(scores, train), constructed(data, weight=weights)
    for array, found in zip(plain, ra.lightgbm.objective(value)(scores, weighted), strict=True):
        np.testing.assert_array_equal(found, array * weights.astype(np.float32))
