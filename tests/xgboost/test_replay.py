"""Our versions of XGBoost's objectives, started with `replay_params`, train the same model bit for bit."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_rankings import graded_ranking, lightgbm_example, mq2008
from tests.helpers.objective_trainings import PAIR_SEED
from tests.helpers.tables import for_each, short

xgb = pytest.importorskip("xgboost")

PARAMS = {"nthread": 1, "max_depth": 4, "disable_default_eval_metric": 1}
DATA = {"made": lambda: graded_ranking(1, grades=5), "MQ2008": mq2008, "LightGBM's example": lightgbm_example}
PRESETS = {
    "rank:ndcg": objectives.xgboost.ndcg,
    "rank:pairwise": objectives.xgboost.pairwise,
    "rank:map": objectives.xgboost.map,
}
MEAN = {"lambdarank_pair_method": "mean", **PAIR_SEED}
OPTIONS = [{"lambdarank_num_pair_per_sample": 3}, {"lambdarank_normalization": False}, MEAN]
NOT_BUILT_IN = [objectives.ListNet(), objectives.QueryRMSE(), objectives.catboost.query_cross_entropy()]


def binary(data, name="rank:map"):
    return data._replace(y=(data.y > 0).astype(float)) if name == "rank:map" else data


def dmatrix(data, **options):
    return xgb.DMatrix(data.X, label=data.y, qid=data.qid, nthread=1, **options)


def train_booster(params, matrix, rounds=8, obj=None, **options):
    return xgb.train({**PARAMS, **params, **options}, matrix, rounds, obj=obj)


def assert_same_margins(first, second, data):
    np.testing.assert_array_equal(*(booster.predict(data, output_margin=True) for booster in (first, second)))


CASES = [
    *((source, name, {}, {}) for source in DATA for name in PRESETS),
    *(("made", name, options, {}) for name in PRESETS for options in OPTIONS),
    *(("made", "rank:ndcg", {}, {"tree_method": method, "rounds": 40}) for method in ("hist", "approx", "exact")),
]


@for_each(("source", "name", "options", "params", "weighted"), [(*case, row % 2) for row, case in enumerate(CASES)])
def test_a_preset_with_replay_params_equals_the_built_in_objective(source, name, options, params, weighted):
    data = binary(DATA[source](), name)
    weight = np.random.default_rng(0).random(data.sizes.size) if weighted else None
    objective, train = ra.xgboost.objective(PRESETS[name](**options), n_threads=1), dmatrix(data, weight=weight)
    start = {"base_score": 0.25} if "seed" in options else {}  # of seeded pairs
    expected = train_booster({"objective": name, **options, **start}, train, **params)
    replayed = train_booster(objective.replay_params(train, **start), train, obj=objective, **params)
    assert np.ptp(expected.predict(train, output_margin=True)) > 0.1  # something was learned
    assert_same_margins(replayed, expected, train)


@pytest.mark.parametrize("options", [{}, MEAN], ids=["topk", "mean"])
@pytest.mark.parametrize("name", PRESETS)
def test_base_score_is_xgboosts_own_estimate(name, options):
    objective, train = ra.xgboost.objective(PRESETS[name](**options)), dmatrix(binary(graded_ranking(4), name))
    config = json.loads(train_booster({"objective": name, **options}, train, 1).save_config())
    native = config["learner"]["learner_model_param"]["base_score"]
    estimate = np.float32(native.strip("[]"))
    assert objective._estimate(train) == estimate
    if "seed" not in options:
        assert objective.replay_params(train)["base_score"] == estimate


def test_base_score_is_a_newton_step_from_zero():
    # QueryCrossEntropy with alpha=0 is the log loss, whose step is sum(label - 1/2) / sum(1/4).
    data = binary(graded_ranking(4))
    objective = ra.xgboost.objective(objectives.QueryCrossEntropy(alpha=0.0))
    expected = (data.y.mean() - 0.5) / 0.25
    assert objective.replay_params(dmatrix(data)) == {"base_score": pytest.approx(expected, rel=1e-6)}


def test_equal_labels_give_a_base_score_of_zero():
    data = graded_ranking(5)
    train = dmatrix(data._replace(y=np.ones(data.y.size)))
    objective = ra.xgboost.objective(objectives.xgboost.ndcg())
    params = objective.replay_params(train)
    assert params["base_score"] == 0
    expected = train_booster({"objective": "rank:ndcg"}, train)
    assert_same_margins(train_booster(params, train, obj=objective), expected, train)


@pytest.mark.parametrize("value", NOT_BUILT_IN, ids=lambda value: value.kind)
def test_replay_params_of_an_objective_that_xgboost_lacks_are_a_base_score_alone(value):
    assert ra.xgboost.objective(value).replay_params(dmatrix(binary(graded_ranking(6)))).keys() == {"base_score"}


def test_replay_params_draw_nothing_from_the_random_generator():
    train = dmatrix(graded_ranking(7))
    value = objectives.xgboost.ndcg(**MEAN)
    queried, untouched = (ra.xgboost.objective(value, n_threads=1) for _ in range(2))
    assert queried._estimate(train) == queried._estimate(train)
    margins = np.zeros(train.num_row(), np.float32)
    np.testing.assert_array_equal(queried(margins, train), untouched(margins, train))


# Labels


@for_each("label", [31, 32, 0.5, 2.5])
@for_each("exponential", [True, False])
@pytest.mark.parametrize(
    "built_in", [{"objective": "rank:ndcg"}, {"eval_metric": "ndcg@5"}], ids=["objective", "metric"]
)
def test_only_the_built_in_objective_refuses_labels_above_31_and_fractions(built_in, exponential, label):
    data = graded_ranking(8)
    data.y[3] = label
    train = dmatrix(data)
    params = {"nthread": 1, "ndcg_exp_gain": exponential, **built_in}
    if exponential and label != 31:
        with pytest.raises(xgb.core.XGBoostError, match=r"lesser than or equal to 31|positive integer"):
            xgb.train(params, train, 1, evals=[(train, "train")], verbose_eval=False)
    else:
        xgb.train(params, train, 1, evals=[(train, "train")], verbose_eval=False)
    objective = ra.xgboost.objective(objectives.xgboost.ndcg(ndcg_exp_gain=exponential))
    assert np.isfinite(train_booster({}, train, obj=objective).predict(train)).all()


# QueryRanker


def rankers(**params):
    """Return a QueryRanker of a built-in objective and one of its replay."""
    sklearn = pytest.importorskip("rankadapters.sklearn")
    settings = {"n_estimators": 30, "n_jobs": 1, "max_depth": 4, **params}
    objective = ra.xgboost.objective(objectives.xgboost.ndcg())
    built_in = sklearn.QueryRanker(xgb.XGBRanker(objective="rank:ndcg", **settings))
    return built_in, sklearn.QueryRanker(xgb.XGBRanker(**settings).set_params(objective=objective))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"tree_method": "approx"},
        {"colsample_bynode": 0.5},
        {"subsample": 0.5, "random_state": 7},
        {"base_score": 0.25},
    ],
    ids=short,
)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_query_ranker_replays_to_the_last_bit(params, weighted):
    data = graded_ranking(9)
    weights = np.repeat(np.random.default_rng(0).random(data.sizes.size), data.sizes) if weighted else None
    built_in, replayed = (model.fit(data.X, data.y, qid=data.qid, sample_weight=weights) for model in rankers(**params))
    np.testing.assert_array_equal(replayed.predict(data.X), built_in.predict(data.X))
    assert np.ptp(replayed.predict(data.X)) > 0.1
    if "base_score" in params:
        config = json.loads(replayed.estimator_.get_booster().save_config())
        assert float(config["learner"]["learner_model_param"]["base_score"].strip("[]")) == 0.25
        assert replayed.estimator_.base_score == 0.25


def test_query_ranker_reports_and_stops_as_under_the_built_in_objective():
    data, valid = graded_ranking(9), graded_ranking(10)
    histories = []
    for model in rankers(early_stopping_rounds=3, learning_rate=0.9):
        model.fit(data.X, data.y, qid=data.qid, eval_set=(valid.X, valid.y, valid.qid))
        histories.append((model.estimator_.best_iteration, model.estimator_.evals_result()))
    assert histories[0] == histories[1]
