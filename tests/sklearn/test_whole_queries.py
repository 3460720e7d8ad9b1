"""Scorers that know the whole queries (`whole=`) warn when a tool cuts queries."""

import pickle

import numpy as np
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from sklearn.experimental import enable_halving_search_cv  # noqa: E402, F401 - brings HalvingGridSearchCV
from sklearn.inspection import permutation_importance  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    HalvingGridSearchCV,
    KFold,
    cross_validate,
)  # fmt: skip

from tests.sklearn.folds import DATA, TEXTBOOK, forest  # noqa: E402 - after the skip


def test_a_scorer_that_knows_the_whole_queries_warns_of_cut_ones():
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
    doubled_message = "60 of 60 queries are not whole"  # resampling repeats rows
    with pytest.warns(ra.sklearn.CutQueriesWarning, match=doubled_message):
        scorer(model, np.vstack([DATA.X] * 2), np.tile(DATA.y, 2), qid=np.tile(DATA.qid, 2))


def test_whole_queries_in_any_order_and_unknown_queries_do_not_warn():
    model = Ridge().fit(DATA.X, DATA.y)
    scorer = pickle.loads(pickle.dumps(ra.sklearn.query_scorer([TEXTBOOK], whole=DATA.qid)[TEXTBOOK.name]))
    rows = np.random.default_rng(0).permutation(np.flatnonzero(DATA.qid < 30))
    for X, y, qid in ((DATA.X[rows], DATA.y[rows], DATA.qid[rows]), (DATA.X[:9], DATA.y[:9], DATA.qid[:9] + 1000)):
        assert scorer(model, X, y, qid=qid) == ra.evaluate(y, model.predict(X), TEXTBOOK, qid=qid).value
    with pytest.raises(ra.InputError, match="qid has floats"):
        ra.sklearn.query_scorer(TEXTBOOK, whole=DATA.qid.astype(float))


def test_whole_ids_stand_in_for_ids_that_no_tool_passes():
    model, scorer = Ridge().fit(DATA.X, DATA.y), ra.sklearn.query_scorer(TEXTBOOK, whole=DATA.qid)
    expected = ra.evaluate(DATA.y, model.predict(DATA.X), TEXTBOOK, qid=DATA.qid).value
    assert scorer(model, DATA.X, DATA.y) == expected
    result = permutation_importance(model, DATA.X, DATA.y, scoring=scorer, n_repeats=2, random_state=0)
    assert result["importances"].any()


def cross_validation_scores(cv, scorer):
    return cross_validate(Ridge(), DATA.X, DATA.y, params={"qid": DATA.qid}, cv=cv, scoring=scorer)["test_score"]


def halving_scores(resource, scorer):
    grid, cv = {"max_features": [1, 3]}, ra.sklearn.QueryKFold(3)
    search = HalvingGridSearchCV(forest(n_estimators=2), grid, scoring=scorer, cv=cv, factor=2, **resource)
    return search.fit(DATA.X, DATA.y, qid=DATA.qid).cv_results_["mean_test_score"]


TOOLS_THAT_CUT = {
    "KFold": lambda scorer: cross_validation_scores(KFold(3, shuffle=True, random_state=0), scorer),
    "halving by samples": lambda scorer: halving_scores({"min_resources": 200}, scorer),
}


@pytest.mark.parametrize("tool", TOOLS_THAT_CUT)
def test_tools_that_cut_queries_cause_a_warning(metadata_routing, tool):
    with pytest.warns(ra.sklearn.CutQueriesWarning, match="queries are not whole"):
        TOOLS_THAT_CUT[tool](ra.sklearn.query_scorer(TEXTBOOK, whole=DATA.qid))
