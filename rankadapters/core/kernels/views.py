"""Views of arrays as kernels accept them."""

from __future__ import annotations

from typing import Any

import numpy as np


_NO_ORDER = np.empty(0, np.int32)


def writable(array: Any) -> Any:
    """Return a writable view of an array, since numba would compile a kernel again for read-only arrays.

    None, the order of rows that are in order, becomes an empty array.
    """
    if array is None:
        return _NO_ORDER
    return array if array.flags.writeable else np.asarray(_Unlocked(array))


class _Unlocked:
    """The memory of an array without its read-only flag; kernels write only to their outputs."""

    def __init__(self, array: Any) -> None:
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}
        self.array = array  # keeps the memory alive as long as the view
