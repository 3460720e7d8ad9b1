"""The metric used in training changes the model: train under each of three conventions, evaluate under all three."""

import argparse
from pathlib import Path

import lightgbm as lgb
import numpy as np

import rankadapters as ra

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--data", nargs=5, type=Path, help="the five parts of MQ2008: S1.txt ... S5.txt")
parser.add_argument("--k", type=int, default=10)
parser.add_argument("--rounds", type=int, default=150)
args, _ = parser.parse_known_args()

conventions = {name: getattr(ra.presets, name)(args.k) for name in ("letor4", "yahoo", "textbook")}
shape = {"num_leaves": 15, "learning_rate": 0.05, "min_data_in_leaf": 20, "bagging_fraction": 0.8, "bagging_freq": 1}
shape |= {"feature_fraction": 0.8, "verbosity": -1, "seed": 0}


def folds():
    """Yield training and test data: three of the five parts and the last, cyclically; or one generated fold."""
    if args.data is None:
        yield ra.datasets.mq2008_like(random_state=0)
        return
    for first in range(5):
        first_part, second, third, _, last = (args.data[(first + i) % 5] for i in range(5))
        yield ra.io.read_features([first_part, second, third], [last])


values = {trained: {judged: [] for judged in conventions} for trained in conventions}
for train, test in folds():
    data = lgb.Dataset(train.X, train.labels, group=train.group_sizes, params=shape)
    for trained, convention in conventions.items():
        objective = ra.lightgbm.lambdarank(convention, truncation=args.k, beyond_k="cut")
        booster = lgb.train({**shape, "objective": objective}, data, args.rounds)
        scores = ra.evaluate(test.labels, booster.predict(test.X), conventions.values(), qid=test.qid)
        for judged, judge in conventions.items():
            values[trained][judged].append(scores[judge].value)

print("trained under   judged under", *(f"{name:>9}" for name in conventions))
for trained, judged in values.items():
    print(f"{trained:28}", *(f"{np.mean(folds_values):9.4f}" for folds_values in judged.values()))
