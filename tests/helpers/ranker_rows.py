"""Rows, weights and folds that the tests of QueryRanker share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking

sklearn = pytest.importorskip("sklearn")


from rankadapters.sklearn import QueryKFold  # noqa: E402

# Without average="query" LightGBM's mean would warn, since the weights below are less than 1 on average.
CONV, WEIGHTED = ra.presets.textbook(5), ra.presets.lightgbm(5).replace(average="query")
DATA = ranking(1, 60)
SHUFFLED = np.random.default_rng(0).permutation(DATA.y.size)
NAMES = list("abcde")
FRAME = pd.DataFrame(DATA.X, columns=NAMES)
WEIGHTS = np.repeat(np.random.default_rng(2).random(DATA.sizes.size) + 0.1, DATA.sizes)


def folds():
    """Return three folds of whole queries."""
    return list(QueryKFold(3).split(DATA.X, DATA.y, DATA.qid))
