"""XGBoost's own objectives replayed from its own start: same parameters, same bits."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_rankings import graded, lightgbm_example, mq2008
from tests.helpers.objective_trainings import SEED
from tests.helpers.tables import for_each, short

xgb = pytest.importorskip("xgboost")

PARAMS = {"nthread": 1, "max_depth": 4, "disable_default_eval_metric": 1}
DATA = {"made": lambda: graded(1, grades=5), "MQ2008": mq2008, "LightGBM's example": lightgbm_example}
PRESETS = {
    "rank:ndcg": objectives.xgboost.ndcg,
    "rank:pairwise": objectives.xgboost.pairwise,
    "rank:map": objectives.xgboost.map,
}
MEAN = {"lambdarank_pair_method": "mean", **SEED}
OPTIONS = [{"lambdarank_num_pair_per_sample": 3}, {"lambdarank_normalization": False}, MEAN]
WITHOUT_NATIVE = [objectives.ListNet(), objectives.QueryRMSE(), objectives.catboost.query_cross_entropy()]


def binary(data, name="rank:map"):
    return data._replace(y=(data.y > 0).astype(float)) if name == "rank:map" else data


def dmatrix(data, **more):
    return xgb.DMatrix(data.X, label=data.y, qid=data.qid, nthread=1, **more)


def trained(params, train, rounds=8, obj=None, **more):
    return xgb.train({**PARAMS, **params, **more}, train, rounds, obj=obj)


def assert_same_margins(first, second, data):
    np.testing.assert_array_equal(*(booster.predict(data, output_margin=True) for booster in (first, second)))


CASES = [
    *((source, name, {}, {}) for source in DATA for name in PRESETS),
    *(("made", name, options, {}) for name in PRESETS for options in OPTIONS),
    *(("made", "rank:ndcg", {}, {"tree_method": method, "rounds": 40}) for method in ("hist", "approx", "exact")),
]


@for_each(("source", "name", "options", "params", "weighted"), [(*case, row % 2) for row, case in enumerate(CASES)])
def test_replay_params_make_a_preset_the_built_in_objective(source, name, options, params, weighted):
    data = binary(DATA[source](), name)
    weight = np.random.default_rng(0).random(data.sizes.size) if weighted else None
    objective, train = ra.xgboost.objective(PRESETS[name](**options), n_threads=1), dmatrix(data, weight=weight)
    expected = trained({"objective": name, **options}, train, **params)
    found = trained(objective.replay_params(train), train, obj=objective, **params)
    assert np.ptp(expected.predict(train, output_margin=True)) > 0.1  # something was learned
    assert_same_margins(found, expected, train)


@pytest.mark.parametrize("options", [{}, MEAN], ids=["topk", "mean"])
@pytest.mark.parametrize("name", PRESETS)
def test_base_score_is_xgboosts_own_estimate(name, options):
    train = dmatrix(binary(graded(4), name))
    config = json.loads(trained({"objective": name, **options}, train, 1).save_config())
    own = config["learner"]["learner_model_param"]["base_score"]
    estimate = np.float32(own.strip("[]"))
    assert ra.xgboost.objective(PRESETS[name](**options)).replay_params(train)["base_score"] == estimate


def test_base_score_is_a_newton_step_from_zero():
    # QueryCrossEntropy with alpha=0 is the log loss, whose step is sum(label - 1/2) / sum(1/4).
    data = binary(graded(4))
    objective = ra.xgboost.objective(objectives.QueryCrossEntropy(alpha=0.0))
    expected = (data.y.mean() - 0.5) / 0.25
    assert objective.replay_params(dmatrix(data)) == {"base_score": pytest.approx(expected, rel=1e-6)}


def test_nothing_to_learn_starts_from_zero():
    data = graded(5)
    train = dmatrix(data._replace(y=np.ones(data.y.size)))
    objective = ra.xgboost.objective(objectives.xgboost.ndcg())
    params = objective.replay_params(train)
    assert params["base_score"] == 0
    assert_same_margins(trained(params, train, obj=objective), trained({"objective": "rank:ndcg"}, train), train)


@pytest.mark.parametrize("value", WITHOUT_NATIVE, ids=lambda value: value.kind)
def test_an_objective_that_xgboost_lacks_has_a_base_score_alone(value):
    assert ra.xgboost.objective(value).replay_params(dmatrix(binary(graded(6)))).keys() == {"base_score"}


def test_asking_draws_nothing_from_the_training():
    train = dmatrix(graded(7))
    value = objectives.xgboost.ndcg(**MEAN)
    asked, untouched = (ra.xgboost.objective(value, n_threads=1) for _ in range(2))
    first, second = asked.replay_params(train), asked.replay_params(train)
    assert first == second
    margins = np.zeros(train.num_row(), np.float32)
    np.testing.assert_array_equal(asked(margins, train), untouched(margins, train))


# Labels


@for_each("label", [31, 32, 0.5, 2.5])
@for_each("exponential", [True, False])
@pytest.mark.parametrize(
    "built_in", [{"objective": "rank:ndcg"}, {"eval_metric": "ndcg@5"}], ids=["objective", "metric"]
)
def test_labels_above_31_and_fractional_ones_are_refused_under_exponential_gain(built_in, exponential, label):
    data = graded(8)
    data.y[3] = label
    train = dmatrix(data)
    params = {"nthread": 1, "ndcg_exp_gain": exponential, **built_in}
    if exponential and label != 31:
        with pytest.raises(xgb.core.XGBoostError, match=r"lesser than or equal to 31|positive integer"):
            xgb.train(params, train, 1, evals=[(train, "train")], verbose_eval=False)
    else:
        xgb.train(params, train, 1, evals=[(train, "train")], verbose_eval=False)
    ours = ra.xgboost.objective(objectives.xgboost.ndcg(ndcg_exp_gain=exponential))
    assert np.isfinite(trained({}, train, obj=ours).predict(train)).all()


# QueryRanker


def rankers(**params):
    """A built-in objective and its replay, in QueryRanker."""
    sklearn = pytest.importorskip("rankadapters.sklearn")
    fixed = {"n_estimators": 30, "n_jobs": 1, "max_depth": 4, **params}
    value = ra.xgboost.objective(objectives.xgboost.ndcg())
    built_in = sklearn.QueryRanker(xgb.XGBRanker(objective="rank:ndcg", **fixed))
    return built_in, sklearn.QueryRanker(xgb.XGBRanker(**fixed).set_params(objective=value))


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
    data = graded(9)
    weights = np.repeat(np.random.default_rng(0).random(data.sizes.size), data.sizes) if weighted else None
    built_in, ours = (model.fit(data.X, data.y, qid=data.qid, sample_weight=weights) for model in rankers(**params))
    np.testing.assert_array_equal(ours.predict(data.X), built_in.predict(data.X))
    assert np.ptp(ours.predict(data.X)) > 0.1
    if "base_score" in params:
        config = json.loads(ours.estimator_.get_booster().save_config())
        assert float(config["learner"]["learner_model_param"]["base_score"].strip("[]")) == 0.25
        assert ours.estimator_.base_score == 0.25


def test_query_ranker_reports_and_stops_as_under_the_built_in_objective():
    data, valid = graded(9), graded(10)
    found = []
    for model in rankers(early_stopping_rounds=3, learning_rate=0.9):
        model.fit(data.X, data.y, qid=data.qid, eval_set=(valid.X, valid.y, valid.qid))
        found.append((model.estimator_.best_iteration, model.estimator_.evals_result()))
    assert found[0] == found[1]
