"""LightGBM and XGBoost trained under position bias: their own models reproduced, and other biases in their place."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.checkout import golden_file, shared_losses
from tests.helpers.objective_rankings import ADDITIVE_BIAS, ADDITIVE_BIAS_BY_ROW, RATIO_BIAS, TRUE_COST
from tests.helpers.objective_trainings import LightGBM, XGBoost, rows_of_toolkits
from tests.helpers.rankings import Ranking

pytestmark = pytest.mark.long


class Additive(LightGBM):
    """LightGBM with its additive bias of the positions in a Dataset."""

    unsupported: ClassVar = [ADDITIVE_BIAS_BY_ROW, RATIO_BIAS, TRUE_COST]
    cases: ClassVar = [
        ("lambdarank", {}),
        ("lambdarank", {"lambdarank_position_bias_regularization": 0.3}),
        ("lambdarank", {"lambdarank_position_bias_regularization": 2.0, "lambdarank_norm": False}),
        ("lambdarank", {"lambdarank_truncation_level": 4, "sigmoid": 2.0}),
    ]

    def declared(self, name, options):
        """Return the objective and the position bias that the options declare."""
        of_bias = {"lambdarank_position_bias_regularization", "learning_rate"}
        bias, preset = (
            {key: options[key] for key in keys} for keys in (options.keys() & of_bias, options.keys() - of_bias)
        )
        return self.presets[name](**preset), objectives.lightgbm.position_bias(**bias)


class Ratios(XGBoost):
    """XGBoost with its bias ratios of the row indices within queries of a DMatrix."""

    unsupported: ClassVar = [ADDITIVE_BIAS_BY_ROW, TRUE_COST, RATIO_BIAS.replace(limit=5)]
    cases: ClassVar = [
        (name, options)
        for name in XGBoost.presets
        for options in (
            {},
            {"lambdarank_bias_norm": 0.0},
            {"lambdarank_bias_norm": 2.0, "lambdarank_num_pair_per_sample": 5},
            {"lambdarank_normalization": False, "lambdarank_score_normalization": False},
        )
    ]

    def declared(self, name, options):
        """Return the objective and the position bias that the options declare."""
        of_bias = {"lambdarank_bias_norm", "lambdarank_pair_method", "lambdarank_num_pair_per_sample"}
        preset = options.keys() - {"lambdarank_bias_norm", "lambdarank_unbiased"}
        bias, preset = ({key: options[key] for key in keys} for keys in (options.keys() & of_bias, preset))
        return self.presets[name](**preset), objectives.xgboost.unbiased(**bias)


@pytest.fixture(params=[Additive, Ratios], ids=["lightgbm", "xgboost"])
def toolkit(request):
    return request.param()


rows_of_biases = partial(rows_of_toolkits, toolkits=(Additive, Ratios))


def biased(toolkit, value, bias):
    return toolkit.adapter.objective(value, position_bias=bias, n_threads=1)


# The toolkits' own biases


@rows_of_biases("name", "options", rows=lambda toolkit: toolkit.cases)
def test_a_declared_bias_converts_to_the_toolkits_parameters(toolkit, name, options):
    """`test_replayed_settings` trains such objectives and parameters."""
    value, bias = toolkit.declared(name, options)
    native = toolkit.adapter.native_objective(value, position_bias=str(bias))
    assert native.items() >= {"objective": name, **options}.items()
    assert toolkit.name == "lightgbm" or native["lambdarank_unbiased"] is True


BIAS_PARAMS = ("lambdarank_position_bias_regularization", "lambdarank_unbiased", "lambdarank_bias_norm")


def recorded_models(toolkit):
    """Return the recorded models of a toolkit: those of the checkout, and all in a thorough run."""
    return [
        {"data": part["data"], **record}
        for file in (golden_file("position_bias"), shared_losses())
        for part in file.get("boosting", [])
        for record in part[toolkit]
    ]


def ranking_of(record):
    sizes = np.array(record["data"]["sizes"])
    qid = np.repeat(np.arange(sizes.size), sizes)
    return Ranking(np.array(record["data"]["features"]), np.array(record["data"]["labels"]), qid, sizes)


def split_params(record):
    """Return the parameters of the training, of the objective's preset, and of the position bias."""
    params = dict(record["params"])
    params.pop("objective", None)
    bias = {name: params.pop(name) for name in BIAS_PARAMS if name in params}
    preset = {name: params.pop(name) for name in list(params) if name.startswith(("lambdarank", "ndcg"))}
    return params, preset, bias


def recorded_rounds(record):
    """Return the numbers of the recorded rounds, which are the last of three."""
    return list(range(4 - len(record["scores"]), 4))


@rows_of_biases("record", rows=lambda toolkit: recorded_models(toolkit.name))
def test_recorded_scores_and_biases_are_reproduced(toolkit, record):
    params, preset, bias = split_params(record)
    data, lightgbm = ranking_of(record), toolkit.name == "lightgbm"
    name = record["params"].get("objective", "lambdarank")
    rate = {"learning_rate": params["learning_rate"]} if lightgbm else {}
    for index, rounds in enumerate(recorded_rounds(record)):
        value, bias_value = toolkit.declared(name, preset | bias | rate)
        objective = biased(toolkit, value, bias_value)
        if lightgbm:
            weight = record["data"]["weight"] if record["weighted"] else None
            train = toolkit.dataset(data, position=np.array(record["data"]["position"]), weight=weight)
            booster = toolkit.package.train({**params, "objective": objective}, train, rounds)
            np.testing.assert_array_equal(booster.predict(data.X, raw_score=True), record["scores"][index])
            biases = np.float32(record["replayed_biases"][index])
            np.testing.assert_array_equal(objective.learned_bias.biases, biases)
            continue
        train = toolkit.dataset(data)
        booster = toolkit.package.train(params, train, rounds, obj=objective)
        np.testing.assert_array_equal(booster.predict(train, output_margin=True), np.float32(record["scores"][index]))
        for ratios, key in ((objective.learned_bias.higher, "ti_plus"), (objective.learned_bias.lower, "tj_minus")):
            expected = np.array(record[key][index])
            np.testing.assert_allclose(ratios, expected[: ratios.size], atol=2e-7)  # XGBoost saves 8 digits
            assert not expected[ratios.size :].any()


# Other biases


@rows_of_biases("bias", rows=lambda toolkit: toolkit.unsupported)
def test_a_position_bias_that_a_toolkit_has_not_built_in_is_refused(toolkit, bias):
    name = toolkit.cases[0][0]
    message = rf"{type(toolkit).__mro__[1].__name__} has no built-in position bias .*\nHint: obj"
    with pytest.raises(ra.UnsupportedConventionError, match=message):
        toolkit.adapter.native_objective(toolkit.presets[name](), position_bias=bias)
    with pytest.raises(ra.ConventionError, match="but XENDCG has none"):
        toolkit.adapter.native_objective(objectives.lightgbm.xendcg(), position_bias=bias)


def test_a_dmatrix_has_no_positions():
    message = r"positions=given.* needs positions, which a DMatrix does not have\.\nHint: positions='rows'"
    with pytest.raises(ra.ConventionError, match=message):
        biased(Ratios(), objectives.xgboost.ndcg(), ADDITIVE_BIAS)
