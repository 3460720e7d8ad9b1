"""Small rankers of the toolkits, and the rankings that QueryRanker trains them on."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking

sklearn = pytest.importorskip("sklearn")


DATA, VALID = ranking(3, 60), ranking(4, 30)
CONV = ra.presets.textbook(5)
RNG = np.random.default_rng(0)
WEIGHTS = RNG.integers(1, 5, DATA.sizes.size).astype(float)  # float32 represents them exactly
ROW_WEIGHTS = np.repeat(WEIGHTS, DATA.sizes)
VALID_SET = (VALID.X, VALID.y, VALID.qid)
ROUNDS = 12


def lightgbm(**params):
    """Return a small LGBMRanker."""
    lgb = pytest.importorskip("lightgbm")
    return lgb.LGBMRanker(
        **{"n_estimators": ROUNDS, "verbosity": -1, "n_jobs": 1, "min_child_samples": 5, "metric": "None", **params}
    )


def xgboost(**params):
    """Return a small XGBRanker."""
    xgb = pytest.importorskip("xgboost")
    return xgb.XGBRanker(**{"n_estimators": ROUNDS, "n_jobs": 1, **params})


def catboost(**params):
    """Return a small CatBoostRanker."""
    cb = pytest.importorskip("catboost")
    fixed = {"iterations": ROUNDS, "thread_count": 1, "verbose": 0, "allow_writing_files": False, "random_seed": 0}
    return cb.CatBoostRanker(**fixed | params)


RANKERS = [lightgbm, xgboost, catboost]
INTERLEAVED = np.lexsort((DATA.qid, np.concatenate([np.arange(size) for size in DATA.sizes])))
QUERIES_SHUFFLED = np.concatenate([np.flatnonzero(DATA.qid == query) for query in RNG.permutation(DATA.sizes.size)])
SHUFFLED = RNG.permutation(DATA.y.size)
