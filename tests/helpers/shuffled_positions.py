"""Position biases, and positions that differ from the order of the rows."""

from __future__ import annotations

import numpy as np

from rankadapters import objectives

ADDITIVE_BIAS, RATIO_BIAS = objectives.lightgbm.position_bias(), objectives.xgboost.unbiased()

ADDITIVE_BIAS_BY_ROW, TRUE_COST = ADDITIVE_BIAS.replace(positions="rows"), objectives.unbiased_lambdamart()


def shuffled_positions(data):
    """Return positions that differ from the index in the query: with gaps, and falling in every other query."""
    indices = np.arange(data.y.size) - np.repeat(np.cumsum(data.sizes) - data.sizes, data.sizes)
    return np.where(data.qid % 2, indices, 30 - indices % 7) * 2
