from __future__ import annotations

import pickle
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankadapters as ra
from tests.ranking_data import ranking

sklearn = pytest.importorskip("sklearn")

import joblib  # noqa: E402 - comes with scikit-learn
from sklearn.base import BaseEstimator, RegressorMixin, clone  # noqa: E402
from sklearn.ensemble import ExtraTreesRegressor  # noqa: E402
from sklearn.experimental import enable_halving_search_cv  # noqa: E402, F401 - brings HalvingGridSearchCV
from sklearn.inspection import permutation_importance  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    cross_val_predict,
    cross_validate,
    learning_curve,
    train_test_split,
    validation_curve,
)
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


def by_hand(convention, model=Ridge(), cv=None, **weights):  # noqa: B008 - cloned before each use
    values = []
    for train, test in cv or folds():
        fitted = clone(model).fit(DATA.X[train], DATA.y[train])
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


def whole_folds():
    return list(ra.sklearn.QueryKFold(3).split(DATA.X, DATA.y, DATA.qid))


def forest(**params):
    return ExtraTreesRegressor(max_depth=3, random_state=0, **params)


SEARCHES = {
    "grid": lambda **kw: GridSearchCV(forest(), {"n_estimators": [2, 4]}, **kw),
    "randomized": lambda **kw: RandomizedSearchCV(
        forest(), {"n_estimators": [2, 3, 4]}, n_iter=2, random_state=0, **kw
    ),
    "halving": lambda **kw: HalvingGridSearchCV(
        forest(), {"max_features": [1, 3]}, resource="n_estimators", max_resources=4, factor=2, **kw
    ),
}


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_search_scores_every_candidate_on_whole_queries(routing, kind):
    search = SEARCHES[kind](scoring=ra.sklearn.query_scorer(TEXTBOOK), cv=ra.sklearn.QueryKFold(3))
    found = search.fit(DATA.X, DATA.y, qid=DATA.qid).cv_results_
    for row, params in enumerate(found["params"]):
        resources = {"n_estimators": found["n_resources"][row]} if kind == "halving" else {}
        expected = by_hand(TEXTBOOK, forest(**{**params, **resources}), whole_folds())
        assert [found[f"split{i}_test_score"][row] for i in range(3)] == expected


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_two_jobs_give_the_numbers_of_one(routing, backend):
    search = SEARCHES["grid"](scoring=ra.sklearn.query_scorer(TEXTBOOK), cv=ra.sklearn.QueryKFold(3), n_jobs=2)
    with joblib.parallel_backend(backend, n_jobs=2):
        found = search.fit(DATA.X, DATA.y, qid=DATA.qid).cv_results_
    for row, params in enumerate(found["params"]):
        expected = by_hand(TEXTBOOK, forest(**params), whole_folds())
        assert [found[f"split{i}_test_score"][row] for i in range(3)] == expected


def test_validation_curve(routing):
    _, scores = validation_curve(Ridge(), DATA.X, DATA.y, param_name="alpha", param_range=[0.1, 100.0],
                                 scoring=ra.sklearn.query_scorer(TEXTBOOK), cv=ra.sklearn.QueryKFold(3),
                                 params={"qid": DATA.qid})  # fmt: skip
    assert scores.tolist() == [by_hand(TEXTBOOK, Ridge(alpha=alpha), whole_folds()) for alpha in (0.1, 100.0)]


def test_cross_val_predict_gives_predictions_in_row_order(routing):
    rows = np.random.default_rng(0).permutation(DATA.y.size)
    X, y, qid = DATA.X[rows], DATA.y[rows], DATA.qid[rows]
    expected = np.empty(y.size)
    for train, test in ra.sklearn.QueryKFold(3).split(X, y, qid):
        expected[test] = Ridge().fit(X[train], y[train]).predict(X[test])
    found = cross_val_predict(Ridge(), X, y, cv=ra.sklearn.QueryKFold(3), params={"qid": qid})
    np.testing.assert_array_equal(found, expected)


def test_scorers_of_several_conventions_go_by_their_names(routing):
    scoring = ra.sklearn.query_scorers(TEXTBOOK, WEIGHTED)
    assert list(scoring) == [TEXTBOOK.name, WEIGHTED.name]
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=scoring, cv=ra.sklearn.QueryKFold(3), refit=TEXTBOOK.name)
    found = search.fit(DATA.X, DATA.y, qid=DATA.qid).cv_results_
    for convention in (TEXTBOOK, WEIGHTED):
        values = [found[f"split{i}_test_{convention.name}"][0] for i in range(3)]
        assert values == by_hand(convention, cv=whole_folds())
    assert search.best_score_ == found[f"mean_test_{TEXTBOOK.name}"][0]


def test_scorers_may_be_named():
    scoring = ra.sklearn.query_scorers(TEXTBOOK, WEIGHTED, qid="session", names=["a", "b"])
    assert repr(scoring["b"]) == "query_scorer(b, qid='session')"
    assert repr(ra.sklearn.query_scorer(TEXTBOOK, name="mine")) == "query_scorer(mine, qid='qid')"
    with pytest.raises(ra.ConventionError, match="two conventions report under one name"):
        ra.sklearn.query_scorers(TEXTBOOK, TEXTBOOK)
    with pytest.raises(ra.ConventionError, match=r"no convention was given.*\nHint: query_scorers"):
        ra.sklearn.query_scorers()
    with pytest.raises(ra.ConventionError, match=r"'ndcg' does not start with a measure and its cutoff.*\nHint: "):
        ra.sklearn.query_scorers(TEXTBOOK, "ndcg")
    with pytest.raises(ra.ConventionError, match=r"10 is no convention\.\nHint: "):
        ra.sklearn.query_scorers(TEXTBOOK, 10)
    with pytest.raises(ra.ConventionError, match=r"name=7 is no text.\nHint: name=None shows 'ndcg@5/textbook'"):
        ra.sklearn.query_scorer(TEXTBOOK, name=7)


TABLES = {
    "pandas": (pd.DataFrame, pd.Series),
    "polars": (pl.DataFrame, pl.Series),
    "pyarrow": (pa.table, pa.array),
    "pyarrow in chunks": (pa.table, lambda column: pa.chunked_array([column[:7], column[7:]])),
}


@pytest.mark.parametrize("library", TABLES)
def test_tables_are_split_and_scored_like_arrays(routing, library):
    to_table, to_column = TABLES[library]
    try:
        sklearn.utils._safe_indexing(to_table({"a": [1, 2]}), [0])
    except TypeError:
        pytest.skip("this scikit-learn does not slice pyarrow tables, whoever splits and scores")
    X = to_table({name: DATA.X[:, i] for i, name in enumerate("abcde")})
    rows = np.repeat(np.random.default_rng(0).random(DATA.sizes.size), DATA.sizes)
    params = {"qid": to_column(DATA.qid), "sample_weight": to_column(rows)}
    scores = cross_validate(Ridge().set_fit_request(sample_weight=False), X, to_column(DATA.y), params=params,
                            cv=ra.sklearn.QueryKFold(3), scoring=ra.sklearn.query_scorer(WEIGHTED))  # fmt: skip
    assert scores["test_score"].tolist() == by_hand(WEIGHTED, cv=whole_folds(), rows=rows)


def test_weights_without_routing_reach_the_scorers_where_scikit_learn_hands_them_on():
    rows = np.repeat(np.random.default_rng(0).random(DATA.sizes.size), DATA.sizes)
    X = pd.DataFrame(DATA.X, index=pd.Index(DATA.qid, name="qid"))
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=ra.sklearn.query_scorers(WEIGHTED, names=["w"]),
                          cv=ra.sklearn.QueryKFold(3), refit=False)  # fmt: skip
    found = search.fit(X, DATA.y, groups=DATA.qid, sample_weight=rows).cv_results_
    expected = []
    for train, test in whole_folds():
        model = Ridge().fit(DATA.X[train], DATA.y[train], sample_weight=rows[train])
        handed_on = hasattr(search, "_check_scorers_accept_sample_weight")  # not before 1.9
        weights = ra.Queries(DATA.y[test], qid=DATA.qid[test]).indptr[:-1]
        weights = rows[test][weights] if handed_on else None
        score = ra.evaluate(DATA.y[test], model.predict(DATA.X[test]), WEIGHTED, qid=DATA.qid[test],
                            query_weight=weights)  # fmt: skip
        expected.append(score.value)
    assert [found[f"split{i}_test_w"][0] for i in range(3)] == expected


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
    misleading = pd.DataFrame({"column_names": DATA.y, "qid": DATA.qid})
    np.testing.assert_array_equal(ra.sklearn.qid.find_qid("qid", misleading, DATA.y), DATA.qid)


def test_no_qid_is_an_error_and_an_unnamed_index_is_none(routing):
    model = Ridge().fit(DATA.X, DATA.y)
    scorer = ra.sklearn.query_scorer(TEXTBOOK)
    unnamed = pd.Series(DATA.y, index=DATA.qid)
    for X, y in ((DATA.X, DATA.y), (DATA.X, unnamed), (pd.DataFrame(DATA.X, index=DATA.qid).to_numpy(), DATA.y)):
        with pytest.raises(ra.InputError, match=r"the scorer got no 'qid'.*\nHint: sklearn\.set_config"):
            scorer(model, X, y)
    with pytest.raises(ra.InputError, match="got no 'qid'"):
        cross_validate(Ridge(), DATA.X, DATA.y, cv=folds(), scoring=scorer, error_score="raise", params={})


def test_without_routing_the_error_says_so():
    model = Ridge().fit(DATA.X, DATA.y)
    scorer = ra.sklearn.query_scorer(TEXTBOOK, qid="session")
    with pytest.raises(ra.InputError, match=r"metadata routing is off, so that no metadata reaches a scorer"):
        scorer(model, DATA.X, DATA.y)
    with pytest.raises(ra.InputError, match=r"fit\(X, y, session=...\) or params={'session': ...}"):
        scorer(model, DATA.X, DATA.y)
    search = GridSearchCV(Ridge(), {}, scoring=scorer, cv=ra.sklearn.QueryKFold(3))
    with pytest.raises(ra.InputError, match=r"QueryKFold got no qid.*\nHint: sklearn.set_config\(enable_metadata_"):
        search.fit(DATA.X, DATA.y, qid=DATA.qid)
    search.estimator_ = search.best_estimator_ = model
    search.scorer_ = scorer
    with pytest.raises(ValueError, match=r"only supported if enable_metadata_routing=True, which you can set using"):
        search.score(DATA.X, DATA.y, qid=DATA.qid)  # scikit-learn's own word, which names the way out


def with_value(column, row, value):
    return [value if i == row else item for i, item in enumerate(column.tolist())]


BAD = {
    "length": (DATA.y, DATA.qid[1:], rf"qid has {DATA.y.size - 1} rows but labels has {DATA.y.size}\.\nHint: "),
    "NaN": (DATA.y, with_value(DATA.qid, 3, np.nan), r"qid\[3\] is nan, but every row belongs to a query\.\nHint: "),
    "None": (DATA.y, with_value(DATA.qid, 3, None), r"qid\[3\] is None, but every row belongs to a query\.\nHint: "),
    "float": (DATA.y, DATA.qid.astype(float), r"qid holds floats such as 0\.0.*\nHint: qid\.astype\('int64'\)"),
    "a float": (DATA.y, np.array([*DATA.qid[:-1], 0.5], object), r"qid holds floats such as 0\.5"),
    "y": (with_value(DATA.y, 5, np.nan), DATA.qid, r"labels\[5\] is nan, which is no finite number\.\nHint: "),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_columns_are_named(case):
    y, qid, message = BAD[case]
    model = Ridge().fit(DATA.X, DATA.y)
    with pytest.raises(ra.InputError, match=message):
        ra.sklearn.query_scorer(TEXTBOOK)(model, DATA.X, y, qid=qid)


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
    with pytest.warns(
        ra.sklearn.CutQueriesWarning, match="60 of 60 queries are not whole"
    ):  # doubled, as by resampling
        scorer(model, np.vstack([DATA.X] * 2), np.tile(DATA.y, 2), qid=np.tile(DATA.qid, 2))


def test_whole_queries_in_any_order_and_queries_it_was_not_told_of_are_no_reason_to_warn():
    model = Ridge().fit(DATA.X, DATA.y)
    scorer = pickle.loads(pickle.dumps(ra.sklearn.query_scorers(TEXTBOOK, whole=DATA.qid)[TEXTBOOK.name]))
    rows = np.random.default_rng(0).permutation(np.flatnonzero(DATA.qid < 30))
    for X, y, qid in ((DATA.X[rows], DATA.y[rows], DATA.qid[rows]), (DATA.X[:9], DATA.y[:9], DATA.qid[:9] + 1000)):
        assert scorer(model, X, y, qid=qid) == ra.evaluate(y, model.predict(X), TEXTBOOK, qid=qid).value
    with pytest.raises(ra.InputError, match="qid holds floats"):
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


def learnt(scorer):
    learning_curve(Ridge(), DATA.X, DATA.y, params={"qid": DATA.qid}, train_sizes=[0.5], shuffle=True, random_state=0,
                   scoring=scorer, cv=ra.sklearn.QueryKFold(3))  # fmt: skip


CUTTERS = {
    "KFold": lambda scorer: cross_validated(KFold(3, shuffle=True, random_state=0), scorer),
    "train_test_split": train_and_test,
    "learning_curve": learnt,
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
    with pytest.raises(ra.ConventionError, match="10 is no convention"):
        ra.sklearn.query_scorer(10)
    with pytest.raises(ra.ConventionError, match="'letor4' has no cutoff"):
        ra.sklearn.query_scorer("letor4")
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


def test_the_optuna_example_prunes_some_trials_and_scores_the_others_on_whole_queries(capsys):
    pytest.importorskip("optuna")
    xgb = pytest.importorskip("xgboost")
    found = runpy.run_path(str(Path(__file__).parent.parent / "examples" / "optuna_pruning.py"))
    rounds = {}
    for trial in found["study"].trials:
        rounds.setdefault(trial.state.name, set()).add(len(trial.intermediate_values))
    every = found["FOLDS"] * found["ROUNDS"]
    assert set(rounds) == {"COMPLETE", "PRUNED"}
    assert rounds["COMPLETE"] == {every}
    assert max(rounds["PRUNED"]) <= every
    data, kept, conv = found["train"], found["kept"], found["conv"]
    X, y, qid = data.X[kept], data.labels[kept], data.qid[kept]
    scores = []
    for train, test in ra.sklearn.StratifiedQueryKFold(found["FOLDS"]).split(X, y, qid):
        ranker = xgb.XGBRanker(n_estimators=found["ROUNDS"], n_jobs=1, **found["study"].best_params)
        ranker.fit(X[train], y[train], qid=qid[train])
        scores.append(ra.evaluate(y[test], ranker.predict(X[test]), conv, qid=qid[test]).value)
    assert found["study"].best_value == np.mean(scores)
    assert "the others were pruned" in capsys.readouterr().out
