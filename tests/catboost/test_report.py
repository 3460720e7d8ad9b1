"""What `catboost.check_parity` reports: agreement, what CatBoost cannot express, what float32 changes, bad input."""

from math import log2

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity import ParityError
from tests.helpers.catboost_records import BASE, weighted_columns
from tests.helpers.tables import for_each, short

cb = pytest.importorskip("catboost")


def test_an_expressible_convention_gives_one_equal_row():
    labels, scores, qid, weights = columns = weighted_columns()
    before = [array.copy() for array in columns]
    [row] = ra.catboost.check_parity(labels, scores, BASE, qid=qid, query_weight=weights).rows
    assert all(map(np.array_equal, before, columns))
    assert (row.verdict, row.convention, row.version, row.reason) == ("equal", BASE, cb.__version__, "")
    assert row.source == "catboost.utils.eval_metric NDCG:top=10;type=Base;denominator=LogPosition"
    assert row.our_value == ra.evaluate(labels, scores, BASE, qid=qid, query_weight=weights).value
    assert abs(row.value - row.our_value) <= row.tolerance == 1e-9


def test_an_inexpressible_convention_has_a_row_for_the_nearest_and_one_for_itself():
    labels, scores = [2, 0, 1], [0.1, 0.7, 0.7]
    report = ra.catboost.check_parity(labels, scores, ra.presets.textbook(2), group_sizes=[3])
    nearest, declared = report.rows
    ideal = 3 + 1 / log2(3)
    assert not report.ok
    assert nearest.value == pytest.approx(1 / log2(3) / ideal)  # the tied label 1 ranks below the tied 0
    assert declared.our_value == pytest.approx((1 + 1 / log2(3)) / 2 / ideal)
    assert (declared.verdict, declared.value) == ("not-comparable", None)
    assert declared.reason.startswith(
        "CatBoost cannot express ties='average', only ties='worst', which matters here. "
        "Of no consequence here: empty=0, only empty=1.\nThe nearest it can: ndcg@2/"
    )


@for_each("preset", [getattr(ra.presets, name) for name in ra.presets.names()])
@pytest.mark.parametrize("k", [3, None])
def test_every_presets_nearest_convention_agrees(preset, k):
    labels, scores, qid, weights = weighted_columns(seed=7)
    convention, labels = preset(k), np.clip(labels.round(), 0, 2)
    if convention.empty == "error":  # one query has nothing relevant
        convention = convention.replace(empty="skip")
    query_weight = None if convention.average == "uniform" else weights
    docid = [f"d{row}" for row in range(len(labels))]
    queries = ra.Queries(labels, qid=qid, query_weight=query_weight, docid=docid)
    report = ra.catboost.check_parity(queries, scores, convention)
    assert "different" not in [row.verdict for row in report.rows]
    assert report.ok is (report.rows[-1].verdict != "not-comparable")
    assert report.rows[-1].our_value == ra.evaluate(queries, scores, convention).value


def test_interleaved_queries_give_the_same_value():
    labels, scores, qid, weights = weighted_columns()
    sorted_value = ra.evaluate(labels, scores, BASE, qid=qid, query_weight=weights).value
    shuffle = np.random.default_rng(1).permutation(qid.size)
    weights = weights[np.unique(qid[shuffle], return_index=True)[1].argsort()]  # in order of first appearance
    columns = {"qid": [f"q{q}" for q in qid[shuffle]], "query_weight": weights}
    of_queries = ra.catboost.check_parity(ra.Queries(labels[shuffle], **columns), scores[shuffle], BASE)
    report = ra.catboost.check_parity(labels[shuffle], scores[shuffle], BASE, **columns)
    assert report == of_queries
    assert report.rows[0].verdict == "equal"
    assert report.rows[0].our_value == pytest.approx(sorted_value)


@pytest.mark.parametrize(
    ("labels", "weights", "reason"),
    [
        ([0.1, 0.7, 1], None, "labels rounded to float32"),
        ([0, 2, 1], [0.1, 0.7], "query_weight rounded to float32"),
        ([0.1, 0.7, 1], [0.1, 0.7], "labels and query_weight rounded to float32"),
        ([0, 0.5, 1], [0.5, 2], ""),
    ],
)
def test_the_reason_says_what_float32_rounded(labels, weights, reason):
    report = ra.catboost.check_parity(labels, [3, 2, 1], BASE, group_sizes=[2, 1], query_weight=weights)
    assert report.ok
    assert report.rows[0].reason.startswith(reason)
    assert bool(report.rows[0].reason) == bool(reason)


def test_a_difference_fails_the_report(monkeypatch):
    monkeypatch.setattr("rankadapters.catboost.parity.eval_metric", lambda *args, **kwargs: [0.5])
    report = ra.catboost.check_parity([1, 0], [2, 1], BASE, group_sizes=[2])
    assert report.rows[0].verdict == "different"
    with pytest.raises(ParityError, match=r"0\.5, ours 1\.0, difference -0\.5"):
        report.raise_if_failed()


@pytest.mark.parametrize("convention", [BASE.replace(gain="exp2"), ra.presets.letor4(10)], ids=short)
def test_the_error_says_that_our_exp2_refuses_negative_labels(convention):
    with pytest.raises(ra.InputError, match=r"labels\[1\] is -0\.5, negative: CatBoost's type=Exp .* our exp2 refuses"):
        ra.catboost.check_parity([1, -0.5], [2, 1], convention, group_sizes=[2])


@pytest.mark.parametrize(
    ("convention", "scores"),
    [
        (ra.presets.yahoo(2), [0.9, 0.1, 0.5, 0.2]),  # no ties, no weights
        (ra.presets.sklearn(2), [0.9, 0.1, 0.5, 0.2]),  # no ties, no empty query
        (ra.presets.sklearn(3), [0.9, 0.1, 0.1, 0.2]),  # a tie of rows with one gain
    ],
    ids=short,
)
def test_catboost_must_agree_if_fields_that_it_cannot_express_do_not_matter(convention, scores):
    report = ra.catboost.check_parity([1, 0, 0, 1], scores, convention, group_sizes=[3, 1])
    nearest, declared = report.rows
    assert report.ok
    assert (nearest.verdict, declared.verdict) == ("equal", "equal-on-this-data")
    assert declared.value == pytest.approx(declared.our_value, rel=1e-9)
    assert declared.convention == convention
    assert declared.reason.endswith("on this data that makes no difference.")


def test_a_convention_that_differs_names_the_queries_that_contribute_most():
    labels, scores, qid, _ = weighted_columns()
    row = ra.catboost.check_parity(labels, scores, ra.presets.sklearn(5), qid=qid).rows[1]
    worst = row.per_query.largest()
    assert len(worst) == 5
    assert sum(row.per_query.contributions) == pytest.approx(
        ra.evaluate(labels, scores, ra.presets.catboost(5), qid=qid).value - row.our_value
    )


def test_negative_labels_under_base_agree():
    [row] = ra.catboost.check_parity([1, -0.5, 2], [2, 3, 1], BASE, group_sizes=[2, 1]).rows
    assert row.verdict == "equal"
    first = (-0.5 + 1 / log2(3)) / (1 - 0.5 / log2(3))
    assert row.our_value == pytest.approx((first + 1) / 2)


@pytest.mark.parametrize(("labels", "catboost_value"), [([3, 2, 1, 0], 1.0), ([0, 1, 2, 3], 0.6138273133441086)])
def test_nan_scores_are_not_comparable_and_catboosts_value_is_reported(labels, catboost_value):
    # CatBoost 1.2.10 leaves NaN scores in row order, so the same four documents have NDCG 1 or 0.61.
    report = ra.catboost.check_parity(labels, [np.nan] * 4, BASE, group_sizes=[4])
    [row] = report.rows
    assert not report.ok
    assert (row.verdict, row.our_value) == ("not-comparable", None)
    assert row.value == pytest.approx(catboost_value)
    assert row.reason.startswith("scores[0] is NaN, which has no rank, so we refuse it.")


def test_scores_that_are_not_finite_are_named_by_the_callers_row():
    # Rows are sorted by qid for CatBoost, but the error has the caller's index.
    with pytest.raises(ra.InputError, match=r"scores\[1\] is inf"):
        ra.catboost.check_parity([1, 0, 1], [2, np.inf, 1], BASE, qid=["a", "b", "a"])
    report = ra.catboost.check_parity([1, 0, 1], [2, 1, np.nan], BASE, qid=["a", "b", "a"])
    assert report.rows[0].reason.startswith("scores[2] is NaN")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": [1e39, 0]}, r"labels\[0\] is 1e\+39, beyond float32"),
        ({"query_weight": [1e300]}, r"query_weight\[0\] is 1e\+300, beyond float32"),
        ({"query_weight": [1e-300]}, "the scored queries have weight 0"),
        ({"convention": BASE.replace(average="uniform"), "query_weight": [2]}, "average='uniform'"),
    ],
)
def test_bad_input_is_refused(change, message):
    arguments = {"labels": [1, 0], "scores": [2, 1], "convention": BASE, "group_sizes": [2], **change}
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.check_parity(**arguments)


@pytest.mark.parametrize("name", ["retrieved", "judged"])
def test_unretrieved_and_unjudged_rows_are_refused(name):
    queries = ra.Queries([1, 0], group_sizes=[2], **{name: np.array([True, False])})
    with pytest.raises(ra.InputError, match=rf"have {name}=, but to CatBoost every row is retrieved and judged"):
        ra.catboost.check_parity(queries, [2, 1], BASE)
