"""XGBoost trained under position bias: its own replayed, and others in its place."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_data import golden as first_trees
from tests.helpers.objective_data import graded
from tests.helpers.objective_drivers import SEED
from tests.helpers.position_bias_data import apart, data_of, golden, last_rounds
from tests.tables import for_each, short

xgb = pytest.importorskip("xgboost")

from tests.helpers.xgboost_objective_data import (  # noqa: E402
    MEANS,
    PRESETS,
    SAME,
    assert_same,
    dmatrix,
    fitting,
    margins,
)

UNBIASED = objectives.xgboost.unbiased()
ROWS = objectives.lightgbm.position_bias().replace(positions="rows")
OPTIONS = [
    {},
    {"lambdarank_bias_norm": 0.0},
    {"lambdarank_bias_norm": 2.0, "lambdarank_num_pair_per_sample": 5},
    {"lambdarank_normalization": False, "lambdarank_score_normalization": False},
    *MEANS,
]
RECORDS = [case for case in first_trees("xgboost") if "lambdarank_unbiased" in case.values[0]["params"]]


def biased(value, bias=UNBIASED):
    return ra.xgboost.objective(value, position_bias=bias, n_threads=1)


def of_options(name, options):
    known = ("lambdarank_bias_norm", "lambdarank_pair_method", "lambdarank_num_pair_per_sample")
    preset = {key: value for key, value in options.items() if key not in {known[0], "lambdarank_unbiased"}}
    bias = {key: value for key, value in options.items() if key in known}
    return biased(PRESETS[name](**preset), objectives.xgboost.unbiased(**bias))


@pytest.mark.parametrize("record", golden("xgboost"))
def test_recorded_scores_and_ratios_are_trained(record):
    params, preset, bias = apart(record)
    data = data_of(record)
    for place, rounds in enumerate(last_rounds(record)):
        objective = of_options(record["params"]["objective"], preset | bias)
        train = dmatrix(data)
        found = xgb.train(params, train, rounds, obj=objective).predict(train, output_margin=True)
        np.testing.assert_array_equal(found, np.float32(record["scores"][place]))
        learned = objective.learned_bias
        for ratios, name in ((learned.higher, "ti_plus"), (learned.lower, "tj_minus")):
            recorded = np.array(record[name][place])
            np.testing.assert_allclose(ratios, recorded[: ratios.size], atol=2e-7)  # saved with 8 digits
            assert not recorded[ratios.size :].any()


@for_each("record", RECORDS)
def test_the_recorded_predictions_of_other_inputs_are_trained(record):
    given = {"label": record["labels"], "group": record["group"], "weight": record["query_weight"]}
    data = xgb.DMatrix(np.asarray(record["X"]), nthread=1, base_margin=record["scores"], **given)
    for rounds in (1, 3):
        objective = of_options(record["objective"], record["params"])
        found = xgb.train(record["train_params"], data, rounds, obj=objective).predict(data, output_margin=True)
        np.testing.assert_allclose(found, record[f"pred_after_{rounds}"], rtol=0, atol=SAME)


@for_each(
    ("options", "name", "weighted"),
    [(case, name, (row + column) % 2 == 0) for row, case in enumerate(OPTIONS) for column, name in enumerate(PRESETS)],
)
def test_xgboosts_own_model_is_trained(options, name, weighted):
    data = fitting(graded(1, grades=5), name)
    weight = np.random.default_rng(0).random(data.sizes.size) if weighted else None
    expected = margins(data, 8, weight=weight, objective=name, lambdarank_unbiased=True, **options)
    objective = of_options(name, options)
    assert_same(margins(data, 8, weight=weight, obj=objective), expected)
    assert not np.array_equal(margins(data, 8, weight=weight, obj=biased(objective.objective, None)), expected)


@pytest.mark.parametrize("name", PRESETS)
def test_costs_that_are_infinite_train_xgboosts_own_model(name):
    """Margins so far apart that float32 rounds the probability of an order to 1."""
    data = fitting(graded(1, grades=5), name)
    options = {"eta": 20.0, "lambdarank_normalization": False, "lambdarank_score_normalization": False}
    expected = margins(data, 6, objective=name, lambdarank_unbiased=True, **options)
    objective = of_options(name, {key: value for key, value in options.items() if key != "eta"})
    np.testing.assert_array_equal(margins(data, 6, obj=objective, eta=20.0), expected)
    assert not np.isfinite(objective.learned_bias).all()


def test_the_estimated_start_is_that_of_the_built_in_objective():
    data = graded(2)
    objective, train = biased(objectives.xgboost.ndcg()), dmatrix(data)
    ours = xgb.train({"nthread": 1, **objective.replay_params(train)}, train, 5, obj=objective)
    built_in = xgb.train({"nthread": 1, "objective": "rank:ndcg", "lambdarank_unbiased": True}, train, 5)
    np.testing.assert_array_equal(ours.predict(train), built_in.predict(train))


@for_each("bias", [ROWS, UNBIASED, objectives.unbiased_lambdamart()], ids=short)
@for_each(
    "value",
    [
        objectives.lightgbm.lambdarank(),
        objectives.xgboost.ndcg().replace(convention="letor4@10", sigmoid="exact", beyond_k="cut"),
        objectives.catboost.pair_logit(),
        objectives.xgboost.ndcg(lambdarank_pair_method="mean", **SEED),
    ],
    ids=lambda value: f"{value.kind} {value.sigmoid}",
)
def test_every_bias_goes_with_every_objective_of_pairs(value, bias):
    data = graded(3)
    objective = biased(value, bias)
    found = margins(data, 10, obj=objective)
    textbook = ra.presets.textbook(10)
    values = [ra.evaluate(data.y, scores, textbook, qid=data.qid).value for scores in (found, np.zeros(data.y.size))]
    assert values[0] > values[1] + 0.1
    assert not np.array_equal(found, margins(data, 10, obj=biased(value, None)))
    again = ra.xgboost.objective(objectives.parse(str(value)), position_bias=str(bias))
    np.testing.assert_array_equal(found, margins(data, 10, obj=again))


def test_query_ranker_trains_xgboosts_own_model():
    pytest.importorskip("sklearn")
    data = graded(5)
    params = {"n_estimators": 5, "max_depth": 3, "n_jobs": 1}
    objective = biased(objectives.xgboost.ndcg())
    ranker = ra.sklearn.QueryRanker(xgb.XGBRanker(**params)).set_params(estimator__objective=objective)
    built_in = xgb.XGBRanker(**params, lambdarank_unbiased=True).fit(data.X, data.y, qid=data.qid)
    np.testing.assert_array_equal(ranker.fit(data.X, data.y, qid=data.qid).predict(data.X), built_in.predict(data.X))


def test_the_mirrored_cost_trains_another_model_than_the_true_one():
    data, value = graded(4), objectives.xgboost.ndcg()
    one, other = (margins(data, 10, obj=biased(value, UNBIASED.replace(cost=cost))) for cost in ("true", "mirrored"))
    assert not np.array_equal(one, other)


def test_a_dmatrix_has_no_positions():
    message = r"positions=given.* needs positions, which a DMatrix does not have\.\nHint: positions='rows'"
    with pytest.raises(ra.ConventionError, match=message):
        biased(objectives.xgboost.ndcg(), objectives.lightgbm.position_bias())


@pytest.mark.parametrize("options", OPTIONS[:4], ids=short)
@pytest.mark.parametrize("name", PRESETS)
def test_xgboosts_own_parameters_of_a_position_bias_train_its_own_model(name, options):
    data = fitting(graded(1, grades=5), name)
    objective = of_options(name, options)
    params = ra.xgboost.native_objective(objective.objective, position_bias=str(objective.position_bias))
    expected = margins(data, 8, objective=name, lambdarank_unbiased=True, **options)
    np.testing.assert_array_equal(margins(data, 8, **params), expected)


@pytest.mark.parametrize("bias", [ROWS, objectives.unbiased_lambdamart(), UNBIASED.replace(limit=5)])
def test_a_position_bias_that_xgboost_has_not_is_refused(bias):
    with pytest.raises(ra.UnsupportedConventionError, match=r"XGBoost has no built-in position bias .*\nHint: obj"):
        ra.xgboost.native_objective(objectives.xgboost.ndcg(), position_bias=bias)
