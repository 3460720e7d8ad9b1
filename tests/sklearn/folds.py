"""Rows, weights, folds, and values of folds computed without a scorer."""

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.ensemble import ExtraTreesRegressor  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import GroupKFold  # noqa: E402

TEXTBOOK, WEIGHTED = ra.presets.textbook(5), ra.presets.sklearn(5)
DATA = ranking(1, 60)
SHUFFLED = np.random.default_rng(0).permutation(DATA.y.size)
NAMES = list("abcde")
FRAME = pd.DataFrame(DATA.X, columns=NAMES)
WEIGHTS = np.repeat(np.random.default_rng(2).random(DATA.sizes.size) + 0.1, DATA.sizes)


def folds():
    return list(GroupKFold(3).split(DATA.X, DATA.y, DATA.qid))


def values_by_fold(convention, model=Ridge(), cv=None, **weights):  # noqa: B008 - cloned before each use
    """Fit a model on each fold, and return the values of the test rows; `weights` may have query weights by row."""
    values = []
    for train, test in cv or folds():
        fitted = clone(model).fit(DATA.X[train], DATA.y[train])
        extra = {name: column[test] for name, column in weights.items()}
        if extra:
            extra = {"query_weight": pd.Series(extra["rows"]).groupby(DATA.qid[test], sort=False).first().to_numpy()}
        values.append(
            ra.evaluate(DATA.y[test], fitted.predict(DATA.X[test]), convention, qid=DATA.qid[test], **extra).value
        )
    return values


def forest(**params):
    return ExtraTreesRegressor(max_depth=3, random_state=0, **params)
