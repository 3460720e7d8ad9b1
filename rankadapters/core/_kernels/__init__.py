"""Compiled kernels: arrays and integers in, arrays out; serial, without the GIL; they know no convention."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from numba import njit

from rankadapters.core._kernels.compiling import KERNELS

COMPUTE, FIXED, SKIP = 0, 1, 2  # how a query gets its value

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile into each caller: a call per query with a dozen arrays costs as much as ranking a short query."""
    return njit(inline="always", **_OPTIONS)(function)


def kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile at the first call, and keep the machine code on disk where some directory can be written."""
    try:
        made = njit(cache=True, **_OPTIONS, **options)(function)
    except RuntimeError:  # "cannot cache function": neither the package nor the user's cache is writable
        made = njit(**_OPTIONS, **options)(function)
    KERNELS.append(made)
    return made


@cache
def find_kernel(name: str) -> Callable[..., Any]:
    """Find a kernel by its module and name, such as 'dcg.discounted_sums'; the others are not even imported."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"rankadapters.core._kernels.{module}"), function)


def merged(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `kernel`, its machine code in the caller's: for what is called once a row, with many arrays."""
    return kernel(function, forceinline=True)


def contracting(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `kernel`; a product and a sum may be one instruction that rounds once, as in the C library's own code."""
    return kernel(function, fastmath={"contract"})
