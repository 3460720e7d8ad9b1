"""Which pairs XGBoost's `mean` method draws: decided by the round up to XGBoost 3.3, by its `seed` from 3.4 on."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.objective_trainings import PAIR_SEED
from tests.helpers.tables import for_each, short

xgb = pytest.importorskip("xgboost")
pair_draws = pytest.importorskip("rankadapters.xgboost.pair_draws")

MEAN = {"lambdarank_pair_method": "mean"}
BY_ROUND = objectives.xgboost.ndcg(**MEAN)
SEEDED = objectives.xgboost.ndcg(**MEAN, seed=0)
PRESETS = {
    "rank:ndcg": objectives.xgboost.ndcg,
    "rank:pairwise": objectives.xgboost.pairwise,
    "rank:map": objectives.xgboost.map,
}
DIFFERS = r"this training is not that of XGBoost's built-in objective"
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
    return margins(train, {**obj.replay_params(train), **params}, obj, rounds)


@from_3_4
@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
@for_each("name", PRESETS)
@for_each("start", [None, 0.0, 0.25])
def test_seeded_pairs_replay_the_built_in_objective(name, method, start):
    train = dmatrix(graded_ranking(1), name)
    obj = ra.xgboost.objective(PRESETS[name](**MEAN, seed=7), n_threads=1)
    settings = {"tree_method": method, "seed": 7}
    built_in_settings = {"objective": name, **MEAN, **({} if start is None else {"base_score": start})}
    expected = margins(train, {**settings, **built_in_settings})
    np.testing.assert_array_equal(margins(train, settings | obj.replay_params(train, base_score=start), obj), expected)
    assert np.ptp(expected) > 0.1


@for_each(
    ("value", "rounds", "estimate", "skipped"),
    [(SEEDED, 0, 0.25, 1), (SEEDED, 0, 0.5, 0), (SEEDED, 0, None, 0), (SEEDED, 2, 0.25, 0), (BY_ROUND, 0, 0.25, 0)],
)
@pytest.mark.filterwarnings("ignore:this training is not")
def test_only_a_new_seeded_training_from_the_estimate_skips_a_draw(value, rounds, estimate, skipped, monkeypatch):
    train, draws = dmatrix(graded_ranking(1)), pair_draws.TrainingDraws()
    booster = xgb.train({**PARAMS, "base_score": 0.25, "objective": "rank:ndcg"}, train, rounds)
    monkeypatch.setattr(pair_draws, "_booster", lambda: booster)
    draws.expect(train, estimate)
    assert draws.before_training(value, train) == skipped


@from_3_4
@pytest.mark.parametrize("seed", [7, -1, 2**32 + 5])
def test_a_seed_outside_32_bits_is_taken_modulo_2_to_the_32(seed):
    train = dmatrix(graded_ranking(1))
    value = SEEDED.replace(seed=seed % 2**32)
    np.testing.assert_array_equal(train_replayed(train, value, seed=seed), train_built_in(train, seed=seed))


@pytest.mark.parametrize("start", [0, 0.5])
def test_replay_params_keeps_a_declared_base_score(start):
    # The estimate of rank:pairwise is exactly 0 here: base_score=0 alone could not tell the two trainings apart.
    data = graded_ranking(1)
    train, value = dmatrix(data), objectives.xgboost.pairwise(**MEAN, **PAIR_SEED)
    obj = ra.xgboost.objective(value, n_threads=1)
    assert obj.replay_params(train)["base_score"] == 0
    params = obj.replay_params(train, base_score=start)
    assert params["base_score"] == start
    expected = train_built_in(train, objective="rank:pairwise", base_score=start)
    np.testing.assert_array_equal(margins(train, params, obj), expected)


def test_a_training_from_another_base_score_begins_with_the_first_draw():
    train = dmatrix(graded_ranking(1))
    obj = ra.xgboost.objective(INSTALLED, n_threads=1)
    params = {**obj.replay_params(train), "base_score": 0.5}
    np.testing.assert_array_equal(margins(train, params, obj), train_built_in(train, base_score=0.5))


@pytest.mark.parametrize("restart", ["reset", "deepcopy", "pickle"])
def test_a_second_training_also_equals_the_built_in_objective(restart):
    train = dmatrix(graded_ranking(1))
    obj = ra.xgboost.objective(INSTALLED, n_threads=1)
    params = obj.replay_params(train)
    expected = margins(train, params, obj)
    np.testing.assert_array_equal(expected, train_built_in(train))
    obj.reset()
    if restart != "reset":
        obj = copy.deepcopy(obj) if restart == "deepcopy" else pickle.loads(pickle.dumps(obj))
        params = obj.replay_params(train)
    np.testing.assert_array_equal(margins(train, params, obj), expected)


@pytest.mark.parametrize("params", [{}, {"base_score": 0.25}, {"random_state": 7}], ids=short)
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


@pytest.mark.filterwarnings(f"ignore:{DIFFERS}. XGBoost:UserWarning")  # XGBoost up to 3.3 draws other pairs
@pytest.mark.parametrize("training", GOLDEN["trainings"], ids=lambda part: f"{part['objective']} {part['params']}")
def test_any_release_reproduces_the_recorded_training_of_xgboost_3_4(training):
    train = xgb.DMatrix(np.array(GOLDEN["X"]), label=GOLDEN["labels"], group=GOLDEN["group"], nthread=1)
    seed, start = training["params"]["seed"], training["params"].get("base_score")
    obj = ra.xgboost.objective(PRESETS[training["objective"]](**MEAN, seed=seed), n_threads=1)
    params = {"tree_method": "exact", "seed": seed} | obj.replay_params(train, base_score=start)
    for rounds, expected in zip(training["rounds"], training["margins"], strict=True):
        obj.reset()
        np.testing.assert_array_equal(margins(train, params, obj, rounds), np.float32(expected))


# Warnings


DESCENT = {"booster": "gblinear", "updater": "coord_descent"}
NO_REPLAY = r"under {}.*\nHint: lambdarank_pair_method='topk'"
NOT_REPLAYED = [
    *(({name: 0.5}, NO_REPLAY.format(f"{name}=")) for name in ("subsample", "rate_drop", "skip_drop")),
    *(({f"colsample_by{part}": 0.5}, NO_REPLAY.format(f"colsample_by{part}=")) for part in ("tree", "level", "node")),
    ({"one_drop": 1}, NO_REPLAY.format("one_drop=")),
    *(({**DESCENT, "feature_selector": kind}, f"under feature_selector={kind}") for kind in ("shuffle", "random")),
    ({"seed_per_iteration": True}, r"under seed_per_iteration(.|\n)*Hint: train without"),
    ({"seed": 9}, r"it seeds .* seed=9(.|\n)*objective has seed=0.\nHint: value.replace\(seed=9\)"),
]


@from_3_4
@pytest.mark.filterwarnings(r"ignore:[^\0]*(gblinear|are not used):UserWarning")
@pytest.mark.parametrize(("params", "message"), NOT_REPLAYED, ids=short)
def test_settings_that_prevent_a_replay_warn(params, message):
    train = dmatrix(graded_ranking(1))
    with pytest.warns(UserWarning, match=f"{DIFFERS}: {message}"):
        margins_replayed = train_replayed(train, **params)
    assert not np.array_equal(margins_replayed, train_built_in(train, **params))


@pytest.mark.parametrize("preset", PRESETS.values())
def test_an_objective_that_draws_as_another_release_warns(preset):
    value = preset(**MEAN) if PAIR_SEED else preset(**MEAN, seed=0)
    train = dmatrix(graded_ranking(1), "rank:map")
    with pytest.warns(
        UserWarning, match=rf"{DIFFERS}: XGBoost {xgb.__version__} draws the pairs of `mean` differently"
    ):
        train_replayed(train, value)
    with pytest.warns(UserWarning, match=DIFFERS):
        xgb.train(PARAMS, train, 1, obj=ra.xgboost.objective(value))


def test_a_training_warns_once_and_a_direct_call_does_not_warn():
    train = dmatrix(graded_ranking(1))
    obj = ra.xgboost.objective(BY_ROUND if PAIR_SEED else SEEDED)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        obj(np.zeros(train.num_row(), np.float32), train)
        assert not caught
        obj.reset()
        margins(train, {}, obj)
    assert len(caught) == 1
    assert caught[0].filename.endswith("core.py")  # XGBoost's module that calls the objective


@pytest.mark.parametrize(
    "value",
    [
        objectives.xgboost.ndcg(),
        objectives.ListNet(),
        *(value.replace(convention="letor4@10") for value in (BY_ROUND, SEEDED)),
    ],
    ids=short,
)
def test_objectives_without_drawn_pairs_or_replay_do_not_warn(value):
    train = dmatrix(graded_ranking(1))
    margins(train, {"subsample": 0.5, "seed": 3}, ra.xgboost.objective(value))
