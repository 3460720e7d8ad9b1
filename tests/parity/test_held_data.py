"""How each toolkit is handed data that are out of order, weighted, or at the edge of what it takes."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity.values import compare_numbers


def interleaved(seed=0, n_queries=6):
    """Rows of the queries mixed, with the first rows of the first query not at the top of a block."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(n_queries), rng.integers(2, 7, n_queries)))
    labels, scores = rng.integers(0, 4, qid.size).astype(float), rng.normal(size=qid.size)
    return labels, scores, qid, rng.uniform(0.2, 5, n_queries).astype(np.float32).astype(float)


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("metrics", [None, ["NDCG:top=3"]])
def test_group_weights_of_interleaved_rows_reach_catboost_with_their_rows(even, metrics):
    cb = pytest.importorskip("catboost")
    labels, scores, qid, weights = interleaved()
    by_row = weights[qid].copy()
    if not even:
        by_row[np.flatnonzero(qid == qid[-1])[-1]] += 1  # not the first row of its query
    convention = ra.presets.catboost(3)
    row = ra.catboost.check_parity(labels, scores, convention, qid=qid, group_weight=by_row, metrics=metrics).rows[0]
    order = np.argsort(qid, kind="stable")
    [theirs] = cb.utils.eval_metric(
        labels[order], scores[order], "NDCG:top=3", group_id=qid[order], group_weight=by_row[order]
    )
    assert row.value == pytest.approx(theirs, abs=1e-12)
    assert row.verdict == "equal"
    ids = list(dict.fromkeys(qid.tolist()))
    ours = ra.evaluate(labels, scores, convention, qid=qid, query_weight=weights[ids]).value
    assert row.our_value == ours
    assert abs(ours - ra.evaluate(labels, scores, convention, qid=qid).value) > 0.001
    assert ("varies within query" in row.reason) is not even


def test_object_weights_of_interleaved_rows_reach_catboosts_auc_with_their_rows():
    pytest.importorskip("catboost")
    labels, scores, qid, _ = interleaved()
    by_row = np.arange(1.0, qid.size + 1)
    queries = ra.Queries(labels > 1, qid=qid, row_weight=by_row)
    report = ra.catboost.check_parity(queries, scores, ra.presets.catboost.auc(weights="row"))
    report.raise_if_failed()
    assert report.rows[0].our_value != ra.evaluate(labels > 1, scores, ra.presets.catboost.auc(), qid=qid).value


@pytest.mark.parametrize(
    ("toolkit", "label"), [("sklearn", -1), ("lightgbm", 40), ("xgboost", 40), ("lightgbm", 0.5), ("catboost", -1)]
)
def test_the_row_that_is_named_is_the_callers(toolkit, label):
    pytest.importorskip(toolkit)
    labels, scores, qid, _ = interleaved()
    row = int(np.flatnonzero(qid == qid[0])[1])  # by query it would be row 1
    assert row != 1
    labels[row] = label
    convention = getattr(ra.presets, toolkit)(3)
    if toolkit == "catboost":
        convention = convention.replace(gain="exp2")
    with pytest.raises(ra.InputError, match=rf"labels\[{row}\] is {label:g}"):
        getattr(ra, toolkit).check_parity(labels, scores, convention, qid=qid)


def test_a_row_weight_beyond_float32_is_named_by_the_callers_row():
    pytest.importorskip("lightgbm")
    labels, scores, qid, _ = interleaved()
    row = int(np.flatnonzero(qid == qid[0])[1])  # by query it would be row 1
    weights = np.ones(qid.size)
    weights[row] = 1e300
    queries = ra.Queries(labels > 1, qid=qid, row_weight=weights)
    with pytest.raises(ra.InputError, match=rf"row_weight\[{row}\] is 1e\+300, beyond float32, in which LightGBM"):
        ra.lightgbm.check_parity(queries, scores, ra.presets.lightgbm.auc())


@pytest.mark.parametrize(("sizes", "taken"), [([10_000], True), ([3, 10_000, 2], True), ([3, 10_001, 2], False)])
def test_lightgbm_takes_ten_thousand_rows_in_a_query_and_no_more(sizes, taken):
    pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, sum(sizes)), rng.normal(size=sum(sizes))
    if taken:
        ra.lightgbm.check_parity(labels, scores, ra.presets.lightgbm(None), group_sizes=sizes).raise_if_failed()
        return
    with pytest.raises(ra.InputError, match="a query has 10001 rows, but lightgbm takes 10000"):
        ra.lightgbm.check_parity(labels, scores, ra.presets.lightgbm(None), group_sizes=sizes)


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost"])
def test_a_log_that_differs_has_no_values_by_query(toolkit):
    module = pytest.importorskip(toolkit)
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), np.repeat([0, 1, 2], 20)
    if toolkit == "lightgbm":
        model = module.LGBMRanker(n_estimators=2, verbosity=-1, n_jobs=1).fit(X, y, group=[20] * 3)
    else:
        model = module.XGBRanker(n_estimators=2, n_jobs=1).fit(X, y, qid=qid)
    log, convention = {"valid": {"ndcg@5": [0.1, 0.123456789]}}, getattr(ra.presets, toolkit)(5)
    report = getattr(ra, toolkit).check_model(model, (X, y, qid), convention, dataset="valid", log=log)
    assert [row.verdict for row in report.rows[:-1]] == ["equal"] * (len(report.rows) - 1)
    assert report.rows[-1].verdict == "different"
    assert report.rows[-1].value == 0.123456789
    assert report.rows[-1].per_query is None
    assert "none of the changes tried gives it" in report.rows[-1].reason


def test_numbers_that_are_equal_need_no_cause_whatever_data_is_given():
    queries = ra.Queries([1, 0, 2], group_sizes=[3])
    score = ra.evaluate(queries, [1, 2, 3], ra.presets.yahoo(3))
    for number in (score, score.value):
        [row] = compare_numbers(number, score, queries=queries, scores=[3, 2, 1]).rows
        assert (row.verdict, row.reason) == ("equal", "")


def test_numbers_of_conventions_that_do_not_differ_here_must_still_be_the_same():
    queries = ra.Queries([1, 0, 2], group_sizes=[3])
    a, b = (ra.evaluate(queries, scores, convention) for scores, convention in (
        ([1, 2, 3], ra.presets.yahoo(3)), ([3, 2, 1], ra.presets.ranklib(3))
    ))  # fmt: skip
    [row] = compare_numbers(a, b, queries=queries, scores=[1, 2, 3]).rows
    assert (row.verdict, row.tolerance) == ("different", 0)
    same = ra.evaluate(queries, [1, 2, 3], ra.presets.ranklib(3))
    [row] = compare_numbers(a, same, queries=queries, scores=[1, 2, 3]).rows
    assert (row.verdict, row.tolerance) == ("equal-on-this-data", 0)
