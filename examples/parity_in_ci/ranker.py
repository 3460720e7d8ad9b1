"""A small project: train a ranker, and report the NDCG that LightGBM logs."""

import lightgbm as lgb

import rankadapters as ra

PARAMS = {
    "objective": "lambdarank", "metric": "ndcg", "eval_at": [5], "num_leaves": 7, "num_threads": 1,
    "deterministic": True, "force_row_wise": True, "verbosity": -1,
}  # fmt: skip


def data():
    """Return training and test data: features, labels and query ids."""
    return ra.datasets.mq2008_like(random_state=7, n_train_queries=60, n_test_queries=40)


def train_and_report():
    """Return the scores of the test set, and the ndcg@5 that LightGBM logs for it."""
    train, test = data()
    first = lgb.Dataset(train.X, train.labels, group=train.group_sizes)
    second = lgb.Dataset(test.X, test.labels, group=test.group_sizes, reference=first)
    log = {}
    model = lgb.train(PARAMS, first, 20, [second], ["test"], callbacks=[lgb.record_evaluation(log)])
    return model.predict(test.X), log["test"]["ndcg@5"][-1]
