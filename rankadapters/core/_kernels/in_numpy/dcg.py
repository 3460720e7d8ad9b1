"""Numpy form of `_kernels.dcg`."""

from __future__ import annotations

from typing import Any

from rankadapters.core._kernels.in_numpy.policies import reach, settle
from rankadapters.core._kernels.in_numpy.segments import sums


def discounted_sums(
    ranked: Any, outptr: Any, k: int, discounts: Any, ideal: Any, status: Any, fixed: Any, values: Any
) -> None:
    """Value of each query: sum of gain x discount over the first k ranks, by the ideal DCG, or as its status says."""
    places, query, rank = reach(outptr, k)
    settle(sums(ranked[places] * discounts[rank], query, values.size) / ideal, status, fixed, values)
