"""CatBoost's LambdaMart, with its parameter names and defaults."""

from __future__ import annotations

from typing import Literal, get_args

from rankadapters.core import presets
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import ConventionError
from rankadapters.core.presets.options import flag, one_of
from rankadapters.objectives.lambdarank import LambdaRank, Trading

Metric = Literal["NDCG", "DCG", "MRR", "ERR", "MAP"]
METRICS = get_args(Metric)


def catboost_lambdamart(
    *,
    metric: Metric = "NDCG",
    top: int = -1,
    type: Literal["Base", "Exp"] = "Base",  # noqa: A002 - CatBoost's own parameter name
    denominator: Literal["LogPosition", "Position"] = "LogPosition",
    sigma: float = 1.0,
    norm: bool = True,
) -> LambdaRank:
    """CatBoost's `LambdaMart`, which ignores weights.

    Its gradients are descent's, as everywhere here. CatBoost itself has both derivatives with the wrong sign, which
    only Newton's leaf values without regularisation cancel: its defaults, `leaf_estimation_method="Newton"` and
    `l2_leaf_reg=0`.

    Parameters
    ----------
    metric : {'NDCG', 'DCG', 'MRR', 'ERR', 'MAP'}
        What weighs a pair; DCG is the same as NDCG. Of MAP and MRR a label above 0 is relevant, of ERR a label is the
        probability to stop. The weights of MRR, ERR and MAP are not the changes of these measures.
    top : int
        Of NDCG and DCG: the first row of a pair is among so many, and the ideal DCG is cut there; -1 is all.
    type : {'Base', 'Exp'}
        Of NDCG and DCG: gain l or 2^l - 1.
    denominator : {'LogPosition', 'Position'}
        Of NDCG and DCG: discount 1/log2(i + 1) or 1/i.
    sigma : float
        Steepness of the sigmoid.
    norm : bool
        Whether pairs are divided by their score distance and queries scaled by their sum of lambdas.

    Raises
    ------
    ConventionError
        Another metric, a value that a parameter does not take, or a parameter that the metric ignores.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TLambdaMartError`. Run: sums of gradients
    over leaves equal to 1e-12.

    Examples
    --------
    >>> catboost_lambdamart(metric="MAP").delta, catboost_lambdamart(top=10).truncation
    ('catboost', 10)
    """
    ranks = _ranks(top)
    of_ndcg = {"top": (top, -1), "type": (type, "Base"), "denominator": (denominator, "LogPosition")}
    if one_of("metric", metric, dict(zip(METRICS, METRICS, strict=True))) not in {"NDCG", "DCG"}:
        ignored = [f"{name}={value!r}" for name, (value, default) in of_ndcg.items() if value != default]
        if ignored:
            msg = f"LambdaMart of {metric} ignores {', '.join(ignored)}.\nHint: metric='NDCG', or leave it out."
            raise ConventionError(msg)
    ndcg = presets.catboost(ranks, type=type, denominator=denominator, use_weights=False)
    conventions: dict[str, Trading] = {
        "MRR": presets.catboost.mrr(None, border=0, use_weights=False),
        "ERR": presets.catboost.err(None, use_weights=False),
        "MAP": presets.catboost.map(None, border=0),
    }
    return LambdaRank(
        convention=conventions.get(metric, ndcg).replace(ties="input"), truncation=ranks, samples=None, sigma=sigma,
        normalization="xgboost" if flag("norm", norm) else "none", hessian="plain", sigmoid="exact", beyond_k="keep",
        delta="catboost",
    )  # fmt: skip


def _ranks(top: int) -> int | None:
    if not is_whole(top) or not (top == -1 or top > 0):
        msg = f"top={top!r}; allowed are whole numbers from 1 on, and -1 for all ranks."
        raise ConventionError(msg)
    return None if top == -1 else int(top)
