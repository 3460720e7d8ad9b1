"""Position biases, and positions of rows in random order."""

from __future__ import annotations

import numpy as np

from rankadapters import objectives

GIVEN, UNBIASED = objectives.lightgbm.position_bias(), objectives.xgboost.unbiased()

ROWS, TRUE_COST = GIVEN.replace(positions="rows"), objectives.unbiased_lambdamart()


def shuffled_positions(data):
    """Return positions that differ from the index in the query: with gaps, and falling in every other query."""
    indices = np.arange(data.y.size) - np.repeat(np.cumsum(data.sizes) - data.sizes, data.sizes)
    return np.where(data.qid % 2, indices, 30 - indices % 7) * 2
