"""What QueryRanker warns of and refuses."""

from __future__ import annotations

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
from sklearn.model_selection import GridSearchCV, learning_curve  # noqa: E402
from sklearn.neighbors import KNeighborsRegressor  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from rankadapters.sklearn import CutQueriesWarning, QueryKFold, QueryRanker  # noqa: E402
from tests.helpers.sklearn_ranker_data import CONV, DATA, FRAME, MIXED, NAMES, WEIGHTS, folds  # noqa: E402 - after the skip


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
    "float qid": (lambda: fit(qid=DATA.qid / 10), rf"qid has floats such as 0\.0{HINTED}qid\.astype"),
    "y with NaN": (lambda: fit(y=with_nan(DATA.y)), rf"labels\[7\] is nan, which is not a finite number{HINTED}"),
    "X of other length": (lambda: fit(X=DATA.X[:-1]), rf"X has \d+ rows but y has \d+{HINTED}one label"),
    "another index": (lambda: fit(y=pd.Series(DATA.y), qid=pd.Series(DATA.qid, index=MIXED)), "different pandas index"),
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
    "ids to the constructor": (
        lambda: declared(DATA.qid),
        rf"allowed are names of a column or index level of X{HINTED}",
    ),
    "ids given twice": (lambda: declared("a", qid=DATA.qid), rf"ids were given twice{HINTED}leave qid= out"),
    "a column that is not there": (lambda: declared("s"), rf"no column or index level 's'{HINTED}a table"),
    "a column of an array": (lambda: declared("s", DATA.X), rf"no column or index level 's'{HINTED}a table"),
    "validation": (
        lambda: fit(validation_fraction=0.2),
        f"Ridge takes no validation queries{HINTED}it is for LGBM",
    ),
    "a fraction of one": (
        lambda: fit(validation_fraction=1.0),
        r"validation_fraction=1\.0; allowed are numbers above 0 and below 1",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_the_way_out(case):
    call, message = BAD[case]
    with pytest.raises(ra.InputError, match=message):
        call()


def test_conventions_are_conventions():
    with pytest.raises(
        ra.ConventionError, match=r"convention: 'ndcg' does not say whose ndcg it is, .*\nHint: 'textbook@10'"
    ):
        fit(convention="ndcg")
    with pytest.raises(ra.ConventionError, match="eval_metric: 'ndcg' does not say whose ndcg it is"):
        fit(eval_metric="ndcg")
    with pytest.raises(ra.ConventionError, match=r"convention: 10 is not a convention\.\nHint: "):
        fit(convention=10)


def test_score_takes_no_convention_and_no_queries_for_granted():
    model = fit()
    with pytest.raises(ra.ConventionError, match=r"no convention to score with.*\nHint: QueryRanker"):
        model.score(DATA.X, DATA.y, qid=DATA.qid)
    with pytest.raises(ra.InputError, match=r"score got no qid.*\nHint: score\(X, y, qid=ids\)"):
        model.set_params(convention=CONV).score(DATA.X, DATA.y)
    with pytest.raises(ra.InputError, match="qid has floats"):
        model.score(DATA.X, DATA.y, qid=DATA.qid / 10)


def test_a_search_without_routing_says_how_to_turn_it_on():
    model = QueryRanker(Ridge(), convention=CONV)
    search = GridSearchCV(model, {"estimator__alpha": [1.0]}, cv=folds(), error_score="raise")
    with pytest.raises(ra.InputError, match=r"score got no qid.*\nHint: [^\0]*enable_metadata_routing=True"):
        search.fit(DATA.X, DATA.y, qid=DATA.qid)


def test_a_single_column_of_all_queries_alike_is_no_id():
    X = np.ones((3, 2))
    assert QueryRanker(Ridge()).fit(X, [0, 1, 2], qid=[1, 1, 1]).n_features_in_ == 2


def test_an_index_of_single_rows_is_a_feature():
    index = np.arange(DATA.y.size)
    X = np.column_stack([DATA.X, index])
    model = QueryRanker(Ridge()).fit(X, DATA.y, qid=index)
    assert (model.predict(X) == Ridge().fit(X, DATA.y).predict(X)).all()
    with pytest.raises(ra.InputError, match="column 'qid' of X holds the query ids"):
        QueryRanker(Ridge()).fit(pd.DataFrame(X).rename(columns={5: "qid"}).rename(columns=str), DATA.y, qid=index)


def test_a_feature_that_equals_the_ids_is_taken_beside_ids_of_other_values():
    X = np.column_stack([DATA.X, DATA.qid])
    with pytest.raises(ra.InputError, match=r"column 5 of X holds the query ids(.|\n)*different ids: fit\(qid="):
        QueryRanker(Ridge()).fit(X, DATA.y, qid=DATA.qid)
    model = QueryRanker(Ridge()).fit(X, DATA.y, qid=[f"q{name}" for name in DATA.qid])
    assert (model.predict(X) == Ridge().fit(X, DATA.y).predict(X)).all()


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


def test_ids_are_found_where_the_last_query_has_one_row():
    ids = np.append(DATA.qid, DATA.qid.max() + 1)
    X, y = np.column_stack([np.vstack([DATA.X, DATA.X[:1]]), ids]), np.append(DATA.y, 0)
    with pytest.raises(ra.InputError, match="column 5 of X holds the query ids"):
        QueryRanker(Ridge()).fit(X, y, qid=ids)


@pytest.mark.parametrize("hidden", ["list", "float32"])
def test_ids_inside_lists_and_narrow_columns_are_found(hidden):
    ids = DATA.qid + 100_000_001
    X = np.column_stack([DATA.X, ids]) if hidden == "list" else np.column_stack([DATA.X, ids]).astype(np.float32)
    with pytest.raises(ra.InputError, match="column 5 of X holds the query ids"):
        QueryRanker(Ridge()).fit(X.tolist() if hidden == "list" else X, DATA.y, qid=ids)
