"""pandas columns and tables whose indexes differ are refused wherever two meet; those that agree are as arrays."""

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


def turned(column):
    """Return the same values in the same places, under the index in another order."""
    return column.set_axis(column.index[::-1])


def same(column):
    return column


def ranker(**declared):
    sklearn = pytest.importorskip("sklearn.linear_model")
    return ra.sklearn.QueryRanker(sklearn.Ridge(), convention=WEIGHTED, **declared)


def scored(**columns):
    model = ranker().fit(X, Y)
    given = {"X": X, "y": Y, "qid": QID, **columns}
    return ra.sklearn.query_scorer(WEIGHTED)(model, given.pop("X"), given.pop("y"), **given)


def validated(change):
    lgb = pytest.importorskip("lightgbm")
    inner = lgb.LGBMRanker(n_estimators=2, verbosity=-1)
    return ra.sklearn.QueryRanker(inner).fit(X, Y, qid=QID, eval_set=[(X, change(Y), change(QID))])


def split(**columns):
    pytest.importorskip("sklearn")
    given = {"X": X, "y": Y, "groups": QID, **columns}
    return list(ra.sklearn.QueryKFold(2).split(**given))


def watched(*data):
    pytest.importorskip("xgboost")
    return ra.xgboost.EvalCallback(WEIGHTED, [(data, "valid")])


def reported(labels, scores, weight=None):
    pytest.importorskip("lightgbm")
    return ra.lightgbm.eval_metric(WEIGHTED)(labels, scores, weight, np.array([10] * 4))


def told(labels, qid):
    pytest.importorskip("catboost")
    return ra.catboost.eval_metric(CONV, [(labels, qid)])


def checked(labels):
    lgb = pytest.importorskip("lightgbm")
    data = lgb.Dataset(X, Y.to_numpy(), group=[10] * 4)
    params = {"objective": "lambdarank", "verbosity": -1, "eval_at": [5], "metric": "ndcg"}
    model = lgb.train(params, data, 1)
    return ra.lightgbm.check_model(model, (X, labels, QID.to_numpy()), ra.presets.lightgbm(5))


MEETINGS = {
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
    "QueryRanker.fit: eval_set": validated,
    "QueryRanker.score: y": lambda change: ranker().fit(X, Y).score(X, change(Y), qid=QID.to_numpy()),
    "QueryRanker.score: sample_weight": lambda change: (
        ranker().fit(X, Y).score(X, Y, qid=QID, sample_weight=change(WEIGHT))
    ),
    "query_scorer: y": lambda change: scored(y=change(Y), qid=QID.to_numpy()),
    "query_scorer: X": lambda change: scored(X=change(X), y=Y.to_numpy()),
    "query_scorer: sample_weight": lambda change: scored(sample_weight=change(WEIGHT)),
    "QueryKFold: groups": lambda change: split(groups=change(QID)),
    "QueryKFold: X": lambda change: split(X=change(X), y=None),
    "EvalCallback: y": lambda change: watched(X, change(Y), QID.to_numpy()),
    "EvalCallback: qid": lambda change: watched(X, Y.to_numpy(), change(QID)),
    "eval_metric: y_pred": lambda change: reported(Y, change(SCORES)),
    "eval_metric: weight": lambda change: reported(Y, SCORES, change(WEIGHT)),
    "catboost.eval_metric": lambda change: told(Y, change(QID)),
    "check_model": lambda change: checked(change(Y)),
}


@for_each("meeting", MEETINGS)
def test_columns_whose_rows_may_not_belong_together_are_refused(meeting):
    assert MEETINGS[meeting](same)
    with pytest.raises(ra.InputError, match=r"has a different pandas index from .*\nHint: align them first"):
        MEETINGS[meeting](turned)


def test_columns_that_agree_give_what_arrays_give():
    value = scored(sample_weight=WEIGHT)
    assert value == scored(y=Y.to_numpy(), qid=QID.to_numpy(), sample_weight=WEIGHT.to_numpy())
    assert reported(Y, SCORES, WEIGHT) == reported(Y.to_numpy(), SCORES.to_numpy(), WEIGHT.to_numpy())


def test_an_index_that_holds_the_ids_says_which_query_and_not_which_row():
    by_query = X.set_index(pd.Index(QID, name="session"))
    model = ranker(qid="session").fit(by_query, Y)
    value = ranker().fit(X, Y).score(X, Y, qid=QID)
    assert model.score(by_query, Y) == value
    scorer = ra.sklearn.query_scorer(WEIGHTED, qid="session")
    assert scorer(model.estimator_, X, Y.set_axis(by_query.index)) == value
    with pytest.raises(ra.InputError, match="y has a different pandas index from X"):
        model.score(by_query, turned(Y.set_axis(by_query.index)))


class Frames:
    """A column of another library, whose `index` is no index of rows."""

    __module__ = "frames.core"

    def __init__(self, values):
        self.values = values

    def index(self, value):
        return self.values.index(value)

    def to_numpy(self):
        return np.asarray(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


def test_an_index_of_what_is_not_pandas_is_not_looked_at():
    columns = [[1, 0, 1], [0.5, 0.25, 0.75], [7, 7, 7]]
    labels, scores, qid = map(Frames, columns)
    assert ra.evaluate(labels, scores, CONV, qid=qid) == ra.evaluate(*columns[:2], CONV, qid=columns[2])
