"""Parameters of a training one tree a round: which are ours, which a Pool's quantization takes, which have no place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankadapters.core.declaration.arguments import flag, number, refusal, whole
from rankadapters.core.declaration.number_fields import is_whole
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

_OBJECTIVE = "the objective says what is trained", "leave it out; ra.catboost.read_objective(text) reads a loss"
_METRIC = "convention= says what is reported and watched", "convention=ra.catboost.read_metric(text)"
_STEP = "a leaf is one Newton step of the objective", "leave it out"
_GROWN = "every tree is a training of its own, and knows no earlier one", "leave it out, or train natively"
_CLASSES = "it is for classification", "leave it out"
_POOL = "the Pool knows its columns", "catboost.Pool(..., cat_features=[...])"
_FILES = "a training one tree a round writes no files", "model.save_model(path)"
_QUIET = "only verbose= says how much is printed", "verbose=True, or every so many rounds verbose=10"

# What has no place, the values that say what is done anyway, why, and the way out.
REFUSED: dict[str, tuple[tuple[Any, ...], str, str]] = {
    "loss_function": ((), *_OBJECTIVE),
    "eval_metric": ((), *_METRIC),
    "custom_metric": ((), *_METRIC),
    "leaf_estimation_method": (("Newton",), *_STEP),
    "leaf_estimation_iterations": ((1,), *_STEP),
    "leaf_estimation_backtracking": (("No",), *_STEP),
    "boosting_type": (("Plain",), "Ordered boosting keeps scores of its own from tree to tree", "leave it out"),
    "boost_from_average": ((False,), "scores start from 0", "Pool.set_baseline starts them elsewhere"),
    "task_type": (("CPU",), "training one tree a round was checked on CPUs only", "task_type='CPU'"),
    "model_shrink_rate": ((0,), *_GROWN),
    "model_shrink_mode": ((), *_GROWN),
    "langevin": ((False,), *_GROWN),
    "diffusion_temperature": ((), *_GROWN),
    "posterior_sampling": ((False,), *_GROWN),
    "first_feature_use_penalties": ((), *_GROWN),
    "per_object_feature_penalties": ((), *_GROWN),
    "penalties_coefficient": ((), *_GROWN),
    "od_type": (("Iter",), "training stops by rounds without improvement only", "early_stopping_rounds=20"),
    "od_pval": ((0,), "training stops by rounds without improvement only", "early_stopping_rounds=20"),
    "best_model_min_trees": ((1,), "the model ends with its best round", "use_best_model=False keeps all"),
    "eval_fraction": ((0,), "queries would be cut", "eval_set=, or ra.sklearn.QueryRanker(validation_fraction=)"),
    "class_weights": ((), *_CLASSES),
    "auto_class_weights": (("None",), *_CLASSES),
    "scale_pos_weight": ((1,), *_CLASSES),
    "classes_count": ((), *_CLASSES),
    "class_names": ((), *_CLASSES),
    "target_border": ((), "the objective sees the labels as they are", "map the labels of the Pool"),
    "cat_features": ((), *_POOL),
    "text_features": ((), *_POOL),
    "embedding_features": ((), *_POOL),
    "allow_writing_files": ((False,), *_FILES),
    "save_snapshot": ((False,), *_FILES),
    "snapshot_file": ((), *_FILES),
    "snapshot_interval": ((), *_FILES),
    "output_borders": ((), *_FILES),
    "logging_level": (("Silent",), *_QUIET),
    "silent": ((True,), *_QUIET),
    "metric_period": ((1,), *_QUIET),
}


@dataclass(frozen=True)
class TrainingParams:
    """Parameters of a training, divided by who takes them."""

    rounds: int
    learning_rate: float
    random_seed: int
    random_strength: float
    l2_leaf_reg: float
    verbose: int  # print every so many rounds; 0 prints nothing
    patience: int | None
    use_best_model: bool | None
    quantization: Mapping[str, Any]
    growing: Mapping[str, Any]  # handed to CatBoost with every tree
    declared: Mapping[str, Any]

    @classmethod
    def of(cls, params: Mapping[str, Any], **others: Any) -> TrainingParams:
        """Read parameters in CatBoost's words, with its defaults; `others` are told beside them."""
        arguments = {name: value for name, value in others.items() if value is not None}
        settings = _by_one_name(params)
        _refuse_told_twice(params, arguments)
        settings |= arguments
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
        """Threads for gradients and metrics; None takes all CPUs."""
        threads = self.growing.get("thread_count", -1)
        return None if threads == -1 else int(threads)

    def of_tree(self, place: int, n_docs: int, mean_weight: float) -> dict[str, Any]:
        """Give the parameters of one tree, whose rows weigh `mean_weight` on average beside weights of 1.

        Notes
        -----
        CatBoost multiplies `l2_leaf_reg` by the mean weight of the rows, which are hessians here: dividing by it keeps
        the ridge that CatBoost's own Newton steps have. And the noise of `random_strength` fades with the trees before.

        References
        ----------
        CatBoost 1.2.10, catboost/private/libs/algo/greedy_tensor_search.cpp, `CalcDerivativesStDevFromZeroMultiplier`.
        """
        fading = _fading(n_docs, place * self.learning_rate) / _fading(n_docs, 0.0)
        if self.growing.get("random_score_type", "NormalWithModelSizeDecrease") != "NormalWithModelSizeDecrease":
            fading = 1.0
        return {
            **self.growing,
            "iterations": 1,
            "loss_function": "RMSE",
            "learning_rate": self.learning_rate,
            "random_seed": seed_of(self.random_seed, place),
            "random_strength": self.random_strength * fading,
            "l2_leaf_reg": self.l2_leaf_reg / mean_weight,
            "boost_from_average": False,
            "model_shrink_rate": 0,  # which monotone constraints raise
            "allow_writing_files": False,
            "logging_level": "Silent",
        }


def seed_of(random_seed: int, place: int) -> int:
    """Draw the seed of one tree, so that trees sample rows and features independently of each other."""
    return int(np.random.SeedSequence([random_seed, place]).generate_state(1)[0])


def _fading(n_docs: int, length: float) -> float:
    left = math.exp(math.log(n_docs) - length)
    return left / (1.0 + left)


def _by_one_name(params: Mapping[str, Any]) -> dict[str, Any]:
    """Give parameters under one name each, without those that say nothing, and refuse what has no place."""
    if not isinstance(params, Mapping):
        msg = f"params={params!r:.80} is not a mapping.\nHint: params={{'iterations': 100, 'depth': 6}}."
        raise InputError(msg)
    found: dict[str, Any] = {}
    for name, value in params.items():
        known = ALIASES.get(name, name)
        if value is None:
            continue
        if known in found:
            msg = f"params has {known!r} under two names, one of them {name!r}.\nHint: keep one."
            raise InputError(msg)
        _refuse(name, known, value)
        found[known] = value
    return found


def _refuse_told_twice(params: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Refuse an argument of `train` that `params` has too, under whichever of its names."""
    for name, value in params.items():
        known = ALIASES.get(name, name)
        if value is not None and known in arguments:
            msg = f"{known}={arguments[known]!r:.80} is told beside params={{{name!r}: {value!r:.80}}}."
            raise InputError(f"{msg}\nHint: keep one.")


def _refuse(name: str, known: str, value: Any) -> None:
    if known not in REFUSED:
        return
    allowed, why, hint = REFUSED[known]
    if not any(isinstance(value, bool) == isinstance(each, bool) and value == each for each in allowed):
        msg = f"{name}={value!r:.80} has no place in a training one tree a round: {why}.\nHint: {hint}."
        raise InputError(msg)


def _refuse_threads(value: Any) -> None:
    """Refuse numbers of threads at which CatBoost ends the process rather than raise an error, such as 0."""
    if not is_whole(value) or not (int(value) >= 1 or int(value) == -1):
        raise refusal("thread_count", value, "whole numbers from 1 on, or -1 for all CPUs")
