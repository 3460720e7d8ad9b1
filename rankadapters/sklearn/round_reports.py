"""Report the rounds of each toolkit's ranker as tasks to scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from rankadapters.sklearn.tasks import FitTasks

# Names of the parameter for the number of rounds; LightGBM's are aliases of n_estimators.
LIGHTGBM_ALIASES = (
    "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds", "nrounds",
    "num_boost_round", "max_iter",
)  # fmt: skip
CATBOOST_NAMES = ("iterations", "n_estimators", "num_boost_round", "num_trees")
CATBOOST_DEFAULT = 1000


def max_rounds(toolkit: str | None, estimator: Any) -> int | None:
    """Return the maximum number of tasks in a fit of the estimator; None if unknown."""
    if toolkit is None:
        return int(hasattr(estimator, "set_callbacks"))  # its fit is the only task
    params = estimator.get_params()
    if toolkit == "lightgbm":
        return None if any(name in params for name in LIGHTGBM_ALIASES) else int(params["n_estimators"])
    if toolkit == "xgboost":
        return int(estimator.get_num_boosting_rounds())
    return int(next((params[name] for name in CATBOOST_NAMES if params.get(name) is not None), CATBOOST_DEFAULT))


@contextmanager
def report_rounds(
    toolkit: str, ranker: Any, tasks: FitTasks | None, params: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield `fit` parameters with a callback that makes the ranker report its rounds."""
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

        with temporary_params(ranker, callbacks=[XGBoostRounds(ranker, tasks.end_round), *(ranker.callbacks or [])]):
            yield params
    elif tasks.models_wanted or ranker.get_params().get("task_type") == "GPU":
        # CatBoost gives its callbacks no model, and never calls them on a GPU, so report the rounds after training.
        yield params
        for n_trees in range(1, ranker.tree_count_ + 1):
            tasks.end_round(partial(_first_trees, ranker, n_trees))
    else:
        yield {**params, "callbacks": [CatBoostRounds(tasks), *callbacks]}


@contextmanager
def temporary_params(estimator: Any, **params: Any) -> Iterator[None]:
    """Set parameters during a training, and restore them so that the fitted estimator keeps no callback or data."""
    original = {name: value for name, value in estimator.get_params().items() if name in params}
    estimator.set_params(**params)
    try:
        yield
    finally:
        estimator.set_params(**original)


class CatBoostRounds:
    """A CatBoost callback that ends the task of each round."""

    def __init__(self, tasks: FitTasks) -> None:
        self._tasks = tasks

    def after_iteration(self, info: Any) -> bool:
        """End the task; return whether to continue."""
        del info  # CatBoost's info has no model
        return not self._tasks.end_round(dict)


def _first_trees(ranker: Any, n_trees: int) -> Any:
    """Return a copy of a CatBoostRanker with only its first trees."""
    copy = ranker.copy()
    copy.shrink(n_trees)
    return copy
