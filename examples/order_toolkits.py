"""Does the convention change which toolkit wins? Compare one small model per installed toolkit over several folds.

    python examples/order_toolkits.py S1.txt S2.txt S3.txt S4.txt S5.txt

Each file is a fold in SVMlight format. For each fold, models are trained on the other files and score the fold's
documents. The queries of all folds are then compared as one set. Without files, a generated data set gets three folds.
"""

import sys

import numpy as np

import rankadapters as ra
from rankadapters.parity.installed import load, usable
from rankadapters.parity.toolkit import Task

K = 10
NAMES = ("letor4", "yahoo", "ranklib", "sklearn", "lightgbm", "xgboost", "catboost", "textbook")


def folds():
    if sys.argv[1:]:
        return ra.io.read_features(*([file] for file in sys.argv[1:]))
    data, _ = ra.datasets.mq2008_like(random_state=0, n_train_queries=90, n_test_queries=1)
    number = data.qid % 3
    return [
        ra.datasets.RankingData(X=data.X[number == i], labels=data.labels[number == i], qid=data.qid[number == i])
        for i in range(3)
    ]


def joined(parts):
    """Return one data set of all parts, with query ids that are unique across parts."""
    return ra.datasets.RankingData(
        X=np.vstack([part.X for part in parts]),
        labels=np.concatenate([part.labels for part in parts]),
        qid=np.concatenate([[f"{number}:{qid}" for qid in part.qid] for number, part in enumerate(parts)]),
    )


parts = folds()
scores_by_toolkit = {name: [] for name, toolkit in usable(None).items() if toolkit.version}
test_parts = []
for number, test in enumerate(parts):
    training = joined([part for i, part in enumerate(parts) if i != number])
    task = Task(ra.datasets.Grouped.of(training), ra.datasets.Grouped.of(joined([test])), seed=0)
    test_parts.append(task.test)
    for name, scores in scores_by_toolkit.items():
        toolkit = load(name)
        _, words = toolkit.nearest(getattr(ra.presets, name)(K))
        scores.append(toolkit.train(task, words)[0])

labels = np.concatenate([test.labels for test in test_parts])
sizes = np.concatenate([test.sizes for test in test_parts])
report = ra.audit.order(
    ra.Queries(labels, group_sizes=sizes),
    {name: np.concatenate(scores) for name, scores in scores_by_toolkit.items()},
    [getattr(ra.presets, name)(K) for name in NAMES],
)
print(report)
