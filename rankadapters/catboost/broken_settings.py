"""Settings under which CatBoost trains something else than its loss says."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import catboost as cb

from rankadapters.core.errors import warn_caller

BACKWARDS = (
    "the model was trained by LambdaMart with {}. CatBoost has the signs of both of its derivatives turned round, "
    "which cancel out under leaf_estimation_method='Newton' and l2_leaf_reg=0 only: it trained backwards.\n"
    "Hint: ra.catboost.native_loss(convention) has the settings; or ra.catboost.train."
)

NO_RIDGE = 1e-20  # what CatBoost makes of l2_leaf_reg=0


def warn_of_training(model: Any) -> None:
    """Warn of a model that was trained by LambdaMart under anything but Newton's leaves without a ridge.

    Warns
    -----
    UserWarning
        It says which settings the model has.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TLambdaMartError`. Run: NDCG@10 of 200
    training queries .928 by default, .630 under l2_leaf_reg=3, .037 under Gradient, .365 of random scores.
    """
    params: dict[str, Any] = {}
    with suppress(cb.CatBoostError):  # a sum of models has none
        params = model.get_all_params()
    method, ridge = params.get("leaf_estimation_method"), params.get("l2_leaf_reg", 0.0)
    if str(params.get("loss_function")).startswith("LambdaMart") and (method != "Newton" or ridge > 2 * NO_RIDGE):
        warn_caller(BACKWARDS.format(f"leaf_estimation_method={method!r}, l2_leaf_reg={ridge:g}"))
