"""Translate conventions to functions of sklearn.metrics, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.presets.texts import as_convention


def native_metric(convention: Convention | str) -> dict[str, Any]:
    """Return the function of sklearn.metrics, with its parameters, that computes a convention.

    The entry `pool` is not a parameter of the function: it says to call the function once for all rows (`rows`) or once
    for each query (`queries`). The same as `presets.sklearn.write`.

    Examples
    --------
    >>> native_metric("sklearn@10")
    {'metric': 'ndcg_score', 'k': 10}
    """
    metric: dict[str, Any] = presets.sklearn.write(as_convention(convention))
    return metric


def read_metric(metric: str | Mapping[str, Any], **params: Any) -> Convention:
    """Return the convention that a function of sklearn.metrics computes: the inverse of `native_metric`.

    Examples
    --------
    >>> read_metric("ndcg_score", k=10) == presets.sklearn(10)
    True
    """
    return presets.sklearn.read(metric, **params)
