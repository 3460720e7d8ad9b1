"""Which pairs XGBoost's `mean` method draws: decided by the round up to XGBoost 3.3, by its `seed` from 3.4 on."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.objective_trainings import PAIR_SEED
from tests.helpers.tables import for_each, short

xgb = pytest.importorskip("xgboost")

MEAN = {"lambdarank_pair_method": "mean"}
BY_ROUND = objectives.xgboost.ndcg(**MEAN)
SEEDED = objectives.xgboost.ndcg(**MEAN, seed=0)
PRESETS = {
    "rank:ndcg": objectives.xgboost.ndcg,
    "rank:pairwise": objectives.xgboost.pairwise,
    "rank:map": objectives.xgboost.map,
}
START = {"base_score": 0.25}  # of both trainings
PARAMS = {"nthread": 1, "max_depth": 3, "disable_default_eval_metric": 1}
INSTALLED = SEEDED if PAIR_SEED else BY_ROUND  # draws as the installed XGBoost does
from_3_4 = pytest.mark.skipif(not PAIR_SEED, reason="XGBoost up to 3.3 draws the pairs by the round")


def dmatrix(data, name="rank:ndcg"):
    label = data.y > 0 if name == "rank:map" else data.y
    return xgb.DMatrix(data.X, label=label, qid=data.qid, nthread=1)


def margins(train, params, obj=None, rounds=5):
    return xgb.train({**PARAMS, **params}, train, rounds, obj=obj).predict(train, output_margin=True)


def train_built_in(train, rounds=5, **params):
    return margins(train, {"objective": "rank:ndcg", **MEAN, **params}, rounds=rounds)


def train_replayed(train, value=INSTALLED, rounds=5, **params):
    obj = ra.xgboost.objective(value, n_threads=1)
    return margins(train, {**obj.replay_params(train, **START), **params}, obj, rounds)


@from_3_4
@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
@for_each("name", PRESETS)
@for_each("start", [0.0, 0.25])
def test_seeded_pairs_replay_the_built_in_objective(name, method, start):
    train = dmatrix(graded_ranking(1), name)
    obj = ra.xgboost.objective(PRESETS[name](**MEAN, seed=7), n_threads=1)
    settings = {"tree_method": method, "seed": 7}
    built_in_settings = {"objective": name, **MEAN, "base_score": start}
    expected = margins(train, {**settings, **built_in_settings})
    np.testing.assert_array_equal(margins(train, settings | obj.replay_params(train, base_score=start), obj), expected)
    assert np.ptp(expected) > 0.1


def test_replay_params_of_seeded_pairs_ask_for_a_base_score(monkeypatch):
    monkeypatch.setattr(xgb, "__version__", "3.4.1")
    obj, train = ra.xgboost.objective(SEEDED), dmatrix(graded_ranking(1))
    with pytest.raises(ra.InputError, match=r"base_score=None cannot replay `mean`(.|\n)*Hint: .*base_score=0.5"):
        obj.replay_params(train)
    assert obj.replay_params(train, **START)["base_score"] == 0.25


@pytest.mark.parametrize(
    "value", [BY_ROUND, SEEDED.replace(convention="letor4@10"), objectives.xgboost.ndcg()], ids=short
)
def test_replay_params_of_other_objectives_estimate_the_base_score(value):
    assert abs(ra.xgboost.objective(value).replay_params(dmatrix(graded_ranking(1)))["base_score"]) < 0.5


@from_3_4
@pytest.mark.parametrize("seed", [7, -1, 2**32 + 5])
def test_a_seed_outside_32_bits_is_taken_modulo_2_to_the_32(seed):
    train = dmatrix(graded_ranking(1))
    value = SEEDED.replace(seed=seed % 2**32)
    np.testing.assert_array_equal(train_replayed(train, value, seed=seed), train_built_in(train, seed=seed, **START))


@pytest.mark.parametrize("start", [0, 0.5])
def test_replay_params_keeps_a_declared_base_score(start):
    data = graded_ranking(1)
    train, value = dmatrix(data), objectives.xgboost.pairwise(**MEAN, **PAIR_SEED)
    obj = ra.xgboost.objective(value, n_threads=1)
    params = obj.replay_params(train, base_score=start)
    assert params["base_score"] == start
    expected = train_built_in(train, objective="rank:pairwise", base_score=start)
    np.testing.assert_array_equal(margins(train, params, obj), expected)


@pytest.mark.parametrize("restart", ["reset", "deepcopy", "pickle"])
def test_a_second_training_also_equals_the_built_in_objective(restart):
    train = dmatrix(graded_ranking(1))
    obj = ra.xgboost.objective(INSTALLED, n_threads=1)
    params = obj.replay_params(train, **START)
    expected = margins(train, params, obj)
    np.testing.assert_array_equal(expected, train_built_in(train, **START))
    obj.reset()
    if restart != "reset":
        obj = copy.deepcopy(obj) if restart == "deepcopy" else pickle.loads(pickle.dumps(obj))
    np.testing.assert_array_equal(margins(train, params, obj), expected)


@pytest.mark.parametrize("params", [START, {**START, "random_state": 7}], ids=short)
def test_query_ranker_replays_drawn_pairs(params):
    sklearn = pytest.importorskip("rankadapters.sklearn")
    data = graded_ranking(1)
    value = INSTALLED.replace(seed=params.get("random_state", 0)) if PAIR_SEED else INSTALLED
    settings = {"n_estimators": 5, "n_jobs": 1, "max_depth": 3, **params}
    built_in = sklearn.QueryRanker(xgb.XGBRanker(objective="rank:ndcg", **MEAN, **settings))
    replayed = sklearn.QueryRanker(xgb.XGBRanker(**settings).set_params(objective=ra.xgboost.objective(value)))
    predictions, expected = (model.fit(data.X, data.y, qid=data.qid).predict(data.X) for model in (replayed, built_in))
    np.testing.assert_array_equal(predictions, expected)


GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "pair_draws.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("training", GOLDEN["trainings"], ids=lambda part: f"{part['objective']} {part['params']}")
def test_any_release_reproduces_the_recorded_training_of_xgboost_3_4(training):
    train = xgb.DMatrix(np.array(GOLDEN["X"]), label=GOLDEN["labels"], group=GOLDEN["group"], nthread=1)
    seed, start = training["params"]["seed"], training["params"].get("base_score")
    obj = ra.xgboost.objective(PRESETS[training["objective"]](**MEAN, seed=seed), n_threads=1)
    begins_late = start is None  # the second draw is that of the first round
    params = obj.replay_params(train, base_score=obj._estimate(train) if begins_late else start)
    params = {"tree_method": "exact", "seed": seed} | params
    for rounds, expected in zip(training["rounds"], training["margins"], strict=True):
        obj.reset()
        if begins_late:
            obj(np.zeros(train.num_row(), np.float32), train)  # the draw for the estimate
        np.testing.assert_array_equal(margins(train, params, obj, rounds), np.float32(expected))


DESCENT = {"booster": "gblinear", "updater": "coord_descent"}
NOT_REPLAYED = [
    *({name: 0.5} for name in ("subsample", "rate_drop", "skip_drop")),
    *({f"colsample_by{part}": 0.5} for part in ("tree", "level", "node")),
    {"one_drop": 1},
    *({**DESCENT, "feature_selector": kind} for kind in ("shuffle", "random")),
    {"seed_per_iteration": True},
    {"seed": 9},
]


@from_3_4
@pytest.mark.filterwarnings(r"ignore:[^\0]*(gblinear|are not used):UserWarning")
@pytest.mark.parametrize("params", NOT_REPLAYED, ids=short)
def test_settings_that_draw_from_the_generator_of_the_pairs_prevent_a_replay(params):
    train = dmatrix(graded_ranking(1))
    assert not np.array_equal(train_replayed(train, **params), train_built_in(train, **params, **START))


@pytest.mark.parametrize("preset", PRESETS.values())
def test_an_objective_that_draws_as_another_release_has_no_parameters_of_xgboost(preset):
    value = preset(**MEAN) if PAIR_SEED else preset(**MEAN, seed=0)
    message = rf"XGBoost {xgb.__version__} draws the pairs of `mean` differently"
    with pytest.raises(ra.UnsupportedConventionError, match=message):
        ra.xgboost.native_objective(value)
    params = ra.xgboost.objective(value).replay_params(dmatrix(graded_ranking(1), "rank:map"), **START)
    assert params == START
