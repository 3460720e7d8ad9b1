"""`query_scorer` in scikit-learn's searches and cross-validation: routing, names, tables and weights."""

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

from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    cross_validate,
)

from tests.sklearn.folds import (  # noqa: E402 - after the skip
    DATA,
    TEXTBOOK,
    WEIGHTED,
    folds,
    values_by_fold,
)

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
