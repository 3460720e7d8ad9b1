"""Where `query_scorer` finds the query ids, and which query ids it refuses."""

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, RegressorMixin  # noqa: E402
from sklearn.inspection import permutation_importance  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import cross_validate  # noqa: E402

from tests.sklearn.folds import DATA, TEXTBOOK, folds, values_by_fold  # noqa: E402 - after the skip


class DropQid(RegressorMixin, BaseEstimator):
    """A ridge on all columns but qid."""

    def fit(self, X, y):
        self.ridge_ = Ridge().fit(X.drop(columns="qid", errors="ignore").to_numpy(), y)
        return self

    def predict(self, X):
        return self.ridge_.predict(X.drop(columns="qid", errors="ignore").to_numpy())


QID_LOCATIONS = {
    "column of X": lambda frame, y, qid: (frame.assign(qid=qid), y),
    "index level of X": lambda frame, y, qid: (frame.set_index(pd.Index(qid, name="qid")), y),
    "index level of y": lambda frame, y, qid: (frame, pd.Series(y, index=pd.Index(qid, name="qid"))),
    "one of two levels": lambda frame, y, qid: (frame.set_index([frame.index, pd.Index(qid, name="qid")]), y),
}


@pytest.mark.parametrize("location", QID_LOCATIONS)
@pytest.mark.parametrize("routed", [False, True])
def test_qid_is_found_in_the_data_without_routing(location, routed):
    X, y = QID_LOCATIONS[location](pd.DataFrame(DATA.X, columns=list("abcde")), DATA.y, DATA.qid)
    scorer = ra.sklearn.query_scorer(TEXTBOOK)
    with sklearn.config_context(enable_metadata_routing=routed):
        scores = cross_validate(DropQid(), X, y, cv=folds(), scoring=scorer, params={})  # not None until 1.7
        assert scores["test_score"].tolist() == values_by_fold(TEXTBOOK)
        fitted = DropQid().fit(X, y)
        importance = permutation_importance(fitted, X, y, scoring=scorer, n_repeats=2, random_state=0)
    if location != "column of X":  # permuting the qid column itself breaks queries apart
        assert importance.importances_mean[0] > 0


def test_a_pandas_table_with_a_column_named_like_pyarrows_attribute_is_no_arrow_table():
    frame_like_arrow = pd.DataFrame({"column_names": DATA.y, "qid": DATA.qid})
    np.testing.assert_array_equal(ra.sklearn.rows.find_qid("qid", frame_like_arrow, DATA.y), DATA.qid)


def test_a_scorer_without_qid_raises_and_ignores_an_unnamed_index(metadata_routing):
    model = Ridge().fit(DATA.X, DATA.y)
    scorer = ra.sklearn.query_scorer(TEXTBOOK)
    unnamed = pd.Series(DATA.y, index=DATA.qid)
    for X, y in ((DATA.X, DATA.y), (DATA.X, unnamed), (pd.DataFrame(DATA.X, index=DATA.qid).to_numpy(), DATA.y)):
        with pytest.raises(ra.InputError, match=r"the scorer got no 'qid'.*\nHint: sklearn\.set_config"):
            scorer(model, X, y)
    with pytest.raises(ra.InputError, match="got no 'qid'"):
        cross_validate(Ridge(), DATA.X, DATA.y, cv=folds(), scoring=scorer, error_score="raise", params={})


def test_series_must_agree_in_their_index():
    model, scorer = Ridge().fit(DATA.X, DATA.y), ra.sklearn.query_scorer(TEXTBOOK)
    index = np.arange(DATA.y.size)[::-1]
    labels = pd.Series(DATA.y, index=index)
    value = scorer(model, DATA.X, labels, qid=pd.Series(DATA.qid, index=index))
    assert value == ra.evaluate(DATA.y, model.predict(DATA.X), TEXTBOOK, qid=DATA.qid).value
    assert type(value) is float
    with pytest.raises(ra.InputError, match="a different pandas index"):
        scorer(model, DATA.X, labels, qid=pd.Series(DATA.qid))


@pytest.mark.parametrize(
    ("as_table", "whole", "hint"),
    [
        (np.asarray, None, r"in X or y; or, outside of cross-validation, query_scorer\(convention, whole=ids\) with"),
        (np.asarray, [1, 2], r"in X or y\. whole= has 2 ids, but X has \d+ rows, as in a fold\.$"),
        (pd.DataFrame, None, r"in X or y\.$"), (pd.DataFrame, [1, 2], r"in X or y\.$"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("routed", [False, True])
def test_the_hint_for_missing_ids_names_what_helps(as_table, whole, hint, routed):
    state = "on, but nothing was passed by that name" if routed else "off, so scorers get no metadata"
    with sklearn.config_context(enable_metadata_routing=routed), pytest.raises(ra.InputError, match=hint) as caught:
        ra.sklearn.rows.find_qid("qid", as_table(DATA.X), DATA.y, whole=whole)
    assert f"(metadata routing is {state})" in str(caught.value)
