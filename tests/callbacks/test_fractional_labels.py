"""Toolkits hold labels in float32; a label meets a threshold there exactly if it meets it in float64."""

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import LightGBM, XGBoost
from tests.helpers.rankings import ranking

GRADES = np.arange(11) / 10  # float32 rounds 0.7 down, and 0.3 up
DATA = ranking(1)._replace(y=np.random.default_rng(0).choice(GRADES, ranking(1).y.size))
THRESHOLDS = [f"{word}_{grade:g}" for word in ("from", "above") for grade in GRADES]
AP, NDCG = ra.parse("catboost.map@5"), ra.presets.textbook(5)
CONVENTIONS = [
    *(AP.replace(relevant=threshold) for threshold in THRESHOLDS),
    *(NDCG.replace(gain=threshold) for threshold in THRESHOLDS if threshold.startswith("from")),
]


def exact_values(scores):
    values = ra.evaluate(DATA.y, scores, CONVENTIONS, qid=DATA.qid)
    return [values[convention].value for convention in CONVENTIONS]


@pytest.mark.parametrize("name", ["from_0.7", "above_0.3", "from_-0.3", "above_-0.7"])
def test_the_float32_of_a_threshold_counts_as_the_threshold(name):
    word, level = name.split("_")
    rounded = float(np.float32(level))
    above = word == "above"
    assert rounded > float(level) if above else rounded < float(level)
    convention, higher = AP.replace(relevant=name), float(level) + 1
    for labels in ([rounded, higher], np.array([rounded, higher], np.float32)):
        value = ra.evaluate(labels, [2, 1], convention, group_sizes=[2]).value
        assert value == (0.5 if above else 1.0)


@pytest.mark.parametrize("name", ["from_1e300", "from_1e-50", "above_-1e300", "above_-1e-50"])
def test_thresholds_that_float32_cannot_hold_are_exact(name):
    level = float(name.split("_")[1])
    convention = AP.replace(relevant=name)
    relevant, other = (level, 0.0) if name.startswith("from") else (0.0, level)
    assert ra.evaluate([other, relevant], [2, 1], convention, group_sizes=[2]).value == 0.5


@pytest.mark.parametrize("toolkit", [LightGBM, XGBoost])
def test_a_callback_agrees_with_evaluate_on_the_callers_labels(toolkit):
    toolkit, values = toolkit(), []
    metric = toolkit.metric(CONVENTIONS)

    def recorded(scores, dataset):
        results = metric(scores, dataset)
        values.append(([result[1] for result in results], exact_values(scores)))
        return results

    params = {"objective": {"lightgbm": "regression", "xgboost": "reg:squarederror"}[toolkit.name]}
    toolkit.train(recorded, {"train": toolkit.dataset(DATA)}, rounds=2, **params)
    assert len(values) == 2
    for logged, expected in values:
        assert logged == expected


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("threshold", ["from_0.7", "from_0.6", "from_0.3"])
def test_gradients_are_those_of_the_callers_labels(name, threshold):
    package = pytest.importorskip(name)
    pytest.importorskip("numba")
    objective = ra.objectives.lambdarank(NDCG.replace(gain=threshold), truncation=10)
    if name == "lightgbm":
        dataset = package.Dataset(DATA.X, DATA.y, group=DATA.sizes, params={"verbosity": -1}).construct()
    else:
        dataset = package.DMatrix(DATA.X, DATA.y, qid=DATA.qid)
    scores = np.random.default_rng(1).random(DATA.y.size)
    grad, hess = getattr(ra, name).objective(objective)(scores, dataset)
    expected = objective.bind(ra.Queries(DATA.y, qid=DATA.qid)).gradients(scores)
    np.testing.assert_array_equal([grad, hess], expected)


def test_an_unjudged_label_and_a_linear_gain_meet_the_threshold_as_float32_too():
    rounded = float(np.float32(0.7))
    conv = ra.presets.textbook(2).replace(gain="from_0.7", unjudged=rounded)
    assert conv == conv.replace(unjudged=0.7)
