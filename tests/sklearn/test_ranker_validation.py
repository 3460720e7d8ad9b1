"""Validation sets of QueryRanker, and early stopping by the declared metric."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from rankadapters.sklearn import QueryRanker  # noqa: E402
from rankadapters.sklearn.rows import held_out  # noqa: E402
from tests.helpers.tables import for_each  # noqa: E402
from tests.helpers.toolkit_rankers import (  # noqa: E402 - after the skip
    CONV,
    DATA,
    RANKERS,
    ROUNDS,
    ROW_WEIGHTS,
    SHUFFLED,
    VALID,
    VALID_SET,
    WEIGHTS,
    catboost,
    lightgbm,
    xgboost,
)

CATBOOSTS = ra.presets.catboost(5)  # which CatBoost computes itself
# Of the ids 0 to 59 the 15 with the smallest hashes by SplitMix64 (Steele, Lea and Flood 2014), in order.
HELD = [3, 10, 11, 16, 18, 20, 21, 33, 35, 40, 41, 48, 49, 51, 57]


def value(model, X, y, qid, convention=CONV, **weights):
    return ra.evaluate(y, model.predict(X), convention, qid=qid, **weights).value


@pytest.mark.parametrize("make", [lightgbm, xgboost])
def test_every_round_is_evaluated_under_the_declared_convention(make):
    model = QueryRanker(make(), eval_metric=CONV).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)
    assert len(model.history_) == ROUNDS
    assert model.history_[-1].value == value(model, *VALID_SET)
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
    assert values[best] == pytest.approx(value(model, *valid), abs=1e-12)  # both predict with the best iteration
    found = model.estimator_.get_params()
    assert (found["early_stopping_rounds"], found.get("callbacks")) == (4, None)
    pickle.loads(pickle.dumps(model))


def test_catboost_stops_by_its_own_metric_where_it_is_the_declared_one():
    inner = catboost(iterations=100, early_stopping_rounds=4)
    model = QueryRanker(inner, eval_metric=CATBOOSTS).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)
    values = model.estimator_.get_evals_result()["validation"]["NDCG:top=5;type=Base"]
    best = int(np.argmax(values))
    assert len(values) == best + 1 + 4 < 100
    assert values[best] == pytest.approx(value(model, *VALID_SET, CATBOOSTS), abs=1e-9)
    assert [(entry.dataset, entry.value, entry.iteration) for entry in model.history_] == [
        ("validation", number, iteration) for iteration, number in enumerate(values)
    ]
    assert {entry.convention for entry in model.history_} == {CATBOOSTS}


@pytest.mark.parametrize("loss", ["YetiRank", "QueryRMSE"])
@pytest.mark.parametrize("text", ["catboost@5", "catboost.map@5", "catboost.dcg@3", "catboost.query_rmse"])
def test_the_history_of_catboost_s_own_metric_holds_every_set(text, loss):
    model = QueryRanker(catboost(loss_function=loss, use_best_model=False), eval_metric=text)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[VALID_SET, (DATA.X, DATA.y, DATA.qid)])
    for name, rows in {"validation_0": VALID_SET, "validation_1": (DATA.X, DATA.y, DATA.qid)}.items():
        entries = model.history_.only(dataset=name, convention=text)
        assert [entry.iteration for entry in entries] == list(range(ROUNDS))
        assert entries[-1].value == pytest.approx(value(model, *rows, text), abs=1e-9)


@pytest.mark.parametrize(
    ("convention", "weights"), [(CONV, None), (ra.presets.catboost(5, use_weights=False), ROW_WEIGHTS)]
)
def test_catboost_is_handed_a_metric_that_it_cannot_compute(convention, weights):
    inner = catboost(iterations=100, early_stopping_rounds=4)
    model = QueryRanker(inner, eval_metric=convention)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weights, eval_set=VALID_SET)
    values = [entry.value for entry in model.history_]
    assert {entry.dataset for entry in model.history_} == {"validation"}
    assert model.estimator_.get_params().get("eval_metric") is None
    best = int(np.argmax(values))
    assert len(values) == best + 1 + 4 < 100
    assert values[best] == pytest.approx(value(model, *VALID_SET, convention), abs=1e-12)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(VALID.X) == model.predict(VALID.X)).all()


def test_catboost_is_handed_the_metric_beside_categories():
    features, valid = DATA.X.astype(int), VALID.X.astype(int)
    inner = catboost(cat_features=[0, 1], one_hot_max_size=1, use_best_model=False)
    model = QueryRanker(inner, eval_metric=CONV)
    model.fit(features, DATA.y, qid=DATA.qid, eval_set=(valid, VALID.y, VALID.qid))
    assert [entry.dataset for entry in model.history_] == ["validation"] * ROUNDS
    assert model.history_[-1].value == pytest.approx(value(model, valid, VALID.y, VALID.qid), abs=1e-12)


@pytest.mark.parametrize("objective", [None, ra.objectives.QueryRMSE()])
def test_the_training_rows_are_a_validation_set_of_catboost_like_any_other(objective):
    same = (DATA.X, DATA.y, DATA.qid)
    model = QueryRanker(catboost(use_best_model=False), eval_metric=CONV, objective=objective)
    model.fit(*same[:2], qid=DATA.qid, eval_set=[same, VALID_SET])
    for name, rows in {"validation_0": same, "validation_1": VALID_SET}.items():
        entries = model.history_.only(dataset=name)
        assert len(entries) == ROUNDS
        assert entries[-1].value == pytest.approx(value(model, *rows), abs=1e-12)
    assert len(model.history_) == 2 * ROUNDS


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
    assert queries.query_ids[held_out(queries, 0.25)].tolist() == HELD
    rows = np.isin(DATA.qid, HELD)
    model = QueryRanker(make(), eval_metric=metric, validation_fraction=0.25).fit(DATA.X, DATA.y, qid=DATA.qid)
    valid = (DATA.X[rows], DATA.y[rows], DATA.qid[rows])
    other = QueryRanker(make(), eval_metric=metric)
    other.fit(DATA.X[~rows], DATA.y[~rows], qid=DATA.qid[~rows], eval_set=valid)
    assert (model.predict(DATA.X) == other.predict(DATA.X)).all()
    mixed = ra.Queries(DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    assert sorted(mixed.query_ids[held_out(mixed, 0.25)]) == HELD


@pytest.mark.parametrize("make", [lightgbm, xgboost])
def test_weights_of_validation_queries_count_where_the_convention_says(make):
    weighted = ra.presets.catboost(5)
    model = QueryRanker(make(), eval_metric=weighted, validation_fraction=0.25)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=ROW_WEIGHTS)
    rows = np.isin(DATA.qid, HELD)
    held = DATA.X[rows], DATA.y[rows], DATA.qid[rows], weighted
    assert model.history_[-1].value == value(model, *held, query_weight=WEIGHTS[HELD]) != value(model, *held)


@pytest.mark.parametrize("make", RANKERS)
def test_validation_queries_pass_through_the_pipeline(make):
    metric = CATBOOSTS if make is catboost else CONV
    model = QueryRanker(make_pipeline(StandardScaler(), make()), eval_metric=metric)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)
    scaler = StandardScaler().fit(DATA.X)
    hand = QueryRanker(make(), eval_metric=metric)
    hand.fit(scaler.transform(DATA.X), DATA.y, qid=DATA.qid, eval_set=(scaler.transform(VALID.X), *VALID_SET[1:]))
    assert (model.predict(VALID.X) == hand.predict(scaler.transform(VALID.X))).all()
    assert [entry.value for entry in model.history_] == [entry.value for entry in hand.history_]


def test_parameters_of_fit_reach_the_ranker_unless_they_are_ours():
    seen = []
    fitted = QueryRanker(lightgbm(), eval_metric=CONV).fit(
        DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET, callbacks=[lambda env: seen.append(env.iteration)]
    )
    assert seen == list(range(ROUNDS))
    with pytest.raises(ra.InputError, match=r"QueryRanker sets group= itself\.\nHint"):
        fitted.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET, group=DATA.sizes)


WHOLE = {"X": DATA.X, "y": DATA.y, "qid": DATA.qid}
NARROW = "3 features, but QueryRanker is expecting 5"


@for_each(
    ("declared", "fit", "message"),
    [
        ({}, {"eval_set": [(VALID.X, VALID.y)]}, r"eval_set got no qid"),
        ({}, {"eval_set": [VALID.X]},
         r"eval_set=\[ndarray .*; allowed are lists of tuples .*\nHint: eval_set=\[\(X, y, qid\)\]"),
        *(({}, {"eval_set": bad}, r"allowed are lists of tuples \(X, y\[, qid\[, sample_weight\]\]\)")
          for bad in ([[VALID.X, VALID.y]], (VALID.X,), (VALID.X, VALID.y, VALID.qid, None, None), {"X": VALID.X})),
        ({}, {"eval_set": (VALID.X, VALID.y, VALID.qid / 2)}, "qid has floats"),
        ({"validation_fraction": 0.5}, {"eval_set": VALID_SET}, r"given twice\.\nHint: either"),
        ({"eval_metric": CONV}, {}, r"eval_metric has no validation queries\.\nHint: fit\(eval_set="),
        ({"eval_metric": CONV}, {"eval_set": []}, "eval_set lists no validation queries"),
        ({"eval_metric": CONV}, {"eval_set": (VALID.X[:, :3], VALID.y, VALID.qid)}, NARROW),
        ({"validation_fraction": 0.5}, {"X": np.eye(3), "y": [0, 1, 2], "qid": [1, 1, 1]},
         r"two queries or more, but there is one\.\nHint"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("make", [lightgbm, xgboost])
def test_bad_validation_is_refused_before_the_training(make, declared, fit, message):
    with pytest.raises((ra.InputError, ValueError), match=message):
        QueryRanker(make(), **declared).fit(**{**WHOLE, **fit})


@pytest.mark.parametrize(("n_queries", "fraction", "n_held"), [(3, 0.1, 1), (3, 0.99, 2), (2, 0.5, 1), (20, 0.25, 5)])
def test_one_query_at_least_is_held_out_and_not_all(n_queries, fraction, n_held):
    assert held_out(ra.Queries([1] * n_queries, group_sizes=[1] * n_queries), fraction).sum() == n_held
