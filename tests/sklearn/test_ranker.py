"""QueryRanker with plain regressors: queries, tables, parameters, tags, metadata routing, and pipelines."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin, clone  # noqa: E402
from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: E402
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError  # noqa: E402
from sklearn.feature_selection import SelectFromModel  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils import get_tags  # noqa: E402

from rankadapters.sklearn import QueryRanker, query_scorer  # noqa: E402
from tests.helpers.toolkit_rankers import failed_checks  # noqa: E402
from tests.sklearn.folds import DATA, FRAME, NAMES, SHUFFLED, TEXTBOOK, WEIGHTED, WEIGHTS, folds  # noqa: E402 - after the skip

# scikit-learn's own checks


@pytest.mark.parametrize(
    "regressor", [Ridge(), pytest.param(HistGradientBoostingRegressor(max_iter=5), marks=pytest.mark.long)]
)
def test_scikit_learn_checks_fail_only_because_score_gets_no_qid(regressor):
    assert failed_checks(QueryRanker(regressor, convention=TEXTBOOK), expected_error="score got no qid") == {}


# A regressor in QueryRanker


def test_a_regressor_is_fitted_as_by_hand_with_or_without_qid_in_any_row_order():
    regressor = HistGradientBoostingRegressor(max_iter=10)  # an order-free estimator
    model, by_hand = QueryRanker(regressor), clone(regressor).fit(DATA.X, DATA.y).predict(DATA.X)
    assert (model.fit(DATA.X, DATA.y).predict(DATA.X) == by_hand).all()
    assert not hasattr(regressor, "_predictors")
    assert (model.fit(DATA.X, DATA.y, qid=DATA.qid).predict(DATA.X) == by_hand).all()
    model.fit(DATA.X[SHUFFLED], DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    assert (model.predict(DATA.X) == by_hand).all()
    assert (model.predict(DATA.X[SHUFFLED]) == by_hand[SHUFFLED]).all()


@pytest.mark.parametrize("rows", [slice(None), SHUFFLED])
def test_the_score_is_under_the_declared_convention(rows):
    X, y, qid = DATA.X[rows], DATA.y[rows], DATA.qid[rows]
    model = QueryRanker(Ridge(), convention=TEXTBOOK).fit(X, y)
    assert model.score(X, y, qid=qid) == ra.evaluate(y, model.predict(X), TEXTBOOK, qid=qid).value
    model.set_params(convention=WEIGHTED)
    weights = WEIGHTS[rows]
    queries = ra.Queries(y, qid=qid)
    first_rows = [int(np.flatnonzero(qid == query)[0]) for query in queries.query_ids]
    expected = ra.evaluate(y, model.predict(X), WEIGHTED, qid=qid, query_weight=weights[first_rows]).value
    assert model.score(X, y, qid=qid, sample_weight=weights) == expected


# Query ids in a table, and kinds of X

TABLES = {
    "pandas": lambda: FRAME.assign(session=DATA.qid),
    "polars": lambda: pl.DataFrame(DATA.X, schema=NAMES).with_columns(session=DATA.qid),
    "pyarrow": lambda: pa.table({**dict(zip(NAMES, DATA.X.T, strict=True)), "session": DATA.qid}),
    "index level": lambda: FRAME.set_index(pd.Index(DATA.qid, name="session")),
}


@pytest.mark.parametrize("table", TABLES)
def test_a_named_column_or_index_level_gives_the_ids_and_is_not_a_feature(table):
    X = TABLES[table]()
    model = QueryRanker(Ridge(), qid="session", convention=TEXTBOOK).fit(X, DATA.y)
    np.testing.assert_allclose(model.predict(X), model.predict(FRAME), atol=1e-12)  # predict needs no ids
    assert model.n_features_in_ == 5
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_allclose(model.predict(X), Ridge().fit(DATA.X, DATA.y).predict(DATA.X), atol=1e-12)
    assert model.score(X, DATA.y) == ra.evaluate(DATA.y, model.predict(X), TEXTBOOK, qid=DATA.qid).value


@pytest.mark.parametrize("as_column", [list, pd.Series, pl.Series, pa.array, lambda ids: [f"q{i}" for i in ids]])
def test_ids_may_be_any_kind_of_column(as_column):
    model = QueryRanker(Ridge(), convention=TEXTBOOK).fit(DATA.X, DATA.y, qid=as_column(DATA.qid))
    expected = ra.evaluate(DATA.y, model.predict(DATA.X), TEXTBOOK, qid=DATA.qid).value
    assert model.score(DATA.X, DATA.y, qid=as_column(DATA.qid)) == expected


# scikit-learn's interface


def test_tags_equal_those_of_the_estimator():
    for estimator in (HistGradientBoostingRegressor(), Ridge()):
        assert get_tags(QueryRanker(estimator)).input_tags == get_tags(estimator).input_tags
    assert get_tags(QueryRanker(HistGradientBoostingRegressor())).input_tags.allow_nan


def test_features_are_selected_by_coefficients_that_exist_once_fitted():
    selector = SelectFromModel(QueryRanker(make_pipeline(StandardScaler(), Ridge())), max_features=1, threshold=-np.inf)
    assert selector.fit(DATA.X, DATA.y).get_support().tolist() == [True, False, False, False, False]
    model = QueryRanker(Ridge())
    with pytest.raises(NotFittedError, match="QueryRanker instance is not fitted"):
        model.predict(DATA.X)
    assert not hasattr(model, "coef_")
    assert not hasattr(model.fit(DATA.X, DATA.y), "feature_importances_")


# Metadata routing


class Tagged(RegressorMixin, BaseEstimator):
    def fit(self, X, y, *, tag=None):
        self.tag_ = tag
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def test_fit_parameters_are_passed_on_or_routed_to_the_estimator():
    assert QueryRanker(Tagged()).fit(DATA.X, DATA.y, tag="x").estimator_.tag_ == "x"
    for pipe in (make_pipeline(StandardScaler(), Tagged()), make_pipeline(Tagged())):
        assert QueryRanker(pipe).fit(DATA.X, DATA.y, tagged__tag="x").estimator_[-1].tag_ == "x"
    with sklearn.config_context(enable_metadata_routing=True):
        requesting = Tagged().set_fit_request(tag=True)
        assert QueryRanker(requesting).fit(DATA.X, DATA.y, tag="x").estimator_.tag_ == "x"
        for pipe in (make_pipeline(StandardScaler(), requesting), make_pipeline(requesting)):
            assert QueryRanker(pipe).fit(DATA.X, DATA.y, tag="x").estimator_[-1].tag_ == "x"
        for unrequesting in (Tagged(), make_pipeline(StandardScaler(), Tagged()), make_pipeline(Tagged())):
            with pytest.raises(UnsetMetadataPassedError, match="tag"):
                QueryRanker(unrequesting).fit(DATA.X, DATA.y, tag="x")


class UnrequestingRidge(Ridge):
    """Takes weights but does not request them, as CatBoostRanker does; so QueryRanker must request them."""

    __metadata_request__fit = {"sample_weight": False}  # noqa: RUF012 - scikit-learn reads it


@pytest.mark.parametrize("regressor", [Ridge(), UnrequestingRidge()])
def test_routed_weights_train_every_fold(metadata_routing, regressor):
    results = cross_validate(QueryRanker(regressor), DATA.X, DATA.y, cv=folds(), scoring=query_scorer(WEIGHTED),
                           return_estimator=True, params={"qid": DATA.qid, "sample_weight": WEIGHTS})  # fmt: skip
    for model, (train, _) in zip(results["estimator"], folds(), strict=True):
        X, y = DATA.X[train], DATA.y[train]
        assert (model.coef_ == Ridge().fit(X, y, sample_weight=WEIGHTS[train]).coef_).all()
        assert (model.coef_ != Ridge().fit(X, y).coef_).all()


def test_a_search_without_routing_works_with_a_column_of_ids():
    X = FRAME.assign(qid=DATA.qid)
    for scoring in (None, query_scorer(TEXTBOOK)):
        model = QueryRanker(Ridge(), qid="qid", convention=TEXTBOOK)
        search = GridSearchCV(model, {"estimator__alpha": [1.0]}, scoring=scoring, cv=folds()).fit(X, DATA.y)
        train, test = folds()[0]
        scores = Ridge().fit(FRAME.iloc[train], DATA.y[train]).predict(FRAME.iloc[test])
        assert (
            search.cv_results_["split0_test_score"][0]
            == ra.evaluate(DATA.y[test], scores, TEXTBOOK, qid=DATA.qid[test]).value
        )


@pytest.mark.parametrize(("column", "routed"), [("query", set()), (None, {"qid"})])
@pytest.mark.parametrize("method", ["fit", "score"])
def test_ids_that_are_read_from_a_column_are_not_routed(metadata_routing, method, column, routed):
    model = QueryRanker(Ridge(), qid=column, convention=TEXTBOOK)
    assert model.get_metadata_routing().consumes(method, ["qid"]) == routed


# Pipelines


class RecordingTransformer(TransformerMixin, BaseEstimator):
    """Stores the rows and weights that its fit gets, and changes nothing."""

    def fit(self, X, y=None, sample_weight=None):
        self.seen_ = X
        self.sample_weight_ = sample_weight
        return self

    def transform(self, X):
        return X


def test_the_transformers_of_a_pipeline_never_see_the_ids():
    X = FRAME.assign(session=DATA.qid)
    model = QueryRanker(make_pipeline(RecordingTransformer(), StandardScaler(), Ridge()), qid="session").fit(X, DATA.y)
    transformer = model.estimator_[0]
    assert transformer.seen_.columns.tolist() == NAMES
    by_hand = make_pipeline(StandardScaler(), Ridge()).fit(FRAME, DATA.y)
    np.testing.assert_allclose(model.predict(X), by_hand.predict(FRAME), atol=1e-12)
    assert (model.coef_ == model.estimator_[-1].coef_).all()


def test_a_nested_pipeline_keeps_memory_and_set_output(tmp_path):
    inner = make_pipeline(RecordingTransformer(), Ridge())
    outer = make_pipeline(StandardScaler(), inner, memory=str(tmp_path)).set_output(transform="pandas")
    model = QueryRanker(outer).fit(FRAME, DATA.y, qid=DATA.qid)
    assert model.estimator_[-1][0].seen_.columns.tolist() == NAMES
    by_hand = make_pipeline(StandardScaler(), Ridge()).fit(FRAME, DATA.y)
    assert (model.predict(FRAME) == by_hand.predict(FRAME)).all()


def test_a_ranker_may_be_the_last_step_of_a_pipeline(metadata_routing):
    model = make_pipeline(StandardScaler(), QueryRanker(Ridge(), convention=TEXTBOOK)).fit(DATA.X, DATA.y, qid=DATA.qid)
    expected = ra.evaluate(DATA.y, model.predict(DATA.X), TEXTBOOK, qid=DATA.qid).value
    assert model.score(DATA.X, DATA.y, qid=DATA.qid) == expected


def test_a_transformer_gets_the_weights_that_it_requests(metadata_routing):
    for requests_weights in (True, False):
        transformer = RecordingTransformer().set_fit_request(sample_weight=requests_weights)
        model = QueryRanker(make_pipeline(transformer, Ridge())).fit(DATA.X, DATA.y, sample_weight=WEIGHTS)
        assert (model.estimator_[0].sample_weight_ is not None) == requests_weights
        assert (model.coef_ == Ridge().fit(DATA.X, DATA.y, WEIGHTS).coef_).all()


def test_a_step_that_changes_the_rows_is_refused():
    class HalvingTransformer(RecordingTransformer):
        def transform(self, X):
            return X[::2]

    with pytest.raises(ra.InputError, match=r"a step of the pipeline made \d+ rows of \d+, .*\nHint: sample rows"):
        QueryRanker(make_pipeline(HalvingTransformer(), Ridge())).fit(DATA.X, DATA.y, qid=DATA.qid)
