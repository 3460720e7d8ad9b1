"""A five-fold grid search over four rankers with whole queries, and a check of every score with `ra.evaluate`.

`python grid_search.py` uses generated data, `python grid_search.py --data MQ2008/S*.txt` uses files in LETOR format.
Each toolkit runs on one thread, which makes CatBoost's training repeatable.
"""

import argparse
from pathlib import Path

import sklearn
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, ParameterGrid
from xgboost import XGBRanker

import rankadapters as ra
from rankadapters.sklearn import QueryKFold, QueryRanker, query_scorer

CONVENTION = ra.presets.letor4(10)
SEARCHES = {
    "LGBMRanker": (LGBMRanker(n_estimators=15, n_jobs=1, verbosity=-1), {"num_leaves": [7, 15]}),
    "XGBRanker": (XGBRanker(n_estimators=15, n_jobs=1), {"max_depth": [3, 5]}),
    "CatBoostRanker": (
        CatBoostRanker(n_estimators=15, thread_count=1, verbose=0, allow_writing_files=False),
        {"depth": [3, 5]},
    ),
    # Above 10,000 rows its own early stopping is on, and would hold out rows instead of queries.
    "HistGradientBoostingRegressor": (
        HistGradientBoostingRegressor(max_iter=15, early_stopping=False, random_state=0),
        {"max_leaf_nodes": [7, 15]},
    ),
}


def grid_search(data, estimator, grid):
    """Run GridSearchCV in the usual way."""
    prefixed = {f"estimator__{name}": values for name, values in grid.items()}
    search = GridSearchCV(QueryRanker(estimator), prefixed, scoring=query_scorer(CONVENTION), cv=QueryKFold(5))
    return search.fit(data.X, data.labels, qid=data.qid)


def by_hand(data, estimator, params):
    """Train on each fold's training queries, and evaluate the predictions for its test queries."""
    for train, test in QueryKFold(5).split(data.X, data.labels, data.qid):
        model = QueryRanker(clone(estimator).set_params(**params))
        model.fit(data.X[train], data.labels[train], qid=data.qid[train])
        scores = model.predict(data.X[test])
        yield ra.evaluate(data.labels[test], scores, CONVENTION, qid=data.qid[test]).value


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", type=Path, help="files such as MQ2008's S1.txt to S5.txt")
    sklearn.set_config(enable_metadata_routing=True)
    files = parser.parse_args(argv).data
    data = ra.io.read_features(files)[0] if files else ra.datasets.mq2008_like(random_state=0, n_train_queries=120)[0]
    print(f"{data}, {CONVENTION.name}")
    for name, (estimator, grid) in SEARCHES.items():
        results = grid_search(data, estimator, grid).cv_results_
        equal = 0
        for row, params in enumerate(ParameterGrid(grid)):
            folds = [float(results[f"split{fold}_test_score"][row]) for fold in range(5)]
            equal += sum(score == value for score, value in zip(folds, by_hand(data, estimator, params), strict=True))
            print(
                f"{name:30} {params!s:24} {results['mean_test_score'][row]:.4f} of",
                *(f"{value:.4f}" for value in folds),
            )
        print(f"{name:30} {equal} of {5 * len(results['params'])} equal ra.evaluate bit for bit")


if __name__ == "__main__":
    main()
