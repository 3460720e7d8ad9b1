"""The scores of a classifier, by `query_scorer` and QueryRanker: never its predicted class, which ties most rows."""

import numpy as np
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.dummy import DummyClassifier  # noqa: E402
from sklearn.ensemble import RandomForestClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_validate  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

from rankadapters.sklearn import QueryKFold, QueryRanker, query_scorer  # noqa: E402
from tests.sklearn.folds import DATA, TEXTBOOK  # noqa: E402 - after the skip

GRADES = DATA.y.astype(int)
BINARY = np.minimum(GRADES, 1)


def margin(model):
    return DATA.X @ model.coef_[0] + model.intercept_[0]


def probability(model):
    return model.predict_proba(DATA.X)[:, 1]


def expected_grade(model):
    return np.dot(model.predict_proba(DATA.X), model.classes_)


SCORED = {
    "binary with a decision function": (LogisticRegression(), BINARY, margin),
    "binary with probabilities only": (RandomForestClassifier(5, random_state=0), BINARY, probability),
    "grades": (GaussianNB(), GRADES, expected_grade),
    "grades that skip some": (GaussianNB(), GRADES**2, expected_grade),
    "a linear model of grades": (LogisticRegression(max_iter=500), GRADES, expected_grade),
}
WRAPPED = {
    "alone": lambda model: model,
    "pipeline": lambda model: make_pipeline("passthrough", model),
    "search": lambda model: GridSearchCV(make_pipeline(model), {"verbose": [False]}, cv=2),
}


@pytest.mark.parametrize(
    "wrap", [pytest.param(wrap, marks=[] if wrap == "alone" else pytest.mark.long) for wrap in WRAPPED]
)
@pytest.mark.parametrize("case", SCORED)
def test_a_classifier_is_scored_by_its_margin_probability_or_expected_grade(case, wrap):
    model, y, scores = SCORED[case]
    expected = scores(clone(model).fit(DATA.X, y))
    value = ra.evaluate(y, expected, TEXTBOOK, qid=DATA.qid).value
    wrapped = WRAPPED[wrap](clone(model))
    by_class = ra.evaluate(y, clone(wrapped).fit(DATA.X, y).predict(DATA.X), TEXTBOOK, qid=DATA.qid).value
    assert abs(by_class - value) > 1e-3  # what the scorer must not return
    fitted = clone(wrapped).fit(DATA.X, y)
    assert query_scorer(TEXTBOOK)(fitted, DATA.X, y, qid=DATA.qid) == pytest.approx(value, abs=1e-12)
    ranker = QueryRanker(wrapped, convention=TEXTBOOK).fit(DATA.X, y, qid=DATA.qid)
    np.testing.assert_allclose(ranker.predict(DATA.X), expected, atol=1e-12)
    assert ranker.score(DATA.X, y, qid=DATA.qid) == pytest.approx(value, abs=1e-12)
    assert query_scorer(TEXTBOOK)(ranker, DATA.X, y, qid=DATA.qid) == pytest.approx(value, abs=1e-12)


def test_the_expected_grade_of_a_prior_is_the_mean_of_the_labels():
    X, y = np.zeros((4, 1)), [0, 2, 5, 5]
    ranker = QueryRanker(DummyClassifier(strategy="prior")).fit(X, y)
    assert ranker.predict(X).tolist() == [3.0] * 4
    assert ranker.set_params(response="predict").predict(X).tolist() == [5] * 4


def test_the_probability_is_that_of_the_larger_class_wherever_it_stands():
    cb = pytest.importorskip("catboost")
    options = {"iterations": 5, "verbose": False, "allow_writing_files": False}
    model = cb.CatBoostClassifier(**options, class_names=[1, 0]).fit(DATA.X, BINARY)
    assert model.classes_.tolist() == [1, 0]
    expected = ra.evaluate(BINARY, model.predict_proba(DATA.X)[:, 0], TEXTBOOK, qid=DATA.qid).value
    assert query_scorer(TEXTBOOK)(model, DATA.X, BINARY, qid=DATA.qid) == expected


def test_an_estimator_without_classes_is_scored_by_its_prediction():
    cb = pytest.importorskip("catboost")
    options = {"iterations": 5, "verbose": False, "allow_writing_files": False}
    ranker = cb.CatBoostRanker(**options).fit(DATA.X, GRADES, group_id=DATA.qid)
    raw_formula = cb.CatBoost({"loss_function": "Logloss", **options}).fit(DATA.X, BINARY)  # it has classes_
    for model in (Ridge().fit(DATA.X, GRADES), ranker, raw_formula):
        expected = ra.evaluate(GRADES, model.predict(DATA.X), TEXTBOOK, qid=DATA.qid).value
        assert query_scorer(TEXTBOOK)(model, DATA.X, GRADES, qid=DATA.qid) == expected


@pytest.mark.long
@pytest.mark.parametrize(
    ("response", "scores"),
    [
        ("predict", lambda model: model.predict(DATA.X)),
        ("predict_proba", probability),
        (lambda model, X: -model.predict_proba(X)[:, 0] * 2, lambda model: -2 * model.predict_proba(DATA.X)[:, 0]),
    ],
)
def test_a_response_may_be_chosen(metadata_routing, response, scores):
    by_hand = []
    for train, test in QueryKFold(3).split(DATA.X, BINARY, DATA.qid):
        model = LogisticRegression().fit(DATA.X[train], BINARY[train])
        by_hand.append(ra.evaluate(BINARY[test], scores(model)[test], TEXTBOOK, qid=DATA.qid[test]).value)
    options = {"cv": QueryKFold(3), "params": {"qid": DATA.qid}, "error_score": "raise"}
    for model, scorer in (
        (LogisticRegression(), query_scorer(TEXTBOOK, response=response)),
        (QueryRanker(LogisticRegression(), response=response), query_scorer(TEXTBOOK)),
    ):
        values = cross_validate(model, DATA.X, BINARY, scoring=scorer, **options)["test_score"]
        assert values.tolist() == pytest.approx(by_hand, abs=1e-12)


WORDS = BINARY.astype(str)


def test_two_classes_that_are_no_numbers_are_scored_by_the_second():
    model = GaussianNB().fit(DATA.X, WORDS)
    expected = ra.evaluate(BINARY, probability(model), TEXTBOOK, qid=DATA.qid).value
    assert query_scorer(TEXTBOOK)(model, DATA.X, BINARY, qid=DATA.qid) == expected
