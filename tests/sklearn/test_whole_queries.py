"""Scorers that were told of whole queries see which tools cut them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from sklearn.experimental import enable_halving_search_cv  # noqa: E402, F401 - brings HalvingGridSearchCV
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    HalvingGridSearchCV,
    KFold,
    cross_validate,
    learning_curve,
    train_test_split,
)  # fmt: skip

from tests.helpers.sklearn_folds import DATA, TEXTBOOK, forest  # noqa: E402 - after the skip


def test_a_scorer_told_of_whole_queries_warns_of_cut_ones():
    model = Ridge().fit(DATA.X, DATA.y)
    scorer = ra.sklearn.query_scorer(TEXTBOOK, whole=DATA.qid)
    longest = int(np.argmax(DATA.sizes))
    rows = np.flatnonzero(DATA.qid != longest).tolist() + np.flatnonzero(DATA.qid == longest)[:4].tolist()
    message = (
        rf"1 of 60 queries are not whole: query {longest} has 4 rows here instead of {DATA.sizes[longest]}, .*\nHint"
    )
    with pytest.warns(ra.sklearn.CutQueriesWarning, match=message):
        value = scorer(model, DATA.X[rows], DATA.y[rows], qid=DATA.qid[rows])
    assert value == ra.sklearn.query_scorer(TEXTBOOK)(model, DATA.X[rows], DATA.y[rows], qid=DATA.qid[rows])
    doubled = "60 of 60 queries are not whole"  # as by resampling
    with pytest.warns(ra.sklearn.CutQueriesWarning, match=doubled):
        scorer(model, np.vstack([DATA.X] * 2), np.tile(DATA.y, 2), qid=np.tile(DATA.qid, 2))


def test_whole_queries_in_any_order_and_queries_it_was_not_told_of_are_no_reason_to_warn():
    model = Ridge().fit(DATA.X, DATA.y)
    scorer = pickle.loads(pickle.dumps(ra.sklearn.query_scorer([TEXTBOOK], whole=DATA.qid)[TEXTBOOK.name]))
    rows = np.random.default_rng(0).permutation(np.flatnonzero(DATA.qid < 30))
    for X, y, qid in ((DATA.X[rows], DATA.y[rows], DATA.qid[rows]), (DATA.X[:9], DATA.y[:9], DATA.qid[:9] + 1000)):
        assert scorer(model, X, y, qid=qid) == ra.evaluate(y, model.predict(X), TEXTBOOK, qid=qid).value
    with pytest.raises(ra.InputError, match="qid has floats"):
        ra.sklearn.query_scorer(TEXTBOOK, whole=DATA.qid.astype(float))


def cross_validated(cv, scorer):
    return cross_validate(Ridge(), DATA.X, DATA.y, params={"qid": DATA.qid}, cv=cv, scoring=scorer)["test_score"]


def halved(resource, scorer):
    grid, cv = {"max_features": [1, 3]}, ra.sklearn.QueryKFold(3)
    search = HalvingGridSearchCV(forest(n_estimators=2), grid, scoring=scorer, cv=cv, factor=2, **resource)
    return search.fit(DATA.X, DATA.y, qid=DATA.qid).cv_results_["mean_test_score"]


def train_and_test(scorer):
    X, X_test, y, y_test, _, qid_test = train_test_split(DATA.X, DATA.y, DATA.qid, random_state=0)
    scorer(Ridge().fit(X, y), X_test, y_test, qid=qid_test)


def learned(scorer):
    learning_curve(Ridge(), DATA.X, DATA.y, params={"qid": DATA.qid}, train_sizes=[0.5], shuffle=True, random_state=0,
                   scoring=scorer, cv=ra.sklearn.QueryKFold(3))  # fmt: skip


CUTTERS = {
    "KFold": lambda scorer: cross_validated(KFold(3, shuffle=True, random_state=0), scorer),
    "train_test_split": train_and_test,
    "learning_curve": learned,
    "halving by samples": lambda scorer: halved({"min_resources": 200}, scorer),
}


@pytest.mark.parametrize("tool", CUTTERS)
def test_tools_that_cut_queries_are_seen(routing, tool):
    with pytest.warns(ra.sklearn.CutQueriesWarning, match="queries are not whole"):
        CUTTERS[tool](ra.sklearn.query_scorer(TEXTBOOK, whole=DATA.qid))


def test_tools_that_keep_queries_whole_give_no_warning(routing):
    told, plain = ra.sklearn.query_scorer(TEXTBOOK, whole=DATA.qid), ra.sklearn.query_scorer(TEXTBOOK)
    for run in (
        lambda scorer: cross_validated(ra.sklearn.QueryKFold(3), scorer),
        lambda scorer: halved({"resource": "min_samples_leaf", "max_resources": 4}, scorer),
    ):
        np.testing.assert_array_equal(run(told), run(plain))
