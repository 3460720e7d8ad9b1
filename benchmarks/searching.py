"""Time a cross-validation with QueryRanker and the scorer against a manual loop with the bare toolkit."""

from __future__ import annotations

import numpy as np

import rankadapters as ra
from benchmarks.data import Data
from benchmarks.timing import medians, report

CONV = ra.presets.textbook(10)
FEATURES, FOLDS, ALLOWED = 20, 3, 1.05  # ALLOWED: largest ratio to the bare loop
N_QUERIES = 400  # a small number, because a round trains every model six times


def bare(make, part, X, y, qid):
    """Fit and predict as the toolkit's manual shows, on rows that are already sorted by query, without scoring."""
    train, test = part
    model, sizes = make(), np.diff(np.flatnonzero(np.diff(qid[train], prepend=-1, append=-1)))
    arguments = {
        "LGBMRanker": {"group": sizes},
        "XGBRanker": {"qid": qid[train]},
        "CatBoostRanker": {"group_id": qid[train]},
    }
    return model.fit(X[train], y[train], **arguments.get(type(model).__name__, {})).predict(X[test])


def models():
    from catboost import CatBoostRanker
    from lightgbm import LGBMRanker
    from sklearn.ensemble import HistGradientBoostingRegressor
    from xgboost import XGBRanker

    fixed = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    return {
        "LGBMRanker": lambda: LGBMRanker(n_estimators=60, n_jobs=1, verbosity=-1),
        "XGBRanker": lambda: XGBRanker(n_estimators=60, n_jobs=1),
        "CatBoostRanker": lambda: CatBoostRanker(n_estimators=30, **fixed),
        "HistGradientBoostingRegressor": lambda: HistGradientBoostingRegressor(max_iter=60, early_stopping=False),
    }


def run(data: Data, rounds: int) -> None:
    import sklearn
    from sklearn.model_selection import cross_validate

    from rankadapters.sklearn import QueryKFold, QueryRanker, query_scorer

    n = int(data.sizes[:N_QUERIES].sum())
    y, qid = data.labels[:n], data.qid[:n]
    X = np.random.default_rng(3).standard_normal((n, FEATURES)).astype(np.float32)
    X[:, 0] += y
    ra.evaluate(y, y, CONV, qid=qid)  # compiles once
    cv = {"cv": QueryKFold(FOLDS), "scoring": query_scorer(CONV), "params": {"qid": qid}, "error_score": "raise"}
    for name, make in models().items():
        calls = {
            "bare toolkit, by hand": lambda _, make=make: [
                bare(make, part, X, y, qid) for part in QueryKFold(FOLDS).split(X, y, qid)
            ],
            "QueryRanker, splitter and scorer": lambda _, make=make: cross_validate(QueryRanker(make()), X, y, **cv),
        }
        with sklearn.config_context(enable_metadata_routing=True):
            seconds = medians(calls, max(4, rounds // 3))
        [by_hand, by_ranker] = seconds
        seconds[f"bare toolkit and {ALLOWED - 1:.0%}"] = ALLOWED * seconds[by_hand]
        report(f"{FOLDS} folds, {name}, {n:,} rows", seconds, by_ranker, {f"bare toolkit and {ALLOWED - 1:.0%}": 1})
