"""Warnings and errors of QueryRanker."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

import scipy.sparse as sp  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import learning_curve  # noqa: E402

from rankadapters.sklearn import CutQueriesWarning, QueryKFold, QueryRanker  # noqa: E402
from tests.sklearn.folds import DATA, FRAME, NAMES, TEXTBOOK  # noqa: E402 - after the skip


def test_a_ranker_that_knows_the_whole_queries_warns_of_cut_ones(metadata_routing):
    model = QueryRanker(Ridge(), convention=TEXTBOOK, whole=DATA.qid)
    rows = np.flatnonzero(DATA.qid < 10)
    clone(model).fit(DATA.X[rows], DATA.y[rows], qid=DATA.qid[rows]).score(DATA.X, DATA.y, qid=DATA.qid)
    cut_rows = rows[:-1]
    with pytest.warns(CutQueriesWarning, match="1 of 10 queries are not whole: query 9 has"):
        model.fit(DATA.X[cut_rows], DATA.y[cut_rows], qid=DATA.qid[cut_rows])
    with pytest.warns(CutQueriesWarning, match="1 of 10 queries are not whole"):
        model.score(DATA.X[cut_rows], DATA.y[cut_rows], qid=DATA.qid[cut_rows])
    with pytest.warns(CutQueriesWarning, match="are not whole"):
        learning_curve(model, DATA.X, DATA.y, cv=QueryKFold(3), train_sizes=[0.5], params={"qid": DATA.qid})


def fit(X=DATA.X, y=DATA.y, *, qid=DATA.qid):
    return QueryRanker(Ridge()).fit(X, y, qid=qid)


HUGE, ROWS = DATA.qid + 100_000_001, np.arange(DATA.y.size)
LAST_ALONE = np.where(ROWS[-1] == ROWS, DATA.qid.max() + 1, DATA.qid)
POLARS = pl.DataFrame(DATA.X, schema=NAMES).with_columns(session=DATA.qid)
ARROW = pa.table({"a": DATA.X[:, 0], "session": DATA.qid})
ID_COLUMNS = [
    (np.column_stack([DATA.X, DATA.qid]), DATA.qid, "column 5"),
    (sp.csr_matrix(np.column_stack([DATA.qid, DATA.X])), DATA.qid, "column 0"),
    (FRAME.assign(session=DATA.qid), DATA.qid, "column 'session'"),
    (POLARS, DATA.qid, "column 'session'"),
    (ARROW, DATA.qid, "column 'session'"),
    (FRAME.assign(s=DATA.qid.astype(str)), DATA.qid.astype(str), "column 's'"),
    (FRAME.assign(qid=0), DATA.qid, "column 'qid'"),
    (np.column_stack([DATA.X, HUGE]).tolist(), HUGE, "column 5"),
    (np.column_stack([DATA.X, HUGE]).astype(np.float32), HUGE, "column 5"),
    (np.column_stack([DATA.X, LAST_ALONE]), LAST_ALONE, "column 5"),
    (pd.DataFrame({"a": DATA.y, "qid": ROWS}), ROWS, "column 'qid'"),
]  # fmt: skip


@pytest.mark.parametrize(("X", "qid", "column"), ID_COLUMNS)
def test_a_column_that_holds_the_ids_is_refused_as_a_feature(X, qid, column):
    message = rf"{column} of X holds the query ids, [^\0]*\nHint: QueryRanker\(estimator, qid='its name'\)"
    with pytest.raises(ra.InputError, match=message):
        fit(X, qid=qid)


def test_columns_that_cannot_be_ids_are_features():
    assert fit(X=np.ones((3, 2)), y=[0, 1, 2], qid=[1, 1, 1]).n_features_in_ == 2
    with_ids_at_both_ends = np.column_stack([DATA.X, np.where(np.isin(ROWS, ROWS[[0, -1]]), DATA.qid, 0.5)])
    assert fit(X=with_ids_at_both_ends).n_features_in_ == 6
    with pytest.raises(ValueError, match="Expected 2D array"):
        fit(X=DATA.X[:, 0])
    X = np.column_stack([DATA.X, ROWS])
    assert (fit(X=X, qid=ROWS).predict(X) == Ridge().fit(X, DATA.y).predict(X)).all()


def test_a_feature_that_equals_the_ids_is_allowed_if_the_ids_are_renamed():
    X = np.column_stack([DATA.X, DATA.qid])
    with pytest.raises(ra.InputError, match=r"column 5 of X holds the query ids(.|\n)*different ids: fit\(qid="):
        fit(X=X)
    model = fit(X=X, qid=[f"q{name}" for name in DATA.qid])
    assert (model.predict(X) == Ridge().fit(X, DATA.y).predict(X)).all()


def test_predict_refuses_other_feature_names_and_another_number_of_features():
    frame = pd.DataFrame(DATA.X).rename(columns="f{}".format)
    model = QueryRanker(Ridge()).fit(frame, DATA.y, qid=DATA.qid)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="4 features, but QueryRanker is expecting 5"):
        QueryRanker(Ridge()).fit(DATA.X, DATA.y, qid=DATA.qid).predict(DATA.X[:, :4])


def test_sparse_matrices_of_any_format_give_the_same_model():
    rows = np.random.default_rng(0).permutation(DATA.y.size)
    sparse = sp.csr_matrix(DATA.X[rows])
    model, *models = (
        fit(X=sparse.asformat(name), y=DATA.y[rows], qid=DATA.qid[rows]) for name in ("csr", "coo", "bsr")
    )
    for other_model in models:
        assert (model.predict(DATA.X) == other_model.predict(DATA.X)).all()


def test_early_stopping_that_holds_out_rows_is_not_recommended():
    from sklearn.ensemble import HistGradientBoostingRegressor

    with pytest.raises(
        ra.InputError, match=r"leave it out, and set HistGradientBoostingRegressor\(early_stopping=False\)"
    ):
        QueryRanker(HistGradientBoostingRegressor(), eval_metric="lightgbm@10").fit(DATA.X, DATA.y, qid=DATA.qid)
    with pytest.raises(ra.InputError, match=r"eval_metric has no effect\.\nHint: .*; leave it out\.$"):
        QueryRanker(Ridge(), eval_metric="lightgbm@10").fit(DATA.X, DATA.y, qid=DATA.qid)
