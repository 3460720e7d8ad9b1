"""Conventions as CatBoost's metric strings, and back."""

from __future__ import annotations

from typing import Any

from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.presets.tool import require_expressible
from rankadapters.core.texts import as_convention


def native_metric(convention: Convention | str, *, group_weights: bool = True) -> str:
    """Translate a convention into CatBoost's metric string; `presets.catboost.write`.

    The string serves `catboost.utils.eval_metric`, `model.eval_metrics`, and `eval_metric=` or `custom_metric=` of
    `CatBoostRanker`, with one exception: in a training CatBoost refuses `use_weights` (how `average="uniform"` is
    said) unless the Pool has object weights, which no NDCG uses. CatBoost rewrites the string where it makes it a
    key of its results.

    Parameters
    ----------
    convention : Convention
        What CatBoost shall compute.
    group_weights : bool
        Whether the data may have group weights. False leaves `use_weights` out, which a training needs; CatBoost then
        weights no query as long as there are indeed no group weights.

    Returns
    -------
    str
        An `NDCG` or `DCG` with every parameter that matters spelled out.

    Raises
    ------
    UnsupportedConventionError
        CatBoost cannot express a field; the message names all such fields and the nearest convention that it can.

    References
    ----------
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp, dcg.cpp.

    Examples
    --------
    >>> from rankadapters import presets
    >>> native_metric(presets.catboost(10, type="Exp"))
    'NDCG:top=10;type=Exp;denominator=LogPosition'
    >>> native_metric(presets.catboost(None, use_weights=False))
    'NDCG:top=-1;type=Base;denominator=LogPosition;use_weights=false'
    """
    wanted = as_convention(convention)
    nearest = presets.catboost.nearest(wanted)
    require_expressible("CatBoost", wanted, nearest)
    return presets.catboost.spell(nearest, group_weights=group_weights)


def read_metric(metric: str, **params: Any) -> Convention:
    """Read what CatBoost computes for one of its metric strings: `presets.catboost.read`, inverse of `native_metric`.

    Parameters
    ----------
    metric : str
        A metric with any of its parameters and `hints`, in CatBoost's spelling, as given to it or as a key of its
        results. What is left out has CatBoost's default.
    **params
        As of `presets.catboost.read`.

    Returns
    -------
    Convention

    Raises
    ------
    ConventionError
        As of `presets.catboost.read`.

    References
    ----------
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp.

    Examples
    --------
    >>> read_metric("NDCG:top=5;type=Base") == presets.catboost(5)
    True
    >>> read_metric("NDCG:top=0")
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.ConventionError: 'NDCG:top=0' has top='0', at which CatBoost gives every query 1 ...
    Hint: top=-1 is all rows.
    """
    return presets.catboost.read(metric, **params)
