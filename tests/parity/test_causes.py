"""Planted faults: a number that someone computed otherwise is told by name."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity import check_value
from rankadapters.parity.causes import Cause, _first_causes
from tests.tables import for_each

pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # whatever labels a tool takes

K = 3
DECLARED = ra.presets.ranklib(K).replace(average="query", ties="input")


@pytest.fixture(scope="module")
def data():
    """Queries with ties, an empty one, a short one, weights, fractions in the labels, and near-ties beyond float32."""
    rng = np.random.default_rng(12)
    sizes = np.array([5, 1, 6, 4, 7, 2, 5])
    labels = rng.integers(0, 4, sizes.sum()).astype(float)
    labels[6:12] = 0
    labels[[0, 14, 20]] = [1.5, 2.5, 0.5]
    scores = rng.integers(0, 4, sizes.sum()) / 4 + 0.25
    scores[16:20] += np.arange(4) * 1e-10
    return labels, scores, {"group_sizes": sizes, "query_weight": rng.uniform(0.5, 2, sizes.size)}


def flips():
    # Words only: the labels have fractions, of which a table has no gain.
    values = {name: ra.NDCG.declared()[name].words for name in ("gain", "discount", "ties", "short", "average")}
    values |= {"precision": ["float32"], "empty": [0.5, 1, "skip"], "k": [1, 2, 4, 5, 6, None]}
    docids = {"docid-ascending", "docid-descending"}
    return [(name, value) for name, several in values.items() for value in several
            if getattr(DECLARED, name) != value and value not in docids]  # fmt: skip


@for_each(("name", "value"), flips())
def test_a_flipped_field_is_named(data, name, value):
    labels, scores, columns = data
    other = DECLARED.replace(**{name: value})
    if other.average == "uniform":
        given = ra.evaluate(labels, scores, other, group_sizes=columns["group_sizes"]).value
    else:
        given = ra.evaluate(labels, scores, other, **columns).value
    report = check_value(labels, scores, DECLARED, value=given, **columns)
    if abs(given - ra.evaluate(labels, scores, DECLARED, **columns).value) < 1e-9:
        assert report.ok  # the field cannot matter here, and then the numbers agree
        assert (name, value) in {("gain", "linear-positive"), ("average", "query-except-empty")}
    else:
        assert not report.ok
        assert (
            f"{name}={getattr(other, name)!r} in place of {name}={getattr(DECLARED, name)!r}" in report.rows[0].reason
        )


@pytest.mark.parametrize("query", range(7))
def test_a_query_left_out_is_named(data, query):
    labels, scores, columns = data
    sizes, weights = columns.values()
    kept = np.repeat(np.arange(7), sizes) != query
    left = {"group_sizes": np.delete(sizes, query), "query_weight": np.delete(weights, query)}
    given = ra.evaluate(labels[kept], scores[kept], DECLARED, **left).value
    assert f"without query {query}" in check_value(labels, scores, DECLARED, value=given, **columns).rows[0].reason


@pytest.mark.parametrize(("query", "first"), [(0, 2), (3, 1), (4, 4), (6, 3)])
def test_a_query_cut_in_two_is_named(data, query, first):
    labels, scores, columns = data
    sizes, weights = columns.values()
    cut = np.insert(sizes, query + 1, sizes[query] - first)
    cut[query] = first
    given = ra.evaluate(
        labels, scores, DECLARED, group_sizes=cut, query_weight=np.insert(weights, query + 1, weights[query])
    ).value
    reason = check_value(labels, scores, DECLARED, value=given, **columns).rows[0].reason
    assert f"query {query} cut in two after {first} rows" in reason


@pytest.mark.parametrize(("query", "first"), [(0, 2), (3, 2), (4, 4)])
def test_a_query_that_lost_its_last_rows_is_named(data, query, first):
    labels, scores, columns = data
    start = columns["group_sizes"][:query].sum()
    kept = np.ones(labels.size, bool)
    kept[start + first : start + columns["group_sizes"][query]] = False
    sizes = columns["group_sizes"].copy()
    sizes[query] = first
    given = ra.evaluate(
        labels[kept], scores[kept], DECLARED, group_sizes=sizes, query_weight=columns["query_weight"]
    ).value
    reason = check_value(labels, scores, DECLARED, value=given, **columns).rows[0].reason
    assert f"query {query} cut after its first {first} rows" in reason


def test_a_query_that_lost_its_first_rows_is_named(data):
    labels, scores, columns = data
    kept = np.ones(labels.size, np.bool_)
    kept[12:14] = False  # two of the four rows of query 3
    sizes = columns["group_sizes"].copy()
    sizes[3] -= 2
    given = ra.evaluate(
        labels[kept], scores[kept], DECLARED, group_sizes=sizes, query_weight=columns["query_weight"]
    ).value
    assert (
        "query 3 without its first 2 rows"
        in check_value(labels, scores, DECLARED, value=given, **columns).rows[0].reason
    )


@pytest.mark.parametrize("seed", range(5))
def test_shuffled_tied_rows_are_named(data, seed):
    labels, scores, columns = data
    sizes = columns["group_sizes"]
    starts = np.cumsum(sizes) - sizes
    rng = np.random.default_rng(seed)
    order = np.concatenate([start + rng.permutation(size) for start, size in zip(starts, sizes, strict=True)])
    given = ra.evaluate(labels[order], scores[order], DECLARED, **columns).value
    report = check_value(labels, scores, DECLARED, value=given, **columns)
    assert not report.ok
    assert "ties" in report.rows[0].reason


@pytest.mark.parametrize(("one", "other"), [(0, 2), (3, 4), (2, 6)])
def test_swapped_weights_are_named(data, one, other):
    labels, scores, columns = data
    weights = columns["query_weight"].copy()
    weights[[one, other]] = weights[[other, one]]
    given = ra.evaluate(labels, scores, DECLARED, group_sizes=columns["group_sizes"], query_weight=weights).value
    reason = check_value(labels, scores, DECLARED, value=given, **columns).rows[0].reason
    assert f"weights of queries {one} and {other} swapped" in reason


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (lambda w, n: w[::-1], "the query weights in reverse order"),
        (lambda w, n: np.ones(n.size), "the query weights ignored"),
        (lambda w, n: n.astype(float), "every query weighed by its number of rows"),
    ],
)
def test_other_weights_are_named(data, weights, text):
    labels, scores, columns = data
    sizes, given = columns.values()
    value = ra.evaluate(labels, scores, DECLARED, group_sizes=sizes, query_weight=weights(given, sizes)).value
    assert text in check_value(labels, scores, DECLARED, value=value, **columns).rows[0].reason


def test_rows_without_groups_are_named(data):
    labels, scores, columns = data
    value = ra.evaluate(labels, scores, DECLARED, group_sizes=[labels.size]).value
    assert "all rows taken as one query" in check_value(labels, scores, DECLARED, value=value, **columns).rows[0].reason


def test_a_preset_is_named_where_several_fields_differ(data):
    labels, scores, columns = data
    value = ra.evaluate(labels, scores, ra.presets.sklearn(K), **columns).value
    reason = check_value(labels, scores, DECLARED, value=value, **columns).rows[0].reason
    assert "presets.sklearn, that is gain='linear' in place of gain='exp2', ties='average'" in reason


def test_what_nothing_explains_is_said_so(data):
    labels, scores, columns = data
    reason = check_value(labels, scores, DECLARED, value=0.01234567891, **columns).rows[0].reason
    assert reason == ("Looking for the cause: none of the changes tried gives it.")


def test_nan_is_no_value(data):
    labels, scores, columns = data
    [row] = check_value(labels, scores, DECLARED, value=float("nan"), **columns).rows
    assert (row.verdict, row.reason) == (
        "different",
        "Looking for the cause: it is nan, which is not a value of any convention.",
    )


def test_interleaved_rows_and_docids_are_followed(data):
    labels, scores, columns = data
    qid = np.repeat([f"q{i}" for i in range(7)], columns["group_sizes"])
    mixed = np.random.default_rng(3).permutation(labels.size)
    docid = np.array([f"d{i:02}" for i in range(labels.size)])
    declared = DECLARED.replace(ties="docid-ascending", average="uniform")
    kept = qid != "q4"
    given = ra.evaluate(labels[kept], scores[kept], declared, qid=qid[kept], docid=docid[kept]).value
    report = check_value(labels[mixed], scores[mixed], declared, value=given, qid=qid[mixed], docid=docid[mixed])
    assert "without query q4" in report.rows[0].reason


@pytest.mark.parametrize(("n", "expected"), [(3, ["0", "1", "2"]), (5, ["0", "1", "2", "and others, such as: 3"])])
def test_three_causes_of_a_kind_are_named_and_one_of_the_others(n, expected):
    assert [cause.text for cause in _first_causes(Cause(str(number)) for number in range(n))] == expected
