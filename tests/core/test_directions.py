"""Measures of which lower is better, wherever something is called better: trainings, searches, audits."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.ranking_data import ranking

LOWER = [
    ra.presets.catboost.query_rmse(),
    ra.presets.catboost.query_soft_max(beta=0.5),
    ra.presets.catboost.pair_logit(pairs="label"),
    ra.presets.catboost.query_cross_entropy(alpha=0.5),
    ra.presets.torchmetrics.fall_out(3),
    ra.presets.sklearn.coverage_error(),
]
LOSS = LOWER[2]
TRAIN, VALID = ranking(20, 60), ranking(21, 40)
each = pytest.mark.parametrize("loss", LOWER, ids=lambda loss: loss.measure)


def labeled(data):
    """The data with labels that are probabilities."""
    return data._replace(y=np.minimum(data.y, 1))


def stopped_at_the_lowest(values, patience):
    """Whether a training ended as long after its lowest value as it was to wait."""
    best = int(np.argmin(values))
    return len(values) == best + 1 + patience


@each
def test_lightgbm_is_told_the_direction_and_stops_by_it(loss):
    lgb = pytest.importorskip("lightgbm")
    from tests.helpers.lightgbm_data import PARAMS, dataset

    result, first, valid = {}, dataset(labeled(TRAIN)), labeled(VALID)
    metric = ra.lightgbm.eval_metric([loss, ra.presets.textbook(5)])
    stop = ra.lightgbm.early_stopping(loss, rounds=5, verbose=False)
    booster = lgb.train(
        {**PARAMS, "learning_rate": 0.5}, first, 80, valid_sets=[dataset(valid, reference=first)], feval=metric,
        callbacks=[stop, lgb.record_evaluation(result)],
    )  # fmt: skip
    values = result["valid_0"][loss.name]
    assert stopped_at_the_lowest(values, 5)
    assert booster.best_iteration == int(np.argmin(values)) + 1
    scores = booster.predict(valid.X)
    assert booster.best_score["valid_0"][loss.name] == ra.evaluate(valid.y, scores, loss, qid=valid.qid).value
    reported = metric(np.zeros(TRAIN.y.size), first)
    assert [higher for _, _, higher in reported] == [False, True]


def test_lightgbms_row_weights_count_by_row():
    pytest.importorskip("lightgbm")
    from tests.helpers.lightgbm_data import dataset

    weights = np.random.default_rng(0).integers(1, 5, TRAIN.y.size).astype(float)
    by_row = ra.presets.catboost.query_rmse(weights="row")
    scores = np.random.default_rng(1).standard_normal(TRAIN.y.size)
    data = dataset(TRAIN, weight=weights).construct()
    [(_, value, _)] = ra.lightgbm.eval_metric(by_row)(scores, data)
    assert value == ra.evaluate(TRAIN.y, scores, by_row, qid=TRAIN.qid, row_weight=weights).value


def test_xgboosts_query_weights_are_those_of_the_rows():
    pytest.importorskip("xgboost")
    from tests.helpers.xgboost_data import dmatrix

    rng = np.random.default_rng(0)
    weights, scores = rng.integers(1, 5, TRAIN.sizes.size).astype(float), rng.standard_normal(TRAIN.y.size)
    by_row = ra.presets.catboost.query_rmse(weights="row")
    [(_, value)] = ra.xgboost.custom_metric(by_row)(scores, dmatrix(TRAIN, weight=weights))
    row_weight = np.repeat(weights, TRAIN.sizes)
    assert value == ra.evaluate(TRAIN.y, scores, by_row, qid=TRAIN.qid, row_weight=row_weight).value


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost"])
def test_a_toolkit_whose_data_have_no_pairs_says_so(toolkit):
    pytest.importorskip(toolkit)
    if toolkit == "lightgbm":
        from tests.helpers.lightgbm_data import dataset

        metric, data = ra.lightgbm.eval_metric("catboost.pair_logit"), dataset(TRAIN).construct()
    else:
        from tests.helpers.xgboost_data import dmatrix

        metric, data = ra.xgboost.custom_metric("catboost.pair_logit"), dmatrix(TRAIN)
    with pytest.raises(ra.InputError, match="pairs='given' needs pairs=, but none were given"):
        metric(np.zeros(TRAIN.y.size), data)


@each
def test_xgboost_stops_at_the_lowest_value(loss):
    xgb = pytest.importorskip("xgboost")
    from tests.helpers.xgboost_data import PARAMS, dmatrix

    valid, result = labeled(VALID), {}
    callback = ra.xgboost.EvalCallback(loss, [(dmatrix(valid), "valid")])
    callbacks = [callback, ra.xgboost.early_stopping(loss, rounds=5, data_name="valid", save_best=True)]
    booster = xgb.train(
        {**PARAMS, "eta": 0.9}, dmatrix(labeled(TRAIN)), 80, evals_result=result, callbacks=callbacks,
        verbose_eval=False,
    )  # fmt: skip
    values = [entry.value for entry in callback.history]
    assert stopped_at_the_lowest(values, 5)
    assert booster.num_boosted_rounds() == int(np.argmin(values)) + 1
    found = ra.evaluate(valid.y, booster.predict(dmatrix(valid)), loss, qid=valid.qid).value
    assert found == pytest.approx(min(values), rel=1e-12)


def test_xgboosts_custom_metric_stops_at_the_lowest_value():
    xgb = pytest.importorskip("xgboost")
    from tests.helpers.xgboost_data import PARAMS, dmatrix

    metric, data = ra.xgboost.custom_metric(LOSS), dmatrix(VALID)
    booster = xgb.train(
        {**PARAMS, "eta": 0.9}, dmatrix(TRAIN), 80, evals=[(data, "valid")], custom_metric=metric, verbose_eval=False,
        callbacks=[ra.xgboost.early_stopping(LOSS, rounds=5)],
    )  # fmt: skip
    values = [round(entry.value, 6) for entry in metric.history]  # as XGBoost logs them
    assert stopped_at_the_lowest(values, 5)
    assert booster.best_iteration == int(np.argmin(values))


@each
def test_catboost_is_told_the_direction_and_stops_by_it(loss):
    cb = pytest.importorskip("catboost")
    train, valid = labeled(TRAIN), labeled(VALID)
    metric = ra.catboost.eval_metric(loss, sets=[(train.y, train.qid), (valid.y, valid.qid)])
    assert not metric.is_max_optimal()
    model = cb.CatBoostRanker(
        iterations=200, learning_rate=0.9, loss_function="YetiRank", eval_metric=metric, od_type="Iter", od_wait=5,
        thread_count=1, random_seed=0, allow_writing_files=False, verbose=0,
    ).fit(train.X, train.y, group_id=train.qid, eval_set=cb.Pool(valid.X, valid.y, group_id=valid.qid))  # fmt: skip
    values = [entry.value for entry in metric.history if entry.dataset == "validation"]
    assert len(values) < 200
    assert model.get_best_iteration() == int(np.argmin(values))
    assert model.get_best_score()["validation"][loss.name] == min(values)


@each
def test_scorers_are_negated_as_scikit_learns_are(loss):
    pytest.importorskip("sklearn")
    from sklearn.linear_model import Ridge

    train = labeled(TRAIN)
    model = Ridge().fit(train.X, train.y)
    expected = -ra.evaluate(train.y, model.predict(train.X), loss, qid=train.qid).value
    assert ra.sklearn.query_scorer(loss)(model, train.X, train.y, qid=train.qid) == expected


def test_a_search_takes_the_model_of_the_lowest_loss(routing):
    pytest.importorskip("sklearn")
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV

    loss, alphas = LOWER[0], [1e-3, 1e6]
    search = GridSearchCV(
        Ridge(), {"alpha": alphas}, scoring=ra.sklearn.query_scorer(loss), cv=ra.sklearn.QueryKFold(3)
    )
    search.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid)
    assert search.best_params_ == {"alpha": 1e-3}
    assert search.best_score_ < 0


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost", "catboost"])
def test_query_ranker_stops_at_the_lowest_loss(toolkit):
    pytest.importorskip("sklearn")
    pytest.importorskip(toolkit)
    from tests.helpers import sklearn_rankers

    rounds = {"iterations": 100} if toolkit == "catboost" else {"n_estimators": 100}
    inner = getattr(sklearn_rankers, toolkit)(learning_rate=0.9, early_stopping_rounds=4, **rounds)
    model = ra.sklearn.QueryRanker(inner, eval_metric=LOSS)
    model.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, eval_set=(VALID.X, VALID.y, VALID.qid))
    values = [entry.value for entry in model.history_]
    assert stopped_at_the_lowest(values, 4)
    assert len(values) < 100
    found = ra.evaluate(VALID.y, model.predict(VALID.X), LOSS, qid=VALID.qid).value
    assert found == pytest.approx(min(values), rel=1e-9)  # of the best iteration


def test_the_model_ahead_is_the_one_of_the_lower_loss():
    pytest.importorskip("scipy")
    labels, sizes = TRAIN.y, TRAIN.sizes
    good = labels + np.random.default_rng(0).standard_normal(labels.size) / 2
    textbook = ra.presets.textbook(5)
    found = ra.audit.order(labels, {"good": good, "bad": -good}, [textbook, LOSS], group_sizes=sizes, n_resamples=99)
    assert [c.ahead for c in found.comparisons] == ["good", "good"]
    assert [c.difference > 0 for c in found.comparisons] == [True, False]
    assert found.changes == ()
    assert found.correlations[0][1] == 1
    table = found.values_table()
    assert [[cell[-3:] for cell in line[1:]] for line in table.lines] == [["(1)", "(1)"], ["(2)", "(2)"]]


def test_scores_compare_as_numbers_whatever_is_better():
    low, high = (ra.evaluate([1, 0], scores, LOSS, group_sizes=[2]) for scores in ([2, 1], [1, 2]))
    assert low < high
    assert high - low == high.value - low.value
