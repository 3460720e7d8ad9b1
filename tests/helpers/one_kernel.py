"""A call of a kernel that counts compilations."""

from __future__ import annotations

import numpy as np


def result_and_compilations(kernel, values=(41.0,)):
    """Call a kernel; return its result and how many signatures it has compiled."""
    return kernel(np.array(values)), sum(kernel.compiled.stats.cache_misses.values())
