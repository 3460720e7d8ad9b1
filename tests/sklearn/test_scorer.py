"""`query_scorer` in scikit-learn's searches and cross-validation: routing, names, tables, weights and whole queries."""

import pickle
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from sklearn.experimental import enable_halving_search_cv  # noqa: E402, F401 - brings HalvingGridSearchCV
from sklearn.inspection import permutation_importance  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, KFold, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

from tests.sklearn.folds import DATA, TEXTBOOK, WEIGHTED, folds, forest, values_by_fold  # noqa: E402

ROW_WEIGHTS = np.repeat(np.random.default_rng(0).random(DATA.sizes.size), DATA.sizes)


def query_folds():
    return list(ra.sklearn.QueryKFold(3).split(DATA.X, DATA.y, DATA.qid))


def test_routed_qid_needs_no_request_and_may_have_another_name(metadata_routing):
    scorer = ra.sklearn.query_scorer(TEXTBOOK)
    scores = cross_validate(Ridge(), DATA.X, DATA.y, params={"qid": DATA.qid}, cv=folds(), scoring=scorer)
    assert scores["test_score"].tolist() == values_by_fold(TEXTBOOK)
    scoring = {name: ra.sklearn.query_scorer(c, qid="session") for name, c in (("a", TEXTBOOK), ("b", WEIGHTED))}
    scores = cross_validate(Ridge(), DATA.X, DATA.y, params={"session": DATA.qid}, cv=folds(), scoring=scoring)
    assert scores["test_a"].tolist() == values_by_fold(TEXTBOOK)
    assert scores["test_b"].tolist() == values_by_fold(WEIGHTED)


def test_scorers_can_be_pickled_and_named():
    scoring = ra.sklearn.query_scorer({"a": TEXTBOOK, "b": WEIGHTED}, qid="session")
    assert repr(scoring["b"]) == "query_scorer(b, qid='session')"
    assert repr(ra.sklearn.query_scorer({"mine": TEXTBOOK})) == "{'mine': query_scorer(mine, qid='qid')}"
    scorer = ra.sklearn.query_scorer(TEXTBOOK)
    unpickled = pickle.loads(pickle.dumps(scorer))
    assert (unpickled.convention, unpickled.qid) == (TEXTBOOK, "qid")
    assert repr(scorer) == "query_scorer(ndcg@5/textbook, qid='qid')"


TABLES = {
    "numpy": (lambda columns: np.column_stack(list(columns.values())), np.asarray),
    "pandas": (pd.DataFrame, pd.Series),
    "polars": (pl.DataFrame, pl.Series),
    "pyarrow": (pa.table, pa.array),
    "pyarrow in chunks": (pa.table, lambda column: pa.chunked_array([column[:7], column[7:]])),
}


@pytest.mark.parametrize("library", TABLES)
def test_tables_are_split_and_scored_like_arrays(metadata_routing, library):
    to_table, to_column = TABLES[library]
    try:
        sklearn.utils._safe_indexing(to_table({"a": [1, 2]}), [0])
    except TypeError:
        pytest.skip("this scikit-learn does not slice pyarrow tables")
    X = to_table({name: DATA.X[:, column] for column, name in enumerate("abcde")})
    params = {"qid": to_column(DATA.qid), "sample_weight": to_column(ROW_WEIGHTS)}
    scores = cross_validate(Ridge().set_fit_request(sample_weight=False), X, to_column(DATA.y), params=params,
                            cv=ra.sklearn.QueryKFold(3), scoring=ra.sklearn.query_scorer(WEIGHTED))  # fmt: skip
    assert scores["test_score"].tolist() == values_by_fold(WEIGHTED, cv=query_folds(), rows=ROW_WEIGHTS)


def test_weights_without_routing_reach_the_scorers_from_scikit_learn_1_9_on():
    X = pd.DataFrame(DATA.X, index=pd.Index(DATA.qid, name="qid"))
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=ra.sklearn.query_scorer({"w": WEIGHTED}),
                          cv=ra.sklearn.QueryKFold(3), refit=False)  # fmt: skip
    results = search.fit(X, DATA.y, groups=DATA.qid, sample_weight=ROW_WEIGHTS).cv_results_
    passes_weights = hasattr(search, "_check_scorers_accept_sample_weight")  # not before 1.9
    for fold, (train, test) in enumerate(query_folds()):
        scores = Ridge().fit(DATA.X[train], DATA.y[train], sample_weight=ROW_WEIGHTS[train]).predict(DATA.X[test])
        starts = ra.Queries(DATA.y[test], qid=DATA.qid[test]).indptr[:-1]
        weights = ROW_WEIGHTS[test][starts] if passes_weights else None
        expected = ra.evaluate(DATA.y[test], scores, WEIGHTED, qid=DATA.qid[test], query_weight=weights).value
        assert results[f"split{fold}_test_w"][0] == expected


@pytest.mark.long
def test_the_optuna_example_prunes_trials_and_scores_the_rest_on_whole_queries(capsys):
    pytest.importorskip("optuna")
    xgb = pytest.importorskip("xgboost")
    example = runpy.run_path(str(Path(__file__).parent.parent.parent / "examples" / "optuna_pruning.py"))
    rounds = {}
    for trial in example["study"].trials:
        rounds.setdefault(trial.state.name, set()).add(len(trial.intermediate_values))
    all_rounds = example["FOLDS"] * example["ROUNDS"]
    assert set(rounds) == {"COMPLETE", "PRUNED"}
    assert rounds["COMPLETE"] == {all_rounds}
    assert max(rounds["PRUNED"]) <= all_rounds
    data, rows, convention = example["train"], example["fit_rows"], example["conv"]
    X, y, qid = data.X[rows], data.labels[rows], data.qid[rows]
    scores = []
    for train, test in ra.sklearn.StratifiedQueryKFold(example["FOLDS"]).split(X, y, qid):
        ranker = xgb.XGBRanker(n_estimators=example["ROUNDS"], n_jobs=1, **example["study"].best_params)
        ranker.fit(X[train], y[train], qid=qid[train])
        scores.append(ra.evaluate(y[test], ranker.predict(X[test]), convention, qid=qid[test]).value)
    assert example["study"].best_value == np.mean(scores)
    assert "the others were pruned" in capsys.readouterr().out


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


# Weights that a convention would ignore


def ridge(convention):
    estimator = Ridge().set_fit_request(sample_weight=True)
    return ra.sklearn.QueryRanker(estimator, convention=convention).fit(DATA.X, DATA.y)


def learner(convention):
    pytest.importorskip("numba")
    return ra.learners.RankSVM(convention=convention).fit(DATA.X, DATA.y, qid=DATA.qid)


def score(model, convention, **columns):
    return model.score(DATA.X, DATA.y, **columns)


def scorer(model, convention, **columns):
    return ra.sklearn.query_scorer(convention)(model, DATA.X, DATA.y, **columns)


for_each_model = pytest.mark.parametrize("make", [ridge, learner])


@pytest.mark.parametrize("call", [score, scorer])
@for_each_model
def test_weights_that_a_convention_ignores_are_refused(metadata_routing, make, call):
    message = r"sample_weight was given but the convention says average='uniform', which would ignore it\.\nHint: "
    with pytest.raises(ra.InputError, match=message):
        call(make(TEXTBOOK), TEXTBOOK, qid=DATA.qid, sample_weight=ROW_WEIGHTS)
    plain, weighted = (call(make(WEIGHTED), WEIGHTED, qid=DATA.qid, sample_weight=w) for w in (None, ROW_WEIGHTS))
    assert plain != weighted


@for_each_model
def test_a_cross_validation_asks_for_a_request_if_the_score_would_ignore_weights(metadata_routing, make):
    model, params = make(TEXTBOOK), {"qid": DATA.qid, "sample_weight": ROW_WEIGHTS}
    options = {"X": DATA.X, "y": DATA.y, "cv": ra.sklearn.QueryKFold(3), "params": params, "error_score": "raise"}
    # Before its release 1.8, scikit-learn passes them to the score, which refuses them itself.
    with pytest.raises(ValueError, match=r"\[sample_weight\] are passed .*set_score_request|which would ignore it"):
        cross_validate(model, **options)
    for_fit_alone = cross_validate(model.set_score_request(sample_weight=False), **options)
    scored = cross_validate(make(TEXTBOOK), scoring=ra.sklearn.query_scorer(TEXTBOOK), **options)
    assert for_fit_alone["test_score"].tolist() == scored["test_score"].tolist()
    weighted = cross_validate(make(WEIGHTED), **options)
    assert weighted["test_score"].tolist() != scored["test_score"].tolist()


def test_a_pipeline_scores_without_weights(metadata_routing):
    model = make_pipeline(ridge(TEXTBOOK)).fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=ROW_WEIGHTS)
    expected = ra.evaluate(DATA.y, model.predict(DATA.X), TEXTBOOK, qid=DATA.qid).value
    assert model.score(DATA.X, DATA.y, qid=DATA.qid) == expected


# Optuna


@pytest.mark.filterwarnings("ignore:OptunaSearchCV", "ignore::FutureWarning:optuna")  # experimental
def test_a_search_of_optuna_scores_queries_by_the_convention(metadata_routing):
    integration = pytest.importorskip("optuna_integration")
    from optuna.distributions import FloatDistribution

    ranker, scorer, cv = ra.sklearn.QueryRanker(Ridge()), ra.sklearn.query_scorer(TEXTBOOK), ra.sklearn.QueryKFold(3)
    space = {"estimator__alpha": FloatDistribution(0.1, 10)}
    search = integration.OptunaSearchCV(ranker, space, scoring=scorer, cv=cv, n_trials=2, random_state=0, verbose=0)
    search.fit(DATA.X, DATA.y, qid=DATA.qid)
    best = ranker.set_params(**search.best_params_)
    results = cross_validate(best, DATA.X, DATA.y, scoring=scorer, cv=cv, params={"qid": DATA.qid})
    assert search.best_score_ == pytest.approx(results["test_score"].mean())
    fitted = scorer(search.best_estimator_, DATA.X, DATA.y, qid=DATA.qid)
    assert fitted == ra.evaluate(DATA.y, search.predict(DATA.X), TEXTBOOK, qid=DATA.qid).value
