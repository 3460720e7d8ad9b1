"""LightGBM trained under position bias: its own replayed, and others in its place."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_data import graded
from tests.helpers.position_bias_data import apart, data_of, golden, last_rounds
from tests.tables import for_each, short

lgb = pytest.importorskip("lightgbm")

from tests.helpers.lightgbm_objective_data import PARAMS, assert_same, constructed, dataset, pickled  # noqa: E402

LAMBDARANK = objectives.lightgbm.lambdarank()
BIAS = objectives.lightgbm.position_bias()
ROWS = BIAS.replace(positions="rows")
RATIOS = [objectives.unbiased_lambdamart(), objectives.xgboost.unbiased()]
OPTIONS = [
    {},
    {"lambdarank_position_bias_regularization": 0.3},
    {"lambdarank_position_bias_regularization": 2.0, "lambdarank_norm": False, "learning_rate": 0.3},
    {"lambdarank_truncation_level": 4, "sigmoid": 2.0},
]


def shown(data):
    """Positions that are not the rows' places in their queries: gaps, and two orders."""
    places = np.arange(data.y.size) - np.repeat(np.cumsum(data.sizes) - data.sizes, data.sizes)
    return np.where(data.qid % 2, places, 30 - places % 7) * 2


def biased(value=LAMBDARANK, bias=BIAS, **more):
    return ra.lightgbm.objective(value, position_bias=bias, n_threads=1, **more)


def predictions(objective, data, *, rounds=20, callbacks=(), weight=None, **params):
    made = dataset(data, position=shown(data), weight=weight)
    booster = lgb.train({**PARAMS, **params, "objective": objective}, made, rounds, callbacks=list(callbacks))
    return booster.predict(data.X, raw_score=True)


def of_options(options):
    rate = options.get("learning_rate", 0.1)
    bias = {name: value for name, value in options.items() if name.endswith("regularization")}
    preset = {name: value for name, value in options.items() if name not in {*bias, "learning_rate"}}
    value = objectives.lightgbm.lambdarank(**preset)
    return biased(value, objectives.lightgbm.position_bias(**bias, learning_rate=rate)), rate


@pytest.mark.parametrize("record", golden("lightgbm"))
def test_recorded_scores_and_biases_are_trained_to_the_last_bit(record):
    params, preset, bias = apart(record)
    data, weight = data_of(record), record["data"]["weight"] if record["weighted"] else None
    bias = objectives.lightgbm.position_bias(**bias, learning_rate=params["learning_rate"])
    for place, rounds in enumerate(last_rounds(record)):
        objective = biased(objectives.lightgbm.lambdarank(**preset), bias)
        made = dataset(data, position=np.array(record["data"]["position"]), weight=weight)
        found = lgb.train({**params, "objective": objective}, made, rounds).predict(data.X, raw_score=True)
        np.testing.assert_array_equal(found, record["scores"][place])
        np.testing.assert_array_equal(objective.learned_bias.biases, np.float32(record["replayed_biases"][place]))


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("options", OPTIONS, ids=short)
def test_lightgbms_own_model_is_trained(options, weighted):
    data = graded(1, grades=5)
    weight = np.random.default_rng(0).random(data.y.size) if weighted else None
    objective, rate = of_options(options)
    expected = predictions("lambdarank", data, weight=weight, **options)
    assert_same(predictions(objective, data, weight=weight, learning_rate=rate), expected)
    plain = ra.lightgbm.objective(objective.objective)
    with pytest.warns(UserWarning, match="has positions"):
        assert not np.array_equal(predictions(plain, data, weight=weight, learning_rate=rate), expected)


@pytest.mark.parametrize("rate", [0.1, 0.2])
def test_under_a_schedule_the_biases_learn_by_the_rate_that_is_declared(rate):
    """LightGBM's own take the parameters' rate throughout, here that of no round."""

    def schedule():
        return lgb.reset_parameter(learning_rate=[0.3 * 0.9**number for number in range(20)])

    data = graded(2, grades=5)
    expected = predictions("lambdarank", data, callbacks=[schedule()], learning_rate=0.1)
    bias = objectives.lightgbm.position_bias(learning_rate=rate)
    found = predictions(biased(bias=bias), data, callbacks=[schedule()], learning_rate=0.1)
    assert (np.abs(found - expected).max() == 0) == (rate == 0.1)


def test_positions_are_told_apart_by_number_alone():
    data = graded(3)
    one = lgb.train({**PARAMS, "objective": biased()}, dataset(data, position=shown(data)), 5)
    other = lgb.train({**PARAMS, "objective": biased()}, dataset(data, position=1000 - shown(data)), 5)
    np.testing.assert_array_equal(one.predict(data.X), other.predict(data.X))


@for_each("bias", [ROWS, *RATIOS], ids=short)
@for_each(
    "value",
    [
        LAMBDARANK,
        LAMBDARANK.replace(convention="letor4@10", sigmoid="exact", beyond_k="cut"),
        objectives.catboost.pair_logit(),
        objectives.xgboost.ndcg(lambdarank_pair_method="mean"),
    ],
    ids=lambda value: f"{value.kind} {value.sigmoid}",
)
def test_every_bias_goes_with_every_objective_of_pairs(value, bias):
    data = graded(4)
    objective, train = biased(value, bias), constructed(data)
    booster = lgb.train({**PARAMS, "objective": objective}, train, 10)
    plain = lgb.train({**PARAMS, "objective": ra.lightgbm.objective(value)}, train, 10)
    found, other = (each.predict(data.X) for each in (booster, plain))
    textbook = ra.presets.textbook(10)
    values = [ra.evaluate(data.y, scores, textbook, qid=data.qid).value for scores in (found, np.zeros(data.y.size))]
    assert values[0] > values[1] + 0.1
    assert not np.array_equal(found, other)
    again = lgb.train({**PARAMS, "objective": str_of(objective)}, train, 10)
    np.testing.assert_array_equal(found, again.predict(data.X))


def str_of(objective):
    """The same, read back from its signatures."""
    value, bias = objectives.parse(str(objective.objective)), str(objective.position_bias)
    return ra.lightgbm.objective(value, position_bias=bias)


# State


@pytest.mark.parametrize("bias", [BIAS, *RATIOS], ids=short)
def test_a_pickle_continues_where_it_stopped(bias):
    data = graded(5)
    positions = None if bias in RATIOS else shown(data)
    objective, train = biased(bias=bias), constructed(data, position=positions)
    scores = np.random.default_rng(0).normal(size=data.y.size)
    first = objective(scores, train)
    again = pickled(pickled(objective))
    expected = objective(scores, train)
    np.testing.assert_array_equal(again(scores, constructed(data, position=positions)), expected)
    assert not np.array_equal(first, expected)
    for one, other in zip(again.learned_bias, objective.learned_bias, strict=True):
        np.testing.assert_array_equal(one, other)


def test_other_positions_of_the_same_rows_start_anew():
    data = graded(5)
    objective, scores = biased(), np.random.default_rng(0).normal(size=data.y.size)
    first = objective(scores, constructed(data, position=shown(data)))
    np.testing.assert_array_equal(pickled(objective)(scores, constructed(data, position=data.qid % 3)), first)


@pytest.mark.parametrize("anew", [copy.deepcopy, lambda objective: objective.reset() or objective])
def test_deep_copies_and_reset_start_anew(anew):
    data = graded(5)
    objective, train = biased(), constructed(data, position=shown(data))
    scores = np.random.default_rng(0).normal(size=data.y.size)
    first = objective(scores, train)
    learned = objective.learned_bias.biases.copy()
    objective(scores, train)
    assert not np.array_equal(objective.learned_bias.biases, learned)
    np.testing.assert_array_equal(anew(objective)(scores, train), first)
    np.testing.assert_array_equal(objective.learned_bias.biases, learned)


def test_nothing_is_learned_without_a_bias_or_a_round():
    assert biased().learned_bias is None
    objective = ra.lightgbm.objective(LAMBDARANK)
    data = graded(5)
    objective(np.zeros(data.y.size), constructed(data))
    assert objective.learned_bias is objective.position_bias is None


def test_folds_keep_the_positions_of_their_rows():
    model_selection = pytest.importorskip("sklearn.model_selection")
    data = graded(6)
    objective, made = biased(), dataset(data, position=shown(data))
    folds = model_selection.GroupKFold(2)
    lgb.cv({**PARAMS, "objective": objective}, made, 3, folds=folds, feval=ra.lightgbm.eval_metric("letor4@10"))
    assert set(objective.learned_bias.positions) <= set(made.get_position())  # which LightGBM 4.7 numbers anew
    assert objective.learned_bias.biases.any()


# Refused


def test_a_dataset_without_positions_is_refused_where_they_are_asked_for():
    data = graded(7)
    with pytest.raises(ra.InputError, match=r"there are no positions, .* says positions='given'\.\nHint: positions="):
        lgb.train({**PARAMS, "objective": biased()}, dataset(data), 1)


def test_the_scikit_learn_interface_has_places_for_positions():
    pytest.importorskip("sklearn")
    data = graded(7)

    def fitted(objective):
        ranker = lgb.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1, min_child_samples=5, objective=objective)
        return ranker.fit(data.X, data.y, group=data.sizes)

    objective = biased(bias=ROWS)
    fitted(objective)
    assert objective.learned_bias.positions.tolist() == list(range(data.sizes.max()))
    with pytest.raises(ra.InputError, match="there are no positions"):
        fitted(biased())


@pytest.mark.parametrize("bias", RATIOS, ids=short)
def test_positions_that_are_not_the_rows_places_have_no_ratios(bias):
    data = graded(7)
    with pytest.raises(ra.InputError, match=r"(?s)but the row's index in its query is .*Hint: sort each query's rows"):
        lgb.train({**PARAMS, "objective": biased(bias=bias)}, dataset(data, position=shown(data)), 1)


def test_positions_that_change_in_a_training_are_refused():
    data = graded(7)
    objective, train = biased(), constructed(data, position=shown(data))
    objective(np.zeros(data.y.size), train)
    train.set_position(data.qid)
    with pytest.raises(ra.InputError, match="or its positions, changed after round 1"):
        objective(np.zeros(data.y.size), train)


def test_a_subset_has_the_positions_of_its_rows():
    data = graded(7)
    rows = np.flatnonzero(data.qid % 3 > 0)
    whole = dataset(data, position=shown(data))
    part = whole.subset(rows.tolist())
    found, expected = biased(), biased()
    alone = lgb.Dataset(
        data.X[rows], data.y[rows], group=data.sizes[1:][np.arange(1, data.sizes.size) % 3 > 0],
        position=shown(data)[rows],
    )  # fmt: skip
    scores = np.random.default_rng(0).normal(size=rows.size)
    for _ in range(3):
        np.testing.assert_array_equal(found(scores, part.construct()), expected(scores, alone.construct()))


def test_positions_that_no_bias_uses_are_told_once():
    data = graded(7)
    objective, train = ra.lightgbm.objective(LAMBDARANK), constructed(data, position=shown(data))
    with pytest.warns(UserWarning, match=r"(?s)the Dataset has positions, but .*position_bias=ra.objectives.lightgbm"):
        first = objective(np.zeros(data.y.size), train)
    np.testing.assert_array_equal(objective(np.zeros(data.y.size), train), first)  # warns no more


@pytest.mark.parametrize("options", OPTIONS, ids=short)
def test_lightgbms_own_parameters_of_a_position_bias_train_its_own_model(options):
    data = graded(1, grades=5)
    objective, _ = of_options(options)
    params = ra.lightgbm.native_objective(objective.objective, position_bias=str(objective.position_bias))
    made = dataset(data, position=shown(data))
    found = lgb.train({**PARAMS, **params}, made, 20).predict(data.X, raw_score=True)
    assert_same(found, predictions("lambdarank", data, **options))


@pytest.mark.parametrize("bias", [ROWS, *RATIOS])
def test_a_position_bias_that_lightgbm_has_not_is_refused(bias):
    with pytest.raises(ra.UnsupportedConventionError, match=r"LightGBM has no built-in position bias .*\nHint: obj"):
        ra.lightgbm.native_objective(LAMBDARANK, position_bias=bias)
    with pytest.raises(ra.ConventionError, match="but XENDCG has none"):
        ra.lightgbm.native_objective(objectives.lightgbm.xendcg(), position_bias=bias)
