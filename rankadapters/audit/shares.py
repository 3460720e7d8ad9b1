"""What each query adds to a mean, so that a difference of two means is a sum over queries."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.convention import Convention
from rankadapters.core.evaluator import Panel

Floats = NDArray[np.float64]


def shares(panel: Panel, values: dict[Convention, Floats]) -> dict[Convention, Floats]:
    """Value x weight / sum of the weights of each query, 0 where it is skipped; they add up to the score.

    >>> import rankadapters as ra
    >>> panel = Panel(ra.Queries([1, 0, 0], group_sizes=[2, 1]), [ra.presets.yahoo(1)])
    >>> shares(panel, panel.per_query([1.0, 0.0, 0.0]))[ra.presets.yahoo(1)].tolist()
    [0.5, 0.5]
    """
    found = {}
    for convention, settled in panel.settled().items():
        terms = np.where(np.isnan(values[convention]), 0.0, values[convention] * settled.weights)
        found[convention] = terms / math.fsum(settled.divisors)
    return found
