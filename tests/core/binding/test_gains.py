"""Gains and ideal lists by grade are those of each row, to the last bit, and errors name the row."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.binding import gains as module
from rankadapters.core.binding.gains import discounts_of, gains_of, gains_of_rows, ideal_sums
from rankadapters.core.ranking.compiled import kernels
from rankadapters.core.ranking.ranks import rank_queries
from tests.helpers.rankings import TEXTBOOK, ragged_columns

GAINS = ["exp2", "exp2-floor", "linear", "linear-positive", "from_1", "table_0_1_2_5", "table_-1_0_0_3"]


@pytest.mark.parametrize("gain", [*GAINS, "linear-from_2"])
@pytest.mark.parametrize("judged", [None, [True, True, False, True, True]])
def test_gains_of_rows_are_the_gains_of_their_labels(gain, judged):
    labels = np.array([3.0, 0, 2, 1, 0])
    queries = ra.Queries(labels, qid=[7] * 5, judged=judged)
    assert gains_of_rows(queries, gain).tolist() == gains_of(labels, queries.judged, gain).tolist()


@pytest.mark.parametrize(
    ("labels", "gain", "problem"),
    [
        ([1, 3, 0], "table_0_1", r"labels\[1\] is 3, outside the gain table"),
        ([1, 0.5, 0], "table_0_1", r"labels\[1\] is 0.5, outside the gain table"),
        ([1, 0, -2], "exp2", r"labels\[2\] is -2, negative"),
        ([1, 2000, 0], "exp2", r"labels\[1\] is 2000, so large"),
    ],
)
def test_a_label_without_gain_is_refused_with_its_row(labels, gain, problem):
    with pytest.raises(ra.InputError, match=problem):
        gains_of_rows(ra.Queries(labels, qid=[7] * 3), gain)


@pytest.mark.parametrize("choice", ["never", "now"])
@pytest.mark.parametrize("rows_per_block", [3, 2**16])
def test_ideal_sums_of_counts_are_those_of_sorted_rows(choice, rows_per_block, monkeypatch):
    monkeypatch.setattr(module, "ROWS_PER_BLOCK", rows_per_block)
    rng = np.random.default_rng(0)
    for gains in ([0.0, 1.0, 3.0, 7.0], [0.1, 0.3, -0.7, 0.3], [2.0, 0.0, 1 / 3, -0.0]):
        labels, _, qid = ragged_columns(3)
        queries = ra.Queries(labels, qid=qid)
        by_row, discounts = np.array(gains)[labels.astype(int)], discounts_of("log2", queries.longest)
        for k in (1, 10, queries.longest, rng.integers(0, 30, queries.n_queries)):
            with kernels(choice):
                ranks = rank_queries(by_row, None, queries.indptr, queries.longest).cut(np.minimum(queries.sizes, k))
                expected = ranks.discounted_sums(by_row, discounts)
            assert ideal_sums(queries.grade_counts, np.array(gains), k, discounts).tolist() == expected.tolist()


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("ties", ["best", "worst", "average"])
@pytest.mark.parametrize("is_partly_judged", [False, True])
def test_values_do_not_depend_on_whether_grades_are_counted(gain, ties, is_partly_judged):
    labels, scores, qid = ragged_columns(1, n_queries=20)
    judged = (np.arange(labels.size) % 5 > 0) if is_partly_judged else None
    convention = TEXTBOOK.replace(gain=gain, ties=ties, unjudged="drop", k=3)
    queries = ra.Queries(labels, qid=qid, judged=judged)
    uncounted = queries.with_columns(labels=queries.labels)
    vars(uncounted).update(grades=None, grade_counts=None)
    values = [ra.Evaluator(data, convention).per_query(scores) for data in (queries, uncounted)]
    assert np.array_equal(*values, equal_nan=True)
