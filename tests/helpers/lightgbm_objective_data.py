"""What the tests of LightGBM's objectives train: its built-in objectives, and ours in their place."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_drivers import VALUES

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

PARAMS = {"metric": "None", "verbosity": -1, "num_threads": 1, "num_leaves": 15, "min_data_in_leaf": 10}
SAME = 1e-10  # 0.0 is what was seen, with LightGBM 4.6.0 and 4.7.0
GAINS = [0.0, 1.0, 3.5, 3.5, 20.0]
OPTIONS = [
    {},
    {"lambdarank_norm": False},
    {"lambdarank_truncation_level": 3},
    {"lambdarank_truncation_level": 10_000},
    {"sigmoid": 2.0},
    {"label_gain": GAINS},
    {"sigmoid": 0.7, "lambdarank_norm": False, "lambdarank_truncation_level": 7, "label_gain": GAINS},
]
BUILT_IN = [("lambdarank", options) for options in OPTIONS]
BUILT_IN += [("rank_xendcg", {}), ("rank_xendcg", {"objective_seed": 11})]
DEFAULTS = [("lambdarank", {}), ("rank_xendcg", {})]
CONVENTIONS = [ra.presets.letor4(10), ra.presets.yahoo(10), ra.presets.textbook(10)]
OTHERS = VALUES["lightgbm"][1:]


def preset(name, options):
    return {"lambdarank": objectives.lightgbm.lambdarank, "rank_xendcg": objectives.lightgbm.xendcg}[name](**options)


def ours(value):
    return {"objective": ra.lightgbm.objective(value, n_threads=1)}


def built_in(name, options):
    return {"objective": name, **options}


def dataset(data, **more):
    params = {"verbosity": -1, "num_threads": 1}
    return lgb.Dataset(data.X, label=data.y, group=data.sizes, free_raw_data=False, params=params, **more)


def constructed(data, **more):
    return dataset(data, **more).construct()


def predictions(objective, data, rounds=10, *, params=None, **more):
    booster = lgb.train({**PARAMS, **(params or {}), **objective}, dataset(data, **more), rounds)
    return booster.predict(data.X, raw_score=True)


def assert_same(found, expected):
    assert np.ptp(expected) > 0.1  # something was learned
    np.testing.assert_allclose(found, expected, rtol=0, atol=SAME)


def in_unit_interval(data, value):
    """Labels that every objective takes."""
    probabilities = isinstance(getattr(value, "convention", None), ra.ERR)
    probabilities = probabilities or isinstance(value, objectives.QueryCrossEntropy)
    return data._replace(y=data.y / data.y.max()) if probabilities else data


def updated(booster, objective, rounds):
    for _ in range(rounds):
        booster.update(fobj=objective)
    return booster


def pickled(value):
    return pickle.loads(pickle.dumps(value))


EXACT = preset("lambdarank", {}).replace(sigmoid="exact")
