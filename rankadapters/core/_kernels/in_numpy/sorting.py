"""Numpy form of `_kernels.sorting`."""

from __future__ import annotations

from typing import Any

from rankadapters.core._kernels.in_numpy.segments import descending


def order_within(keys: Any, indptr: Any, order: Any) -> None:
    """Order the rows of each query by descending key, then row; `order` holds positions in the whole array."""
    order[indptr[0] : indptr[-1]] = descending(keys[indptr[0] : indptr[-1]], indptr - indptr[0]) + indptr[0]
