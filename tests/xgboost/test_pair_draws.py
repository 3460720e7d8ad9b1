"""Which pairs XGBoost's `mean` draws: by the round up to 3.3, by its parameter `seed` from 3.4 on."""

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
from tests.helpers.objective_rankings import graded
from tests.helpers.objective_trainings import SEED
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
OTHERS = r"this training is not that of XGBoost's built-in objective"
PARAMS = {"nthread": 1, "max_depth": 3, "disable_default_eval_metric": 1}
HERE = SEEDED if SEED else BY_ROUND  # what the XGBoost that is here draws
from_3_4 = pytest.mark.skipif(not SEED, reason="XGBoost up to 3.3 draws the pairs by the round")


def dmatrix(data, name="rank:ndcg"):
    label = data.y > 0 if name == "rank:map" else data.y
    return xgb.DMatrix(data.X, label=label, qid=data.qid, nthread=1)


def margins(train, params, obj=None, rounds=5):
    return xgb.train({**PARAMS, **params}, train, rounds, obj=obj).predict(train, output_margin=True)


def built_in(train, rounds=5, **params):
    return margins(train, {"objective": "rank:ndcg", **MEAN, **params}, rounds=rounds)


def replayed(train, value=HERE, rounds=5, **params):
    obj = ra.xgboost.objective(value, n_threads=1)
    return margins(train, {**obj.replay_params(train), **params}, obj, rounds)


@from_3_4
@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
@for_each("name", PRESETS)
@for_each("start", [None, 0.0, 0.25])
def test_seeded_pairs_replay_the_built_in_objective(name, method, start):
    train = dmatrix(graded(1), name)
    obj = ra.xgboost.objective(PRESETS[name](**MEAN, seed=7), n_threads=1)
    told = {"tree_method": method, "seed": 7}
    own = {"objective": name, **MEAN, **({} if start is None else {"base_score": start})}
    expected = margins(train, {**told, **own})
    np.testing.assert_array_equal(margins(train, told | obj.replay_params(train, base_score=start), obj), expected)
    assert np.ptp(expected) > 0.1


@for_each(
    ("value", "rounds", "estimate", "skipped"),
    [(SEEDED, 0, 0.25, 1), (SEEDED, 0, 0.5, 0), (SEEDED, 0, None, 0), (SEEDED, 2, 0.25, 0), (BY_ROUND, 0, 0.25, 0)],
)
@pytest.mark.filterwarnings("ignore:this training is not")
def test_only_a_new_seeded_training_from_the_estimate_skips_a_draw(value, rounds, estimate, skipped, monkeypatch):
    train, draws = dmatrix(graded(1)), pair_draws.TrainingDraws()
    booster = xgb.train({**PARAMS, "base_score": 0.25, "objective": "rank:ndcg"}, train, rounds)
    monkeypatch.setattr(pair_draws, "_booster", lambda: booster)
    draws.expect(train, estimate)
    assert draws.before_training(value, train) == skipped


@from_3_4
@pytest.mark.parametrize("seed", [7, -1, 2**32 + 5])
def test_a_seed_of_more_than_32_bits_is_taken_modulo_2_to_the_32(seed):
    train = dmatrix(graded(1))
    value = SEEDED.replace(seed=seed % 2**32)
    np.testing.assert_array_equal(replayed(train, value, seed=seed), built_in(train, seed=seed))


@pytest.mark.parametrize("start", [0, 0.5])
def test_a_base_score_that_replay_params_is_told_is_not_estimated(start):
    # The estimate of rank:pairwise is exactly 0 here: base_score=0 alone could not tell the two trainings apart.
    data = graded(1)
    train, value = dmatrix(data), objectives.xgboost.pairwise(**MEAN, **SEED)
    obj = ra.xgboost.objective(value, n_threads=1)
    assert obj.replay_params(train)["base_score"] == 0
    params = obj.replay_params(train, base_score=start)
    assert params["base_score"] == start
    expected = built_in(train, objective="rank:pairwise", base_score=start)
    np.testing.assert_array_equal(margins(train, params, obj), expected)


def test_a_training_from_elsewhere_begins_with_the_first_draw():
    train = dmatrix(graded(1))
    obj = ra.xgboost.objective(HERE, n_threads=1)
    params = {**obj.replay_params(train), "base_score": 0.5}
    np.testing.assert_array_equal(margins(train, params, obj), built_in(train, base_score=0.5))


@pytest.mark.parametrize("again", ["reset", "deepcopy", "pickle"])
def test_a_second_training_replays_too(again):
    train = dmatrix(graded(1))
    obj = ra.xgboost.objective(HERE, n_threads=1)
    params = obj.replay_params(train)
    expected = margins(train, params, obj)
    np.testing.assert_array_equal(expected, built_in(train))
    obj.reset()
    if again != "reset":
        obj = copy.deepcopy(obj) if again == "deepcopy" else pickle.loads(pickle.dumps(obj))
        params = obj.replay_params(train)
    np.testing.assert_array_equal(margins(train, params, obj), expected)


@pytest.mark.parametrize("params", [{}, {"base_score": 0.25}, {"random_state": 7}], ids=short)
def test_query_ranker_replays_drawn_pairs(params):
    sklearn = pytest.importorskip("rankadapters.sklearn")
    data = graded(1)
    value = HERE.replace(seed=params.get("random_state", 0)) if SEED else HERE
    fixed = {"n_estimators": 5, "n_jobs": 1, "max_depth": 3, **params}
    own = sklearn.QueryRanker(xgb.XGBRanker(objective="rank:ndcg", **MEAN, **fixed))
    ours = sklearn.QueryRanker(xgb.XGBRanker(**fixed).set_params(objective=ra.xgboost.objective(value)))
    found, expected = (model.fit(data.X, data.y, qid=data.qid).predict(data.X) for model in (ours, own))
    np.testing.assert_array_equal(found, expected)


GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "pair_draws.json").read_text(encoding="utf-8"))


@pytest.mark.filterwarnings(f"ignore:{OTHERS}. XGBoost:UserWarning")  # up to 3.3, which draws otherwise
@pytest.mark.parametrize("training", GOLDEN["trainings"], ids=lambda part: f"{part['objective']} {part['params']}")
def test_what_xgboost_3_4_trained_is_trained_in_any_release(training):
    train = xgb.DMatrix(np.array(GOLDEN["X"]), label=GOLDEN["labels"], group=GOLDEN["group"], nthread=1)
    own = training["params"]
    obj = ra.xgboost.objective(PRESETS[training["objective"]](**MEAN, seed=own["seed"]), n_threads=1)
    params = {"tree_method": "exact", "seed": own["seed"]} | obj.replay_params(train, base_score=own.get("base_score"))
    for rounds, expected in zip(training["rounds"], training["margins"], strict=True):
        obj.reset()
        np.testing.assert_array_equal(margins(train, params, obj, rounds), np.float32(expected))


# Warnings


DESCENT = {"booster": "gblinear", "updater": "coord_descent"}
WITHOUT = r"under {}.*\nHint: lambdarank_pair_method='topk'"
NOT_REPLAYED = [
    *(({name: 0.5}, WITHOUT.format(f"{name}=")) for name in ("subsample", "rate_drop", "skip_drop")),
    *(({f"colsample_by{part}": 0.5}, WITHOUT.format(f"colsample_by{part}=")) for part in ("tree", "level", "node")),
    ({"one_drop": 1}, WITHOUT.format("one_drop=")),
    *(({**DESCENT, "feature_selector": by}, f"under feature_selector={by}") for by in ("shuffle", "random")),
    ({"seed_per_iteration": True}, r"under seed_per_iteration(.|\n)*Hint: train without"),
    ({"seed": 9}, r"it seeds .* seed=9(.|\n)*objective has seed=0.\nHint: value.replace\(seed=9\)"),
]


@from_3_4
@pytest.mark.filterwarnings(r"ignore:[^\0]*(gblinear|are not used):UserWarning")
@pytest.mark.parametrize(("params", "message"), NOT_REPLAYED, ids=short)
def test_draws_that_are_not_replayed_warn(params, message):
    train = dmatrix(graded(1))
    with pytest.warns(UserWarning, match=f"{OTHERS}: {message}"):
        found = replayed(train, **params)
    assert not np.array_equal(found, built_in(train, **params))


@pytest.mark.parametrize("preset", PRESETS.values())
def test_pairs_that_another_release_draws_warn(preset):
    value = preset(**MEAN) if SEED else preset(**MEAN, seed=0)
    train = dmatrix(graded(1), "rank:map")
    with pytest.warns(UserWarning, match=rf"{OTHERS}: XGBoost {xgb.__version__} draws the pairs of `mean` differently"):
        replayed(train, value)
    with pytest.warns(UserWarning, match=OTHERS):
        xgb.train(PARAMS, train, 1, obj=ra.xgboost.objective(value))


def test_a_training_warns_once_and_not_in_calls_by_hand():
    train = dmatrix(graded(1))
    obj = ra.xgboost.objective(BY_ROUND if SEED else SEEDED)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        obj(np.zeros(train.num_row(), np.float32), train)
        assert not caught
        obj.reset()
        margins(train, {}, obj)
    assert len(caught) == 1
    assert caught[0].filename.endswith("core.py")  # XGBoost's, which calls the objective


@pytest.mark.parametrize(
    "value",
    [
        objectives.xgboost.ndcg(),
        objectives.ListNet(),
        *(value.replace(convention="letor4@10") for value in (BY_ROUND, SEEDED)),
    ],
    ids=short,
)
def test_what_replays_nothing_or_draws_nothing_does_not_warn(value):
    train = dmatrix(graded(1))
    margins(train, {"subsample": 0.5, "seed": 3}, ra.xgboost.objective(value))
