"""`query_scorer` in scikit-learn's ScoringMonitor, which passes the training rows as a bare array without metadata."""

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
CONV, LIGHTGBM = "textbook@5", "lightgbm@3"

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),  # the monitor passes an array
]


def fit_monitored(scoring, rows=X, **options):
    """Fit with a monitor and return the model and the scores of its last iteration."""
    monitor = callback.ScoringMonitor(scoring=scoring)
    model = LogisticRegression(max_iter=3).set_callbacks(monitor).fit(rows, Y, **options)
    return model, monitor.get_logs().data[-1]


def expected_grades(model, rows=X):
    """Return the score of each row, since the classes are grades."""
    return model.predict_proba(rows) @ model.classes_


@pytest.mark.parametrize("rows", [X, FRAME], ids=["array", "frame"])
def test_a_single_scorer_scores_the_last_iteration(rows):
    model, last = fit_monitored(ra.sklearn.query_scorer(CONV, whole=QID), rows)
    assert last["score"] == ra.evaluate(Y, expected_grades(model, rows), CONV, qid=QID).value


def test_declared_scorers_work_beside_scikit_learns_in_a_dict():
    declared = ra.sklearn.query_scorer([CONV, LIGHTGBM], names=["a", "b"], whole=QID)
    model, last = fit_monitored({**declared, "c": make_scorer(accuracy_score)})
    scores = expected_grades(model)
    assert last["a"] == ra.evaluate(Y, scores, CONV, qid=QID).value
    assert last["b"] == ra.evaluate(Y, scores, LIGHTGBM, qid=QID).value
    assert last["c"] == accuracy_score(Y, model.predict(X))


def test_row_weights_count_as_query_weights():
    model, last = fit_monitored(ra.sklearn.query_scorer(LIGHTGBM, whole=QID), sample_weight=WEIGHTS)
    expected = ra.evaluate(Y, expected_grades(model), LIGHTGBM, qid=QID, query_weight=WEIGHTS[::10])
    assert last["score"] == expected.value


@pytest.mark.parametrize(
    ("whole", "message"),
    [
        (None, r"got no 'qid'.*\n.*ScoringMonitor, query_scorer\(whole=qid\)"),
        (QID[:50], r"got no 'qid'.*\n.*; whole= has 50 rows but X has 60, so it does not give"),
    ],
)
def test_missing_or_too_short_whole_ids_raise_with_a_hint(whole, message):
    with pytest.raises(ra.InputError, match=message):
        fit_monitored(ra.sklearn.query_scorer(CONV, whole=whole))


@pytest.mark.xfail(
    strict=True, raises=ra.InputError,
    reason="scikit-learn 1.9.1 passes the rows of a fold without saying which rows they are: "
    "https://github.com/scikit-learn/scikit-learn/blob/1.9.1/sklearn/linear_model/_logistic.py#L552",
)  # fmt: skip
def test_the_folds_of_a_search_over_a_scikit_learn_estimator_are_scored():
    monitor = callback.ScoringMonitor(scoring=ra.sklearn.query_scorer(CONV, whole=QID))
    model = LogisticRegression(max_iter=3).set_callbacks(monitor)
    GridSearchCV(model, {"C": [1.0]}, cv=GroupKFold(2), error_score="raise").fit(X, Y, groups=QID)


def test_the_folds_of_a_search_over_a_query_ranker_are_scored():
    monitor = callback.ScoringMonitor(scoring=ra.sklearn.query_scorer(CONV))
    model = ra.sklearn.QueryRanker(LogisticRegression(max_iter=3)).set_callbacks(monitor)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(model, {"estimator__C": [1.0]}, scoring=ra.sklearn.query_scorer(CONV),
                              cv=ra.sklearn.QueryKFold(2), return_train_score=True).fit(X, Y, qid=QID)  # fmt: skip
    train_scores = [search.cv_results_[f"split{fold}_train_score"][0] for fold in range(2)]
    refit_score = ra.evaluate(Y, search.predict(X), CONV, qid=QID).value
    assert sorted(row["score"] for row in monitor.get_logs().data) == sorted([*train_scores, refit_score])


@pytest.mark.xfail(
    strict=True, raises=ra.InputError,
    reason="scikit-learn 1.9.1 passes an array without the index, and no metadata but weights: "
    "https://github.com/scikit-learn/scikit-learn/blob/1.9.1/sklearn/linear_model/_logistic.py#L552",
)  # fmt: skip
def test_an_index_of_the_training_rows_gives_the_query_ids():
    fit_monitored(ra.sklearn.query_scorer(CONV), FRAME)
