"""What calling a kernel of one line gives."""

from __future__ import annotations

import numpy as np


def answer(kernel, values=(41.0,)):
    """Call a kernel; what it says, and how many kernels it compiled."""
    return kernel(np.array(values)), sum(kernel.compiled.stats.cache_misses.values())
