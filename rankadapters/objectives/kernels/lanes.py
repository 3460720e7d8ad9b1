"""SIMD operations on four numbers at once, with a fixed order of additions.

LLVM vectorizes only long loops, after testing whether arrays overlap, and only where it may reorder sums. With these
operations a sum has the same bits on every machine. `lanes_in_llvm` defines them; this module does not import numba.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from rankadapters.core.ranking.jit import Lazy


def _operation(name: str) -> Any:
    return getattr(import_module("rankadapters.objectives.kernels.lanes_in_llvm"), name)


def _lazy(*names: str) -> Any:
    return (Lazy(partial(_operation, name)) for name in names)


same, load, store, at = _lazy("same", "load", "store", "at")
magnitude, where_greater, only_first = _lazy("magnitude", "where_greater", "only_first")
