"""Measures for which lower is better: trainings stop at the lowest value, and audits prefer the lower one."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from tests.helpers.rankings import ranking

LOSS = ra.presets.catboost.pair_logit(pairs="label")
LOWER_IS_BETTER = {"query-rmse", "query-soft-max", "pair-logit", "query-cross-entropy", "fall-out", "coverage"}
TRAIN, VALID = ranking(20, 60), ranking(21, 40)


def stopped_at_the_lowest(values, patience):
    """Return whether a training ended exactly `patience` rounds after its lowest value."""
    best = int(np.argmin(values))
    return len(values) == best + 1 + patience


def test_lower_is_better_for_losses_fall_out_and_coverage():
    assert {name for name, measure in MEASURES.items() if not measure.higher_is_better} == LOWER_IS_BETTER


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost"])
def test_toolkit_weights_count_by_row_and_toolkit_data_have_no_pairs(toolkit):
    """LightGBM has a weight per row. XGBoost has one per query, which every row of the query gets."""
    pytest.importorskip(toolkit)
    by_row = ra.presets.catboost.query_rmse(weights="row")
    rng = np.random.default_rng(0)
    scores = rng.standard_normal(TRAIN.y.size)
    if toolkit == "lightgbm":
        from tests.helpers.lightgbm_datasets import dataset

        weights = row_weight = rng.integers(1, 5, TRAIN.y.size).astype(float)
        make, data = ra.lightgbm.eval_metric, dataset(TRAIN, weight=weights).construct()
    else:
        from tests.helpers.xgboost_matrices import dmatrix

        weights = rng.integers(1, 5, TRAIN.sizes.size).astype(float)
        row_weight = np.repeat(weights, TRAIN.sizes)
        make, data = ra.xgboost.eval_metric, dmatrix(TRAIN, weight=weights)
    expected = ra.evaluate(TRAIN.y, scores, by_row, qid=TRAIN.qid, row_weight=row_weight).value
    assert make(by_row)(scores, data)[0][1] == expected
    no_pairs = pytest.raises(ra.InputError, match="pairs='given' needs pairs=, but none were given")
    with pytest.warns(UserWarning, match="ignores them"), no_pairs:
        make("catboost.pair_logit")(scores, data)


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost", "catboost"])
def test_query_ranker_stops_at_the_lowest_loss(toolkit):
    pytest.importorskip("sklearn")
    pytest.importorskip(toolkit)
    from tests.helpers import toolkit_rankers

    rounds = {"iterations": 100} if toolkit == "catboost" else {"n_estimators": 100}
    ranker = getattr(toolkit_rankers, toolkit)(learning_rate=0.9, early_stopping_rounds=4, **rounds)
    model = ra.sklearn.QueryRanker(ranker, eval_metric=LOSS)
    model.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, eval_set=(VALID.X, VALID.y, VALID.qid))
    values = [entry.value for entry in model.history_]
    assert stopped_at_the_lowest(values, 4)
    assert len(values) < 100
    value = ra.evaluate(VALID.y, model.predict(VALID.X), LOSS, qid=VALID.qid).value
    assert value == pytest.approx(min(values), rel=1e-9)  # the model of the best iteration
