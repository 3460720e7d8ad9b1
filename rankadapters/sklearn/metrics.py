"""Conventions as functions of sklearn.metrics, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.presets.texts import as_convention


def native_metric(convention: Convention | str) -> dict[str, Any]:
    """Translate a convention into a function of sklearn.metrics and its parameters: `presets.sklearn.write`.

    `pool` says that a function is called once for all rows (`rows`) or once for each query (`queries`); it is not a
    parameter of scikit-learn's.

    Examples
    --------
    >>> native_metric("sklearn@10")
    {'metric': 'ndcg_score', 'k': 10}
    """
    found: dict[str, Any] = presets.sklearn.write(as_convention(convention))
    return found


def read_metric(metric: str | Mapping[str, Any], **params: Any) -> Convention:
    """Read what a function of sklearn.metrics computes: `presets.sklearn.read`, inverse of `native_metric`.

    Examples
    --------
    >>> read_metric("ndcg_score", k=10) == presets.sklearn(10)
    True
    """
    return presets.sklearn.read(metric, **params)
