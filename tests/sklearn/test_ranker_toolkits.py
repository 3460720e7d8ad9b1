"""QueryRanker with the toolkits' rankers inside: the same models as by hand."""

from __future__ import annotations

import inspect
import pickle
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from scipy.sparse import csr_matrix  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from rankadapters.sklearn import QueryKFold, QueryRanker, query_scorer  # noqa: E402
from tests.helpers.tables import for_each  # noqa: E402
from tests.helpers.toolkit_rankers import (  # noqa: E402 - after the skip
    CONV,
    DATA,
    INTERLEAVED,
    QUERIES_MOVED,
    RANKERS,
    ROUNDS,
    ROW_WEIGHTS,
    SHUFFLED,
    catboost,
    lightgbm,
    xgboost,
)


def boosting(**params):
    return HistGradientBoostingRegressor(max_iter=ROUNDS, **params)


def by_hand(make, X, y, codes, weights=None):
    """Fit as each toolkit's manual says, on rows in the order of their queries."""
    sizes, starts = np.bincount(codes), np.unique(codes, return_index=True)[1]
    model = make()
    if make is lightgbm:
        return model.fit(X, y, group=sizes, sample_weight=weights)
    if make is xgboost:
        return model.fit(X, y, qid=codes, sample_weight=None if weights is None else weights[starts])
    if make is catboost:
        return model.fit(X, y, group_id=codes, group_weight=weights)
    return model.fit(X, y, sample_weight=weights)


# the same models as by hand


ORDERS = {"sorted": slice(None), "interleaved": INTERLEAVED, "queries moved": QUERIES_MOVED, "shuffled": SHUFFLED}


@pytest.mark.parametrize("make", [*RANKERS, boosting])
@for_each("weights", [None, ROW_WEIGHTS])
@for_each("order", ["sorted", "interleaved", "shuffled"])
def test_predictions_equal_those_of_the_ranker_fitted_by_hand_on_rows_sorted_by_first_appearance(make, weights, order):
    rows = ORDERS[order]
    X, y, qid, weights = DATA.X[rows], DATA.y[rows], DATA.qid[rows], None if weights is None else weights[rows]
    model = QueryRanker(make()).fit(X, y, qid=qid, sample_weight=weights)
    place = {query: number for number, query in enumerate(dict.fromkeys(qid.tolist()))}
    codes = np.array([place[query] for query in qid.tolist()], np.int32)
    order = slice(None) if make is boosting else np.argsort(codes, kind="stable")
    hand = by_hand(make, X[order], y[order], codes[order], None if weights is None else weights[order])
    expected = hand.predict(X)
    assert (model.predict(X) == expected).all()
    assert np.unique(expected).size > 50


# What the order of rows decides, as docs/queryranker.md says: LightGBM's lambdarank and XGBoost's rank:ndcg rank the
# rows of a query by scores that all tie in the first round, and so by row; CatBoost permutes and samples rows.
SAME = [*(("interleaved", make) for make in (*RANKERS, boosting)), ("shuffled", boosting)]
SAME += [("queries moved", make) for make in (lightgbm, xgboost, boosting)]
OTHER = [("queries moved", catboost), *(("shuffled", make) for make in RANKERS)]


@for_each(("order", "make", "same"), [*((*case, True) for case in SAME), *((*case, False) for case in OTHER)])
def test_another_order_of_rows_gives_the_same_model_of_order_free_rankers_alone(order, make, same):
    found, expected = (
        QueryRanker(make()).fit(DATA.X[rows], DATA.y[rows], qid=DATA.qid[rows]).predict(DATA.X)
        for rows in (ORDERS[order], slice(None))
    )
    assert np.allclose(found, expected, atol=1e-6) == same
    if order == "interleaved":
        assert (found == expected).all()


@pytest.mark.parametrize("make", RANKERS)
def test_a_ranker_needs_queries(make):
    with pytest.raises(ra.InputError, match=r"fit got no qid[^\0]*\nHint: [^\0]*enable_metadata_routing"):
        QueryRanker(make_pipeline(StandardScaler(), make())).fit(DATA.X, DATA.y)


# tables


@pytest.mark.parametrize("make", RANKERS)
@pytest.mark.parametrize("rows", [slice(None), SHUFFLED], ids=["sorted", "shuffled"])
def test_ids_in_a_pandas_column_and_sparse_features(make, rows):
    plain = QueryRanker(make()).fit(DATA.X[rows], DATA.y[rows], qid=DATA.qid[rows]).predict(DATA.X)
    frame = pd.DataFrame(DATA.X[rows], columns=list("abcde")).assign(query=[f"q{i}" for i in DATA.qid[rows]])
    model = QueryRanker(make(), qid="query").fit(frame, pd.Series(DATA.y[rows], index=frame.index))
    assert (model.predict(frame) == plain[rows]).all()
    if make is catboost:
        sparse = csr_matrix(DATA.X[rows])
        model = QueryRanker(make()).fit(sparse, DATA.y[rows], qid=DATA.qid[rows])
        assert (model.predict(sparse) == plain[rows]).all()


@pytest.mark.parametrize("as_table", [pl.DataFrame, pa.table])
@pytest.mark.parametrize("make", [lightgbm, xgboost])
def test_polars_and_pyarrow_reach_those_who_take_them(make, as_table):
    if make is lightgbm and "eval_X" not in inspect.signature(lightgbm().fit).parameters:
        pytest.skip("LGBMRanker takes such tables from LightGBM 4.7 on")
    columns = dict(zip("abcde", DATA.X[SHUFFLED].T, strict=True))
    X = as_table({**columns, "query": DATA.qid[SHUFFLED]})
    model = QueryRanker(make(), qid="query").fit(X, DATA.y[SHUFFLED])
    plain = QueryRanker(make()).fit(DATA.X[SHUFFLED], DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    assert (model.predict(X) == plain.predict(DATA.X[SHUFFLED])).all()


@pytest.mark.parametrize("make", RANKERS)
def test_categorical_columns_stay_categorical(make):
    kinds = pd.Categorical(np.array(["low", "mid", "high"])[DATA.y.astype(int)])
    frame = pd.DataFrame(DATA.X, columns=list("abcde")).assign(kind=kinds, query=DATA.qid).iloc[SHUFFLED]
    own = {catboost: {"cat_features": ["kind"]}, xgboost: {"enable_categorical": True}, lightgbm: {}}[make]
    model = clone(QueryRanker(make(**own), qid="query")).fit(frame, DATA.y[SHUFFLED])
    score = ra.evaluate(DATA.y[SHUFFLED], model.predict(frame), CONV, qid=DATA.qid[SHUFFLED]).value
    plain = QueryRanker(make()).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert score > ra.evaluate(DATA.y, plain.predict(DATA.X), CONV, qid=DATA.qid).value


# scikit-learn's manners


@pytest.mark.parametrize("make", RANKERS)
def test_clone_pickle_and_importances(make):
    model = QueryRanker(make(), convention=CONV).fit(DATA.X, DATA.y, qid=DATA.qid)
    again = clone(pickle.loads(pickle.dumps(model))).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert (again.predict(DATA.X) == model.predict(DATA.X)).all()
    assert np.array_equal(model.feature_importances_, model.estimator_.feature_importances_)
    assert model.n_features_in_ == 5
    assert type(make()).__name__ in model._repr_html_()


@pytest.mark.parametrize("make", RANKERS)
def test_a_grid_scores_every_fold_as_by_hand(make):
    name = {lightgbm: "learning_rate", xgboost: "learning_rate", catboost: "depth"}[make]
    values = [2, 4] if make is catboost else [0.1, 0.3]
    grid = {f"estimator__{name}": values}
    search = GridSearchCV(QueryRanker(make()), grid, scoring=query_scorer(CONV), cv=QueryKFold(3))
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(DATA.X, DATA.y, qid=DATA.qid)
    for row, value in enumerate(values):
        for number, (train, test) in enumerate(QueryKFold(3).split(DATA.X, DATA.y, DATA.qid)):
            model = QueryRanker(make(**{name: value})).fit(DATA.X[train], DATA.y[train], qid=DATA.qid[train])
            expected = ra.evaluate(DATA.y[test], model.predict(DATA.X[test]), CONV, qid=DATA.qid[test]).value
            assert search.cv_results_[f"split{number}_test_score"][row] == expected


# the example


def test_every_number_of_the_examples_grid_equals_ours(capsys):
    for toolkit in ("lightgbm", "xgboost", "catboost"):
        pytest.importorskip(toolkit)
    example = runpy.run_path(str(Path(__file__).parent.parent.parent / "examples" / "grid_search.py"))
    with sklearn.config_context():  # which it changes
        example["main"]([])
    said = [line for line in capsys.readouterr().out.splitlines() if "bit for bit" in line]
    assert [line.split(maxsplit=1) for line in said] == [
        [name, "10 of 10 equal ra.evaluate bit for bit"] for name in example["SEARCHES"]
    ]


# what no one asked for


def test_only_the_toolkit_in_use_is_imported():
    pytest.importorskip("lightgbm")
    code = """
import sys, numpy as np, rankadapters as ra
from sklearn.linear_model import Ridge
X, y, qid = np.random.default_rng(0).random((40, 2)), np.arange(40) % 3, np.arange(40) // 10
ra.sklearn.QueryRanker(Ridge()).fit(X, y, qid=qid)
assert not {"lightgbm", "xgboost", "catboost"} & set(sys.modules)
import lightgbm
ra.sklearn.QueryRanker(lightgbm.LGBMRanker(n_estimators=1, verbosity=-1)).fit(X, y, qid=qid)
print(sorted({"lightgbm", "xgboost", "catboost"} & set(sys.modules)))
"""
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found == "['lightgbm']\n"
