"""RR: the rank of the first relevant row, and the expectation over all orders of ties."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra

PLAIN = ra.RR(
    k=None, relevant="from_1", ties="input", precision="float64", retrieve="all", short="pad", empty=0,
    missing="error", unjudged="error", average="uniform",
)  # fmt: skip


def value(labels, scores, convention, **columns):
    return ra.evaluate(labels, scores, convention, **{"group_sizes": [len(labels)], **columns}).value


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 1 / 2),
        ({"k": 2}, 1 / 2),
        ({"k": 1}, 0),
        ({"relevant": "above_1"}, 1 / 4),
        ({"retrieve": "above_0.4"}, 0),
        ({"retrieve": "from_0.4"}, 1 / 2),
    ],
)
def test_one_by_the_rank_of_the_first_relevant_row(changes, expected):
    assert value([0, 1, 0, 2], [0.5, 0.4, 0.3, 0.2], PLAIN.replace(**changes)) == expected


def test_a_long_tie_neither_overflows_nor_loses_a_digit():
    n, r = 100_000, 3
    labels = np.zeros(n)
    labels[:r] = 1
    ranks = np.arange(1, n - r + 2)
    # P(first relevant is the j-th) = r/n * product of (n - r - i) / (n - 1 - i), i < j - 1.
    chances = r / n * np.cumprod(np.concatenate([[1.0], (n - r - ranks[:-1] + 1) / (n - ranks[:-1])]))
    found = value(labels, np.ones(n), PLAIN.replace(ties="average"))
    assert found == pytest.approx((chances / ranks).sum(), rel=1e-12)


def test_a_query_without_relevant_rows_counts_what_empty_says():
    assert value([0, 0, 1], [1, 2, 3], PLAIN.replace(empty=1), group_sizes=[2, 1]) == 1
    assert value([0, 0, 1], [1, 2, 3], PLAIN.replace(empty="skip"), group_sizes=[2, 1]) == 1
    assert value([0, 0, 1], [1, 2, 3], PLAIN, group_sizes=[2, 1]) == 0.5
