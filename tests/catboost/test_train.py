"""Training CatBoost under any objective: one tree a round."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.callbacks.history import History

cb = pytest.importorskip("catboost")

from tests.helpers.catboost_pools import (  # noqa: E402 - after the skip
    CONV,
    LAMBDARANK,
    PLAIN,
    QUERY_RMSE,
    native,
    pool,
    qid_of,
    query_weights,
    rows,
)  # fmt: skip
from tests.helpers.tables import for_each  # noqa: E402


def with_missing():
    X, y, qid = rows()
    X[::7, 0] = np.nan
    return cb.Pool(X, y, group_id=qid)


def with_categories(n_categories):
    X, y, qid = rows()
    names = np.floor((X[:, 0] - X[:, 0].min()) / np.ptp(X[:, 0]) * (n_categories - 1)).astype(int)
    columns = np.column_stack([X[:, 1:], np.char.add("c", names.astype(str))]).astype(object)
    columns[:, :-1] = X[:, 1:]
    return cb.Pool(columns, y, group_id=qid, cat_features=[X.shape[1] - 1])


def quantized():
    found = pool()
    found.quantize(random_seed=0)
    return found


BEYOND_255 = [{"border_count": 256}, {"max_bin": 1024}, {"per_float_feature_quantization": ["0:border_count=300"]}]


@for_each(
    ("make", "params"),
    [
        (lambda: pool(0, 1000), {"iterations": 30, "depth": 6}),
        *((pool, borders) for borders in BEYOND_255),
        (pool, {"grow_policy": "Depthwise", "min_data_in_leaf": 5}),
        (pool, {"grow_policy": "Lossguide", "max_leaves": 6}),
        (pool, {"l2_leaf_reg": 0.5, "learning_rate": 0.1, "score_function": "L2"}),
        (pool, {"monotone_constraints": [1, 0, 0, 0, 0, 0], "model_shrink_rate": 0}),
        (pool, {"ignored_features": [4]}),
        (pool, {"feature_weights": [0.1, 1, 1, 1, 1, 1]}),
        (pool, {"border_count": 16, "feature_border_type": "Median"}),
        (quantized, {}),
        (with_missing, {"nan_mode": "Max"}),
        (lambda: with_categories(5), {"one_hot_max_size": 5}),
        (lambda: pool(group_weight=query_weights()), {}),
        (lambda: pool(weight=query_weights()), {}),
        (lambda: pool(baseline=rows()[0][:, 0]), {}),
    ],
)
def test_settings_mean_what_they_mean_to_catboost(make, params):
    params, data = {**PLAIN, **params}, make()
    ours, own = ra.catboost.train(params, data, QUERY_RMSE), native(params, make())
    found, expected = (model.predict(data) for model in (ours, own))
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


@for_each("weighted", [False, True])
@for_each("ridge", [0, 3])
def test_a_leaf_is_a_newton_step(weighted, ridge):
    X, y, qid = rows()
    weights = query_weights() if weighted else np.ones(y.size)
    objective = ra.objectives.catboost.pair_logit()
    params = {**PLAIN, "iterations": 1, "learning_rate": 1, "l2_leaf_reg": ridge}
    train = cb.Pool(X, y, group_id=qid, group_weight=weights if weighted else None)
    model = ra.catboost.train(params, train, objective)
    grad, hess = ra.objectives.gradients(y, np.zeros(y.size), objective, qid=qid)
    leaf = model.calc_leaf_indexes(X)[:, 0]
    sums = [np.bincount(leaf, array * weights)[leaf] for array in (grad, hess)]
    np.testing.assert_allclose(model.predict(X), -sums[0] / (sums[1] + ridge * weights.mean()), rtol=1e-5, atol=1e-6)


def test_weights_do_not_count_under_a_convention_that_ignores_them():
    assert not LAMBDARANK.uses_weights
    weighted, plain = (
        ra.catboost.train(PLAIN, data, LAMBDARANK) for data in (pool(group_weight=query_weights()), pool())
    )
    np.testing.assert_array_equal(weighted.predict(pool()), plain.predict(pool()))


def test_categories_beyond_one_hot_are_learnt_and_saved(tmp_path):
    train, params = with_categories(40), {**PLAIN, "iterations": 20, "learning_rate": 0.3}
    model = ra.catboost.train(params, train, LAMBDARANK)
    X, y, qid = rows()
    without = ra.catboost.train(params, cb.Pool(X[:, 1:], y, group_id=qid), LAMBDARANK)
    with_it, without_it = (
        ra.evaluate(y, scores, CONV, qid=qid).value for scores in (model.predict(train), without.predict(X[:, 1:]))
    )
    assert with_it > without_it + 0.05
    model.save_model(tmp_path / "model.cbm")
    again = cb.CatBoost().load_model(tmp_path / "model.cbm")
    np.testing.assert_array_equal(again.predict(train), model.predict(train))


@pytest.mark.parametrize("start", [None, 0.5])
def test_every_round_of_every_set_is_our_value_bit_for_bit(start):
    scores = np.zeros(rows()[1].size) if start is None else rows()[0][:, 3].astype(np.float32) * start
    train = pool() if start is None else pool(baseline=scores)
    first, last = pool(1, 40), pool(2, 30, group_weight=query_weights(2, 30))
    conventions = [CONV, ra.presets.catboost(3)]
    with pytest.warns(UserWarning, match=rf"the data has weights, but {CONV.name} ignores them"):
        model = ra.catboost.train(
            {**PLAIN, "use_best_model": False}, train, LAMBDARANK, conventions, eval_set=[first, last]
        )
    for name, data in {"learn": train, "validation_0": first, "validation_1": last}.items():
        weights = query_weights(2, 30)[::30] if data is last else None
        features, begin = {"learn": (rows()[0], scores), "validation_0": (rows(1, 40)[0], 0.0)}.get(name, (data, 0.0))
        for convention in conventions:
            queries = ra.Queries(data.get_label(), qid=qid_of(data), query_weight=weights)
            counted = queries if convention.weighting else queries.with_weights()
            expected = [
                ra.evaluate(counted, begin + staged, convention).value for staged in model.staged_predict(features)
            ]
            found = [value for each, other, value in model.history if (each, other) == (name, convention)]
            assert found == expected
            assert model.evals_result_[name][convention.name] == pytest.approx(expected, rel=1e-15)


def test_beside_a_baseline_every_round_is_our_value_of_baseline_and_predictions_bit_for_bit():
    # The measure adds up differences of scores, so that the order in which scores are added up shows in its last bits.
    convention = ra.presets.catboost.query_rmse(weights=None)
    start, other = ((100 * rows(seed)[0][:, 3]).astype(np.float32).astype(float) for seed in (0, 1))
    train, valid = pool(baseline=start), pool(1, baseline=other)
    params = {**PLAIN, "iterations": 20, "use_best_model": False}
    model = ra.catboost.train(params, train, QUERY_RMSE, convention, eval_set=valid)
    for name, data, seed, begin in (("learn", train, 0, start), ("validation", valid, 1, other)):
        queries = ra.Queries(data.get_label(), qid=qid_of(data))
        staged = model.staged_predict(rows(seed)[0])
        expected = [ra.evaluate(queries, begin + scores, convention).value for scores in staged]
        assert [entry.value for entry in model.history.only(dataset=name)] == expected
        assert ra.evaluate(queries, model.predict(data), convention).value == expected[-1]


def test_training_stops_by_the_last_set_and_the_first_convention():
    params = {**PLAIN, "iterations": 200, "learning_rate": 0.5, "early_stopping_rounds": 4}
    sets = [pool(1, 20), pool(2, 20)]
    model = ra.catboost.train(params, pool(), LAMBDARANK, [CONV, ra.presets.catboost(3)], eval_set=sets)
    watched = [value for name, conv, value in model.history if (name, conv) == ("validation_1", CONV)]
    best = int(np.argmax(watched))
    assert len(watched) == best + 1 + 4 < 200
    assert model.best_iteration_ == best
    assert model.tree_count_ == best + 1
    assert model.best_score_["validation_1"][CONV.name] == pytest.approx(max(watched), rel=1e-15)
    other = ra.catboost.train({**params, "use_best_model": False}, pool(), LAMBDARANK, CONV, eval_set=sets)
    assert other.tree_count_ == best + 1 + 4
    assert other.best_iteration_ == best


def test_a_loss_is_watched_downwards():
    convention = ra.presets.catboost.query_rmse(weights=None)
    params = {**PLAIN, "iterations": 100, "learning_rate": 0.8}
    model = ra.catboost.train(params, pool(), QUERY_RMSE, convention, eval_set=pool(1, 20), early_stopping_rounds=3)
    watched = [value for name, _, value in model.history if name == "validation"]
    assert model.best_iteration_ == np.argmin(watched)
    assert model.best_score_["validation"][convention.name] == pytest.approx(min(watched), rel=1e-15)
    assert len(watched) == model.tree_count_ + 3


@pytest.mark.parametrize(
    ("make", "best"),
    [(pool, False), (lambda: with_categories(40), True)],
    ids=["numbers and all rounds", "categories and the best"],
)
def test_trees_that_are_added_up_on_the_way_make_the_same_model(make, best, monkeypatch):
    def trained():
        given = {"eval_set": make(), "use_best_model": best, "early_stopping_rounds": 6}
        return ra.catboost.train({**PLAIN, "iterations": 23}, make(), LAMBDARANK, CONV, **given)

    at_once = trained()
    monkeypatch.setattr("rankadapters.catboost.joined_model.AT_ONCE", 4)
    several = trained()
    assert several.tree_count_ == at_once.tree_count_
    assert (several.predict(make()) == at_once.predict(make())).all()
    assert (several.calc_leaf_indexes(make()) == at_once.calc_leaf_indexes(make())).all()
    assert several.get_all_params() == at_once.get_all_params()
    assert several.evals_result_ == at_once.evals_result_
    assert (several.feature_importances_ == at_once.feature_importances_).all()
    assert sorted(several.get_metadata().keys()) == sorted(at_once.get_metadata().keys())


def test_callbacks_see_every_round_and_end_the_training():
    seen = []

    class Third:
        def after_iteration(self, info):
            seen.append((info.iteration, info.metrics["validation"][CONV.name][-1]))
            return info.iteration < 3

    model = ra.catboost.train(
        PLAIN, pool(), LAMBDARANK, CONV, eval_set=pool(1), callbacks=[Third()], use_best_model=False
    )
    assert model.tree_count_ == 3
    assert seen == [(place + 1, value) for place, value in enumerate(
        value for name, _, value in model.history if name == "validation")]  # fmt: skip


def test_a_round_does_not_go_through_the_rounds_before_it(monkeypatch):
    visits = []

    class Watching:
        def after_iteration(self, info):
            return len(info.metrics["learn"][CONV.name]) == info.iteration

    def visited(history):
        visits.append(len(history))
        return list.__iter__(history)

    monkeypatch.setattr(History, "__iter__", visited)
    model = ra.catboost.train(PLAIN, pool(0, 10), LAMBDARANK, CONV, eval_set=pool(1, 5), callbacks=[Watching()])
    assert len(model.history) == 2 * 10
    assert not visits


def test_verbose_prints_a_line_every_so_many_rounds(capsys):
    model = ra.catboost.train(PLAIN, pool(), LAMBDARANK, CONV, verbose=4, names=["mine"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["0:", "4:", "8:"]
    assert lines[1] == f"4:\tlearn mine: {model.history[4].value:.6f}"
    ra.catboost.train(PLAIN, pool(), LAMBDARANK, CONV)
    assert not capsys.readouterr().out


def test_the_model_is_an_ordinary_one(tmp_path):
    train = pool()
    X = rows()[0]
    model = ra.catboost.train(PLAIN, train, LAMBDARANK, CONV, eval_set=pool(1))
    assert type(model) is cb.CatBoost
    assert model.get_params() == PLAIN
    said = model.get_all_params()
    assert (said["iterations"], said["l2_leaf_reg"], said["random_strength"]) == (model.tree_count_, 3, 0)
    assert model.feature_importances_.sum() == pytest.approx(100)
    shap = model.get_feature_importance(train, type="ShapValues")
    np.testing.assert_allclose(shap.sum(axis=1), model.predict(X), atol=1e-9)
    model.save_model(tmp_path / "model.cbm")
    for again in (
        cb.CatBoost().load_model(tmp_path / "model.cbm"), pickle.loads(pickle.dumps(model)), copy.copy(model)
    ):  # fmt: skip
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.best_iteration_ == model.best_iteration_
        assert again.evals_result_ == model.evals_result_
        np.testing.assert_array_equal(again.get_feature_importance(), model.feature_importances_)
    assert not [name for name in model.get_metadata().keys() if ":" in name]  # noqa: SIM118 - not a dict
    assert ra.catboost.check_model(model, train, ra.presets.catboost(5)).ok


def test_the_pools_are_as_they_were_and_a_quantized_one_trains_the_same_model():
    scores = rows()[0][:, 0].astype(np.float32)
    train, valid = pool(weight=query_weights(), baseline=scores), pool(1, baseline=scores)
    ra.catboost.train(PLAIN, train, LAMBDARANK, CONV, eval_set=valid)
    for data in (train, valid):
        assert not data.is_quantized()
        np.testing.assert_array_equal(data.get_baseline()[:, 0], scores)
    np.testing.assert_allclose(train.get_weight(), query_weights(), rtol=1e-7)
    of_quantized, of_pool = (ra.catboost.train(PLAIN, data, LAMBDARANK) for data in (quantized(), pool()))
    np.testing.assert_array_equal(of_quantized.predict(rows()[0]), of_pool.predict(rows()[0]))


DRAWN = {"iterations": 6, "depth": 3, "bootstrap_type": "Bernoulli", "subsample": 0.5, "thread_count": 1}


def test_the_seed_decides_the_model_and_every_round_draws_anew():
    X = rows()[0]
    models = [ra.catboost.train({**DRAWN, "random_seed": seed}, pool(), LAMBDARANK) for seed in (1, 1, 2)]
    one, same, other = (model.predict(X) for model in models)
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    leaf_weights = models[0].get_leaf_weights().reshape(6, -1).sum(axis=1)
    assert np.unique(leaf_weights).size == 6


def test_what_an_objective_draws_goes_on_from_round_to_round_and_starts_anew_in_a_training():
    value = ra.objectives.lightgbm.xendcg()
    one, same = (ra.catboost.train({**PLAIN, "iterations": 3}, pool(), value) for _ in range(2))
    np.testing.assert_array_equal(one.predict(pool()), same.predict(pool()))
    X, y, qid = rows()
    bound, scores = value.bind(ra.Queries(y, qid=qid)), np.zeros(y.size)
    for staged, leaf in zip(one.staged_predict(X), one.calc_leaf_indexes(X).T, strict=True):
        sums = [np.bincount(leaf, array)[leaf] for array in bound.gradients(scores)]
        np.testing.assert_allclose(staged - scores, -0.03 * sums[0] / (sums[1] + 3), rtol=1e-4, atol=1e-7)
        scores = staged


def test_the_training_ends_where_no_gradient_is_left(monkeypatch):
    from rankadapters.callbacks.objectives import Training

    rounds, given = [], Training.gradients

    def fading(self, *columns):
        rounds.append(1)
        grad, hess = given(self, *columns)
        return (grad, hess) if len(rounds) < 4 else (grad * 0, hess * 0)

    monkeypatch.setattr(Training, "gradients", fading)
    assert ra.catboost.train(PLAIN, pool(), LAMBDARANK).tree_count_ == 3
