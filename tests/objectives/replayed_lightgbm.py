"""LightGBM's settings: each trains `lambdarank` or `rank_xendcg`, and our replay of it."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np

import rankadapters as ra
from tests.helpers.objective_rankings import graded_ranking
from tests.objectives.replayed_settings import NO_SETTING, Setting, Toolkit

PARAMS = {"metric": "None", "verbosity": -1, "num_threads": 1, "num_leaves": 7, "min_data_in_leaf": 5}
DATA = graded_ranking(1, 20, 20, grades=5)
X = np.where(np.random.default_rng(0).random(DATA.X.shape) < 0.1, np.nan, DATA.X)  # some missing
X[:, 5] = np.floor(DATA.X[:, 5] * 8)  # some zeros, and few distinct
PRESETS = {"lambdarank": ra.objectives.lightgbm.lambdarank, "rank_xendcg": ra.objectives.lightgbm.xendcg}
RNG = np.random.default_rng(1)
WEIGHT, START = RNG.random(DATA.y.size), RNG.normal(size=DATA.y.size)
BAGGING = {"bagging_freq": 1, "bagging_fraction": 0.8}
MONOTONE = {"monotone_constraints": [1, 0, 0, -1, 0, 0]}
QUANTIZED = {"use_quantized_grad": True}
GOSS = {"data_sample_strategy": "goss", "learning_rate": 0.5, "top_rate": 0.3, "other_rate": 0.3}
CATEGORIES = {"categorical_feature": [5], "min_data_per_group": 3}
XENDCG = {"objective": "rank_xendcg"}
POSITIONS = {"data": {"position": np.arange(DATA.y.size) % 5}}
DART = {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0, "drop_seed": 4}


def seed_before(seed: int) -> int:
    """Return the seed whose next number is `seed` in LightGBM's generator, x = 214013 x + 2531011 modulo 2^32."""
    x = (seed - 2531011) * pow(214013, -1, 2**32) % 2**32
    return x - 2**32 if x >= 2**31 else x


def train(trial: dict[str, Any], ours: bool) -> np.ndarray:  # noqa: FBT001 - our objective, or the built-in one
    params = {name: value for name, value in trial.items() if name not in NO_SETTING}
    preset = trial.get("preset", {})
    name, bias = params.pop("objective", "lambdarank"), trial.get("bias")
    objective = preset | (bias or {})
    if ours:
        position_bias = None if bias is None else ra.objectives.lightgbm.position_bias(**bias)
        our_objective = ra.lightgbm.objective(PRESETS[name](**preset), position_bias=position_bias, n_threads=1)
        objective = {"objective": our_objective}
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.filterwarnings("ignore", "categorical_feature|the Dataset has positions")
        if "forcedsplits_filename" in params:
            file = Path(folder) / "splits.json"
            file.write_text(json.dumps(params["forcedsplits_filename"]))
            params["forcedsplits_filename"] = str(file)
        data = lgb.Dataset(X, DATA.y, group=DATA.sizes, params={"verbosity": -1}, **trial.get("data", {}))
        callbacks = [make() for make in trial.get("callbacks", [])]
        booster = lgb.train({**PARAMS, "objective": name, **params, **objective}, data, 6, callbacks=callbacks)
    return booster.predict(X, raw_score=True)


def decay_learning_rate() -> Any:
    return lgb.reset_parameter(learning_rate=lambda number: 0.1 * 0.9**number)


SETTINGS = [
    Setting([{"preset": {"lambdarank_truncation_level": 3}}, {"preset": {"lambdarank_norm": False}},
             {"preset": {"sigmoid": 2.0}}, {"preset": {"label_gain": [0, 1, 2, 3, 9]}},
             {**XENDCG, "preset": {"objective_seed": 9}}],
            title="`lambdarank_truncation_level`, `lambdarank_norm`, `sigmoid`, `label_gain`, `objective_seed` "
            "of the preset"),
    Setting([{"lambdarank_truncation_level": 3}, {"lambdarank_norm": False}, {"sigmoid": 2.0},
             {"label_gain": [0, 1, 2, 3, 9]}, {**XENDCG, "objective_seed": 9}],
            title="the same parameters, in `params` only"),
    Setting([{**XENDCG, "seed": 7}], title="`seed` under `rank_xendcg`"),
    Setting([{**XENDCG, "seed": 7, "preset": {"objective_seed": 9}}], title="`seed` and `objective_seed`"),
    Setting([{"data": {"weight": WEIGHT}}, {"data": {"init_score": START}}],
            title="`weight`, `init_score` of the Dataset"),
    Setting([{**POSITIONS, "bias": {}}, {**POSITIONS, "bias": {"lambdarank_position_bias_regularization": 1.0}},
             {"data": {**POSITIONS["data"], "weight": WEIGHT}, "bias": {"learning_rate": 0.3}, "learning_rate": 0.3},
             {**POSITIONS, "bias": {}, "callbacks": [decay_learning_rate]}],
            title="`position` of the Dataset; `lambdarank_position_bias_regularization`, `learning_rate` also in "
            "`position_bias=lightgbm.position_bias(...)`"),
    Setting([POSITIONS, {**POSITIONS, "lambdarank_position_bias_regularization": 1.0}],
            title="`position` of the Dataset, without `position_bias`"),
    Setting([{"boosting": "gbdt"}], title='`boosting="gbdt"`', no_effect=True),
    Setting([{**DART, "by_chance": {"drop_seed": seed_before(4)}},
             {**DART, "uniform_drop": True, "by_chance": {"drop_seed": seed_before(4)}},
             {**DART, "xgboost_dart_mode": True, "max_drop": 2, "by_chance": {"drop_seed": seed_before(4)}}],
            title='`boosting="dart"`, with `drop_rate`, `drop_seed`, `max_drop`, `skip_drop`, `uniform_drop`, '
            "`xgboost_dart_mode`"),
    Setting([{"boosting": "rf", **BAGGING}], title='`boosting="rf"`'),
    Setting([GOSS], title='`data_sample_strategy="goss"`, `top_rate`, `other_rate`'),
    Setting([BAGGING, {**BAGGING, "bagging_fraction": 0.3}, {**BAGGING, "bagging_freq": 2, "bagging_seed": 9},
             {**BAGGING, "seed": 7}]),
    Setting([{**BAGGING, "bagging_by_query": True}, {**BAGGING, "bagging_fraction": 0.4, "bagging_by_query": True}],
            title="`bagging_by_query`"),
    Setting([{"bagging_freq": 1, "pos_bagging_fraction": 0.5, "neg_bagging_fraction": 0.5}], no_effect=True),
    Setting([{"feature_fraction": 0.5}, {"feature_fraction": 0.5, "feature_fraction_seed": 9},
             {"feature_fraction": 0.5, "feature_fraction_bynode": 0.5}],
            title="`feature_fraction`, `feature_fraction_seed`"),
    Setting([{"feature_fraction_bynode": 0.5}, {"feature_fraction_bynode": 0.5, "feature_fraction_seed": 9}],
            title="`feature_fraction_bynode` alone"),
    Setting([{"extra_trees": True}, {"extra_trees": True, "extra_seed": 9}]),
    Setting([{"linear_tree": True}, {"linear_tree": True, "linear_lambda": 0.5, **BAGGING}],
            title="`linear_tree`, `linear_lambda`"),
    Setting([MONOTONE, {**MONOTONE, "monotone_constraints_method": "intermediate"},
             {**MONOTONE, "monotone_constraints_method": "advanced", "monotone_penalty": 1.0}]),
    Setting([{"interaction_constraints": [[0, 1], [2, 3, 4, 5]]},
             {"forcedsplits_filename": {"feature": 2, "threshold": 0.5}}, {"feature_contri": [0.5, 1, 1, 1, 1, 1]},
             {"cegb_penalty_split": 0.01, "cegb_tradeoff": 2.0}, {"cegb_penalty_feature_coupled": [1, 1, 1, 0, 0, 0]},
             {"cegb_penalty_feature_lazy": [0.1] * 6}]),
    Setting([{"path_smooth": 2.0}, {"max_delta_step": 0.1}, {"lambda_l1": 0.5}, {"lambda_l2": 5.0},
             {"min_gain_to_split": 0.5}, {"min_sum_hessian_in_leaf": 5.0}, {"min_data_in_leaf": 20}, {"max_depth": 2},
             {"num_leaves": 4}, {"learning_rate": 0.3}]),
    Setting([QUANTIZED, {**QUANTIZED, "num_grad_quant_bins": 16}, {**QUANTIZED, "quant_train_renew_leaf": True},
             {**QUANTIZED, "stochastic_rounding": False}, {**QUANTIZED, **BAGGING, "bagging_fraction": 0.3}],
            title="`use_quantized_grad`, `num_grad_quant_bins`, `quant_train_renew_leaf`, `stochastic_rounding`"),
    Setting([{"max_bin": 7}, {"max_bin_by_feature": [5] * 6}, {"min_data_in_bin": 30}, {"bin_construct_sample_cnt": 50},
             {"bin_construct_sample_cnt": 50, "data_random_seed": 9}, {"zero_as_missing": True},
             {"use_missing": False}]),
    Setting([CATEGORIES, {**CATEGORIES, "max_cat_to_onehot": 10},
             {**CATEGORIES, "cat_l2": 1.0, "cat_smooth": 1.0, "max_cat_threshold": 2}]),
    Setting([{"callbacks": [decay_learning_rate]}, {"callbacks": [decay_learning_rate], **BAGGING}],
            title="`lgb.reset_parameter`, as a callback"),
    Setting([{"seed": 7}, {"deterministic": True}, {"num_threads": 2}, {"force_col_wise": True},
             {"force_row_wise": True},
             {"tree_learner": "feature"}, {"tree_learner": "data"}, {"tree_learner": "voting", "top_k": 5},
             {"histogram_pool_size": 1.0}, {"enable_bundle": False}, {"is_enable_sparse": False},
             {"feature_pre_filter": False}, {"boost_from_average": False}], no_effect=True),
]  # fmt: skip
LIGHTGBM = Toolkit("LightGBM", SETTINGS, PRESETS, train, (lgb.basic.LightGBMError, ra.InputError))
