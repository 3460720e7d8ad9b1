"""Views of arrays as kernels take them."""

from __future__ import annotations

from typing import Any

import numpy as np


def writable(array: Any) -> Any:
    """View an array as one that can be written: numba compiles a kernel a second time for one that cannot."""
    return array if array.flags.writeable else np.asarray(_Unlocked(array))


class _Unlocked:
    """The memory of an array, without its flag; kernels write to nothing but what they are to write."""

    def __init__(self, array: Any) -> None:
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}
        self.array = array  # whose memory lives as long as the view
