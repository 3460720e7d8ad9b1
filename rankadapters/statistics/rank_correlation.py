"""How far two orders agree."""

from __future__ import annotations

from collections.abc import Sequence

from rankadapters.statistics.scipy_stats import scipy_stats


def tau_b(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's rank correlation with ties; None where one side ranks nothing.

    References
    ----------
    Kendall (1945), The treatment of ties in ranking problems.
    """
    if len(set(first)) < 2 or len(set(second)) < 2:  # noqa: PLR2004 - nothing is ranked
        return None
    return float(scipy_stats().kendalltau(first, second, variant="b").statistic)
