"""Validation sets of QueryRanker, and early stopping by the declared metric."""

import numpy as np
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")


from rankadapters.sklearn import QueryRanker  # noqa: E402
from rankadapters.sklearn.rows import held_out  # noqa: E402
from tests.helpers.toolkit_rankers import (  # noqa: E402 - after the skip
    CONV,
    DATA,
    RANKERS,
    ROUNDS,
    SHUFFLED,
    VALID,
    VALID_SET,
    catboost,
    lightgbm,
)

CATBOOST_NDCG = ra.presets.catboost(5)  # CatBoost computes it itself
# The 15 of the ids 0 to 59 with the smallest hashes by SplitMix64 (Steele, Lea and Flood 2014), in order.
HELD_OUT_IDS = [3, 10, 11, 16, 18, 20, 21, 33, 35, 40, 41, 48, 49, 51, 57]


def value_of(model, X, y, qid, convention=CONV, **weights):
    return ra.evaluate(y, model.predict(X), convention, qid=qid, **weights).value


def on_gpu(**params):
    """Return a CatBoostRanker that is asked for a GPU, but trains on the CPU."""
    kind = type(catboost())

    class CatBoostRanker(kind):
        def fit(self, *args, **arguments):
            self._init_params = {**self.get_params(), "task_type": "CPU"}
            return super().fit(*args, **arguments)

    fixed = {name: value for name, value in catboost().get_params().items() if name not in params}
    return CatBoostRanker(**fixed, **params, task_type="GPU")


def test_on_a_gpu_catboost_stops_by_its_own_metric_if_that_is_the_declared_one():
    ranker = on_gpu(iterations=100, early_stopping_rounds=4)
    model = QueryRanker(ranker, eval_metric=CATBOOST_NDCG).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=VALID_SET)
    values = model.estimator_.get_evals_result()["validation"]["NDCG:top=5;type=Base"]
    best = int(np.argmax(values))
    assert len(values) == best + 1 + 4 < 100
    assert values[best] == pytest.approx(value_of(model, *VALID_SET, CATBOOST_NDCG), abs=1e-9)
    assert [(entry.dataset, entry.value, entry.iteration) for entry in model.history_] == [
        ("validation", value, iteration) for iteration, value in enumerate(values)
    ]
    assert {entry.convention for entry in model.history_} == {CATBOOST_NDCG}


@pytest.mark.parametrize("loss", ["YetiRank", "QueryRMSE"])
@pytest.mark.parametrize("text", ["catboost@5", "catboost.map@5", "catboost.dcg@3", "catboost.query_rmse"])
def test_the_history_of_catboosts_own_metric_has_every_set(text, loss):
    model = QueryRanker(on_gpu(loss_function=loss, use_best_model=False), eval_metric=text)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[VALID_SET, (DATA.X, DATA.y, DATA.qid)])
    for dataset, rows in {"validation_0": VALID_SET, "validation_1": (DATA.X, DATA.y, DATA.qid)}.items():
        entries = model.history_.only(dataset=dataset, convention=text)
        assert [entry.iteration for entry in entries] == list(range(ROUNDS))
        assert entries[-1].value == pytest.approx(value_of(model, *rows, text), abs=1e-9)


@pytest.mark.parametrize("make", RANKERS)
def test_without_eval_metric_the_toolkit_evaluates_its_own_metric(make):
    options = {"metric": "ndcg"} if make is lightgbm else {}
    model = QueryRanker(make(early_stopping_rounds=2, **options))
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[VALID_SET, (*VALID_SET, np.ones(VALID.y.size))])
    ranker = model.estimator_
    log = ranker.get_evals_result() if make is catboost else ranker.evals_result_
    assert len(set(log) - {"learn"}) == 2
    assert not hasattr(model, "history_")


@pytest.mark.parametrize("make", RANKERS)
def test_a_fraction_holds_out_the_same_whole_queries_in_any_row_order(make):
    metric = CATBOOST_NDCG if make is catboost else CONV
    queries = ra.Queries(DATA.y, qid=DATA.qid)
    assert queries.query_ids[held_out(queries, 0.25)].tolist() == HELD_OUT_IDS
    is_held_out = np.isin(DATA.qid, HELD_OUT_IDS)
    model = QueryRanker(make(), eval_metric=metric, validation_fraction=0.25).fit(DATA.X, DATA.y, qid=DATA.qid)
    valid = (DATA.X[is_held_out], DATA.y[is_held_out], DATA.qid[is_held_out])
    model_with_eval_set = QueryRanker(make(), eval_metric=metric)
    model_with_eval_set.fit(DATA.X[~is_held_out], DATA.y[~is_held_out], qid=DATA.qid[~is_held_out], eval_set=valid)
    assert (model.predict(DATA.X) == model_with_eval_set.predict(DATA.X)).all()
    shuffled_queries = ra.Queries(DATA.y[SHUFFLED], qid=DATA.qid[SHUFFLED])
    assert sorted(shuffled_queries.query_ids[held_out(shuffled_queries, 0.25)]) == HELD_OUT_IDS


def test_validation_queries_of_fewer_features_are_refused_before_the_training():
    narrow = VALID.X[:, :3], VALID.y, VALID.qid
    with pytest.raises(ValueError, match="3 features, but QueryRanker is expecting 5"):
        QueryRanker(lightgbm(), eval_metric=CONV).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=narrow)


@pytest.mark.parametrize(("n_queries", "fraction", "n_held"), [(3, 0.1, 1), (3, 0.99, 2), (2, 0.5, 1), (20, 0.25, 5)])
def test_at_least_one_query_is_held_out_and_one_is_left(n_queries, fraction, n_held):
    assert held_out(ra.Queries([1] * n_queries, group_sizes=[1] * n_queries), fraction).sum() == n_held
