"""Divide the parameters of `train` into ours, those for quantizing the Pool, those for each tree, and refused ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankadapters.core.declaration.arguments import flag, number, refusal, whole
from rankadapters.core.declaration.fields import is_whole
from rankadapters.core.errors import InputError

ALIASES = {
    "num_boost_round": "iterations", "n_estimators": "iterations", "num_trees": "iterations", "eta": "learning_rate",
    "random_state": "random_seed", "reg_lambda": "l2_leaf_reg", "max_bin": "border_count", "max_depth": "depth",
    "objective": "loss_function", "custom_loss": "custom_metric", "verbose_eval": "verbose",
    "od_wait": "early_stopping_rounds",
}  # fmt: skip
QUANTIZING = (
    "border_count", "feature_border_type", "input_borders", "nan_mode", "per_float_feature_quantization",
    "sparse_features_conflict_fraction", "used_ram_limit",
)  # fmt: skip

# The refused parameters, each with the values that are allowed because they change nothing; the reason, and a hint.
_REFUSALS: tuple[tuple[dict[str, tuple[Any, ...]], str, str], ...] = (
    ({"loss_function": ()}, "the objective decides the loss",
     "leave it out; ra.catboost.read_objective(text) reads a loss"),
    ({"eval_metric": (), "custom_metric": ()}, "convention= decides the reported and watched metrics",
     "convention=ra.catboost.read_metric(text)"),
    ({"leaf_estimation_method": ("Newton",), "leaf_estimation_iterations": (1,),
      "leaf_estimation_backtracking": ("No",)}, "a leaf is one Newton step of the objective", "leave it out"),
    ({"boosting_type": ("Plain",)}, "Ordered boosting keeps internal scores from tree to tree", "leave it out"),
    ({"boost_from_average": (False,)}, "scores start from 0", "Pool.set_baseline starts them elsewhere"),
    ({"task_type": ("CPU",)}, "this training is verified only on CPUs", "task_type='CPU'"),
    ({"model_shrink_rate": (0,), "model_shrink_mode": (), "langevin": (False,), "diffusion_temperature": (),
      "posterior_sampling": (False,), "first_feature_use_penalties": (), "per_object_feature_penalties": (),
      "penalties_coefficient": ()}, "every tree is a separate training without the earlier trees",
     "leave it out, or train natively"),
    ({"od_type": ("Iter",), "od_pval": (0,)}, "training stops only by rounds without improvement",
     "early_stopping_rounds=20"),
    ({"best_model_min_trees": (1,)}, "the model ends with its best round", "use_best_model=False keeps all"),
    ({"eval_fraction": (0,)}, "it would cut queries", "eval_set=, or ra.sklearn.QueryRanker(validation_fraction=)"),
    ({"class_weights": (), "auto_class_weights": ("None",), "scale_pos_weight": (1,), "classes_count": (),
      "class_names": ()}, "it is for classification", "leave it out"),
    ({"target_border": ()}, "the objective uses the labels unchanged", "map the labels of the Pool"),
    ({"cat_features": (), "text_features": (), "embedding_features": ()}, "the Pool has these columns",
     "catboost.Pool(..., cat_features=[...])"),
    ({"init_model": ()}, "every tree is a separate training", "start from a model's scores: baseline=model.predict(X)"),
    ({"pairs": (), "pairs_weight": (), "graph": (), "subgroup_id": ()}, "an objective makes pairs from the labels",
     "leave it out"),
    ({"allow_writing_files": (False,), "save_snapshot": (False,), "snapshot_file": (), "snapshot_interval": (),
      "output_borders": ()}, "this training writes no files", "model.save_model(path)"),
    ({"logging_level": ("Silent",), "silent": (True,), "metric_period": (1,), "plot": (False,), "plot_file": (),
      "log_cout": (), "log_cerr": ()}, "only verbose= decides what is printed",
     "verbose=True, or verbose=10 for every tenth round"),
)  # fmt: skip
REFUSED = {name: (allowed, reason, hint) for names, reason, hint in _REFUSALS for name, allowed in names.items()}


@dataclass(frozen=True)
class TrainingParams:
    """The parameters of a training, grouped by their use."""

    rounds: int
    learning_rate: float
    random_seed: int
    random_strength: float
    l2_leaf_reg: float
    verbose: int  # print a line every `verbose` rounds; 0 prints nothing
    patience: int | None
    use_best_model: bool | None
    quantization: Mapping[str, Any]
    growing: Mapping[str, Any]  # passed to CatBoost with every tree
    declared: Mapping[str, Any]

    @classmethod
    def of(cls, params: Mapping[str, Any], **train_arguments: Any) -> TrainingParams:
        """Read CatBoost's parameters, with CatBoost's defaults; `train_arguments` are other arguments of `train`."""
        arguments = {name: value for name, value in train_arguments.items() if value is not None}
        settings = _by_one_name(params, arguments)
        growing = {name: value for name, value in settings.items() if name not in REFUSED}
        quantization = {name: growing.pop(name) for name in QUANTIZING if name in growing}
        patience, best = growing.pop("early_stopping_rounds", None), growing.pop("use_best_model", None)
        verbose = growing.pop("verbose", False)
        _refuse_threads(growing.get("thread_count", -1))
        return cls(
            rounds=whole("iterations", growing.pop("iterations", 1000)),
            learning_rate=number("learning_rate", growing.pop("learning_rate", 0.03), least=0, above=True),
            random_seed=whole("random_seed", growing.pop("random_seed", 0), least=0),
            random_strength=number("random_strength", growing.pop("random_strength", 1), least=0),
            l2_leaf_reg=number("l2_leaf_reg", growing.pop("l2_leaf_reg", 3), least=0),
            verbose=int(verbose) if isinstance(verbose, bool) else whole("verbose", verbose, least=0),
            patience=None if patience is None else whole("early_stopping_rounds", patience),
            use_best_model=None if best is None else flag("use_best_model", best),
            quantization=quantization,
            growing=growing,
            declared=dict(params),
        )

    @property
    def n_threads(self) -> int | None:
        """Threads for gradients and metrics; None uses all CPUs."""
        threads = self.growing.get("thread_count", -1)
        return None if threads == -1 else int(threads)

    def of_tree(self, round_number: int, n_docs: int, mean_weight: float) -> dict[str, Any]:
        """Return one tree's parameters; `mean_weight` is its rows' mean hessian, divided by the mean query weight."""
        # The noise of `random_strength` fades with the number of earlier trees: CatBoost 1.2.10,
        # catboost/private/libs/algo/greedy_tensor_search.cpp, `CalcDerivativesStDevFromZeroMultiplier`.
        fading = _fading(n_docs, round_number * self.learning_rate) / _fading(n_docs, 0.0)
        if self.growing.get("random_score_type", "NormalWithModelSizeDecrease") != "NormalWithModelSizeDecrease":
            fading = 1.0
        return {
            **self.growing,
            "iterations": 1,
            "loss_function": "RMSE",
            "learning_rate": self.learning_rate,
            "random_seed": seed_of(self.random_seed, round_number),
            "random_strength": self.random_strength * fading,
            # CatBoost multiplies `l2_leaf_reg` by the mean weight of the rows, and the weights are hessians here.
            # Dividing by the mean restores the regularization of CatBoost's own Newton steps.
            "l2_leaf_reg": self.l2_leaf_reg / mean_weight,
            "boost_from_average": False,
            "model_shrink_rate": 0,  # otherwise monotone constraints set it above 0
            "allow_writing_files": False,
            "logging_level": "Silent",
        }


def seed_of(random_seed: int, round_number: int) -> int:
    """Return the seed of one tree, so that trees sample rows and features independently."""
    return int(np.random.SeedSequence([random_seed, round_number]).generate_state(1)[0])


def _fading(n_docs: int, length: float) -> float:
    size = math.exp(math.log(n_docs) - length)
    return size / (1.0 + size)


def _by_one_name(params: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters and arguments under their main names, without None values; refuse those that cannot be used."""
    if not isinstance(params, Mapping):
        raise InputError(f"params={params!r:.80} is not a mapping.", hint="params={'iterations': 100, 'depth': 6}")
    settings: dict[str, Any] = {}
    for name, value in params.items():
        main_name = ALIASES.get(name, name)
        if value is None:
            continue
        if main_name in settings:
            raise InputError(f"params has {main_name!r} under two names, one of them {name!r}.", hint="keep one")
        if main_name in arguments:
            msg = f"{main_name}={arguments[main_name]!r:.80} is also in params={{{name!r}: {value!r:.80}}}."
            raise InputError(msg, hint="keep one")
        _refuse(name, main_name, value)
        settings[main_name] = value
    return {**settings, **arguments}


def _refuse(name: str, main_name: str, value: Any) -> None:
    if main_name not in REFUSED:
        return
    allowed, reason, hint = REFUSED[main_name]
    if not any(isinstance(value, bool) == isinstance(accepted, bool) and value == accepted for accepted in allowed):
        raise InputError(f"{name}={value!r:.80} cannot be used in ra.catboost.train: {reason}.", hint=hint)


def _refuse_threads(value: Any) -> None:
    """Refuse numbers of threads, such as 0, for which CatBoost ends the process instead of raising an error."""
    if not is_whole(value) or not (int(value) >= 1 or int(value) == -1):
        raise refusal("thread_count", value, "whole numbers from 1 on, or -1 for all CPUs")
