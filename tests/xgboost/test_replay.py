"""Our versions of XGBoost's objectives, started with `replay_params`, train the same model bit for bit, also in folds.

`tests/objectives/test_replayed_settings.py` compares the models of all settings.
"""

import json

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.checkout import golden_file
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.objective_trainings import MEAN_PAIRS, PAIR_SEED, XGBoost, assert_same_predictions
from tests.helpers.parameters import short

xgb = pytest.importorskip("xgboost")

PARAMS = {"nthread": 1, "max_depth": 4, "disable_default_eval_metric": 1}
MEAN = {"lambdarank_pair_method": "mean"}
NDCG, SEEDED = objectives.xgboost.ndcg(), objectives.xgboost.ndcg(**MEAN, seed=0)
START = {"base_score": 0.25}  # of seeded pairs
NOT_BUILT_IN = [objectives.ListNet(), objectives.QueryRMSE(), objectives.catboost.query_cross_entropy()]


def dmatrix(seed, *, binary=False):
    data = graded_ranking(seed)
    label = (data.y > 0).astype(float) if binary else data.y
    return xgb.DMatrix(data.X, label=label, qid=data.qid, nthread=1)


def margins(train, params, obj=None, rounds=8):
    return xgb.train({**PARAMS, **params}, train, rounds, obj=obj).predict(train, output_margin=True)


@pytest.mark.long
@pytest.mark.parametrize("name", XGBoost.presets)
def test_base_score_is_xgboosts_own_estimate(name):
    objective, train = ra.xgboost.objective(XGBoost.presets[name]()), dmatrix(4, binary=name == "rank:map")
    config = json.loads(xgb.train({**PARAMS, "objective": name}, train, 1).save_config())
    estimate = np.float32(config["learner"]["learner_model_param"]["base_score"].strip("[]"))
    assert objective.replay_params(train)["base_score"] == estimate


@pytest.mark.long
def test_base_score_is_a_newton_step_from_zero():
    """QueryCrossEntropy with alpha=0 is the log loss, whose step is sum(label - 1/2) / sum(1/4)."""
    objective, train = ra.xgboost.objective(objectives.QueryCrossEntropy(alpha=0.0)), dmatrix(4, binary=True)
    expected = (train.get_label().mean() - 0.5) / 0.25
    assert objective.replay_params(train) == {"base_score": pytest.approx(expected, rel=1e-6)}


def test_equal_labels_give_a_base_score_of_zero():
    train, objective = dmatrix(5), ra.xgboost.objective(NDCG)
    train.set_label(np.ones(train.num_row()))
    params = objective.replay_params(train)
    assert params["base_score"] == 0
    np.testing.assert_array_equal(margins(train, params, objective), margins(train, {"objective": "rank:ndcg"}))


@pytest.mark.long
@pytest.mark.parametrize("value", NOT_BUILT_IN, ids=lambda value: value.kind)
def test_replay_params_of_an_objective_that_xgboost_lacks_are_a_base_score_alone(value):
    assert ra.xgboost.objective(value).replay_params(dmatrix(6, binary=True)).keys() == {"base_score"}


@pytest.mark.long
def test_replay_params_draw_nothing_from_the_random_generator():
    train = dmatrix(7)
    queried, untouched = (ra.xgboost.objective(objectives.xgboost.ndcg(**MEAN), n_threads=1) for _ in range(2))
    assert queried.replay_params(train) == queried.replay_params(train)
    zeros = np.zeros(train.num_row(), np.float32)
    np.testing.assert_array_equal(queried(zeros, train), untouched(zeros, train))


@pytest.mark.parametrize("params", [{"subsample": 0.5, "random_state": 7}, START])
def test_query_ranker_replays_with_the_parameters_of_its_ranker(params):
    sklearn, data = pytest.importorskip("rankadapters.sklearn"), graded_ranking(9)
    settings, ours = {"n_estimators": 5, "n_jobs": 1, "max_depth": 4, **params}, ra.xgboost.objective(NDCG)
    built_in, replayed = (
        sklearn.QueryRanker(xgb.XGBRanker(**settings).set_params(objective=objective)).fit(data.X, data.y, qid=data.qid)
        for objective in ("rank:ndcg", ours)
    )
    np.testing.assert_array_equal(replayed.predict(data.X), built_in.predict(data.X))
    assert np.ptp(replayed.predict(data.X)) > 0.1


@pytest.mark.long
@pytest.mark.parametrize("model", ["Booster", "file"])
def test_continued_training_equals_that_of_the_built_in_objective(model, tmp_path):
    """A file has no random generator, so XGBoost counts rounds from 0. From 3.4 on, a Booster keeps its generator."""
    path, train, predictions = tmp_path / "model.ubj", dmatrix(13), []
    objective = ra.xgboost.objective(objectives.xgboost.ndcg(**MEAN_PAIRS))
    replayed = objective.replay_params(train, base_score=0.0)
    for params, obj in ((replayed, objective), ({"objective": "rank:ndcg", **MEAN_PAIRS}, None)):
        parameters = {**XGBoost.params, **params}
        booster = xgb.train(parameters, train, 3, obj=obj)
        booster.save_model(path)
        if model == "file" or not PAIR_SEED:
            objective.reset()
        booster = xgb.train(parameters, train, 3, obj=obj, xgb_model=booster if model == "Booster" else path)
        predictions.append(booster.predict(train, output_margin=True))
    assert_same_predictions(*predictions)


def test_the_scikit_learn_interface_raises_with_a_hint_to_xgb_train():
    pytest.importorskip("sklearn")
    data, objective = graded_ranking(17), ra.xgboost.objective(NDCG)
    message = r"do not pass queries(.|\n)*Hint: xgb.train\(params, dmatrix, obj=objective\)"
    with pytest.raises(ra.InputError, match=message):
        xgb.XGBRegressor(n_estimators=1, objective=objective, n_jobs=1).fit(data.X, data.y)
    with pytest.raises(ValueError, match="custom objective function not supported by XGBRanker"):
        xgb.XGBRanker(n_estimators=1, objective=objective).fit(data.X, data.y, qid=data.qid)


# The pairs that `mean` draws: the round decides them up to XGBoost 3.3, its `seed` from 3.4 on


@pytest.mark.long
def test_replay_params_of_seeded_pairs_ask_for_a_base_score(monkeypatch):
    monkeypatch.setattr(xgb, "__version__", "3.4.1")
    obj, train = ra.xgboost.objective(SEEDED), dmatrix(1)
    with pytest.raises(ra.InputError, match=r"base_score=None cannot replay `mean`(.|\n)*Hint: .*base_score=0.5"):
        obj.replay_params(train)
    assert obj.replay_params(train, **START)["base_score"] == 0.25


@pytest.mark.long
@pytest.mark.parametrize(
    "value", [objectives.xgboost.ndcg(**MEAN), SEEDED.replace(convention="letor4@10"), NDCG], ids=short
)
def test_replay_params_of_other_objectives_estimate_the_base_score(value):
    assert abs(ra.xgboost.objective(value).replay_params(dmatrix(1))["base_score"]) < 0.5


@pytest.mark.long
@pytest.mark.skipif(not PAIR_SEED, reason="XGBoost up to 3.3 draws the pairs by the round")
@pytest.mark.parametrize("seed", [7, -1, 2**32 + 5])
def test_a_seed_outside_32_bits_is_taken_modulo_2_to_the_32(seed):
    train, obj = dmatrix(1), ra.xgboost.objective(SEEDED.replace(seed=seed % 2**32), n_threads=1)
    expected = margins(train, {"objective": "rank:ndcg", **MEAN, "seed": seed, **START})
    np.testing.assert_array_equal(margins(train, {**obj.replay_params(train, **START), "seed": seed}, obj), expected)


GOLDEN = golden_file("pair_draws")


@pytest.mark.long
@pytest.mark.parametrize("training", GOLDEN["trainings"], ids=lambda part: f"{part['objective']} {part['params']}")
def test_any_release_reproduces_the_recorded_training_of_xgboost_3_4(training):
    train = xgb.DMatrix(np.array(GOLDEN["X"]), label=GOLDEN["labels"], group=GOLDEN["group"], nthread=1)
    seed, start = training["params"]["seed"], training["params"].get("base_score")
    obj = ra.xgboost.objective(XGBoost.presets[training["objective"]](**MEAN, seed=seed), n_threads=1)
    begins_late = start is None  # the second draw is that of the first round
    params = obj.replay_params(train, base_score=obj._estimate(train) if begins_late else start)
    params = {"max_depth": 3, "tree_method": "exact", "seed": seed} | params
    for rounds, expected in zip(training["rounds"], training["margins"], strict=True):
        obj.reset()
        if begins_late:
            obj(np.zeros(train.num_row(), np.float32), train)  # the draw for the estimate
        np.testing.assert_array_equal(margins(train, params, obj, rounds), np.float32(expected))
