"""Training a CatBoostRanker under a declared objective, which its own `fit` has no place for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import catboost as cb

from rankadapters.callbacks.history import History
from rankadapters.catboost.evaluated_sets import LEARN
from rankadapters.catboost.training import Boosting
from rankadapters.catboost.training_params import TrainingParams
from rankadapters.catboost.watched_sets import names_of
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.objectives.base import Objective

COLUMNS = ("cat_features", "text_features", "embedding_features")  # which the Pools know


def fit_by_objective(
    ranker: cb.CatBoostRanker,
    pools: Sequence[cb.Pool],
    objective: Objective | str,
    convention: Convention | None,
    fit_params: Mapping[str, Any],
) -> History:
    """Fit a CatBoostRanker as `train` does, in place; the objective stands for its `loss_function`.

    Parameters
    ----------
    ranker : CatBoostRanker
        Its parameters are those of the training.
    pools : sequence of catboost.Pool
        What is trained on, then what is watched.
    objective : Objective or str
        What is trained.
    convention : Convention or None
        What is reported of the validation sets, and stops the training.
    fit_params : dict
        Parameters that were given to `fit`; they win.

    Returns
    -------
    History
        (name of the validation set, convention, value).

    Raises
    ------
    InputError
        As of `train`.
    """
    if convention is None and len(pools) > 1:
        msg = "the validation queries have no convention that they are evaluated under beside an objective of ours."
        raise InputError(f"{msg}\nHint: QueryRanker(eval_metric=ra.presets.textbook(10)).")
    given = {**ranker.get_params(), **fit_params}
    params = TrainingParams.of({n: value for n, value in given.items() if n not in {"loss_function", *COLUMNS}})
    names = names_of(convention, None, params, watches=len(pools) > 1)
    trees, watch = Boosting(params, objective, pools).run(names, ())
    trees.joined(ranker, params, watch)
    return History(entry for entry in watch.history if entry.dataset != LEARN)
