"""Grades, labels as bytes: their counts, their order and their hashes are those that each row's label gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.data import grades as module
from rankadapters.core.data.grades import as_grades, blocks_of_queries, counts_of_grades, of_rows, positions_by_grade
from rankadapters.core.ranking.offsets import offsets

NO_GRADES = (0.5, -1.0, 256.0, 255.5, 1e300, -1e-300, 2.0**53)
SIZES = st.lists(st.integers(1, 7), min_size=1, max_size=9)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Cut even small data into blocks."""
    monkeypatch.setattr(module, "ROWS_PER_BLOCK", 5)
    monkeypatch.setattr(module, "NUMBERS_PER_SORT", 12)


def some_queries(sizes, seed, *, scattered, n_grades=4):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    labels = rng.integers(0, n_grades, qid.size).astype(float)
    return ra.Queries(labels, qid=rng.permutation(qid) if scattered else qid)


@pytest.mark.parametrize("label", NO_GRADES)
def test_other_labels_are_no_grades(label):
    assert as_grades(np.array([3.0, label]), None) is None
    assert as_grades(np.array([3.0, label]), np.array([True, False])).tolist() == [3, 0]


def test_grades_are_whole_labels_up_to_255_and_unjudged_rows_have_grade_0():
    assert as_grades(np.array([255.0, -0.0, 7.0]), None).tolist() == [255, 0, 7]
    assert ra.Queries([np.nan, 2.0], qid=[1, 1], judged=[False, True]).grades.tolist() == [0, 2]


@pytest.mark.parametrize("label", [np.nan, np.inf, -np.inf])
def test_a_label_that_is_not_finite_is_refused(label):
    with pytest.raises(ra.InputError, match=r"labels\[1\] is .*not a finite number"):
        ra.Queries([1.0, label], qid=[1, 1])


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(1, 9))
def test_blocks_hold_every_query_once_and_few_rows_unless_a_query_has_more(sizes, n_rows):
    indptr = offsets(np.array(sizes))
    blocks = list(blocks_of_queries(indptr, n_rows))
    covered = [query for start, stop in blocks for query in range(start, stop)]
    assert covered == list(range(len(sizes)))
    assert all(indptr[stop - 1] - indptr[start] <= n_rows for start, stop in blocks)


@given(SIZES, st.integers(0, 99), st.booleans(), st.booleans())
def test_counts_are_those_of_each_query_s_judged_rows(sizes, seed, scattered, partly):
    queries = some_queries(sizes, seed, scattered=scattered)
    judged = np.random.default_rng(seed).random(queries.n_docs) < 0.5 if partly else np.ones(queries.n_docs, np.bool_)
    counts = counts_of_grades(queries.grades, judged if partly else None, queries.order, queries.indptr)
    inside = [judged & (queries.query_of_row == query) for query in range(queries.n_queries)]
    expected = [[int((queries.labels[rows] == g).sum()) for g in range(queries.grades.max() + 1)] for rows in inside]
    assert counts.tolist() == expected


def test_unjudged_rows_are_not_counted_beside_the_largest_grade():
    judged = np.arange(64) != 2
    counts = ra.Queries(np.repeat([255.0, 0.0], 32), qid=[1] * 64, judged=judged).grade_counts
    assert (counts.shape, counts[0, 0], counts[0, 255], counts.sum()) == ((1, 256), 32, 31, 63)


def test_many_grades_of_few_rows_are_not_counted():
    assert ra.Queries([255, 0], qid=["a", "b"]).grade_counts is None


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(0, 99), st.booleans(),
    st.lists(st.sampled_from([-1.0, 0.0, -0.0, 1.0, 7.5]), min_size=4, max_size=4),
)  # fmt: skip
def test_rows_are_sorted_stably_by_a_value_of_their_grade(sizes, seed, falling, by_grade):
    indptr = offsets(np.array(sizes))
    grades = np.random.default_rng(seed).integers(0, 4, indptr[-1]).astype(np.uint8)
    values = np.array(by_grade)[grades]
    positions = positions_by_grade(values, grades, indptr, falling=falling)
    sign = -1 if falling else 1
    expected = [
        row
        for start, stop in pairwise(indptr)
        for row in sorted(range(start, stop), key=lambda row: sign * values[row])
    ]
    assert (positions is None) == (not grades.size)
    assert positions is None or positions.tolist() == expected


@pytest.mark.parametrize("sizes", [[1], [3, 0, 2], [0, 0, 0, 1], [200]])
def test_the_numbers_of_many_queries_fit(sizes, monkeypatch):
    monkeypatch.setattr(module, "ROWS_PER_BLOCK", 2**16)
    monkeypatch.setattr(module, "NUMBERS_PER_SORT", 2**16)
    repeated = np.tile(sizes, 80_000 // max(sum(sizes), 2))
    grades = np.random.default_rng(0).integers(0, 3, repeated.sum()).astype(np.uint8)
    positions = positions_by_grade(grades.astype(float), grades, offsets(repeated), falling=False)
    assert np.array_equal(positions, np.lexsort((grades, np.repeat(np.arange(repeated.size), repeated))))


def test_values_that_differ_within_a_grade_are_sorted_in_another_way():
    grades = np.repeat(np.array([0, 1], np.uint8), 8)
    values = grades.astype(float)
    assert positions_by_grade(values, grades, np.array([0, 16]), falling=True).tolist() == [*range(8, 16), *range(8)]
    for row in range(16):
        changed = values.copy()
        changed[row] += 0.5
        assert positions_by_grade(changed, grades, np.array([0, 16]), falling=True) is None


def test_the_values_of_grades_are_looked_up_in_every_block():
    grades = np.arange(23, dtype=np.uint8) % 4
    assert of_rows(np.array([5.0, -1.0, 0.5, 9.0]), grades).tolist() == ([5.0, -1.0, 0.5, 9.0] * 6)[:23]


COLUMNS = {
    "labels alone": {},
    "query weights": {"query_weight": [2.0, 0.5]},
    "row weights": {"row_weight": [1.0, 2.0, 3.0, 0.0, 1.0]},
    "unjudged rows": {"judged": [True, True, False, True, True]},
    "missing rows": {"retrieved": [True, False, True, True, True]},
    "pairs": {"pairs": ([0], [1])},
}


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("labels", [[2, 0, 1, 0, 2], [2, -0.0, 1, 0, 2], [250, 0, 1, 0, 2]])
def test_counted_grades_have_the_fingerprints_that_rows_have(labels, columns):
    queries = ra.Queries(np.array(labels, float), qid=[7, 7, 9, 7, 9], **columns)
    uncounted = queries.with_columns(labels=queries.labels)
    vars(uncounted).update(grades=None, grade_counts=None)
    assert queries.fingerprints.tolist() == uncounted.fingerprints.tolist()


def test_new_labels_and_other_rows_have_other_grades():
    queries = ra.Queries([2, 0, 1], qid=["a", "a", "b"])
    assert (queries.grades.tolist(), queries.grade_counts.tolist()) == ([2, 0, 1], [[1, 0, 1], [0, 1, 0]])
    assert queries.with_labels([0, 1, 1]).grades.tolist() == [0, 1, 1]
    assert queries.with_labels([0, 0.5, 1]).grade_counts is None
    assert queries.as_one().grade_counts.tolist() == [[1, 1, 1]]
    part, _ = queries.subset(np.array([1]))
    assert (part.grades.tolist(), part.grade_counts.tolist()) == ([1], [[0, 1]])
    assert queries.with_columns(judged=np.array([False, True, True])).grade_counts.tolist() == [[1, 0], [0, 1]]
