"""Small rankers of the toolkits, rankings that QueryRanker trains them on, and scikit-learn's checks of estimators."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking

sklearn = pytest.importorskip("sklearn")


DATA, VALID = ranking(3, 60), ranking(4, 30)
CONV = ra.presets.textbook(5)
VALID_SET = (VALID.X, VALID.y, VALID.qid)
ROUNDS = 12


def lightgbm(**params):
    lgb = pytest.importorskip("lightgbm")
    return lgb.LGBMRanker(
        **{"n_estimators": ROUNDS, "verbosity": -1, "n_jobs": 1, "min_child_samples": 5, "metric": "None", **params}
    )


def xgboost(**params):
    xgb = pytest.importorskip("xgboost")
    return xgb.XGBRanker(**{"n_estimators": ROUNDS, "n_jobs": 1, **params})


def catboost(**params):
    cb = pytest.importorskip("catboost")
    fixed = {"iterations": ROUNDS, "thread_count": 1, "verbose": 0, "allow_writing_files": False, "random_seed": 0}
    return cb.CatBoostRanker(**fixed | params)


RANKERS = [lightgbm, xgboost, catboost]
SHUFFLED = np.random.default_rng(0).permutation(DATA.y.size)


def failed_checks(estimator, *, expected_error):
    """Return the error of each failed check by name, except checks that fail with the expected message."""
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(estimator, on_fail=None, on_skip=None)
    passed = [result["check_name"] for result in results if result["status"] == "passed"]
    assert len(passed) > 9, passed
    return {
        result["check_name"]: repr(result["exception"])
        for result in results
        if result["status"] == "failed"
        and not any(expected_error in message for message in error_messages(result["exception"]))
    }


def error_messages(error):
    """Yield the texts of an error and of the errors that led to it."""
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__
