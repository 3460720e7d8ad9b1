"""XGBoost's settings: each trains its own objectives, and our replay of them with `replay_params`."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb

import rankadapters as ra
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.objective_trainings import PAIR_SEED
from tests.objectives.replayed_settings import NO_SETTING, Setting, Toolkit

PARAMS = {"nthread": 1, "max_depth": 3, "disable_default_eval_metric": 1}
DATA = graded_ranking(1, 20, 20, grades=5)
X = np.where(np.random.default_rng(0).random(DATA.X.shape) < 0.1, np.nan, DATA.X)  # some missing
FRAME = pd.DataFrame(X[:, :5]).assign(kind=pd.Categorical((DATA.X[:, 5] * 8).astype(int)))
PRESETS = {
    "rank:ndcg": ra.objectives.xgboost.ndcg,
    "rank:pairwise": ra.objectives.xgboost.pairwise,
    "rank:map": ra.objectives.xgboost.map,
}
VERSION = tuple(int(part) for part in re.findall(r"\d+", xgb.__version__)[:2])
RNG = np.random.default_rng(1)
HALF = {"subsample": 0.5}
DART = {"booster": "dart", "rate_drop": 0.5}
LINEAR = {"booster": "gblinear", "max_depth": None}
DESCENT = {**LINEAR, "updater": "coord_descent"}
APPROX = {"tree_method": "approx"}
CATEGORIES = {"data": {"data": FRAME, "enable_categorical": True}}


def train(trial: dict[str, Any], ours: bool) -> np.ndarray:  # noqa: FBT001 - our objective, or the built-in one
    params = {name: value for name, value in trial.items() if name not in NO_SETTING}
    name, preset = params.pop("objective", "rank:ndcg"), trial.get("preset", {})
    label = (DATA.y > 0) if name == "rank:map" else DATA.y
    columns = {"data": X, "label": label, "qid": DATA.qid, "nthread": 1} | trial.get("data", {})
    matrix = columns.pop("kind", xgb.DMatrix)(**columns)
    bias = trial.get("bias")
    unbiased = None if bias is None else ra.objectives.xgboost.unbiased(**bias)
    objective = ra.xgboost.objective(PRESETS[name](**preset), position_bias=unbiased, n_threads=1)
    objective_params = {"objective": name, "lambdarank_unbiased": bias is not None, **preset, **(bias or {})}
    if ours:
        replay = objective.replay_params(matrix, base_score=params.get("base_score"))
        objective_params = {key: value for key, value in replay.items() if key in trial.get("replay_only", replay)}
    all_params = {key: value for key, value in {**PARAMS, **objective_params, **params}.items() if value is not None}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"[^\0]*(is|are) (deprecated|not used)")  # gblinear and dart, from 3.4 on
        booster = xgb.train(all_params, matrix, 6, obj=objective if ours else None)
        return booster.predict(matrix, output_margin=True)


SETTINGS = [
    Setting([{"replay_only": []}, {"replay_only": ["objective"]}], title="without `replay_params`", no_effect=True),
    Setting([{"replay_only": ["base_score"]}, {"base_score": 0}, {"base_score": 0.5}], title="`base_score` alone"),
    Setting([{"replay_only": ["base_score"], **APPROX}], title='`base_score` alone, under `tree_method="approx"`'),
    Setting([{"tree_method": "exact"}, APPROX, {**APPROX, **HALF}, {"grow_policy": "lossguide", "max_leaves": 4},
             {"max_leaves": 5}]),
    Setting([{"tree_method": "hist"}, {"booster": "gbtree"}],
            title='`tree_method="hist"`, `booster="gbtree"`', no_effect=True),
    Setting([DART, {**DART, "one_drop": 1}, {**DART, "skip_drop": 0.5}, {**DART, "sample_type": "weighted"},
             {**DART, "normalize_type": "forest"}, {**DART, "seed": 7}],
            title='`booster="dart"`, with `rate_drop`, `one_drop`, `skip_drop`, `sample_type`, `normalize_type`'),
    Setting([LINEAR, {**LINEAR, "reg_lambda": 1.0, "reg_alpha": 0.1}, DESCENT,
             *({**DESCENT, "feature_selector": selector} for selector in ("shuffle", "random", "greedy")),
             {**DESCENT, "feature_selector": "thrifty", "top_k": 2}, {**LINEAR, "tolerance": 0.5}],
            title='`booster="gblinear"`, with `updater`, `feature_selector`, `top_k`, `tolerance`'),
    # Up to 3.1 `gradient_based` needs a GPU.
    Setting([HALF, {**HALF, "seed": 7}, {**HALF, "seed_per_iteration": True},
             *([{**HALF, "sampling_method": "gradient_based"}] if VERSION >= (3, 2) else [])],
            title="`subsample`, `sampling_method`, `seed`, `seed_per_iteration`"),
    Setting([{"colsample_bytree": 0.5}, {"colsample_bylevel": 0.5}, {"colsample_bynode": 0.5},
             {"colsample_bynode": 0.5, "data": {"feature_weights": [1, 2, 3, 4, 5, 6]}}],
            title="`colsample_bytree`, `colsample_bylevel`, `colsample_bynode`, `feature_weights` of the DMatrix"),
    Setting([{"num_parallel_tree": 4, **HALF}, {"num_parallel_tree": 4, "colsample_bynode": 0.5}],
            title="`num_parallel_tree`"),
    Setting([{"max_delta_step": 0.1}, {"min_split_loss": 0.5}, {"min_child_weight": 3.0}, {"reg_lambda": 5.0},
             {"reg_alpha": 1.0}, {"learning_rate": 0.7}, {"max_depth": 2}, {"max_bin": 7}]),
    Setting([{"monotone_constraints": "(1,0,0,0,0,-1)"}, {"interaction_constraints": "[[0,1],[2,3,4,5]]"}]),
    Setting([CATEGORIES, {**CATEGORIES, "max_cat_to_onehot": 10}, {**CATEGORIES, "max_cat_threshold": 1}],
            title="`enable_categorical`, `max_cat_to_onehot`, `max_cat_threshold`"),
    Setting([{"data": {"weight": RNG.random(DATA.sizes.size)}}, {"data": {"base_margin": RNG.normal(size=DATA.y.size)}},
             {"data": {"weight": RNG.random(DATA.sizes.size)}, **APPROX}],
            title="`weight`, `base_margin` of the DMatrix"),
    Setting([{"data": {"kind": xgb.QuantileDMatrix, "max_bin": 16}, "max_bin": 16}], title="`QuantileDMatrix`"),
    Setting([{"preset": {name: value}} for name, value in (
        ("lambdarank_num_pair_per_sample", 3), ("lambdarank_normalization", False),
        ("lambdarank_score_normalization", False), ("ndcg_exp_gain", False))] + [
        {"objective": "rank:pairwise"}, {"objective": "rank:map"}],
            title="`lambdarank_num_pair_per_sample`, `lambdarank_normalization`, `lambdarank_score_normalization`, "
            "`ndcg_exp_gain` in the preset; `rank:pairwise`, `rank:map`"),
    Setting([{"bias": {}}, {"bias": {"lambdarank_bias_norm": 2.0}}, {"bias": {}, **HALF},
             {"bias": {}, "objective": "rank:map"}, {"bias": {}, "objective": "rank:pairwise"}],
            title="`lambdarank_unbiased`, `lambdarank_bias_norm` as `position_bias=xgboost.unbiased(...)`"),
    Setting([{"lambdarank_unbiased": True}, {"lambdarank_unbiased": True, "lambdarank_bias_norm": 2.0}],
            title="the same parameters, in the parameters of the training only"),
    Setting([{"multi_strategy": "multi_output_tree"}, {"nthread": 2}, {"seed": 7}, {"process_type": "default"},
             {"refresh_leaf": 0}, {"max_cached_hist_node": 1}, {"sparse_threshold": 0.9}], no_effect=True),
]  # fmt: skip
MEAN_START = {"base_score": 0.25} if PAIR_SEED else {}  # from 3.4 on a replay from the estimate is refused
MEANS = [{"preset": {"lambdarank_pair_method": "mean", **PAIR_SEED, **more}, **MEAN_START} for more in (
    {}, {"lambdarank_num_pair_per_sample": 3}, {"seed": 7} if PAIR_SEED else {})]  # fmt: skip
OTHER_DRAWS = [HALF, {"colsample_bytree": 0.5}, {"colsample_bylevel": 0.5}, {"colsample_bynode": 0.5}, DART,
          {**DART, "one_drop": 1}, {**DESCENT, "feature_selector": "random"}]  # fmt: skip
MEAN_WITH_OTHER_DRAWS = Setting(
    [MEANS[0] | trial for trial in (*OTHER_DRAWS, {"seed": 7}, {"seed_per_iteration": True})],
    title="the same with `subsample`, `colsample_*`, the parameters of `dart`, `feature_selector`, a different "
    "`seed`, or `seed_per_iteration`",
)
SETTINGS += [Setting(
    [*MEANS, {**MEANS[0], "tree_method": "exact"}, {**MEANS[0], **APPROX}, {**MEANS[0], **DESCENT}, *(
        {**MEANS[0], "objective": name, **more} for name in PRESETS for more in ({}, {"bias": {}}))],
    title='`lambdarank_pair_method="mean"` in the preset, from 3.4 on with its `seed` and a `base_score`')]  # fmt: skip
SETTINGS += [] if PAIR_SEED else [MEAN_WITH_OTHER_DRAWS]
XGBOOST = Toolkit("XGBoost", SETTINGS, PRESETS, train, (xgb.core.XGBoostError, ra.InputError))
