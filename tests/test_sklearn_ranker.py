"""QueryRanker with plain regressors inside: queries, tables, pipelines, routing, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankadapters as ra
from tests.ranking_data import ranking

sklearn = pytest.importorskip("sklearn")

import scipy.sparse as sp  # noqa: E402
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin, clone  # noqa: E402
from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: E402
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError  # noqa: E402
from sklearn.feature_selection import SelectFromModel  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate, learning_curve  # noqa: E402
from sklearn.neighbors import KNeighborsRegressor  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils import get_tags  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from rankadapters.sklearn import CutQueriesWarning, QueryKFold, QueryRanker, query_scorer  # noqa: E402

CONV, WEIGHTED = ra.presets.textbook(5), ra.presets.lightgbm(5)
DATA = ranking(1, 60)
MIXED = np.random.default_rng(0).permutation(DATA.y.size)
NAMES = list("abcde")
FRAME = pd.DataFrame(DATA.X, columns=NAMES)
WEIGHTS = np.repeat(np.random.default_rng(2).random(DATA.sizes.size) + 0.1, DATA.sizes)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def folds():
    return list(QueryKFold(3).split(DATA.X, DATA.y, DATA.qid))


# scikit-learn's own suite

NO_QID = "calls score(X, y) without qid, which would count all rows as one query"


def expected_failures(estimator):
    names = ("check_fit_score_takes_y", "check_n_features_in_after_fitting", "check_pipeline_consistency",
             "check_regressors_train")  # fmt: skip
    return dict.fromkeys(names, NO_QID)


@parametrize_with_checks(
    [QueryRanker(Ridge(), convention=CONV), QueryRanker(HistGradientBoostingRegressor(max_iter=5), convention=CONV)],
    expected_failed_checks=expected_failures,
)
def test_the_estimator_suite_of_scikit_learn(estimator, check):
    check(estimator)


# a regressor inside


def test_a_regressor_is_fitted_as_by_hand_and_needs_no_qid():
    model = QueryRanker(HistGradientBoostingRegressor(max_iter=10))
    by_hand = HistGradientBoostingRegressor(max_iter=10).fit(DATA.X, DATA.y).predict(DATA.X)
    assert (model.fit(DATA.X, DATA.y).predict(DATA.X) == by_hand).all()
    assert (model.fit(DATA.X, DATA.y, qid=DATA.qid).predict(DATA.X) == by_hand).all()


def test_predictions_are_in_the_order_of_the_rows_given():
    model = QueryRanker(HistGradientBoostingRegressor(max_iter=10)).fit(
        DATA.X[MIXED], DATA.y[MIXED], qid=DATA.qid[MIXED]
    )
    assert (model.predict(DATA.X)[MIXED] == model.predict(DATA.X[MIXED])).all()
    by_hand = HistGradientBoostingRegressor(max_iter=10).fit(DATA.X, DATA.y)  # an order-free estimator
    assert (model.predict(DATA.X) == by_hand.predict(DATA.X)).all()


def test_row_weights_reach_the_estimator():
    model = QueryRanker(Ridge()).fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=WEIGHTS)
    by_hand = Ridge().fit(DATA.X, DATA.y, sample_weight=WEIGHTS)
    assert (model.predict(DATA.X) == by_hand.predict(DATA.X)).all()
    assert (model.coef_ == by_hand.coef_).all()


@pytest.mark.parametrize("rows", [slice(None), MIXED])
def test_the_score_is_that_of_the_declared_convention(rows):
    X, y, qid = DATA.X[rows], DATA.y[rows], DATA.qid[rows]
    model = QueryRanker(Ridge(), convention=CONV).fit(X, y)
    assert model.score(X, y, qid=qid) == ra.evaluate(y, model.predict(X), CONV, qid=qid).value
    model.set_params(convention=WEIGHTED)
    weights = WEIGHTS[rows]
    queries = ra.Queries(y, qid=qid)
    first = [int(np.flatnonzero(qid == query)[0]) for query in queries.query_ids]
    expected = ra.evaluate(y, model.predict(X), WEIGHTED, qid=qid, query_weight=weights[first]).value
    assert model.score(X, y, qid=qid, sample_weight=weights) == expected


# where the ids are, and what X is

TABLES = {
    "pandas": lambda: FRAME.assign(session=DATA.qid),
    "polars": lambda: pl.DataFrame(DATA.X, schema=NAMES).with_columns(session=DATA.qid),
    "pyarrow": lambda: pa.table({**dict(zip(NAMES, DATA.X.T, strict=True)), "session": DATA.qid}),
    "index level": lambda: FRAME.set_index(pd.Index(DATA.qid, name="session")),
}


@pytest.mark.parametrize("table", TABLES)
def test_a_named_column_or_level_holds_the_ids_and_is_no_feature(table):
    X = TABLES[table]()
    model = QueryRanker(Ridge(), qid="session", convention=CONV).fit(X, DATA.y)
    assert model.n_features_in_ == 5
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_allclose(model.predict(X), Ridge().fit(DATA.X, DATA.y).predict(DATA.X), atol=1e-12)
    assert model.score(X, DATA.y) == ra.evaluate(DATA.y, model.predict(X), CONV, qid=DATA.qid).value


def test_prediction_needs_no_ids():
    X = FRAME.assign(session=DATA.qid)
    model = QueryRanker(HistGradientBoostingRegressor(max_iter=5), qid="session").fit(X, DATA.y)
    assert (model.predict(X) == model.predict(FRAME)).all()
    assert "session" in X.columns


def test_sparse_features_stay_sparse():
    X = sp.csr_matrix(DATA.X)
    model = QueryRanker(Ridge(solver="sparse_cg", tol=1e-10)).fit(X, DATA.y, qid=DATA.qid)
    by_hand = Ridge(solver="sparse_cg", tol=1e-10).fit(X, DATA.y)
    assert (model.predict(X) == by_hand.predict(X)).all()


@pytest.mark.parametrize("as_column", [list, pd.Series, pl.Series, pa.array, lambda ids: [f"q{i}" for i in ids]])
def test_ids_come_in_any_column(as_column):
    model = QueryRanker(Ridge(), convention=CONV).fit(DATA.X, DATA.y, qid=as_column(DATA.qid))
    expected = ra.evaluate(DATA.y, model.predict(DATA.X), CONV, qid=DATA.qid).value
    assert model.score(DATA.X, DATA.y, qid=as_column(DATA.qid)) == expected


# scikit-learn's manners


def test_clone_set_params_and_pickle():
    model = QueryRanker(Ridge(alpha=1.0), convention=CONV).fit(DATA.X, DATA.y)
    other = clone(model).set_params(estimator__alpha=5.0, qid="session")
    assert (other.estimator.alpha, other.convention, other.qid) == (5.0, CONV, "session")
    assert (model.estimator.alpha, model.qid) == (1.0, None)
    assert not hasattr(other, "estimator_")
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(DATA.X) == model.predict(DATA.X)).all()
    assert again.convention.name == CONV.name


def test_fit_leaves_the_estimator_that_was_given_alone():
    inner = Ridge()
    QueryRanker(inner).fit(DATA.X, DATA.y)
    assert not hasattr(inner, "coef_")


def test_it_shows_itself_with_the_estimator_inside():
    page = QueryRanker(make_pipeline(StandardScaler(), Ridge()))._repr_html_()
    assert "QueryRanker" in page
    assert "StandardScaler" in page


def test_tags_are_the_estimators():
    for estimator in (HistGradientBoostingRegressor(), Ridge()):
        assert get_tags(QueryRanker(estimator)).input_tags == get_tags(estimator).input_tags
    assert get_tags(QueryRanker(HistGradientBoostingRegressor())).input_tags.allow_nan


def test_selection_by_its_coefficients():
    selector = SelectFromModel(QueryRanker(make_pipeline(StandardScaler(), Ridge())), max_features=1, threshold=-np.inf)
    assert selector.fit(DATA.X, DATA.y).get_support().tolist() == [True, False, False, False, False]
    model = QueryRanker(Ridge())
    assert not hasattr(model, "coef_")
    assert not hasattr(model.fit(DATA.X, DATA.y), "feature_importances_")


def test_not_fitted_is_said():
    with pytest.raises(NotFittedError, match="QueryRanker instance is not fitted"):
        QueryRanker(Ridge()).predict(DATA.X)


# pipelines


class Watching(TransformerMixin, BaseEstimator):
    """Keeps what it was shown, and changes nothing."""

    def fit(self, X, y=None, sample_weight=None):
        self.seen_ = X
        self.sample_weight_ = sample_weight
        return self

    def transform(self, X):
        return X


def test_the_transformers_of_a_pipeline_never_see_the_ids():
    X = FRAME.assign(session=DATA.qid)
    model = QueryRanker(make_pipeline(Watching(), StandardScaler(), Ridge()), qid="session").fit(X, DATA.y)
    watching = model.estimator_[0]
    assert watching.seen_.columns.tolist() == NAMES
    by_hand = make_pipeline(StandardScaler(), Ridge()).fit(FRAME, DATA.y)
    np.testing.assert_allclose(model.predict(X), by_hand.predict(FRAME), atol=1e-12)
    assert (model.coef_ == model.estimator_[-1].coef_).all()


def test_a_pipeline_in_a_pipeline_with_memory_and_set_output(tmp_path):
    inner = make_pipeline(Watching(), Ridge())
    outer = make_pipeline(StandardScaler(), inner, memory=str(tmp_path)).set_output(transform="pandas")
    model = QueryRanker(outer).fit(FRAME, DATA.y, qid=DATA.qid)
    assert model.estimator_[-1][0].seen_.columns.tolist() == NAMES
    by_hand = make_pipeline(StandardScaler(), Ridge()).fit(FRAME, DATA.y)
    assert (model.predict(FRAME) == by_hand.predict(FRAME)).all()


def test_as_the_last_step_of_a_pipeline(routing):
    model = make_pipeline(StandardScaler(), QueryRanker(Ridge(), convention=CONV)).fit(DATA.X, DATA.y, qid=DATA.qid)
    expected = ra.evaluate(DATA.y, model.predict(DATA.X), CONV, qid=DATA.qid).value
    assert model.score(DATA.X, DATA.y, qid=DATA.qid) == expected


def test_a_transformer_gets_the_weights_that_it_requests(routing):
    for wants in (True, False):
        head = Watching().set_fit_request(sample_weight=wants)
        model = QueryRanker(make_pipeline(head, Ridge())).fit(DATA.X, DATA.y, sample_weight=WEIGHTS)
        assert (model.estimator_[0].sample_weight_ is not None) == wants
        assert (model.coef_ == Ridge().fit(DATA.X, DATA.y, WEIGHTS).coef_).all()


def test_a_step_that_changes_the_rows_is_refused():
    class Half(Watching):
        def transform(self, X):
            return X[::2]

    with pytest.raises(ra.InputError, match=r"a step of the pipeline made \d+ rows of \d+, .*\nHint: sample rows"):
        QueryRanker(make_pipeline(Half(), Ridge())).fit(DATA.X, DATA.y, qid=DATA.qid)


# routing


class Tagged(RegressorMixin, BaseEstimator):
    """Keeps the metadata that its fit was given."""

    def fit(self, X, y, *, tag=None):
        self.tag_ = tag
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def test_parameters_of_fit_are_handed_on_or_routed():
    assert QueryRanker(Tagged()).fit(DATA.X, DATA.y, tag="x").estimator_.tag_ == "x"
    for pipe in (make_pipeline(StandardScaler(), Tagged()), make_pipeline(Tagged())):
        assert QueryRanker(pipe).fit(DATA.X, DATA.y, tagged__tag="x").estimator_[-1].tag_ == "x"
    with sklearn.config_context(enable_metadata_routing=True):
        wants = Tagged().set_fit_request(tag=True)
        assert QueryRanker(wants).fit(DATA.X, DATA.y, tag="x").estimator_.tag_ == "x"
        for pipe in (make_pipeline(StandardScaler(), wants), make_pipeline(wants)):
            assert QueryRanker(pipe).fit(DATA.X, DATA.y, tag="x").estimator_[-1].tag_ == "x"
        for silent in (Tagged(), make_pipeline(StandardScaler(), Tagged()), make_pipeline(Tagged())):
            with pytest.raises(UnsetMetadataPassedError, match="tag"):
                QueryRanker(silent).fit(DATA.X, DATA.y, tag="x")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_scores_every_fold_as_by_hand(routing, n_jobs):
    model = QueryRanker(HistGradientBoostingRegressor(max_iter=5))
    search = GridSearchCV(
        model, {"estimator__max_leaf_nodes": [3, 7]}, scoring=query_scorer(CONV), cv=folds(), n_jobs=n_jobs
    )
    search.fit(DATA.X, DATA.y, qid=DATA.qid)
    for row, leaves in enumerate([3, 7]):
        for number, (train, test) in enumerate(folds()):
            fitted = clone(model).set_params(estimator__max_leaf_nodes=leaves).fit(DATA.X[train], DATA.y[train])
            expected = ra.evaluate(DATA.y[test], fitted.predict(DATA.X[test]), CONV, qid=DATA.qid[test]).value
            assert search.cv_results_[f"split{number}_test_score"][row] == expected


def test_its_own_score_serves_a_search(routing):
    search = GridSearchCV(QueryRanker(Ridge(), convention=CONV), {"estimator__alpha": [1.0]}, cv=folds())
    search.fit(DATA.X, DATA.y, qid=DATA.qid)
    expected = ra.evaluate(DATA.y, search.predict(DATA.X), CONV, qid=DATA.qid).value
    assert search.score(DATA.X, DATA.y, qid=DATA.qid) == expected


@pytest.mark.parametrize("convention", [CONV, WEIGHTED])
def test_weights_need_no_request_call_and_count_where_the_convention_says(routing, convention):
    found = cross_validate(QueryRanker(Ridge(), convention=convention), DATA.X, DATA.y, cv=folds(),
                           params={"qid": DATA.qid, "sample_weight": WEIGHTS})  # fmt: skip
    for value, (train, test) in zip(found["test_score"], folds(), strict=True):
        scores = Ridge().fit(DATA.X[train], DATA.y[train], WEIGHTS[train]).predict(DATA.X[test])
        first = np.unique(DATA.qid[test], return_index=True)[1]
        weights = None if convention is CONV else WEIGHTS[test][first]
        expected = ra.evaluate(DATA.y[test], scores, convention, qid=DATA.qid[test], query_weight=weights)
        assert value == expected.value


class Unasking(Ridge):
    """Takes weights but asks for none, as CatBoostRanker does, so that QueryRanker must."""

    __metadata_request__fit = {"sample_weight": False}  # noqa: RUF012 - scikit-learn reads it


@pytest.mark.parametrize("inner", [Ridge(), Unasking()])
def test_routed_weights_train_every_fold(routing, inner):
    found = cross_validate(QueryRanker(inner), DATA.X, DATA.y, cv=folds(), scoring=query_scorer(WEIGHTED),
                           return_estimator=True, params={"qid": DATA.qid, "sample_weight": WEIGHTS})  # fmt: skip
    for model, (train, _) in zip(found["estimator"], folds(), strict=True):
        X, y = DATA.X[train], DATA.y[train]
        assert (model.coef_ == Ridge().fit(X, y, sample_weight=WEIGHTS[train]).coef_).all()
        assert (model.coef_ != Ridge().fit(X, y).coef_).all()


def test_predictions_of_a_cross_validation_are_in_row_order(routing):
    X, y, qid = DATA.X[MIXED], DATA.y[MIXED], DATA.qid[MIXED]
    found = cross_val_predict(QueryRanker(Ridge()), X, y, cv=QueryKFold(3), params={"qid": qid})
    for train, test in QueryKFold(3).split(X, y, qid):
        assert (found[test] == Ridge().fit(X[train], y[train]).predict(X[test])).all()


def test_a_column_of_ids_serves_a_search_without_routing():
    X = FRAME.assign(qid=DATA.qid)
    for scoring in (None, query_scorer(CONV)):
        model = QueryRanker(Ridge(), qid="qid", convention=CONV)
        search = GridSearchCV(model, {"estimator__alpha": [1.0]}, scoring=scoring, cv=folds()).fit(X, DATA.y)
        train, test = folds()[0]
        scores = Ridge().fit(FRAME.iloc[train], DATA.y[train]).predict(FRAME.iloc[test])
        assert (
            search.cv_results_["split0_test_score"][0]
            == ra.evaluate(DATA.y[test], scores, CONV, qid=DATA.qid[test]).value
        )


# what it warns of and refuses


def test_cut_queries_are_told_by_who_knows_their_sizes(routing):
    model = QueryRanker(Ridge(), convention=CONV, whole=DATA.qid)
    some = np.flatnonzero(DATA.qid < 10)
    clone(model).fit(DATA.X[some], DATA.y[some], qid=DATA.qid[some]).score(DATA.X, DATA.y, qid=DATA.qid)
    cut = some[:-1]
    with pytest.warns(CutQueriesWarning, match="1 of 10 queries are not whole: query 9 has"):
        model.fit(DATA.X[cut], DATA.y[cut], qid=DATA.qid[cut])
    with pytest.warns(CutQueriesWarning, match="1 of 10 queries are not whole"):
        model.score(DATA.X[cut], DATA.y[cut], qid=DATA.qid[cut])
    with pytest.warns(CutQueriesWarning, match="are not whole"):
        learning_curve(model, DATA.X, DATA.y, cv=QueryKFold(3), train_sizes=[0.5], params={"qid": DATA.qid})


def fit(estimator=None, X=DATA.X, y=DATA.y, *, qid=DATA.qid, sample_weight=None, **declared):
    return QueryRanker(Ridge() if estimator is None else estimator, **declared).fit(
        X, y, qid=qid, sample_weight=sample_weight
    )


def declared(name, X=FRAME, **given):
    return QueryRanker(Ridge(), qid=name).fit(X, DATA.y, **given)


def with_nan(values):
    return np.where(np.arange(len(values)) == 7, np.nan, values)


def late(values):
    return np.where(np.arange(len(values)) == len(values) - 1, 0.5, values)


HINTED = r"[^\0]*\nHint: "
HELD = r"of X holds the query ids, [^\0]*\nHint: QueryRanker\(estimator, qid='its name'\)"
POLARS = pl.DataFrame(DATA.X, schema=NAMES).with_columns(session=DATA.qid)
ARROW = pa.table({"a": DATA.X[:, 0], "session": DATA.qid})
BAD = {
    "qid of other length": (lambda: fit(qid=DATA.qid[:-1]), rf"qid has \d+ rows but labels has \d+{HINTED}"),
    "qid with NaN": (lambda: fit(qid=with_nan(DATA.qid)), rf"qid\[7\] is nan{HINTED}drop rows without a query"),
    "qid with None": (lambda: fit(qid=[None, *DATA.qid[1:]]), rf"qid\[0\] is None{HINTED}drop rows"),
    "float qid": (lambda: fit(qid=DATA.qid / 10), rf"qid holds floats such as 0\.0{HINTED}qid\.astype"),
    "y with NaN": (lambda: fit(y=with_nan(DATA.y)), rf"labels\[7\] is nan, which is no finite number{HINTED}"),
    "X of other length": (lambda: fit(X=DATA.X[:-1]), rf"X has \d+ rows but y has \d+{HINTED}one label"),
    "another index": (lambda: fit(y=pd.Series(DATA.y), qid=pd.Series(DATA.qid, index=MIXED)), "another pandas index"),
    "ids among the features": (lambda: fit(X=np.column_stack([DATA.X, DATA.qid])), f"column 5 {HELD}"),
    "ids among sparse ones": (lambda: fit(X=sp.csr_matrix(np.column_stack([DATA.qid, DATA.X]))), f"column 0 {HELD}"),
    "ids in an undeclared column": (lambda: fit(X=FRAME.assign(session=DATA.qid)), f"column 'session' {HELD}"),
    "ids in a polars column": (lambda: fit(X=POLARS), f"column 'session' {HELD}"),
    "ids in a pyarrow column": (lambda: fit(X=ARROW), f"column 'session' {HELD}"),
    "text ids": (lambda: fit(X=FRAME.assign(s=DATA.qid.astype(str)), qid=DATA.qid.astype(str)), f"column 's' {HELD}"),
    "a column named qid": (lambda: fit(X=FRAME.assign(qid=0)), f"column 'qid' {HELD}"),
    "weights that vary": (lambda: fit(sample_weight=late(WEIGHTS)), rf"sample_weight varies within query{HINTED}"),
    "weights of other length": (
        lambda: fit(sample_weight=WEIGHTS[1:]),
        rf"sample_weight has \d+ entries{HINTED}one per row",
    ),
    "weights nobody takes": (lambda: fit(KNeighborsRegressor(), sample_weight=WEIGHTS), f"no sample_weight{HINTED}"),
    "a class": (lambda: fit(Ridge), rf"estimator is the class Ridge{HINTED}QueryRanker\(Ridge\(\)\)"),
    "no fit": (lambda: fit("ridge"), rf"estimator='ridge' has no fit{HINTED}an estimator"),
    "no predict": (lambda: fit(StandardScaler()), rf"has no predict{HINTED}"),
    "ids to the constructor": (lambda: declared(DATA.qid), rf"must name a column or index level of X{HINTED}"),
    "ids given twice": (lambda: declared("a", qid=DATA.qid), rf"ids were given twice{HINTED}leave qid= out"),
    "a column that is not there": (lambda: declared("s"), rf"no column or index level 's'{HINTED}a table"),
    "a column of an array": (lambda: declared("s", DATA.X), rf"no column or index level 's'{HINTED}a table"),
    "validation": (
        lambda: fit(validation_fraction=0.2),
        f"Ridge is handed no validation queries{HINTED}it is for LGBM",
    ),
    "a fraction of one": (lambda: fit(validation_fraction=1.0), r"validation_fraction=1\.0 is no share"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_the_way_out(case):
    call, message = BAD[case]
    with pytest.raises(ra.InputError, match=message):
        call()


def test_conventions_are_conventions():
    with pytest.raises(ra.ConventionError, match=r"convention: 'ndcg' does not start with .*\nHint: the measures are"):
        fit(convention="ndcg")
    with pytest.raises(ra.ConventionError, match="eval_metric: 'ndcg' does not start with"):
        fit(eval_metric="ndcg")
    with pytest.raises(ra.ConventionError, match=r"convention: 10 is no convention\.\nHint: "):
        fit(convention=10)


def test_score_takes_no_convention_and_no_queries_for_granted():
    model = fit()
    with pytest.raises(ra.ConventionError, match=r"no convention to score under.*\nHint: QueryRanker"):
        model.score(DATA.X, DATA.y, qid=DATA.qid)
    with pytest.raises(ra.InputError, match=r"score got no qid.*\nHint: score\(X, y, qid=ids\)"):
        model.set_params(convention=CONV).score(DATA.X, DATA.y)
    with pytest.raises(ra.InputError, match="qid holds floats"):
        model.score(DATA.X, DATA.y, qid=DATA.qid / 10)


def test_a_search_without_routing_says_how_to_turn_it_on():
    model = QueryRanker(Ridge(), convention=CONV)
    search = GridSearchCV(model, {"estimator__alpha": [1.0]}, cv=folds(), error_score="raise")
    with pytest.raises(ra.InputError, match=r"score got no qid.*\nHint: [^\0]*enable_metadata_routing=True"):
        search.fit(DATA.X, DATA.y, qid=DATA.qid)


def test_a_single_column_of_all_queries_alike_is_no_id():
    X = np.ones((3, 2))
    assert QueryRanker(Ridge()).fit(X, [0, 1, 2], qid=[1, 1, 1]).n_features_in_ == 2


def test_features_of_other_names_or_another_number_are_refused():
    frame = pd.DataFrame(DATA.X).rename(columns="f{}".format)
    model = QueryRanker(Ridge()).fit(frame, DATA.y, qid=DATA.qid)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="4 features, but QueryRanker is expecting 5"):
        QueryRanker(Ridge()).fit(DATA.X, DATA.y, qid=DATA.qid).predict(DATA.X[:, :4])


@pytest.mark.parametrize("kind", ["coo", "bsr"])
def test_sparse_matrices_without_rows_are_taken_too(kind):
    rows = np.random.default_rng(0).permutation(DATA.y.size)
    model = QueryRanker(Ridge()).fit(sp.csr_matrix(DATA.X[rows]), DATA.y[rows], qid=DATA.qid[rows])
    other = QueryRanker(Ridge()).fit(sp.csr_matrix(DATA.X[rows]).asformat(kind), DATA.y[rows], qid=DATA.qid[rows])
    assert (model.predict(DATA.X) == other.predict(DATA.X)).all()


@pytest.mark.parametrize("hidden", ["list", "float32"])
def test_ids_inside_lists_and_narrow_columns_are_found(hidden):
    ids = DATA.qid + 100_000_001
    X = np.column_stack([DATA.X, ids]) if hidden == "list" else np.column_stack([DATA.X, ids]).astype(np.float32)
    with pytest.raises(ra.InputError, match="column 5 of X holds the query ids"):
        QueryRanker(Ridge()).fit(X.tolist() if hidden == "list" else X, DATA.y, qid=ids)
