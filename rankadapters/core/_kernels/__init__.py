"""Compiled kernels: arrays and integers in, arrays out; serial, without the GIL; they know no convention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile into each caller: a call per query with a dozen arrays costs as much as ranking a short query."""
    return njit(inline="always", **_OPTIONS)(function)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, and keep the machine code on disk where some directory can be written."""
    try:
        return njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # "cannot cache function": neither the package nor the user's cache is writable
        return njit(**_OPTIONS)(function)
