"""How the ranker of each toolkit reports its rounds as tasks of scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from rankadapters.sklearn.tasks import FitTasks

# Names of the number of rounds: LightGBM's beside n_estimators, and CatBoost's.
LIGHTGBM_ALIASES = (
    "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds", "nrounds",
    "num_boost_round", "max_iter",
)  # fmt: skip
CATBOOST_NAMES = ("iterations", "n_estimators", "num_boost_round", "num_trees")
CATBOOST_DEFAULT = 1000


def max_rounds(toolkit: str | None, estimator: Any) -> int | None:
    """Count the tasks that the fit of an estimator has at most; None where that is not known."""
    if toolkit is None:
        return int(hasattr(estimator, "set_callbacks"))  # its own fit
    params = estimator.get_params()
    if toolkit == "lightgbm":
        return None if any(name in params for name in LIGHTGBM_ALIASES) else int(params["n_estimators"])
    if toolkit == "xgboost":
        return int(estimator.get_num_boosting_rounds())
    return int(next((params[name] for name in CATBOOST_NAMES if params.get(name) is not None), CATBOOST_DEFAULT))


@contextmanager
def reported(toolkit: str, ranker: Any, tasks: FitTasks | None, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parameters of `fit` under which a ranker reports its rounds."""
    if tasks is None or not tasks.watched or not toolkit:
        yield params
        return
    tasks.begin_round()
    callbacks = params.get("callbacks") or []
    if toolkit == "lightgbm":
        from rankadapters.lightgbm.callbacks import LightGBMRounds

        yield {**params, "callbacks": [*callbacks, LightGBMRounds(ranker, tasks.end_round)]}
    elif toolkit == "xgboost":
        from rankadapters.xgboost.callbacks import XGBoostRounds

        with lent(ranker, callbacks=[XGBoostRounds(ranker, tasks.end_round), *(ranker.callbacks or [])]):
            yield params
    elif tasks.models_wanted or ranker.get_params().get("task_type") == "GPU":
        # CatBoost shows a callback no model, and calls none on a GPU, so the rounds are reported after the training.
        yield params
        for n_trees in range(1, ranker.tree_count_ + 1):
            tasks.end_round(partial(_first_trees, ranker, n_trees))
    else:
        yield {**params, "callbacks": [CatBoostRounds(tasks), *callbacks]}


@contextmanager
def lent(estimator: Any, **params: Any) -> Iterator[None]:
    """Set parameters for the time of a training, so that the fitted estimator holds no callback and no data."""
    declared = {name: value for name, value in estimator.get_params().items() if name in params}
    estimator.set_params(**params)
    try:
        yield
    finally:
        estimator.set_params(**declared)


class CatBoostRounds:
    """A callback of CatBoost that ends the task of a round."""

    def __init__(self, tasks: FitTasks) -> None:
        self._tasks = tasks

    def after_iteration(self, info: Any) -> bool:
        """End the task; tell whether to go on."""
        del info  # has no model
        return not self._tasks.end_round(dict)


def _first_trees(ranker: Any, n_trees: int) -> Any:
    """Copy a CatBoostRanker with its first trees."""
    copy = ranker.copy()
    copy.shrink(n_trees)
    return copy
