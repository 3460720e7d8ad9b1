"""pandas columns and tables whose indexes differ are refused; those with equal indexes are treated like arrays."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra
from tests.project import public_calls
from tests.project.public_calls import CALLS, FEATURES, LABELS, QID, ranker

INDEX = ["r0", "r1", "r2", "r3"]
X, Y, GROUPS = pd.DataFrame(FEATURES, index=INDEX), pd.Series(LABELS, index=INDEX), pd.Series(QID, index=INDEX)
WEIGHT, SIZES = pd.Series([1.0, 1.0, 2.0, 2.0], index=INDEX), pd.Series([2, 2], index=["w", "x"])
WEIGHTED = "textbook@5+average=query"


def with_reversed_index(column):
    return column.set_axis(column.index[::-1])


def refuses(function, *arguments, **keywords):
    """Return whether a function refuses columns for their indexes."""
    try:
        function(*arguments, **keywords)
    except ra.InputError as error:
        return bool(re.search("has a different pandas index from .*\nHint: align them first", str(error)))
    return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in CALLS if name != "Trials.along"])
def test_every_function_of_columns_refuses_different_indexes(name):
    valid = CALLS[name]()
    columns = {
        word: value for word, value in valid.items() if isinstance(value, (list, np.ndarray)) and len(value) == 4
    }
    if len(columns) < 2:
        pytest.skip("takes no columns of rows")
    make = {word: pd.DataFrame if np.ndim(value) == 2 else pd.Series for word, value in columns.items()}
    indexed = {word: make[word](value, index=INDEX) for word, value in columns.items()}
    function, use = public_calls.callable_of(name), public_calls.USES.get(name, lambda result: result)

    def call(**changes):
        return use(function(**valid | indexed | changes))

    assert not refuses(call)
    assert all(refuses(call, **{word: with_reversed_index(column)}) for word, column in indexed.items())


def scorer_value(**columns):
    model, score = ra.sklearn.QueryRanker(ranker(), convention=WEIGHTED).fit(X, Y), ra.sklearn.query_scorer(WEIGHTED)
    return score(model, **{"X": X, "y": Y, "qid": GROUPS, **columns})


def lightgbm_metric(labels, scores, weight=None):
    return ra.lightgbm.eval_metric(WEIGHTED)(labels, scores, weight, np.array([2, 2]))


def fit_with_eval_set(labels):
    estimator = pytest.importorskip("lightgbm").LGBMRanker(n_estimators=1, verbosity=-1)
    return ra.sklearn.QueryRanker(estimator).fit(X, Y, qid=GROUPS, eval_set=[(X, labels, GROUPS)])


def train_xgboost(labels):
    callback = ra.xgboost.EvalCallback(WEIGHTED, [((X, labels, np.array(QID)), "valid")])
    xgb = pytest.importorskip("xgboost")
    return xgb.train({"objective": "rank:ndcg"}, public_calls.dmatrix(), 1, callbacks=[callback], verbose_eval=False)


OTHERS = {  # a function of one column, and the column
    "row_weight": (lambda weight: ra.Queries(Y, qid=GROUPS, row_weight=weight), WEIGHT),
    "query_weight": (lambda weight: ra.Queries(Y, group_sizes=SIZES, query_weight=weight), SIZES / 2),
    "pairs": (lambda losers: ra.Queries(Y, qid=GROUPS, pairs=(pd.Series([0, 2]), losers)), pd.Series([1, 3])),
    "QueryRanker: sample_weight": (
        lambda weight: ra.sklearn.QueryRanker(ranker()).fit(X, Y, qid=GROUPS, sample_weight=weight), WEIGHT,
    ),
    "QueryRanker: eval_set": (fit_with_eval_set, Y),
    "query_scorer: y": (lambda y: scorer_value(y=y, qid=np.array(QID)), Y),
    "query_scorer: sample_weight": (lambda weight: scorer_value(sample_weight=weight), WEIGHT),
    "EvalCallback": (train_xgboost, Y),
    "eval_metric: y_pred": (lambda scores: lightgbm_metric(Y, scores), WEIGHT),
    "eval_metric: weight": (lambda weight: lightgbm_metric(Y, WEIGHT, weight), WEIGHT),
    "catboost.eval_metric": (lambda qid: ra.catboost.eval_metric("textbook@5", [(Y, qid)]), GROUPS),
    "check_model": (
        lambda y: ra.lightgbm.check_model(public_calls.booster("lightgbm"), (X, y, np.array(QID)), "lightgbm@5"), Y,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_weights_pairs_and_columns_of_toolkits_with_different_indexes_are_refused(name):
    function, column = OTHERS[name]
    assert not refuses(function, column)
    assert refuses(function, with_reversed_index(column))


def test_an_index_of_query_ids_gives_the_queries_and_must_agree_with_that_of_y():
    pytest.importorskip("sklearn")
    indexed = X.set_index(pd.Index(QID, name="session"))
    model = ra.sklearn.QueryRanker(ranker(), convention=WEIGHTED, qid="session").fit(indexed, Y)
    value = scorer_value()
    assert model.score(indexed, Y) == value
    scorer = ra.sklearn.query_scorer(WEIGHTED, qid="session")
    assert scorer(model.estimator_, X, Y.set_axis(indexed.index)) == value
    assert refuses(model.score, indexed, with_reversed_index(Y.set_axis(indexed.index)))


def test_an_index_attribute_of_another_library_is_ignored():
    columns = [[1, 0, 1], [0.5, 0.25, 0.75], [7, 7, 7]]
    labels, scores, qid = map(pytest.importorskip("pyarrow").array, columns)  # `index` is a method of these
    score = ra.evaluate(labels, scores, "textbook@5", qid=qid)
    assert score == ra.evaluate(*columns[:2], "textbook@5", qid=columns[2])
