"""scikit-learn's callback ScoringMonitor: it passes scorers the training rows as a bare array, and no metadata."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")
callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 brings callbacks")

from sklearn.linear_model import LogisticRegression  # noqa: E402 - after the skip
from sklearn.metrics import accuracy_score, make_scorer  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold  # noqa: E402

rng = np.random.default_rng(0)
X, Y, QID = rng.normal(size=(60, 4)), rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
WEIGHTS = np.repeat([1.0, 2.0, 1.0, 3.0, 1.0, 1.0], 10)
FRAME = pd.DataFrame(X, columns=list("abcd"), index=pd.Index(QID, name="qid"))
CONV, OTHER = "textbook@5", "lightgbm@3"

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),  # of the array that the monitor is passed
]


def monitored(scoring, rows=X, **fit):
    """Fit under the monitor; give the model and the scores of its last iteration."""
    monitor = callback.ScoringMonitor(scoring=scoring)
    model = LogisticRegression(max_iter=3).set_callbacks(monitor).fit(rows, Y, **fit)
    return model, monitor.get_logs().data[-1]


@pytest.mark.parametrize("rows", [X, FRAME], ids=["array", "frame"])
def test_a_scorer_alone_scores_every_iteration(rows):
    model, last = monitored(ra.sklearn.query_scorer(CONV, whole=QID), rows)
    assert last["score"] == ra.evaluate(Y, model.predict(rows), CONV, qid=QID).value


def test_scorers_in_a_dict_score_beside_those_of_scikit_learn():
    scoring = {**ra.sklearn.query_scorer([CONV, OTHER], names=["a", "b"], whole=QID), "c": make_scorer(accuracy_score)}
    model, last = monitored(scoring)
    predicted = model.predict(X)
    assert last["a"] == ra.evaluate(Y, predicted, CONV, qid=QID).value
    assert last["b"] == ra.evaluate(Y, predicted, OTHER, qid=QID).value
    assert last["c"] == accuracy_score(Y, predicted)


def test_the_weights_of_the_rows_count():
    model, last = monitored(ra.sklearn.query_scorer(OTHER, whole=QID), sample_weight=WEIGHTS)
    expected = ra.evaluate(Y, model.predict(X), OTHER, qid=QID, query_weight=WEIGHTS[::10])
    assert last["score"] == expected.value


@pytest.mark.parametrize(
    ("whole", "message"),
    [
        (None, r"got no 'qid'.*\n.*ScoringMonitor, query_scorer\(whole=qid\)"),
        (QID[:50], r"got no 'qid'.*\n.*; whole= has 50 rows but X has 60, so it does not give"),
    ],
)
def test_without_the_queries_of_the_rows_the_hint_names_what_is_possible(whole, message):
    with pytest.raises(ra.InputError, match=message):
        monitored(ra.sklearn.query_scorer(CONV, whole=whole))


@pytest.mark.xfail(
    strict=True, raises=ra.InputError,
    reason="scikit-learn 1.9.1 passes the rows of a fold without saying which rows they are: "
    "https://github.com/scikit-learn/scikit-learn/blob/1.9.1/sklearn/linear_model/_logistic.py#L552",
)  # fmt: skip
def test_the_folds_of_a_search_over_an_estimator_of_scikit_learn_s_own():
    monitor = callback.ScoringMonitor(scoring=ra.sklearn.query_scorer(CONV, whole=QID))
    model = LogisticRegression(max_iter=3).set_callbacks(monitor)
    GridSearchCV(model, {"C": [1.0]}, cv=GroupKFold(2), error_score="raise").fit(X, Y, groups=QID)


def test_query_ranker_around_such_an_estimator_scores_the_folds_of_a_search():
    monitor = callback.ScoringMonitor(scoring=ra.sklearn.query_scorer(CONV))
    model = ra.sklearn.QueryRanker(LogisticRegression(max_iter=3)).set_callbacks(monitor)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(model, {"estimator__C": [1.0]}, scoring=ra.sklearn.query_scorer(CONV),
                              cv=ra.sklearn.QueryKFold(2), return_train_score=True).fit(X, Y, qid=QID)  # fmt: skip
    trained = [search.cv_results_[f"split{fold}_train_score"][0] for fold in range(2)]
    refitted = ra.evaluate(Y, search.predict(X), CONV, qid=QID).value
    assert sorted(row["score"] for row in monitor.get_logs().data) == sorted([*trained, refitted])


@pytest.mark.xfail(
    strict=True, raises=ra.InputError,
    reason="scikit-learn 1.9.1 passes an array without the index, and no metadata but weights: "
    "https://github.com/scikit-learn/scikit-learn/blob/1.9.1/sklearn/linear_model/_logistic.py#L552",
)  # fmt: skip
def test_an_index_of_the_training_rows_says_the_queries():
    monitored(ra.sklearn.query_scorer(CONV), FRAME)
