"""QueryRanker with the toolkits' rankers inside: the same models as by hand, validation, stopping, objectives."""

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
from tests.ranking_data import ranking

sklearn = pytest.importorskip("sklearn")

from scipy.sparse import csr_matrix  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from rankadapters.sklearn import QueryKFold, QueryRanker, query_scorer  # noqa: E402
from rankadapters.sklearn.rows import held_out  # noqa: E402

DATA, VALID = ranking(3, 60), ranking(4, 30)
CONV = ra.presets.textbook(5)
CATBOOSTS = ra.presets.catboost(5)  # which CatBoost computes itself
RNG = np.random.default_rng(0)
WEIGHTS = RNG.integers(1, 5, DATA.sizes.size).astype(float)  # which float32 holds
ROW_WEIGHTS = np.repeat(WEIGHTS, DATA.sizes)
CODES = np.repeat(np.arange(DATA.sizes.size, dtype=np.int32), DATA.sizes)
VALID_SET = (VALID.X, VALID.y, VALID.qid)
ROUNDS = 12


def lightgbm(**params):
    lgb = pytest.importorskip("lightgbm")
    return lgb.LGBMRanker(
        **{"n_estimators": ROUNDS, "verbosity": -1, "n_jobs": 1, "min_child_samples": 5, "metric": "None", **params}
    )


def xgboost(**params):
    xgb = pytest.importorskip("xgboost")
    return xgb.XGBRanker(**{"n_estimators": ROUNDS, "n_jobs": 1, **params})


def catboost(**params):
    cb = pytest.importorskip("catboost")
    fixed = {"iterations": ROUNDS, "thread_count": 1, "verbose": 0, "allow_writing_files": False, "random_seed": 0}
    return cb.CatBoostRanker(**fixed | params)


def boosting(**params):
    return HistGradientBoostingRegressor(max_iter=ROUNDS, **params)


RANKERS = [lightgbm, xgboost, catboost]


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


@pytest.mark.parametrize("weights", [None, ROW_WEIGHTS])
@pytest.mark.parametrize("make", [*RANKERS, boosting])
def test_predictions_equal_those_of_the_ranker_fitted_by_hand(make, weights):
    model = QueryRanker(make()).fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weights)
    expected = by_hand(make, DATA.X, DATA.y, CODES, weights).predict(DATA.X)
    assert (model.predict(DATA.X) == expected).all()
    assert np.unique(expected).size > 50


INTERLEAVED = np.lexsort((DATA.qid, np.concatenate([np.arange(size) for size in DATA.sizes])))
QUERIES_MOVED = np.concatenate([np.flatnonzero(DATA.qid == query) for query in RNG.permutation(DATA.sizes.size)])
SHUFFLED = RNG.permutation(DATA.y.size)


@pytest.mark.parametrize("rows", [INTERLEAVED, SHUFFLED], ids=["interleaved", "shuffled"])
@pytest.mark.parametrize("make", RANKERS)
def test_rows_are_sorted_stably_by_first_appearance(make, rows):
    X, y, qid = DATA.X[rows], DATA.y[rows], DATA.qid[rows]
    model = QueryRanker(make()).fit(X, y, qid=qid, sample_weight=ROW_WEIGHTS[rows])
    place = {query: number for number, query in enumerate(dict.fromkeys(qid.tolist()))}
    codes = np.array([place[query] for query in qid.tolist()], np.int32)
    order = np.argsort(codes, kind="stable")
    hand = by_hand(make, X[order], y[order], codes[order], ROW_WEIGHTS[rows][order])
    assert (model.predict(X) == hand.predict(X)).all()


# What the order of rows decides, as docs/queryranker.md says: LightGBM's lambdarank and XGBoost's rank:ndcg rank the
# rows of a query by scores that all tie in the first round, and so by row; CatBoost permutes and samples rows.
ORDERS = {"queries moved": QUERIES_MOVED, "shuffled": SHUFFLED}
SAME = {"queries moved": [lightgbm, xgboost, boosting], "shuffled": [boosting]}
OTHER = {"queries moved": [catboost], "shuffled": [lightgbm, xgboost, catboost]}


def predicted(make, rows):
    model = QueryRanker(make()).fit(DATA.X[rows], DATA.y[rows], qid=DATA.qid[rows])
    return model.predict(DATA.X)


@pytest.mark.parametrize("make", [*RANKERS, boosting])
def test_interleaved_queries_give_the_very_same_model(make):
    assert (predicted(make, INTERLEAVED) == predicted(make, slice(None))).all()


@pytest.mark.parametrize(("order", "make"), [(order, make) for order, several in SAME.items() for make in several])
def test_another_order_of_rows_gives_the_same_model_of_order_free_rankers(order, make):
    np.testing.assert_allclose(predicted(make, ORDERS[order]), predicted(make, slice(None)), atol=1e-6)


@pytest.mark.parametrize(("order", "make"), [(order, make) for order, several in OTHER.items() for make in several])
def test_another_order_of_rows_gives_another_model_of_order_bound_rankers(order, make):
    assert not np.allclose(predicted(make, ORDERS[order]), predicted(make, slice(None)))


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


# validation sets and early stopping


@pytest.mark.parametrize("make", [lightgbm, xgboost])
def test_every_round_is_evaluated_under_the_declared_convention(make):
    model = QueryRanker(make(), eval_metric=CONV).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)
    assert len(model.history_) == ROUNDS
    last = model.history_[-1]
    assert last.value == ra.evaluate(VALID.y, model.predict(VALID.X), CONV, qid=VALID.qid).value
    assert not hasattr(model.set_params(eval_metric=None).fit(DATA.X, DATA.y, qid=DATA.qid), "history_")


@pytest.mark.parametrize("make", [lightgbm, xgboost])
@pytest.mark.parametrize("rows", [slice(None), np.random.default_rng(5).permutation(VALID.y.size)])
def test_the_declared_metric_stops_the_training(make, rows):
    inner = make(n_estimators=100, early_stopping_rounds=4)
    valid = (VALID.X[rows], VALID.y[rows], VALID.qid[rows])
    model = QueryRanker(inner, eval_metric=CONV).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[valid])
    values = [entry.value for entry in model.history_]
    best = int(np.argmax(values))
    assert len(values) == best + 1 + 4 < 100
    scores = model.predict(VALID.X[rows])  # both toolkits predict with the best iteration
    assert values[best] == pytest.approx(ra.evaluate(valid[1], scores, CONV, qid=valid[2]).value, abs=1e-12)
    found = model.estimator_.get_params()
    assert (found["early_stopping_rounds"], found.get("callbacks")) == (4, None)
    pickle.loads(pickle.dumps(model))


def test_catboost_stops_by_its_own_metric_where_it_is_the_declared_one():
    inner = catboost(iterations=100, early_stopping_rounds=4)
    model = QueryRanker(inner, eval_metric=CATBOOSTS).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)
    values = model.estimator_.get_evals_result()["validation"]["NDCG:top=5;type=Base"]
    best = int(np.argmax(values))
    assert len(values) == best + 1 + 4 < 100
    scores = model.predict(VALID.X)
    assert values[best] == pytest.approx(ra.evaluate(VALID.y, scores, CATBOOSTS, qid=VALID.qid).value, abs=1e-9)


@pytest.mark.parametrize(
    ("convention", "weights"), [(CONV, None), (ra.presets.catboost(5, use_weights=False), ROW_WEIGHTS)]
)
def test_catboost_is_handed_a_metric_that_it_cannot_compute(convention, weights):
    inner = catboost(iterations=100, early_stopping_rounds=4)
    model = QueryRanker(inner, eval_metric=convention)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weights, eval_set=VALID_SET)
    values = [entry.value for entry in model.history_]
    assert {entry.dataset for entry in model.history_} == {0}
    assert model.estimator_.get_params().get("eval_metric") is None
    best = int(np.argmax(values))
    assert len(values) == best + 1 + 4 < 100
    expected = ra.evaluate(VALID.y, model.predict(VALID.X), convention, qid=VALID.qid).value
    assert values[best] == pytest.approx(expected, abs=1e-12)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(VALID.X) == model.predict(VALID.X)).all()


@pytest.mark.parametrize("make", RANKERS)
def test_validation_sets_alone_leave_the_toolkit_its_own_metric(make):
    own = {"metric": "ndcg"} if make is lightgbm else {}
    model = QueryRanker(make(early_stopping_rounds=2, **own))
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[VALID_SET, (*VALID_SET, np.ones(VALID.y.size))])
    found = model.estimator_
    log = found.get_evals_result() if make is catboost else found.evals_result_
    assert len(set(log) - {"learn"}) == 2
    assert not hasattr(model, "history_")


@pytest.mark.parametrize("make", RANKERS)
def test_a_fraction_holds_out_whole_queries_the_same_in_any_order(make):
    metric = CATBOOSTS if make is catboost else CONV
    queries = ra.Queries(DATA.y, qid=DATA.qid)
    held = held_out(queries, 0.25)
    assert held.sum() == 15
    rows = np.repeat(held, DATA.sizes)
    model = QueryRanker(make(), eval_metric=metric, validation_fraction=0.25).fit(DATA.X, DATA.y, qid=DATA.qid)
    valid = (DATA.X[rows], DATA.y[rows], DATA.qid[rows])
    other = QueryRanker(make(), eval_metric=metric)
    other.fit(DATA.X[~rows], DATA.y[~rows], qid=DATA.qid[~rows], eval_set=valid)
    assert (model.predict(DATA.X) == other.predict(DATA.X)).all()
    mixed = ra.Queries(DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    assert set(mixed.query_ids[held_out(mixed, 0.25)]) == set(queries.query_ids[held])


@pytest.mark.parametrize("make", [lightgbm, xgboost])
def test_weights_of_validation_queries_count_where_the_convention_says(make):
    weighted = ra.presets.catboost(5)
    model = QueryRanker(make(), eval_metric=weighted, validation_fraction=0.25)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=ROW_WEIGHTS)
    held = held_out(ra.Queries(DATA.y, qid=DATA.qid), 0.25)
    rows = np.repeat(held, DATA.sizes)
    scores = model.predict(DATA.X[rows])
    expected = ra.evaluate(DATA.y[rows], scores, weighted, qid=DATA.qid[rows], query_weight=WEIGHTS[held])
    assert model.history_[-1].value == expected.value
    assert expected.value != ra.evaluate(DATA.y[rows], scores, weighted, qid=DATA.qid[rows]).value


@pytest.mark.parametrize("make", RANKERS)
def test_validation_queries_pass_through_the_pipeline(make):
    metric = CATBOOSTS if make is catboost else CONV
    model = QueryRanker(make_pipeline(StandardScaler(), make()), eval_metric=metric)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)
    scaler = StandardScaler().fit(DATA.X)
    hand = QueryRanker(make(), eval_metric=metric)
    hand.fit(scaler.transform(DATA.X), DATA.y, qid=DATA.qid, eval_set=(scaler.transform(VALID.X), *VALID_SET[1:]))
    assert (model.predict(VALID.X) == hand.predict(scaler.transform(VALID.X))).all()
    if make is not catboost:
        assert [entry.value for entry in model.history_] == [entry.value for entry in hand.history_]


def test_parameters_of_fit_reach_the_ranker_unless_they_are_ours():
    seen = []
    fitted = QueryRanker(lightgbm(), eval_metric=CONV).fit(
        DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET, callbacks=[lambda env: seen.append(env.iteration)]
    )
    assert seen == list(range(ROUNDS))
    with pytest.raises(ra.InputError, match=r"group= is what QueryRanker hands over itself\.\nHint"):
        fitted.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET, group=DATA.sizes)


BAD_SETS = {
    "no qid": ({"eval_set": [(VALID.X, VALID.y)]}, r"eval_set got no qid"),
    "no tuple": ({"eval_set": [VALID.X]}, r"is no validation set\.\nHint: eval_set=\[\(X, y, qid\)\]"),
    "float qid": ({"eval_set": (VALID.X, VALID.y, VALID.qid / 2)}, "qid holds floats"),
    "twice": ({"eval_set": VALID_SET, "validation_fraction": 0.5}, r"given twice\.\nHint: either"),
    "a metric of nothing": ({"eval_metric": CONV}, r"eval_metric has no validation queries\.\nHint: fit\(eval_set="),
}


@pytest.mark.parametrize("case", BAD_SETS)
def test_bad_validation_is_refused(case):
    given, message = BAD_SETS[case]
    declared = {name: value for name, value in given.items() if name != "eval_set"}
    with pytest.raises(ra.InputError, match=message):
        QueryRanker(xgboost(), **declared).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=given.get("eval_set"))


def test_one_query_cannot_be_divided():
    with pytest.raises(ra.InputError, match=r"two queries or more, but there is one\.\nHint"):
        QueryRanker(xgboost(), validation_fraction=0.5).fit(np.eye(3), [0, 1, 2], qid=[1, 1, 1])


@pytest.mark.parametrize("make", [lightgbm, xgboost])
def test_validation_sets_are_checked_before_the_training(make):
    narrow = (VALID.X[:, :3], VALID.y, VALID.qid)
    with pytest.raises(ValueError, match="3 features, but QueryRanker is expecting 5"):
        QueryRanker(make(), eval_metric=CONV).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=narrow)
    with pytest.raises(ra.InputError, match="eval_set lists no validation queries"):
        QueryRanker(make(), eval_metric=CONV).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[])


# objectives of one's own


def squared(preds, dtrain):
    """Squared error, told to XGBoost as `obj=`."""
    return preds - dtrain.get_label(), np.ones_like(preds)


def test_xgboost_is_trained_by_a_callable_objective():
    xgb = pytest.importorskip("xgboost")
    model = QueryRanker(xgboost(max_depth=3).set_params(objective=squared))
    model.fit(DATA.X[SHUFFLED], DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    queries = ra.Queries(DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    rows, sizes = SHUFFLED[queries.order], np.diff(queries.indptr)
    matrix = xgb.DMatrix(DATA.X[rows], DATA.y[rows], qid=np.repeat(np.arange(sizes.size), sizes))
    booster = xgb.train({"max_depth": 3, "nthread": 1}, matrix, ROUNDS, obj=squared)
    fitted = model.estimator_
    assert (model.predict(DATA.X) == booster.predict(xgb.DMatrix(DATA.X))).all()
    assert (fitted.objective, fitted.n_features_in_, fitted.max_depth) == (squared, 5, 3)
    assert model.feature_importances_.sum() == pytest.approx(1)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(DATA.X) == model.predict(DATA.X)).all()


def test_declared_objectives_train_both_toolkits():
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    letor = ra.presets.letor4(5)
    of_lightgbm = ra.lightgbm.lambdarank(letor, truncation=5)
    first = QueryRanker(lightgbm(objective=of_lightgbm)).fit(DATA.X, DATA.y, qid=DATA.qid)
    hand = lightgbm(objective=of_lightgbm).fit(DATA.X, DATA.y, group=DATA.sizes)
    assert (first.predict(DATA.X) == hand.predict(DATA.X)).all()
    of_xgboost = ra.xgboost.lambdarank(letor, truncation=5)
    second = QueryRanker(xgboost()).set_params(estimator__objective=of_xgboost).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert (clone(second).fit(DATA.X, DATA.y, qid=DATA.qid).predict(DATA.X) == second.predict(DATA.X)).all()
    plain = QueryRanker(xgboost()).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert (plain.predict(DATA.X) != second.predict(DATA.X)).any()


def test_a_callable_objective_is_copied_searched_and_stopped():
    inner = make_pipeline(StandardScaler(), xgboost(n_estimators=100, early_stopping_rounds=3, learning_rate=0.9))
    model = QueryRanker(inner, eval_metric=CONV, validation_fraction=0.25)
    model.set_params(estimator__xgbranker__objective=squared)
    copied = clone(model)
    assert copied.estimator[-1] is not inner[-1]
    assert copied.estimator[-1].objective is squared
    with sklearn.config_context(enable_metadata_routing=True):
        grid = {"estimator__xgbranker__max_depth": [2]}
        search = GridSearchCV(model, grid, scoring=query_scorer(CONV), cv=QueryKFold(3), error_score="raise")
        search.fit(DATA.X, DATA.y, qid=DATA.qid)
    best = search.best_estimator_
    values = [entry.value for entry in best.history_]
    assert len(values) == np.argmax(values) + 1 + 3 < 100
    assert best.estimator_[-1].best_iteration == np.argmax(values)


def test_a_callable_objective_beside_xgboosts_own_metric():
    inner = xgboost(early_stopping_rounds=2, eval_metric="ndcg@5").set_params(objective=squared)
    model = QueryRanker(inner).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)
    assert list(model.estimator_.evals_result()["validation_0"]) == ["ndcg@5"]
    inner.set_params(eval_metric=lambda y, s: 0.0)
    with pytest.raises(ra.InputError, match=r"eval_metric is a callable[^\0]*\nHint: QueryRanker\(eval_metric=\)"):
        QueryRanker(inner).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)


def regressing(y_true, y_pred, weight, group):
    """Squared error, told to LGBMRanker as `objective=`."""
    return y_pred - y_true, np.ones_like(y_pred)


def test_lightgbm_takes_a_callable_objective_itself():
    model = QueryRanker(lightgbm(objective=regressing)).fit(DATA.X, DATA.y, qid=DATA.qid)
    hand = lightgbm(objective=regressing).fit(DATA.X, DATA.y, group=DATA.sizes)
    assert (model.predict(DATA.X) == hand.predict(DATA.X)).all()


# the example


def test_every_number_of_the_examples_grid_equals_ours(capsys):
    for toolkit in ("lightgbm", "xgboost", "catboost"):
        pytest.importorskip(toolkit)
    example = runpy.run_path(str(Path(__file__).parent.parent / "examples" / "grid_search.py"))
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
