from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankadapters as ra
from tests.ranking_data import ranking

sklearn = pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, RegressorMixin, clone  # noqa: E402
from sklearn.inspection import permutation_importance  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

TEXTBOOK, WEIGHTED = ra.presets.textbook(5), ra.presets.sklearn(5)
DATA = ranking(1, 60)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def folds():
    return list(GroupKFold(3).split(DATA.X, DATA.y, DATA.qid))


def by_hand(convention, model=None, **weights):
    values = []
    for train, test in folds():
        fitted = clone(model or Ridge()).fit(DATA.X[train], DATA.y[train])
        extra = {name: column[test] for name, column in weights.items()}
        if extra:
            extra = {"query_weight": pd.Series(extra["rows"]).groupby(DATA.qid[test], sort=False).first().to_numpy()}
        values.append(
            ra.evaluate(DATA.y[test], fitted.predict(DATA.X[test]), convention, qid=DATA.qid[test], **extra).value
        )
    return values


def test_routed_metadata_needs_no_request_call(routing):
    scores = cross_validate(Ridge(), DATA.X, DATA.y, params={"qid": DATA.qid}, cv=folds(),
                            scoring=ra.sklearn.query_scorer(TEXTBOOK))  # fmt: skip
    assert scores["test_score"].tolist() == by_hand(TEXTBOOK)


def test_several_scorers_and_another_name_for_the_metadata(routing):
    scoring = {
        "a": ra.sklearn.query_scorer(TEXTBOOK, qid="session"),
        "b": ra.sklearn.query_scorer(WEIGHTED, qid="session"),
    }
    scores = cross_validate(Ridge(), DATA.X, DATA.y, params={"session": DATA.qid}, cv=folds(), scoring=scoring)
    assert scores["test_a"].tolist() == by_hand(TEXTBOOK)
    assert scores["test_b"].tolist() == by_hand(WEIGHTED)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grid_search_over_a_pipeline(routing, n_jobs):
    model = make_pipeline(StandardScaler(), Ridge())
    search = GridSearchCV(model, {"ridge__alpha": [0.1, 100.0]}, scoring=ra.sklearn.query_scorer(TEXTBOOK), cv=folds(),
                          n_jobs=n_jobs)  # fmt: skip
    search.fit(DATA.X, DATA.y, qid=DATA.qid)
    for row, alpha in enumerate([0.1, 100.0]):
        expected = by_hand(TEXTBOOK, clone(model).set_params(ridge__alpha=alpha))
        assert [search.cv_results_[f"split{i}_test_score"][row] for i in range(3)] == expected
    assert (
        search.score(DATA.X, DATA.y, qid=DATA.qid)
        == ra.evaluate(DATA.y, search.predict(DATA.X), TEXTBOOK, qid=DATA.qid).value
    )


def test_sample_weight_takes_the_place_of_query_weight(routing):
    rows = np.repeat(np.random.default_rng(0).random(DATA.sizes.size), DATA.sizes)
    model = Ridge().set_fit_request(sample_weight=False)
    scores = cross_validate(model, DATA.X, DATA.y, params={"qid": DATA.qid, "sample_weight": rows}, cv=folds(),
                            scoring=ra.sklearn.query_scorer(WEIGHTED))  # fmt: skip
    assert scores["test_score"].tolist() == by_hand(WEIGHTED, rows=rows)


class DropQid(RegressorMixin, BaseEstimator):
    """A ridge on all columns but qid."""

    def fit(self, X, y):
        self.ridge_ = Ridge().fit(X.drop(columns="qid", errors="ignore").to_numpy(), y)
        return self

    def predict(self, X):
        return self.ridge_.predict(X.drop(columns="qid", errors="ignore").to_numpy())


PLACES = {
    "column of X": (lambda f, q: f.assign(qid=q), lambda y, q: y, DropQid()),
    "index level of X": (lambda f, q: f.set_index(pd.Index(q, name="qid")), lambda y, q: y, DropQid()),
    "index level of y": (lambda f, q: f, lambda y, q: pd.Series(y, index=pd.Index(q, name="qid")), DropQid()),
    "one of two levels": (
        lambda f, q: f.set_index([pd.Index(range(len(q)), name="row"), pd.Index(q, name="qid")]),
        lambda y, q: y,
        DropQid(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("routed", [False, True])
def test_qid_is_found_in_the_data_without_routing(place, routed):
    to_X, to_y, model = PLACES[place]
    X = to_X(pd.DataFrame(DATA.X, columns=list("abcde")), DATA.qid)
    y = to_y(DATA.y, DATA.qid)
    scorer = ra.sklearn.query_scorer(TEXTBOOK)
    with sklearn.config_context(enable_metadata_routing=routed):
        scores = cross_validate(model, X, y, cv=folds(), scoring=scorer, params={})  # not None until 1.7
        assert scores["test_score"].tolist() == by_hand(TEXTBOOK)
        fitted = clone(model).fit(X, y)
        importance = permutation_importance(fitted, X, y, scoring=scorer, n_repeats=2, random_state=0)
    if place != "column of X":  # permuting the qid column itself breaks queries apart
        assert importance.importances_mean[0] > 0


def test_tables_of_other_libraries_hold_qid_too():
    frame = pl.DataFrame({"a": DATA.X[:, 0], "qid": DATA.qid})
    np.testing.assert_array_equal(ra.sklearn.qid.find_qid("qid", frame, DATA.y), DATA.qid)
    np.testing.assert_array_equal(ra.sklearn.qid.find_qid("qid", frame.to_arrow(), DATA.y), DATA.qid)


def test_no_qid_is_an_error_and_an_unnamed_index_is_none(routing):
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
    with pytest.raises(ra.InputError, match="another pandas index"):
        scorer(model, DATA.X, labels, qid=pd.Series(DATA.qid))


def test_bad_weights_and_metadata():
    model, scorer = Ridge().fit(DATA.X, DATA.y), ra.sklearn.query_scorer(WEIGHTED)
    with pytest.raises(ra.InputError, match="sample_weight varies within query"):
        scorer(model, DATA.X, DATA.y, qid=DATA.qid, sample_weight=np.arange(DATA.y.size))
    with pytest.raises(ra.InputError, match="one per row"):
        scorer(model, DATA.X, DATA.y, qid=DATA.qid, sample_weight=[1.0])
    with pytest.raises(ra.InputError, match="average='uniform', which would ignore it"):
        ra.sklearn.query_scorer(TEXTBOOK)(model, DATA.X, DATA.y, qid=DATA.qid, sample_weight=np.ones(DATA.y.size))
    with pytest.raises(ra.InputError, match="was handed 'group'"):
        scorer(model, DATA.X, DATA.y, group=DATA.qid)
    with pytest.raises(ra.ConventionError, match="is no convention"):
        ra.sklearn.query_scorer("ndcg")
    with pytest.raises(ra.ConventionError, match="must name a parameter"):
        ra.sklearn.query_scorer(TEXTBOOK, qid=DATA.qid)


def test_a_scorer_is_plain_data():
    scorer = ra.sklearn.query_scorer(TEXTBOOK)
    again = pickle.loads(pickle.dumps(scorer))
    assert (again.convention, again.qid) == (TEXTBOOK, "qid")
    assert repr(scorer) == "query_scorer(ndcg@5/textbook, qid='qid')"


def test_the_preset_is_scikit_learns_own_ndcg():
    from sklearn.metrics import ndcg_score

    rng = np.random.default_rng(5)
    labels, scores = rng.integers(0, 4, (20, 9)), rng.integers(0, 5, (20, 9)) / 5
    ours = ra.evaluate(labels.ravel(), scores.ravel(), ra.presets.sklearn(4), group_sizes=[9] * 20).value
    assert ours == pytest.approx(ndcg_score(labels, scores, k=4), abs=1e-12)
