"""What explains a number of another measure than NDCG."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity import check_value
from tests.tables import for_each

SUMS = {
    "ap": ra.presets.trec_eval_9.map(),
    "ap@3": ra.presets.lightgbm.map(3),
    "rr": ra.presets.catboost.mrr(None, use_weights=False),
    "auc of queries": ra.presets.catboost.query_auc(),
    "every two": ra.presets.xgboost.auc(),
    "dcg": ra.presets.sklearn.dcg(4),
}
WHOLE = {
    "all rows": ra.presets.sklearn.roc_auc_score(),
    "geometric": ra.presets.trec_eval_9.gm_map(),
    "average precision of all rows": ra.presets.lightgbm.average_precision(),
}


@pytest.fixture(scope="module")
def binary():
    rng = np.random.default_rng(4)
    sizes = np.array([5, 3, 6, 4, 7, 5])
    labels = rng.integers(0, 2, sizes.sum()).astype(float)
    return ra.Queries(labels, group_sizes=sizes, docid=[f"d{i:02}" for i in range(labels.size)]), rng.normal(
        size=labels.size
    )


@for_each("name", SUMS)
@pytest.mark.parametrize("query", range(6))
def test_of_every_measure_that_is_a_sum_a_query_left_out_is_named(name, query, binary):
    queries, scores = binary
    left, rows = queries.take(np.flatnonzero(np.arange(6) != query))
    given = ra.evaluate(left, scores[rows], SUMS[name]).value
    row = check_value(queries, scores, SUMS[name], value=given).rows[0]
    if row.verdict == "different":
        assert f"the value without query {query}" in row.reason
    else:  # a query whose value is the mean, or which counts nothing
        assert abs(given - ra.evaluate(queries, scores, SUMS[name]).value) < 1e-9


@pytest.mark.parametrize(
    ("declared", "field", "value"),
    [
        ("ap@3", "k", 2),
        ("ap@3", "divisor", "relevant"),
        ("ap", "empty", 1.0),
        ("rr", "k", 1),
        ("auc of queries", "pool", "rows"),
        ("dcg", "discount", "reciprocal"),
        ("average precision of all rows", "pool", "queries"),
    ],
)
def test_a_flipped_field_of_another_measure_is_named(declared, field, value, binary):
    queries, scores = binary
    labels = np.where(queries.query_of_row == 1, 0, queries.labels) if field == "empty" else queries.labels
    queries, convention = queries.with_labels(labels), (SUMS | WHOLE)[declared]
    other = convention.replace(**{field: value})
    row = check_value(queries, scores, convention, value=ra.evaluate(queries, scores, other).value).rows[0]
    assert f"{field}={getattr(other, field)!r} in place of {field}={getattr(convention, field)!r}" in row.reason


@pytest.mark.parametrize("name", [*SUMS, *WHOLE])
def test_a_measure_that_is_no_sum_says_that_no_query_was_looked_at(name, binary):
    queries, scores = binary
    row = check_value(queries, scores, (SUMS | WHOLE)[name], value=0.0123456789).rows[0]
    assert row.verdict == "different"
    assert ("The value is not a sum over the queries" in row.reason) is (name in WHOLE)
    assert row.per_query is None
