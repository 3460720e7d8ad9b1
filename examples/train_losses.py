"""Train every objective in three toolkits, and compare it with the toolkits' built-in losses by NDCG, AP and ERR.

    python examples/train_losses.py [--data S1.txt S2.txt S3.txt S4.txt S5.txt] [--rounds 30] [--picture losses.svg]

With MQ2008's five parts, every loss is trained on three parts and tested on the last, cyclically; the table has means
over the folds. Without files, a generated data set is the only fold. Training rows are shuffled within their queries,
because ListMLE orders rows of equal labels by row number. Toolkits that are not installed are skipped.
"""

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import rankadapters as ra
from rankadapters import objectives
from rankadapters.datasets import RankingData

JUDGES = {"NDCG@10": "textbook@10", "AP": "letor4.map", "ERR": "yahoo.err"}
NDCG = ra.presets.textbook(10)
LAMBDARANK = objectives.lightgbm.lambdarank().replace(truncation=10, sigmoid="exact", convention=NDCG)
OBJECTIVES = {
    "LambdaRank NDCG@10": LAMBDARANK,
    "LambdaRank AP": LAMBDARANK.replace(convention="letor4.map"),
    "LambdaRank ERR": LAMBDARANK.replace(convention="yahoo.err"),
    "LambdaLoss NDCG2++": objectives.LambdaLoss(convention=NDCG, scheme="ndcg2++_10", truncation=10, sigma=1),
    "ApproxNDCG": objectives.ApproxNDCG(convention=NDCG, temperature=1, hessian=0.01),
    "RankNet": objectives.catboost.pair_logit(),
    "XE-NDCG": objectives.lightgbm.xendcg(),
    "ListNet": objectives.ListNet(),
    "ListMLE": objectives.ListMLE(),
    "QueryRMSE": objectives.QueryRMSE(),
    "YetiRank": objectives.catboost.yetirank(),
    "StochasticRank NDCG@10": objectives.catboost.stochastic_rank("NDCG", top=10),
}
Predict = Callable[[np.ndarray], np.ndarray]


class LightGBM:
    """LightGBM with 15 leaves and a learning rate of 0.1."""

    module = "lightgbm"
    built_in = ("lambdarank", "rank_xendcg")

    def train(self, data: RankingData, loss: object, rounds: int) -> Predict:
        import lightgbm as lgb

        objective = loss if isinstance(loss, str) else ra.lightgbm.objective(loss)
        params = {"objective": objective, "num_leaves": 15, "learning_rate": 0.1, "verbosity": -1, "seed": 0}
        params |= {"min_sum_hessian_in_leaf": 0}
        return lgb.train(params, lgb.Dataset(data.X, data.labels, group=data.group_sizes), rounds).predict


class XGBoost:
    """XGBoost with depth 4 and a learning rate of 0.1."""

    module = "xgboost"
    built_in = ("rank:ndcg", "rank:map", "rank:pairwise")

    def train(self, data: RankingData, loss: object, rounds: int) -> Predict:
        import xgboost as xgb

        params = {"max_depth": 4, "eta": 0.1, "min_child_weight": 0, "seed": 0}
        labels = (data.labels > 0).astype(float) if loss == "rank:map" else data.labels
        matrix = xgb.DMatrix(data.X, labels, group=data.group_sizes)
        if isinstance(loss, str):
            model = xgb.train({**params, "objective": loss}, matrix, rounds)
        else:
            model = xgb.train(params, matrix, rounds, obj=ra.xgboost.objective(loss))
        return lambda X: model.predict(xgb.DMatrix(X))


class CatBoost:
    """CatBoost with depth 4 and a learning rate of 0.1."""

    module = "catboost"
    built_in = ("YetiRank", "YetiRank:mode=NDCG", "StochasticRank:metric=NDCG;top=10", "QueryRMSE", "QuerySoftMax")

    def train(self, data: RankingData, loss: object, rounds: int) -> Predict:
        import catboost as cb

        params = {"iterations": rounds, "depth": 4, "learning_rate": 0.1, "random_seed": 0}
        largest = max(float(data.labels.max()), 1.0)  # some of CatBoost's losses accept only labels up to 1
        labels = data.labels / largest if isinstance(loss, str) else data.labels
        pool = cb.Pool(data.X, labels, group_id=data.qid)
        if not isinstance(loss, str):
            return ra.catboost.train(params, pool, loss).predict
        quiet = {"verbose": False, "allow_writing_files": False}
        return cb.CatBoost({**params, **quiet, "loss_function": loss}).fit(pool).predict


def folds(files: list[Path] | None) -> Iterator[tuple[RankingData, RankingData]]:
    if files is None:
        train, test = ra.datasets.mq2008_like(random_state=0)
        yield shuffled(train), test
        return
    for first in range(5):
        first_part, second, third, _, last = (files[(first + i) % 5] for i in range(5))
        train, test = ra.io.read_features([first_part, second, third], [last])
        yield shuffled(train), test


def shuffled(data: RankingData) -> RankingData:
    """Return the data with the rows of each query in random order."""
    query = np.unique(data.qid, return_inverse=True)[1]
    order = np.lexsort((np.random.default_rng(0).random(query.size), query))
    return RankingData(X=data.X[order], labels=data.labels[order], qid=data.qid[order])


def mean_values(toolkit: object, loss: object, data: list[tuple[RankingData, RankingData]], rounds: int) -> list[float]:
    """Train a loss on every fold; return the mean of every test metric over the folds."""
    fold_values = []
    for train, test in data:
        scores = np.asarray(toolkit.train(train, loss, rounds)(test.X), dtype=float)
        values = ra.evaluate(test.labels, scores, JUDGES.values(), qid=test.qid)
        fold_values.append([values[ra.parse(text)].value for text in JUDGES.values()])
    return np.mean(fold_values, axis=0).tolist()


def picture(rows: list[tuple[str, str, list[float]]], file: Path) -> None:
    """Draw NDCG@10 of every loss, in a color for each toolkit; rings mark the toolkits' built-in losses."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(name for _, name, _ in rows))
    figure = Figure(figsize=(7.5, 1 + 0.24 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    for number, toolkit in enumerate(dict.fromkeys(toolkit for toolkit, _, _ in rows)):
        for built_in in (False, True):
            points = [(v[0], names.index(n)) for t, n, v in rows if t == toolkit and (n not in OBJECTIVES) == built_in]
            if points:
                color, label = f"C{number}", None if built_in else toolkit
                fill = "none" if built_in else color
                axes.scatter(*zip(*points, strict=True), color=fill, edgecolors=color, label=label)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("NDCG@10; rings: the toolkit's built-in loss")
    figure.legend(loc="outside upper right", ncols=3, frameon=False)
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description="Every objective in three toolkits.")
    parser.add_argument("--data", nargs=5, type=Path, help="the five parts of MQ2008: S1.txt ... S5.txt")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--picture", type=Path, help="draw NDCG@10 of all losses to this file")
    arguments = parser.parse_args()
    data, rows = list(folds(arguments.data)), []
    print(f"{'toolkit':9} {'loss':46}", *(f"{name:>8}" for name in JUDGES))
    for toolkit in (LightGBM(), XGBoost(), CatBoost()):
        if find_spec(toolkit.module) is None:
            continue
        name = type(toolkit).__name__
        for title, loss in {
            **OBJECTIVES,
            **{f"{built_in} (built in)": built_in for built_in in toolkit.built_in},
        }.items():
            values = mean_values(toolkit, loss, data, arguments.rounds)
            rows.append((name, title, values))
            print(f"{name:9} {title:46}", *(f"{value:8.4f}" for value in values), flush=True)
    if arguments.picture:
        picture(rows, arguments.picture)


if __name__ == "__main__":
    main()
