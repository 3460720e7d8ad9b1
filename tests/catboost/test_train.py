"""`catboost.train` trains CatBoost under any objective, one tree per round."""

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra

cb = pytest.importorskip("catboost")

from tests.catboost.trainings import (  # noqa: E402 - after the skip
    CONV,
    DETERMINISTIC,
    LAMBDARANK,
    QUERY_RMSE,
    pool,
    query_weights,
    rows,
    train_natively,
)  # fmt: skip


def pool_with_missing():
    X, y, qid = rows()
    X[::7, 0] = np.nan
    return cb.Pool(X, y, group_id=qid)


def pool_with_categories(n_categories):
    X, y, qid = rows()
    names = np.floor((X[:, 0] - X[:, 0].min()) / np.ptp(X[:, 0]) * (n_categories - 1)).astype(int)
    columns = np.column_stack([X[:, 1:], np.char.add("c", names.astype(str))]).astype(object)
    columns[:, :-1] = X[:, 1:]
    return cb.Pool(columns, y, group_id=qid, cat_features=[X.shape[1] - 1])


def quantized_pool():
    data = pool()
    data.quantize(random_seed=0)
    return data


MANY_BORDERS = [{"border_count": 256}, {"max_bin": 1024}, {"per_float_feature_quantization": ["0:border_count=300"]}]


@pytest.mark.parametrize(
    ("make_pool", "params"),
    [
        (lambda: pool(0, 1000), {"iterations": 30, "depth": 6}),
        *((pool, borders) for borders in MANY_BORDERS),
        (pool, {"grow_policy": "Depthwise", "min_data_in_leaf": 5}),
        (pool, {"grow_policy": "Lossguide", "max_leaves": 6}),
        (pool, {"l2_leaf_reg": 0.5, "learning_rate": 0.1, "score_function": "L2"}),
        (pool, {"monotone_constraints": [1, 0, 0, 0, 0, 0], "model_shrink_rate": 0}),
        (pool, {"ignored_features": [4]}),
        (pool, {"feature_weights": [0.1, 1, 1, 1, 1, 1]}),
        (pool, {"border_count": 16, "feature_border_type": "Median"}),
        (quantized_pool, {}),
        (pool_with_missing, {"nan_mode": "Max"}),
        (lambda: pool_with_categories(5), {"one_hot_max_size": 5}),
        (lambda: pool(group_weight=query_weights()), {}),
        (lambda: pool(weight=query_weights()), {}),
        (lambda: pool(baseline=rows()[0][:, 0]), {}),
    ],
)
def test_a_setting_gives_the_same_model_as_in_catboosts_own_training(make_pool, params):
    params, data = {**DETERMINISTIC, **params}, make_pool()
    our_model, native_model = ra.catboost.train(params, data, QUERY_RMSE), train_natively(params, make_pool())
    predictions, expected = (model.predict(data) for model in (our_model, native_model))
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(predictions, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ridge", [0, 3])
def test_a_leaf_is_a_newton_step(weighted, ridge):
    X, y, qid = rows()
    weights = query_weights() if weighted else np.ones(y.size)
    objective = ra.objectives.catboost.pair_logit()
    params = {**DETERMINISTIC, "iterations": 1, "learning_rate": 1, "l2_leaf_reg": ridge}
    train = cb.Pool(X, y, group_id=qid, group_weight=weights if weighted else None)
    model = ra.catboost.train(params, train, objective)
    grad, hess = ra.objectives.gradients(y, np.zeros(y.size), objective, qid=qid)
    leaf = model.calc_leaf_indexes(X)[:, 0]
    sums = [np.bincount(leaf, array * weights)[leaf] for array in (grad, hess)]
    np.testing.assert_allclose(model.predict(X), -sums[0] / (sums[1] + ridge * weights.mean()), rtol=1e-5, atol=1e-6)


def test_weights_do_not_count_if_the_objective_ignores_them():
    assert not LAMBDARANK.uses_weights
    weighted, plain = (
        ra.catboost.train(DETERMINISTIC, data, LAMBDARANK) for data in (pool(group_weight=query_weights()), pool())
    )
    np.testing.assert_array_equal(weighted.predict(pool()), plain.predict(pool()))


def test_categories_that_are_not_one_hot_encoded_are_learnt_and_saved(tmp_path):
    train, params = pool_with_categories(40), {**DETERMINISTIC, "iterations": 20, "learning_rate": 0.3}
    model = ra.catboost.train(params, train, LAMBDARANK)
    X, y, qid = rows()
    plain = ra.catboost.train(params, cb.Pool(X[:, 1:], y, group_id=qid), LAMBDARANK)
    value, plain_value = (
        ra.evaluate(y, scores, CONV, qid=qid).value for scores in (model.predict(train), plain.predict(X[:, 1:]))
    )
    assert value > plain_value + 0.05
    model.save_model(tmp_path / "model.cbm")
    loaded = cb.CatBoost().load_model(tmp_path / "model.cbm")
    np.testing.assert_array_equal(loaded.predict(train), model.predict(train))


def test_training_stops_by_the_last_set_and_the_first_convention():
    params = {**DETERMINISTIC, "iterations": 200, "learning_rate": 0.5, "early_stopping_rounds": 4}
    sets = [pool(1, 20), pool(2, 20)]
    model = ra.catboost.train(params, pool(), LAMBDARANK, [CONV, ra.presets.catboost(3)], eval_set=sets)
    values = model.evals_result_["validation_1"][CONV.name]
    best = int(np.argmax(values))
    assert len(values) == best + 1 + 4 < 200
    assert model.best_iteration_ == best
    assert model.tree_count_ == best + 1
    assert model.best_score_["validation_1"][CONV.name] == pytest.approx(max(values), rel=1e-15)
    all_rounds = ra.catboost.train({**params, "use_best_model": False}, pool(), LAMBDARANK, CONV, eval_set=sets)
    assert all_rounds.tree_count_ == best + 1 + 4
    assert all_rounds.best_iteration_ == best


def test_a_loss_is_best_where_it_is_lowest():
    convention = ra.presets.catboost.query_rmse(weights=None)
    params = {**DETERMINISTIC, "iterations": 100, "learning_rate": 0.8}
    model = ra.catboost.train(params, pool(), QUERY_RMSE, convention, eval_set=pool(1, 20), early_stopping_rounds=3)
    losses = model.evals_result_["validation"][convention.name]
    assert model.best_iteration_ == np.argmin(losses)
    assert model.best_score_["validation"][convention.name] == pytest.approx(min(losses), rel=1e-15)
    assert len(losses) == model.tree_count_ + 3


@pytest.mark.parametrize(
    ("make_pool", "use_best"),
    [(pool, False), (lambda: pool_with_categories(40), True)],
    ids=["numbers and all rounds", "categories and the best"],
)
def test_trees_that_are_joined_during_the_training_make_the_same_model(make_pool, use_best, monkeypatch):
    def train_model():
        options = {"eval_set": make_pool(), "use_best_model": use_best, "early_stopping_rounds": 6}
        return ra.catboost.train({**DETERMINISTIC, "iterations": 23}, make_pool(), LAMBDARANK, CONV, **options)

    at_once = train_model()
    monkeypatch.setattr("rankadapters.catboost.joined_model.AT_ONCE", 4)
    in_parts = train_model()
    assert in_parts.tree_count_ == at_once.tree_count_
    assert (in_parts.predict(make_pool()) == at_once.predict(make_pool())).all()
    assert (in_parts.calc_leaf_indexes(make_pool()) == at_once.calc_leaf_indexes(make_pool())).all()
    assert in_parts.get_all_params() == at_once.get_all_params()
    assert in_parts.evals_result_ == at_once.evals_result_
    assert (in_parts.feature_importances_ == at_once.feature_importances_).all()
    assert sorted(in_parts.get_metadata().keys()) == sorted(at_once.get_metadata().keys())


def test_callbacks_see_every_round_and_end_the_training():
    calls = []

    class StopAtThree:
        def after_iteration(self, info):
            calls.append((info.iteration, info.metrics["validation"][CONV.name][-1]))
            return info.iteration < 3

    model = ra.catboost.train(
        DETERMINISTIC, pool(), LAMBDARANK, CONV, eval_set=pool(1), callbacks=[StopAtThree()], use_best_model=False
    )
    assert model.tree_count_ == 3
    values = model.evals_result_["validation"][CONV.name]
    assert calls == [(index + 1, pytest.approx(value, rel=1e-15)) for index, value in enumerate(values)]


def test_verbose_prints_a_line_every_so_many_rounds(capsys):
    model = ra.catboost.train(DETERMINISTIC, pool(), LAMBDARANK, {"mine": CONV}, verbose=4)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["0:", "4:", "8:"]
    assert lines[1] == f"4:\tlearn mine: {model.evals_result_['learn']['mine'][4]:.6f}"
    ra.catboost.train(DETERMINISTIC, pool(), LAMBDARANK, CONV)
    assert not capsys.readouterr().out


def test_the_model_is_an_ordinary_catboost_model(tmp_path):
    train = pool()
    X = rows()[0]
    model = ra.catboost.train(DETERMINISTIC, train, LAMBDARANK, CONV, eval_set=pool(1))
    assert type(model) is cb.CatBoost
    assert model.get_params() == DETERMINISTIC
    params = model.get_all_params()
    assert (params["iterations"], params["l2_leaf_reg"], params["random_strength"]) == (model.tree_count_, 3, 0)
    assert model.feature_importances_.sum() == pytest.approx(100)
    shap = model.get_feature_importance(train, type="ShapValues")
    np.testing.assert_allclose(shap.sum(axis=1), model.predict(X), atol=1e-9)
    model.save_model(tmp_path / "model.cbm")
    for copied in (
        cb.CatBoost().load_model(tmp_path / "model.cbm"), pickle.loads(pickle.dumps(model)), copy.copy(model)
    ):  # fmt: skip
        np.testing.assert_array_equal(copied.predict(X), model.predict(X))
        assert copied.best_iteration_ == model.best_iteration_
        assert copied.evals_result_ == model.evals_result_
        np.testing.assert_array_equal(copied.get_feature_importance(), model.feature_importances_)
    assert not [name for name in model.get_metadata().keys() if ":" in name]  # noqa: SIM118 - not a dict
    assert ra.catboost.check_model(model, train, ra.presets.catboost(5)).ok


def test_a_training_writes_no_file_and_prints_nothing(monkeypatch, tmp_path, capfd):
    monkeypatch.chdir(tmp_path)
    ra.catboost.train(DETERMINISTIC, pool(), LAMBDARANK, CONV, eval_set=pool(1))
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_the_pools_do_not_change():
    scores = rows()[0][:, 0].astype(np.float32)
    train, valid = pool(weight=query_weights(), baseline=scores), pool(1, baseline=scores)
    ra.catboost.train(DETERMINISTIC, train, LAMBDARANK, CONV, eval_set=valid)
    for data in (train, valid):
        assert not data.is_quantized()
        np.testing.assert_array_equal(data.get_baseline()[:, 0], scores)
    np.testing.assert_allclose(train.get_weight(), query_weights(), rtol=1e-7)


SAMPLED = {"iterations": 6, "depth": 3, "bootstrap_type": "Bernoulli", "subsample": 0.5, "thread_count": 1}


def test_the_seed_decides_the_model_and_every_round_samples_different_rows():
    X = rows()[0]
    models = [ra.catboost.train({**SAMPLED, "random_seed": seed}, pool(), LAMBDARANK) for seed in (1, 1, 2)]
    first, same_seed, other_seed = (model.predict(X) for model in models)
    np.testing.assert_array_equal(first, same_seed)
    assert (first != other_seed).any()
    leaf_weights = models[0].get_leaf_weights().reshape(6, -1).sum(axis=1)
    assert np.unique(leaf_weights).size == 6


def test_an_objectives_draws_continue_over_rounds_and_restart_in_each_training():
    objective = ra.objectives.lightgbm.xendcg()
    model, again = (ra.catboost.train({**DETERMINISTIC, "iterations": 3}, pool(), objective) for _ in range(2))
    np.testing.assert_array_equal(model.predict(pool()), again.predict(pool()))
    X, y, qid = rows()
    bound_objective, scores = objective.bind(ra.Queries(y, qid=qid)), np.zeros(y.size)
    for staged, leaf in zip(model.staged_predict(X), model.calc_leaf_indexes(X).T, strict=True):
        sums = [np.bincount(leaf, array)[leaf] for array in bound_objective.gradients(scores)]
        np.testing.assert_allclose(staged - scores, -0.03 * sums[0] / (sums[1] + 3), rtol=1e-4, atol=1e-7)
        scores = staged


def test_the_training_ends_when_all_gradients_are_zero(monkeypatch):
    from rankadapters.callbacks.objectives import ToolkitObjective

    rounds, gradients = [], ToolkitObjective.gradients

    def fading_gradients(self, *columns):
        rounds.append(1)
        grad, hess = gradients(self, *columns)
        return (grad, hess) if len(rounds) < 4 else (grad * 0, hess * 0)

    monkeypatch.setattr(ToolkitObjective, "gradients", fading_gradients)
    assert ra.catboost.train(DETERMINISTIC, pool(), LAMBDARANK).tree_count_ == 3
