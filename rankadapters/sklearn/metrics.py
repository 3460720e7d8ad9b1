"""Conventions as functions of sklearn.metrics, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.presets.texts import as_convention


def native_metric(convention: Convention | str) -> dict[str, Any]:
    """Translate a convention into a function of sklearn.metrics and its parameters: `presets.sklearn.write`.

    Parameters
    ----------
    convention : Convention or str
        What scikit-learn shall compute.

    Returns
    -------
    dict
        `metric`, the function's name; `k` of `ndcg_score` and `dcg_score`; `pool` of a function that is called once for
        all rows (`rows`) or once for each query (`queries`), which is not a parameter of scikit-learn's.

    Raises
    ------
    UnsupportedConventionError
        scikit-learn cannot express a field; the message names all such fields and the nearest convention that it can.

    References
    ----------
    scikit-learn 1.9.1, sklearn/metrics/_ranking.py.

    Examples
    --------
    >>> native_metric("sklearn@10")
    {'metric': 'ndcg_score', 'k': 10}
    """
    found: dict[str, Any] = presets.sklearn.write(as_convention(convention))
    return found


def read_metric(metric: str | Mapping[str, Any], **params: Any) -> Convention:
    """Read what a function of sklearn.metrics computes: `presets.sklearn.read`, inverse of `native_metric`.

    Parameters
    ----------
    metric : str or mapping
        The function's name, or what `native_metric` returned.
    **params
        As of `presets.sklearn.read`: `k`, `pool`, `weights`.

    Raises
    ------
    ConventionError
        A metric that is not known here, or a parameter that it does not have.

    Examples
    --------
    >>> read_metric("ndcg_score", k=10) == presets.sklearn(10)
    True
    """
    return presets.sklearn.read(metric, **params)
