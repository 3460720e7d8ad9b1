"""Tables, categories, copies and imports of QueryRanker with the rankers of LightGBM, XGBoost and CatBoost."""

import inspect
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

from rankadapters.sklearn import QueryRanker  # noqa: E402
from tests.helpers.toolkit_rankers import CONV, DATA, RANKERS, SHUFFLED, catboost, lightgbm, xgboost  # noqa: E402

# Tables


@pytest.mark.parametrize("make", RANKERS)
@pytest.mark.parametrize("rows", [slice(None), SHUFFLED], ids=["sorted", "shuffled"])
def test_ids_in_a_pandas_column_and_sparse_features_give_the_same_model(make, rows):
    expected = QueryRanker(make()).fit(DATA.X[rows], DATA.y[rows], qid=DATA.qid[rows]).predict(DATA.X)
    frame = pd.DataFrame(DATA.X[rows], columns=list("abcde")).assign(query=[f"q{i}" for i in DATA.qid[rows]])
    model = QueryRanker(make(), qid="query").fit(frame, pd.Series(DATA.y[rows], index=frame.index))
    assert (model.predict(frame) == expected[rows]).all()
    if make is catboost:
        sparse = csr_matrix(DATA.X[rows])
        model = QueryRanker(make()).fit(sparse, DATA.y[rows], qid=DATA.qid[rows])
        assert (model.predict(sparse) == expected[rows]).all()


@pytest.mark.parametrize("as_table", [pl.DataFrame, pa.table])
@pytest.mark.parametrize("make", [lightgbm, xgboost])
def test_polars_and_pyarrow_tables_give_the_same_model(make, as_table):
    if make is lightgbm and "eval_X" not in inspect.signature(lightgbm().fit).parameters:
        pytest.skip("LGBMRanker takes such tables from LightGBM 4.7 on")
    columns = dict(zip("abcde", DATA.X[SHUFFLED].T, strict=True))
    X = as_table({**columns, "query": DATA.qid[SHUFFLED]})
    model = QueryRanker(make(), qid="query").fit(X, DATA.y[SHUFFLED])
    plain_model = QueryRanker(make()).fit(DATA.X[SHUFFLED], DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    assert (model.predict(X) == plain_model.predict(DATA.X[SHUFFLED])).all()


@pytest.mark.parametrize("make", RANKERS)
def test_categorical_columns_stay_categorical(make):
    kinds = pd.Categorical(np.array(["low", "mid", "high"])[DATA.y.astype(int)])
    frame = pd.DataFrame(DATA.X, columns=list("abcde")).assign(kind=kinds, query=DATA.qid).iloc[SHUFFLED]
    options = {catboost: {"cat_features": ["kind"]}, xgboost: {"enable_categorical": True}, lightgbm: {}}[make]
    model = clone(QueryRanker(make(**options), qid="query")).fit(frame, DATA.y[SHUFFLED])
    score = ra.evaluate(DATA.y[SHUFFLED], model.predict(frame), CONV, qid=DATA.qid[SHUFFLED]).value
    plain_model = QueryRanker(make()).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert score > ra.evaluate(DATA.y, plain_model.predict(DATA.X), CONV, qid=DATA.qid).value


# scikit-learn's interface


# The example


@pytest.mark.long
def test_the_grid_search_example_finds_all_values_equal_to_ours(capsys):
    for toolkit in ("lightgbm", "xgboost", "catboost"):
        pytest.importorskip(toolkit)
    example = runpy.run_path(str(Path(__file__).parent.parent.parent / "examples" / "grid_search.py"))
    with sklearn.config_context():  # the example changes it
        example["main"]([])
    printed_lines = [line for line in capsys.readouterr().out.splitlines() if "bit for bit" in line]
    assert [line.split(maxsplit=1) for line in printed_lines] == [
        [name, "10 of 10 equal ra.evaluate bit for bit"] for name in example["SEARCHES"]
    ]


# Imports


@pytest.mark.long
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
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert printed == "['lightgbm']\n"
