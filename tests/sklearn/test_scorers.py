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

sklearn = pytest.importorskip("sklearn")

import joblib  # noqa: E402 - comes with scikit-learn
from sklearn.base import clone  # noqa: E402
from sklearn.experimental import enable_halving_search_cv  # noqa: E402, F401 - brings HalvingGridSearchCV
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_validate,
    validation_curve,
)
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from tests.helpers.sklearn_data import (  # noqa: E402 - after the skip
    DATA,
    TEXTBOOK,
    WEIGHTED,
    by_hand,
    folds,
    forest,
)


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
    scoring = ra.sklearn.query_scorer([TEXTBOOK, WEIGHTED])
    assert list(scoring) == [TEXTBOOK.name, WEIGHTED.name]
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=scoring, cv=ra.sklearn.QueryKFold(3), refit=TEXTBOOK.name)
    found = search.fit(DATA.X, DATA.y, qid=DATA.qid).cv_results_
    for convention in (TEXTBOOK, WEIGHTED):
        values = [found[f"split{i}_test_{convention.name}"][0] for i in range(3)]
        assert values == by_hand(convention, cv=whole_folds())
    assert search.best_score_ == found[f"mean_test_{TEXTBOOK.name}"][0]


def test_scorers_may_be_named():
    scoring = ra.sklearn.query_scorer([TEXTBOOK, WEIGHTED], qid="session", names=["a", "b"])
    assert repr(scoring["b"]) == "query_scorer(b, qid='session')"
    assert repr(ra.sklearn.query_scorer(TEXTBOOK, names="mine")) == "query_scorer(mine, qid='qid')"
    with pytest.raises(ra.ConventionError, match="two conventions report under one name"):
        ra.sklearn.query_scorer([TEXTBOOK, TEXTBOOK])
    with pytest.raises(ra.ConventionError, match=r"no convention was given.*\nHint: "):
        ra.sklearn.query_scorer([])
    with pytest.raises(ra.ConventionError, match=r"'ndcg' does not say whose ndcg it is.*\nHint: "):
        ra.sklearn.query_scorer([TEXTBOOK, "ndcg"])
    with pytest.raises(ra.ConventionError, match=r"10 is not a convention\.\nHint: "):
        ra.sklearn.query_scorer([TEXTBOOK, 10])
    with pytest.raises(ra.ConventionError, match=r"names=7 "):
        ra.sklearn.query_scorer(TEXTBOOK, names=7)


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
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=ra.sklearn.query_scorer([WEIGHTED], names=["w"]),
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


def test_bad_weights_and_metadata():
    model, scorer = Ridge().fit(DATA.X, DATA.y), ra.sklearn.query_scorer(WEIGHTED)
    with pytest.raises(ra.InputError, match="sample_weight varies within query"):
        scorer(model, DATA.X, DATA.y, qid=DATA.qid, sample_weight=np.arange(DATA.y.size))
    with pytest.raises(ra.InputError, match="one per row"):
        scorer(model, DATA.X, DATA.y, qid=DATA.qid, sample_weight=[1.0])
    with pytest.raises(ra.InputError, match="average='uniform', which would ignore it"):
        ra.sklearn.query_scorer(TEXTBOOK)(model, DATA.X, DATA.y, qid=DATA.qid, sample_weight=np.ones(DATA.y.size))
    with pytest.raises(ra.InputError, match="was passed 'group'"):
        scorer(model, DATA.X, DATA.y, group=DATA.qid)
    with pytest.raises(ra.ConventionError, match="10 is not a convention"):
        ra.sklearn.query_scorer(10)
    with pytest.raises(ra.ConventionError, match="'letor4' has no cutoff"):
        ra.sklearn.query_scorer("letor4")
    with pytest.raises(ra.InputError, match="allowed are names of a parameter"):
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
    found = runpy.run_path(str(Path(__file__).parent.parent.parent / "examples" / "optuna_pruning.py"))
    rounds = {}
    for trial in found["study"].trials:
        rounds.setdefault(trial.state.name, set()).add(len(trial.intermediate_values))
    every = found["FOLDS"] * found["ROUNDS"]
    assert set(rounds) == {"COMPLETE", "PRUNED"}
    assert rounds["COMPLETE"] == {every}
    assert max(rounds["PRUNED"]) <= every
    data, rows, conv = found["train"], found["fit_rows"], found["conv"]
    X, y, qid = data.X[rows], data.labels[rows], data.qid[rows]
    scores = []
    for train, test in ra.sklearn.StratifiedQueryKFold(found["FOLDS"]).split(X, y, qid):
        ranker = xgb.XGBRanker(n_estimators=found["ROUNDS"], n_jobs=1, **found["study"].best_params)
        ranker.fit(X[train], y[train], qid=qid[train])
        scores.append(ra.evaluate(y[test], ranker.predict(X[test]), conv, qid=qid[test]).value)
    assert found["study"].best_value == np.mean(scores)
    assert "the others were pruned" in capsys.readouterr().out
