"""pandas columns and tables whose indexes differ are refused; those with equal indexes are treated like arrays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra
from tests.helpers.tables import for_each

CONV = ra.presets.textbook(5)
WEIGHTED = CONV.replace(average="query")
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.random((40, 3)), columns=list("abc"), index=[f"r{i}" for i in range(40)])
Y = pd.Series(RNG.integers(0, 3, 40), index=X.index)
QID = pd.Series(np.repeat(np.arange(4), 10), index=X.index)
WEIGHT = pd.Series(np.repeat([1.0, 2.0, 3.0, 4.0], 10), index=X.index)
SCORES = pd.Series(RNG.random(40), index=X.index)
SIZES = pd.Series([10] * 4, index=list("wxyz"))


def with_reversed_index(column):
    """Return the column with its values in the same order and its index reversed."""
    return column.set_axis(column.index[::-1])


def unchanged(column):
    return column


def ranker(**options):
    sklearn = pytest.importorskip("sklearn.linear_model")
    return ra.sklearn.QueryRanker(sklearn.Ridge(), convention=WEIGHTED, **options)


def scorer_value(**columns):
    model = ranker().fit(X, Y)
    arguments = {"X": X, "y": Y, "qid": QID, **columns}
    return ra.sklearn.query_scorer(WEIGHTED)(model, arguments.pop("X"), arguments.pop("y"), **arguments)


def ranker_with_eval_set(change):
    lgb = pytest.importorskip("lightgbm")
    estimator = lgb.LGBMRanker(n_estimators=2, verbosity=-1)
    return ra.sklearn.QueryRanker(estimator).fit(X, Y, qid=QID, eval_set=[(X, change(Y), change(QID))])


def folds(**columns):
    pytest.importorskip("sklearn")
    arguments = {"X": X, "y": Y, "groups": QID, **columns}
    return list(ra.sklearn.QueryKFold(2).split(**arguments))


def xgboost_callback(*data):
    xgb = pytest.importorskip("xgboost")
    train = xgb.DMatrix(X, Y.to_numpy(), qid=QID.to_numpy())
    callback = ra.xgboost.EvalCallback(WEIGHTED, [(data, "valid")])
    return xgb.train({"objective": "rank:ndcg"}, train, 1, callbacks=[callback], verbose_eval=False)


def lightgbm_metric(labels, scores, weight=None):
    pytest.importorskip("lightgbm")
    return ra.lightgbm.eval_metric(WEIGHTED)(labels, scores, weight, np.array([10] * 4))


def catboost_metric(labels, qid):
    pytest.importorskip("catboost")
    return ra.catboost.eval_metric(CONV, [(labels, qid)])


def checked_model(labels):
    lgb = pytest.importorskip("lightgbm")
    data = lgb.Dataset(X, Y.to_numpy(), group=[10] * 4)
    params = {"objective": "lambdarank", "verbosity": -1, "eval_at": [5], "metric": "ndcg"}
    model = lgb.train(params, data, 1)
    return ra.lightgbm.check_model(model, (X, labels, QID.to_numpy()), ra.presets.lightgbm(5))


CALLS = {
    "evaluate: labels, scores": lambda change: ra.evaluate(Y, change(SCORES), CONV, qid=QID.to_numpy()),
    "evaluate: qid, scores": lambda change: ra.evaluate(Y.to_numpy(), SCORES, CONV, qid=change(QID)),
    "Queries: labels, row_weight": lambda change: ra.Queries(Y, qid=QID, row_weight=change(WEIGHT)),
    "Queries: group_sizes, query_weight": lambda change: ra.Queries(
        Y, group_sizes=SIZES, query_weight=change(SIZES / 10)
    ),
    "Queries: pairs": lambda change: ra.Queries(Y, qid=QID, pairs=(pd.Series([0, 1]), change(pd.Series([2, 3])))),
    "gradients": lambda change: ra.objectives.gradients(Y, change(SCORES), ra.objectives.ListNet(), qid=QID),
    "RankingData": lambda change: ra.datasets.RankingData(X=X, labels=change(Y), qid=QID),
    "QueryRanker.fit: y": lambda change: ranker().fit(X, change(Y), qid=QID.to_numpy()),
    "QueryRanker.fit: y without qid": lambda change: ranker().fit(X, change(Y)),
    "QueryRanker.fit: X": lambda change: ranker().fit(change(X), Y.to_numpy(), qid=QID),
    "QueryRanker.fit: sample_weight": lambda change: ranker().fit(X, Y, qid=QID, sample_weight=change(WEIGHT)),
    "QueryRanker.fit: eval_set": ranker_with_eval_set,
    "QueryRanker.score: y": lambda change: ranker().fit(X, Y).score(X, change(Y), qid=QID.to_numpy()),
    "QueryRanker.score: sample_weight": lambda change: (
        ranker().fit(X, Y).score(X, Y, qid=QID, sample_weight=change(WEIGHT))
    ),
    "query_scorer: y": lambda change: scorer_value(y=change(Y), qid=QID.to_numpy()),
    "query_scorer: X": lambda change: scorer_value(X=change(X), y=Y.to_numpy()),
    "query_scorer: sample_weight": lambda change: scorer_value(sample_weight=change(WEIGHT)),
    "QueryKFold: groups": lambda change: folds(groups=change(QID)),
    "QueryKFold: X": lambda change: folds(X=change(X), y=None),
    "EvalCallback: y": lambda change: xgboost_callback(X, change(Y), QID.to_numpy()),
    "EvalCallback: qid": lambda change: xgboost_callback(X, Y.to_numpy(), change(QID)),
    "eval_metric: y_pred": lambda change: lightgbm_metric(Y, change(SCORES)),
    "eval_metric: weight": lambda change: lightgbm_metric(Y, SCORES, change(WEIGHT)),
    "catboost.eval_metric": lambda change: catboost_metric(Y, change(QID)),
    "check_model": lambda change: checked_model(change(Y)),
}


@for_each("call", CALLS)
def test_columns_with_different_indexes_are_refused(call):
    assert CALLS[call](unchanged)
    with pytest.raises(ra.InputError, match=r"has a different pandas index from .*\nHint: align them first"):
        CALLS[call](with_reversed_index)


def test_columns_with_equal_indexes_give_the_same_value_as_arrays():
    value = scorer_value(sample_weight=WEIGHT)
    assert value == scorer_value(y=Y.to_numpy(), qid=QID.to_numpy(), sample_weight=WEIGHT.to_numpy())
    assert lightgbm_metric(Y, SCORES, WEIGHT) == lightgbm_metric(Y.to_numpy(), SCORES.to_numpy(), WEIGHT.to_numpy())


def test_an_index_of_query_ids_gives_the_queries_and_must_agree_with_that_of_y():
    indexed_by_query = X.set_index(pd.Index(QID, name="session"))
    model = ranker(qid="session").fit(indexed_by_query, Y)
    value = ranker().fit(X, Y).score(X, Y, qid=QID)
    assert model.score(indexed_by_query, Y) == value
    scorer = ra.sklearn.query_scorer(WEIGHTED, qid="session")
    assert scorer(model.estimator_, X, Y.set_axis(indexed_by_query.index)) == value
    with pytest.raises(ra.InputError, match="y has a different pandas index from X"):
        model.score(indexed_by_query, with_reversed_index(Y.set_axis(indexed_by_query.index)))


class ForeignColumn:
    """A column of another library; its `index` is a method, not an index of rows."""

    __module__ = "frames.core"

    def __init__(self, values):
        self.values = values

    def index(self, value):
        return self.values.index(value)

    def to_numpy(self):
        return np.asarray(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


def test_an_index_attribute_of_another_library_is_ignored():
    columns = [[1, 0, 1], [0.5, 0.25, 0.75], [7, 7, 7]]
    labels, scores, qid = map(ForeignColumn, columns)
    assert ra.evaluate(labels, scores, CONV, qid=qid) == ra.evaluate(*columns[:2], CONV, qid=columns[2])
