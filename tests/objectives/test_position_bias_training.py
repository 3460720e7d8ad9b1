"""LightGBM and XGBoost trained under position bias: their own replayed, and others in its place."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.built_in_trainings import MEANS, LightGBM, XGBoost, assert_same
from tests.helpers.objective_rankings import golden as first_trees
from tests.helpers.objective_rankings import graded
from tests.helpers.objective_trainings import SEED, fitting
from tests.helpers.position_bias_records import apart, data_of, golden, last_rounds
from tests.helpers.tables import for_each, short

GIVEN, UNBIASED = objectives.lightgbm.position_bias(), objectives.xgboost.unbiased()
ROWS, TRUE_COST = GIVEN.replace(positions="rows"), objectives.unbiased_lambdamart()


def shown(data):
    """Positions that are not the rows' places in their queries: gaps, and two orders."""
    places = np.arange(data.y.size) - np.repeat(np.cumsum(data.sizes) - data.sizes, data.sizes)
    return np.where(data.qid % 2, places, 30 - places % 7) * 2


class Additive(LightGBM):
    """LightGBM's additive bias of the positions that a Dataset has."""

    rounds, nearest = 20, GIVEN
    has_not: ClassVar = [ROWS, UNBIASED, TRUE_COST]
    cases: ClassVar = [
        ("lambdarank", {}),
        ("lambdarank", {"lambdarank_position_bias_regularization": 0.3}),
        (
            "lambdarank",
            {"lambdarank_position_bias_regularization": 2.0, "lambdarank_norm": False, "learning_rate": 0.3},
        ),
        ("lambdarank", {"lambdarank_truncation_level": 4, "sigmoid": 2.0}),
    ]

    def columns(self, data, weighted):
        weight = {"weight": np.random.default_rng(0).random(data.y.size)} if weighted else {}
        return {"position": shown(data), **weight}

    def own(self, name, options):
        return {"objective": name, **options}

    def declared(self, name, options):
        """The objective and the position bias that options mean, and the options that are neither."""
        bias = {key: value for key, value in options.items() if key.endswith("regularization")}
        rate = {key: value for key, value in options.items() if key == "learning_rate"}
        preset = {key: value for key, value in options.items() if key not in {*bias, *rate}}
        return self.presets[name](**preset), objectives.lightgbm.position_bias(**bias, **rate), rate


class Ratios(XGBoost):
    """XGBoost's ratios of the ranks that rows have in a DMatrix."""

    rounds, nearest = 8, UNBIASED
    has_not: ClassVar = [ROWS, TRUE_COST, UNBIASED.replace(limit=5)]
    cases: ClassVar = [
        (name, options)
        for name in XGBoost.presets
        for options in (
            {},
            {"lambdarank_bias_norm": 0.0},
            {"lambdarank_bias_norm": 2.0, "lambdarank_num_pair_per_sample": 5},
            {"lambdarank_normalization": False, "lambdarank_score_normalization": False},
            *MEANS,
        )
    ]

    def columns(self, data, weighted):
        return {"weight": np.random.default_rng(0).random(data.sizes.size)} if weighted else {}

    def own(self, name, options):
        return {"objective": name, "lambdarank_unbiased": True, **options}

    def declared(self, name, options):
        """The objective and the position bias that options mean, and the options that are neither."""
        known = ("lambdarank_bias_norm", "lambdarank_pair_method", "lambdarank_num_pair_per_sample")
        rate = {key: value for key, value in options.items() if key == "eta"}
        preset = {key: value for key, value in options.items() if key not in {known[0], "lambdarank_unbiased", *rate}}
        bias = {key: value for key, value in options.items() if key in known}
        return self.presets[name](**preset), objectives.xgboost.unbiased(**bias), rate


@pytest.fixture(params=[Additive, Ratios], ids=["lightgbm", "xgboost"])
def toolkit(request):
    return request.param()


def biased(toolkit, value, bias):
    return toolkit.adapter.objective(value, position_bias=bias, n_threads=1)


# Their own


@for_each(
    ("case", "weighted"), lambda toolkit: [(case, weighted) for case in toolkit.cases for weighted in (False, True)]
)
def test_the_toolkits_own_model_is_trained_and_has_its_parameters(toolkit, case, weighted):
    value, bias, rate = toolkit.declared(*case)
    data = fitting(graded(1, grades=5), value)
    told = {"columns": toolkit.columns(data, weighted)}
    expected = toolkit.predictions(data, toolkit.own(*case), toolkit.rounds, **told)
    assert_same(
        toolkit.predictions(data, biased(toolkit, value, bias), toolkit.rounds, **told, **rate), expected, toolkit.same
    )
    if not weighted and (toolkit.name == "lightgbm" or "lambdarank_pair_method" not in case[1]):
        native = toolkit.adapter.native_objective(value, position_bias=str(bias))
        assert_same(toolkit.predictions(data, native, toolkit.rounds, **told), expected, toolkit.same)


def recorded(toolkit):
    return [case.values[0] for case in golden(toolkit.name)]


@for_each("record", recorded, ids=lambda record: record["params"])
def test_recorded_scores_and_biases_are_trained(toolkit, record):
    params, preset, bias = apart(record)
    data, lightgbm = data_of(record), toolkit.name == "lightgbm"
    name = record["params"].get("objective", "lambdarank")
    rate = {"learning_rate": params["learning_rate"]} if lightgbm else {}
    for place, rounds in enumerate(last_rounds(record)):
        value, bias_value, _ = toolkit.declared(name, preset | bias | rate)
        objective = biased(toolkit, value, bias_value)
        if lightgbm:
            weight = record["data"]["weight"] if record["weighted"] else None
            train = toolkit.dataset(data, position=np.array(record["data"]["position"]), weight=weight)
            booster = toolkit.package.train({**params, "objective": objective}, train, rounds)
            np.testing.assert_array_equal(booster.predict(data.X, raw_score=True), record["scores"][place])
            biases = np.float32(record["replayed_biases"][place])
            np.testing.assert_array_equal(objective.learned_bias.biases, biases)
            continue
        train = toolkit.dataset(data)
        booster = toolkit.package.train(params, train, rounds, obj=objective)
        np.testing.assert_array_equal(booster.predict(train, output_margin=True), np.float32(record["scores"][place]))
        for ratios, key in ((objective.learned_bias.higher, "ti_plus"), (objective.learned_bias.lower, "tj_minus")):
            numbers = np.array(record[key][place])
            np.testing.assert_allclose(ratios, numbers[: ratios.size], atol=2e-7)  # saved with 8 digits
            assert not numbers[ratios.size :].any()


@for_each(
    "record", [case.values[0] for case in first_trees("xgboost") if "lambdarank_unbiased" in case.values[0]["params"]]
)
def test_the_recorded_predictions_of_other_inputs_are_trained(record):
    toolkit = Ratios()
    columns = {"label": record["labels"], "group": record["group"], "weight": record["query_weight"]}
    data = toolkit.package.DMatrix(np.asarray(record["X"]), nthread=1, base_margin=record["scores"], **columns)
    for rounds in (1, 3):
        value, bias, _ = toolkit.declared(record["objective"], record["params"])
        booster = toolkit.package.train(record["train_params"], data, rounds, obj=biased(toolkit, value, bias))
        expected = record[f"pred_after_{rounds}"]
        np.testing.assert_allclose(booster.predict(data, output_margin=True), expected, rtol=0, atol=toolkit.same)


@for_each("name", XGBoost.presets)
def test_costs_that_are_infinite_train_xgboosts_own_model(name):
    """Margins so far apart that float32 rounds the probability of an order to 1."""
    toolkit, options = (
        Ratios(),
        {"lambdarank_normalization": False, "lambdarank_score_normalization": False, "eta": 20.0},
    )
    value, bias, rate = toolkit.declared(name, options)
    data, objective = fitting(graded(1, grades=5), value), biased(toolkit, value, bias)
    found = toolkit.predictions(data, objective, 6, **rate)
    np.testing.assert_array_equal(found, toolkit.predictions(data, toolkit.own(name, options), 6))
    assert not np.isfinite(objective.learned_bias).all()


def test_query_ranker_and_the_estimated_start_train_xgboosts_own_model():
    pytest.importorskip("sklearn")
    xgb, data = Ratios().package, graded(5)
    params = {"n_estimators": 5, "max_depth": 3, "n_jobs": 1}
    objective = biased(Ratios(), objectives.xgboost.ndcg(), UNBIASED)
    ranker = ra.sklearn.QueryRanker(xgb.XGBRanker(**params)).set_params(estimator__objective=objective)
    built_in = xgb.XGBRanker(**params, lambdarank_unbiased=True).fit(data.X, data.y, qid=data.qid)
    expected = built_in.predict(data.X)
    np.testing.assert_array_equal(ranker.fit(data.X, data.y, qid=data.qid).predict(data.X), expected)
    train = Ratios().dataset(data)
    objective.reset()
    told = {"nthread": 1, "max_depth": 3, **objective.replay_params(train)}
    np.testing.assert_array_equal(xgb.train(told, train, 5, obj=objective).predict(train), expected)


@pytest.mark.parametrize("rate", [0.1, 0.2])
def test_under_a_schedule_the_biases_learn_by_the_rate_that_is_declared(rate):
    """LightGBM's own take the parameters' rate throughout, here that of no round."""
    toolkit, data, found = Additive(), graded(2, grades=5), []
    lgb, bias = toolkit.package, objectives.lightgbm.position_bias(learning_rate=rate)
    for objective in ("lambdarank", biased(toolkit, objectives.lightgbm.lambdarank(), bias)):
        schedule = lgb.reset_parameter(learning_rate=[0.3 * 0.9**number for number in range(20)])
        train = toolkit.dataset(data, position=shown(data))
        params = {**toolkit.params, "learning_rate": 0.1, "objective": objective}
        found.append(lgb.train(params, train, 20, callbacks=[schedule]).predict(data.X, raw_score=True))
    assert np.array_equal(*found) == (rate == 0.1)


# Others in its place


def pairs(toolkit):
    """Objectives of pairs of every kind."""
    exact = {"lightgbm": objectives.lightgbm.lambdarank(), "xgboost": objectives.xgboost.ndcg()}[toolkit.name]
    return [
        objectives.lightgbm.lambdarank(),
        exact.replace(convention="letor4@10", sigmoid="exact", beyond_k="cut"),
        objectives.catboost.pair_logit(),
        objectives.xgboost.ndcg(lambdarank_pair_method="mean", **(SEED if toolkit.name == "xgboost" else {})),
    ]


@for_each("bias", [ROWS, UNBIASED, TRUE_COST], ids=short)
@for_each("value", lambda toolkit, **_: pairs(toolkit), ids=lambda value: f"{value.kind} {value.sigmoid}")
def test_every_bias_goes_with_every_objective_of_pairs(toolkit, value, bias):
    data, textbook = graded(4), ra.presets.textbook(10)
    found, plain = (toolkit.predictions(data, biased(toolkit, value, each), 10) for each in (bias, None))
    at_first, learned = (ra.evaluate(data.y, s, textbook, qid=data.qid).value for s in (np.zeros(data.y.size), found))
    assert learned > at_first + 0.1
    assert not np.array_equal(found, plain)
    again = toolkit.adapter.objective(objectives.parse(str(value)), position_bias=str(bias))
    np.testing.assert_array_equal(found, toolkit.predictions(data, again, 10))


def test_the_mirrored_cost_trains_another_model_than_the_true_one():
    toolkit, data, value = Ratios(), graded(4), objectives.xgboost.ndcg()
    one, other = (toolkit.predictions(data, biased(toolkit, value, bias), 10) for bias in (UNBIASED, TRUE_COST))
    assert not np.array_equal(one, other)


@for_each("bias", lambda toolkit: toolkit.has_not, ids=short)
def test_a_position_bias_that_a_toolkit_has_not_is_refused(toolkit, bias):
    name = toolkit.cases[0][0]
    message = rf"{type(toolkit).__mro__[1].__name__} has no built-in position bias .*\nHint: obj"
    with pytest.raises(ra.UnsupportedConventionError, match=message):
        toolkit.adapter.native_objective(toolkit.presets[name](), position_bias=bias)
    with pytest.raises(ra.ConventionError, match="but XENDCG has none"):
        toolkit.adapter.native_objective(objectives.lightgbm.xendcg(), position_bias=bias)


def test_a_dmatrix_has_no_positions():
    message = r"positions=given.* needs positions, which a DMatrix does not have\.\nHint: positions='rows'"
    with pytest.raises(ra.ConventionError, match=message):
        biased(Ratios(), objectives.xgboost.ndcg(), GIVEN)
