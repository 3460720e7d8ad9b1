"""Correlations as metrics of trainings on returns, and in audits, have the values of `ra.evaluate`."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking
from tests.helpers.tables import for_each

TEXTS = ["scipy.spearmanr", "scipy.kendalltau", "scipy.kendalltau+variant=c", "scipy.pearsonr"]
CONVENTIONS = [ra.parse(text) for text in TEXTS]
IC = CONVENTIONS[0]


def returns(seed):
    """Return days of assets, as queries; the labels are returns that one feature explains in part."""
    days = ranking(seed, 60)
    rng = np.random.default_rng(seed)
    y = 0.01 * (days.X[:, 0] - 2.5) + rng.normal(0, 0.03, days.y.size)
    return days._replace(X=days.X + rng.normal(0, 0.1, days.X.shape), y=y)


TRAIN, VALID = returns(1), returns(2)


def stopped_at_the_highest(values, patience):
    """Whether the training ended exactly `patience` rounds after its best value."""
    return len(values) == int(np.argmax(values)) + 1 + patience


def expected_values(scores, labels=VALID.y):
    """Return the values of `ra.evaluate` on the validation set, by convention."""
    return {c: ra.evaluate(labels, scores, c, qid=VALID.qid).value for c in CONVENTIONS}


def test_lightgbm_reports_correlations_and_stops_at_the_best():
    lgb = pytest.importorskip("lightgbm")
    from tests.helpers.lightgbm_datasets import PARAMS, dataset

    result, first = {}, dataset(TRAIN)
    booster = lgb.train(
        {**PARAMS, "objective": "regression", "learning_rate": 0.5}, first, 80, valid_names=["valid"],
        valid_sets=[dataset(VALID, reference=first)], feval=ra.lightgbm.eval_metric(CONVENTIONS),
        callbacks=[ra.lightgbm.early_stopping(IC, rounds=5, verbose=False), lgb.record_evaluation(result)],
    )  # fmt: skip
    assert stopped_at_the_highest(result["valid"][IC.name], 5)
    labels = VALID.y.astype(np.float32)  # LightGBM stores labels as float32
    for number in range(booster.current_iteration()):
        expected = expected_values(booster.predict(VALID.X, num_iteration=number + 1), labels=labels)
        assert {c: result["valid"][c.name][number] for c in CONVENTIONS} == expected


def test_xgboost_reports_correlations_and_stops_at_the_best():
    xgb = pytest.importorskip("xgboost")
    from tests.helpers.xgboost_matrices import PARAMS, dmatrix

    valid = dmatrix(VALID)
    callback, log = ra.xgboost.EvalCallback(CONVENTIONS, [(valid, "valid")]), {}
    stop = ra.xgboost.early_stopping(IC, rounds=5, data_name="valid")
    params = {**PARAMS, "objective": "reg:squarederror", "eta": 0.9}
    booster = xgb.train(params, dmatrix(TRAIN), 80, callbacks=[callback, stop], evals_result=log, verbose_eval=False)
    values = log["valid"][IC.name]
    assert stopped_at_the_highest(values, 5)
    for number in range(len(values)):
        expected = expected_values(booster.predict(valid, iteration_range=(0, number + 1)), labels=valid.get_label())
        assert {c: log["valid"][c.name][number] for c in CONVENTIONS} == expected


@for_each("convention", CONVENTIONS)
def test_catboost_reports_correlations_and_stops_at_the_best(convention):
    cb = pytest.importorskip("catboost")
    metric = ra.catboost.eval_metric(convention, sets=[(VALID.y, VALID.qid)])
    model = cb.CatBoostRegressor(
        iterations=200, learning_rate=0.9, eval_metric=metric, od_type="Iter", od_wait=5, thread_count=1,
        use_best_model=False, random_seed=0, allow_writing_files=False, verbose=0,
    ).fit(
        cb.Pool(TRAIN.X, TRAIN.y, group_id=TRAIN.qid), eval_set=cb.Pool(VALID.X, VALID.y, group_id=VALID.qid)
    )  # fmt: skip
    values = model.get_evals_result()["validation"][convention.name]
    assert metric.is_max_optimal()
    assert stopped_at_the_highest(values, 5)
    expected = [
        expected_values(model.predict(VALID.X, ntree_end=number + 1))[convention] for number in range(len(values))
    ]
    assert values == pytest.approx(expected, rel=1e-12)  # CatBoost sums its trees in a different order


@for_each("convention", CONVENTIONS)
def test_cross_validate_of_scikit_learn_reports_correlations(convention):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import cross_validate

    folds = ra.sklearn.QueryKFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = ra.sklearn.query_scorer(convention)
        scores = cross_validate(Ridge(), TRAIN.X, TRAIN.y, params={"qid": TRAIN.qid}, cv=folds, scoring=scorer)
    for (fit, test), score in zip(folds.split(TRAIN.X, TRAIN.y, TRAIN.qid), scores["test_score"], strict=True):
        predictions = Ridge().fit(TRAIN.X[fit], TRAIN.y[fit]).predict(TRAIN.X[test])
        assert score == ra.evaluate(TRAIN.y[test], predictions, convention, qid=TRAIN.qid[test]).value


@for_each("convention", CONVENTIONS)
def test_a_printed_correlation_is_identified(convention):
    scores = VALID.X[:, 0].round()  # with ties
    text = f"{ra.evaluate(VALID.y, scores, convention, qid=VALID.qid).value:.10f}"
    [match] = ra.audit.identify(VALID.y, scores, value=text, measure=convention.measure, qid=VALID.qid)
    assert match.covers(convention)
    assert match.near[0].startswith("scipy.")


def test_a_gap_between_two_correlations_is_split_over_their_fields():
    scores = VALID.X[:, 0].round()
    changed = IC.replace(ties="input", empty=0)
    report = ra.audit.explain(VALID.y, scores, IC, changed, qid=VALID.qid)
    assert report.contributions.keys() == {"ties", "empty"} == IC.diff(changed).keys()
    assert all(report.contributions.values())


@for_each("convention", CONVENTIONS)
def test_lambdarank_of_a_correlation_is_refused(convention):
    with pytest.raises(ra.RankAdaptersError, match=convention.measure):
        ra.objectives.lambdarank(convention, truncation=30)
