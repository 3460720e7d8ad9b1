"""Keys of plans (lowered conventions): conventions whose plans have equal keys give equal values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.binding.plans import Plan
from rankadapters.statistics.grid import Values
from rankadapters.statistics.policy_choices import Lowered


def plan_key(plan: Plan) -> object:
    """Return a key of all inputs of a plan but the scores: plans with equal keys give equal values for any scores."""
    parts: list[NDArray[Any]] = [plan.rows.indptr, plan.empty, *(() if plan.mass is None else (plan.mass,))]
    if plan.rows.order is not None:
        parts.append(plan.rows.order)
    parts += [*plan.columns.values(), *(plan.pairs or ()), *plan.by_rank.values(), *plan.by_query.values()]
    # + 0.0 turns -0.0 into 0.0
    arrays = ((part + 0.0 if part.dtype == np.float64 else part).tobytes() for part in parts)
    return plan.formula, *plan.options.values(), *arrays


def plan_keys(lowered: list[Lowered]) -> list[object]:
    """Return the keys of a convention's plans, one per data set."""
    return [plan_key(plan) for _, plan in lowered]


def columns_key(plan: Plan) -> object:
    """Return a key of the per-row columns that a plan reads, which a binding shares; of whole queries, the formula."""
    return plan.formula if plan.k is None else tuple(map(id, plan.columns.values()))


def classes(keys: Mapping[Any, object]) -> list[Values]:
    """Group the values that have equal keys.

    >>> classes({"exp2": "a", "linear": "b", "exp2-floor": "a"})
    [('exp2', 'exp2-floor'), ('linear',)]
    """
    values_by_key: dict[object, list[Any]] = {}
    for value, key in keys.items():
        values_by_key.setdefault(key, []).append(value)
    return [tuple(values) for values in values_by_key.values()]
