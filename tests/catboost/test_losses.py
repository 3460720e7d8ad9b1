"""CatBoost's losses and metrics of pairs: what CatBoost says of scores and of a model, compared with ours."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.tables import for_each, short

cb = pytest.importorskip("catboost")

from tests.catboost.test_models import data, fitted  # noqa: E402 - after the skip

CATBOOST = ra.presets.catboost
ROWS = [CATBOOST.query_rmse(), CATBOOST.query_soft_max(beta=0.5), CATBOOST.query_cross_entropy(alpha=0.3)]
BY_PAIR = [CATBOOST.pair_logit(), CATBOOST.pair_accuracy()]
BY_LABEL = [CATBOOST.pair_logit(pairs="label"), CATBOOST.pair_accuracy(pairs="label")]
X, LABELS, QID, GROUP_WEIGHTS = data(3)
UNITS = LABELS / 4
SCORES = np.random.default_rng(0).standard_normal(LABELS.size)
ROW_WEIGHTS = np.random.default_rng(1).integers(1, 6, LABELS.size).astype(float)
FIRST = np.concatenate([[0], np.flatnonzero(np.diff(QID)) + 1])


def pairs(*, weighted=True):
    """Two rows of each query that has two, and weights that float32 does not hold."""
    firsts = FIRST[np.append(np.diff(FIRST), LABELS.size - FIRST[-1]) > 1]
    weights = np.random.default_rng(2).random(firsts.size)
    return (firsts, firsts + 1, weights) if weighted else (firsts, firsts + 1)


def ranker(pool, loss="YetiRank"):
    """A model, of which CatBoost computes every metric unless its loss forbids that."""
    model = cb.CatBoostRanker(
        iterations=6, depth=3, loss_function=loss, thread_count=1, random_seed=0, verbose=0, allow_writing_files=False
    )
    return model.fit(pool)


def equal(report):
    return [row.verdict for row in report.rows]


@for_each("weights", [None, "query", "row"])
@for_each("convention", ROWS)
def test_scores_and_a_models_routes_are_scored_alike(convention, weights):
    declared = convention.replace(average=weights or "uniform")
    given = {"query": {"query_weight": GROUP_WEIGHTS[FIRST]}, "row": {"row_weight": ROW_WEIGHTS}}.get(weights, {})
    told = {"query": {"group_weight": GROUP_WEIGHTS}, "row": {"weight": ROW_WEIGHTS}}.get(weights, {})
    for columns in (told, given if weights == "query" else told):
        report = ra.catboost.check_parity(UNITS, SCORES, declared, qid=QID, **columns)
        assert equal(report) == ["equal"]
        assert report.rows[0].our_value == ra.evaluate(UNITS, SCORES, declared, qid=QID, **given).value
    pool = cb.Pool(X, UNITS, group_id=QID, **told)
    model = ranker(pool)
    report = ra.catboost.check_model(model, pool, declared, **(told if weights == "query" else {}))
    assert equal(report) == ["equal"] * 3
    expected = ra.evaluate(UNITS, model.predict(X), declared, qid=QID, **given).value
    assert {row.our_value for row in report.rows} == {expected}


@pytest.mark.parametrize("convention", BY_PAIR, ids=lambda convention: convention.measure)
def test_given_pairs_are_asked_of_a_pool(convention):
    report = ra.catboost.check_parity(LABELS, SCORES, convention, qid=QID, pairs=pairs())
    assert equal(report) == ["equal"]
    [row] = report.rows
    assert row.source.startswith("catboost eval_metrics of a Pool with baseline")
    assert "scores rounded to float32" in row.reason
    assert "weights of pairs rounded to float32" in row.reason
    rounded = (*pairs()[:2], pairs()[2].astype("f4").astype(float))
    expected = ra.evaluate(LABELS, SCORES.astype("f4").astype(float), convention, qid=QID, pairs=rounded).value
    assert row.our_value == expected


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("convention", BY_LABEL, ids=lambda convention: convention.measure)
def test_pairs_of_labels_are_asked_of_a_pool(convention, weighted):
    given = {"query_weight": GROUP_WEIGHTS[FIRST]} if weighted else {}
    assert equal(ra.catboost.check_parity(LABELS, SCORES, convention, qid=QID, **given)) == ["equal"]
    beside = ra.catboost.check_parity(LABELS, SCORES, convention, qid=QID, pairs=pairs(weighted=False))
    assert equal(beside) == ["equal"]  # beside given ones CatBoost would make none


def test_metrics_of_pairs_beside_another_declared_one_see_the_scores_that_a_pool_holds():
    metrics = ["PairLogit", "PairAccuracy", "QueryRMSE"]
    report = ra.catboost.check_parity(UNITS, SCORES, ROWS[0], qid=QID, pairs=pairs(), metrics=metrics)
    assert equal(report) == ["equal"] * 3
    assert ["of a Pool with baseline" in row.source for row in report.rows] == [True, True, False]
    assert ["scores rounded to float32" in row.reason for row in report.rows] == [True, True, False]


def test_rows_that_are_not_contiguous_keep_their_pairs():
    mixed = np.random.default_rng(5).permutation(LABELS.size)
    place = np.argsort(mixed)
    winner, loser, weight = pairs()
    moved = (place[winner], place[loser], weight)
    report = ra.catboost.check_parity(LABELS[mixed], SCORES[mixed], BY_PAIR[0], qid=QID[mixed], pairs=moved)
    assert equal(report) == ["equal"]


def test_a_wrong_loss_is_found():
    other = BY_PAIR[0].replace(average="uniform")
    report = ra.catboost.check_parity(LABELS, SCORES, other, qid=QID, pairs=pairs()[:2], metrics=["PairLogit"])
    assert report.rows[0].verdict == "equal"  # without weights they are the same number
    planted = ra.parity.check_value(UNITS, SCORES, ROWS[0], value="0.5", source="a paper", qid=QID)
    assert equal(planted) == ["different"]


def test_the_log_of_a_loss_is_compared_too():
    pool = cb.Pool(X, LABELS, group_id=QID)
    model = fitted(pool, pool)  # it trains QueryRMSE, which CatBoost logs by itself
    report = ra.catboost.check_model(model, pool, ROWS[0], dataset="validation")
    assert equal(report) == ["equal"] * 4
    assert report.rows[-1].source == "log of validation, iteration 5, QueryRMSE"


@pytest.mark.parametrize("convention", [*BY_PAIR, *BY_LABEL], ids=short)
def test_a_pool_does_not_give_its_pairs_back_so_they_are_told(convention):
    given = pairs() if convention.pairs == "given" else None
    columns = {"pairs": np.column_stack(given[:2]), "pairs_weight": given[2]} if given else {}
    pool = cb.Pool(X, LABELS, group_id=QID, **columns)
    report = ra.catboost.check_model(ranker(pool), pool, convention, pairs=given)
    assert equal(report) == ["equal"]
    assert report.rows[0].source.startswith("model.eval_metrics Pair")


def test_a_model_that_trained_another_loss_is_asked_by_its_scores():
    pool = cb.Pool(X, LABELS, group_id=QID, pairs=np.column_stack(pairs()[:2]), pairs_weight=pairs()[2])
    model = ranker(pool, "QueryRMSE")
    report = ra.catboost.check_model(model, pool, ROWS[1])
    assert equal(report) == ["equal", "equal"]
    assert "model.eval_metrics refuses QuerySoftMax:beta=0.5: " in report.rows[0].reason
    report = ra.catboost.check_model(model, pool, BY_PAIR[0], pairs=pairs())
    assert equal(report) == ["equal"]
    assert report.rows[0].source.startswith("model.predict and catboost eval_metrics of a Pool with baseline")
    assert "incompatible with loss [QueryRMSE]" in report.rows[0].reason


def test_pairs_that_are_not_told_are_asked_for():
    pool = cb.Pool(X, LABELS, group_id=QID, pairs=np.column_stack(pairs()[:2]))
    with pytest.raises(ra.InputError, match="pairs='given' needs pairs=, but none were given"):
        ra.catboost.check_model(fitted(pool, pool), pool, BY_PAIR[0])


@pytest.mark.parametrize("convention", BY_PAIR, ids=lambda convention: convention.measure)
def test_the_declared_metric_takes_pairs_of_its_sets(convention):
    queries = ra.Queries(LABELS, qid=QID, pairs=pairs())
    metric = ra.catboost.eval_metric(convention, sets=[queries])
    pool = cb.Pool(X, LABELS, group_id=QID, pairs=np.column_stack(pairs()[:2]), pairs_weight=pairs()[2])
    model = cb.CatBoostRanker(
        iterations=4, loss_function="PairLogit", eval_metric=metric, thread_count=1, random_seed=0, verbose=0,
        allow_writing_files=False,
    ).fit(pool)  # fmt: skip
    assert metric.is_max_optimal() == convention.higher_is_better
    assert metric.history[-1].value == pytest.approx(
        ra.evaluate(queries, model.predict(X), convention).value, rel=1e-12
    )
