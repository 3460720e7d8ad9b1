"""Does the convention change which methods are undominated? Compare toolkits and baselines over several data sets.

    python examples/compare_learners.py [S1.txt S2.txt S3.txt S4.txt S5.txt] [--out page.html]

Each file is a fold in SVMlight format, and each fold is a data set: methods are trained on the other files and score
the fold's documents. Two generated data sets are added. Every installed toolkit is compared.
"""

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import rankadapters as ra
from rankadapters.datasets import RankingData

CONVENTIONS = ("letor4@10", "yahoo@10", "lightgbm.map@10")
SMALL = {"n_estimators": 40, "random_state": 0}


def lightgbm(train: RankingData) -> Callable:
    from lightgbm import LGBMRanker

    return LGBMRanker(**SMALL, verbose=-1).fit(train.X, train.labels, group=train.group_sizes).predict


def xgboost(train: RankingData) -> Callable:
    from xgboost import XGBRanker

    qid = np.repeat(np.arange(train.group_sizes.size), train.group_sizes)
    return XGBRanker(**SMALL).fit(train.X, train.labels, qid=qid).predict


def catboost(train: RankingData) -> Callable:
    from catboost import CatBoostRanker

    quiet = {"verbose": False, "allow_writing_files": False}
    model = CatBoostRanker(loss_function="YetiRank", iterations=40, random_seed=0, **quiet)
    return model.fit(train.X, train.labels, group_id=train.qid).predict


def sklearn(train: RankingData) -> Callable:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=40, random_state=0).fit(train.X, train.labels).predict


def best_feature(train: RankingData) -> Callable:
    """Rank by the single feature, ascending or descending, with the highest NDCG@10 on the training data."""
    evaluator = ra.Evaluator(train.labels, "textbook@10", qid=train.qid)
    signed = [(sign, feature) for feature in range(train.X.shape[1]) for sign in (1, -1)]
    sign, feature = max(signed, key=lambda pair: evaluator.evaluate(pair[0] * train.X[:, pair[1]]).value)
    return lambda X: sign * X[:, feature]


def chance(train: RankingData) -> Callable:
    del train
    return lambda X: np.random.default_rng(0).random(len(X))


METHODS = {"LightGBM": lightgbm, "XGBoost": xgboost, "CatBoost": catboost, "regression": sklearn}
BASELINES = {"best feature": best_feature, "chance": chance}


def joined(parts: list[RankingData]) -> RankingData:
    """Return one data set of all parts, with query ids that are unique across parts."""
    return RankingData(
        X=np.vstack([part.X for part in parts]),
        labels=np.concatenate([part.labels for part in parts]),
        qid=np.concatenate([[f"{number}:{qid}" for qid in part.qid] for number, part in enumerate(parts)]),
    )


def data_sets(files: list[str]) -> Iterator[tuple[str, RankingData, RankingData]]:
    """Yield the name, training data and test data of each data set."""
    folds = ra.io.read_features(*([file] for file in files)) if files else []
    for number, fold in enumerate(folds):
        yield f"MQ2008 fold {number + 1}", joined([part for part in folds if part is not fold]), joined([fold])
    for seed in (1, 2):
        train, test = ra.datasets.mq2008_like(random_state=seed)
        yield f"generated {seed}", joined([train]), joined([test])


def main() -> None:
    parser = argparse.ArgumentParser(description="Does the convention change the front?")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--out", help="also write a web page")
    arguments = parser.parse_args()
    installed = {name: method for name, method in METHODS.items() if find_spec(method.__name__)}
    rows = []
    for dataset, train, test in data_sets(arguments.files):
        queries = ra.Queries(test.labels, qid=test.qid)
        for name, method in {**installed, **BASELINES}.items():
            scores = np.asarray(method(train)(test.X), dtype=float)
            by_convention = ra.evaluate(queries, scores, CONVENTIONS)
            rows += [(name, dataset, score) for score in by_convention.values()]

    results = ra.compare.Results(rows, on_mixed="separate")
    numbers = ra.compare.winning_numbers(results)
    print(numbers)
    fronts = {measure: ra.compare.front(numbers, group=measure).first for measure in results.measures}
    for measure, methods in fronts.items():
        print(f"front under {measure}: {', '.join(methods)}")
    differ = len(set(map(frozenset, fronts.values()))) > 1
    print("The convention changes the front." if differ else "The front is the same under all.")
    if find_spec("scikit_posthocs"):
        from scikit_posthocs import posthoc_nemenyi_friedman

        print(posthoc_nemenyi_friedman(results.to_frame(form="dense")))
    if arguments.out:
        Path(arguments.out).write_text(ra.compare.page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
