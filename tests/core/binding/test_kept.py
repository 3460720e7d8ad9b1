"""A binding computes each column once, and tells arrays apart by identity."""

from __future__ import annotations

import numpy as np

import rankadapters as ra
from rankadapters.core.binding.lowering import Binding, kept

QUERIES = ra.Queries([2, 0, 1, 1], qid=["a", "a", "b", "b"])


@kept
def multiplied(_, column, times):
    return times * column


def test_a_function_of_a_binding_returns_the_same_object_for_the_same_arguments():
    binding, column = Binding(QUERIES, None), np.ones(4)
    assert binding.gains("exp2") is binding.gains("exp2")
    assert multiplied(binding, column, 2) is multiplied(binding, column, 2)
    assert multiplied(binding, column, 3).tolist() == [3.0] * 4
    assert multiplied(Binding(QUERIES, None), column, 2) is not multiplied(binding, column, 2)


def test_no_array_is_taken_for_one_that_the_caller_has_dropped():
    binding = Binding(QUERIES, None)
    assert [multiplied(binding, np.full(4, value), 2)[0] for value in np.arange(50.0)] == list(2 * np.arange(50.0))


def test_plans_that_rank_alike_share_their_rows_and_columns():
    binding = Binding(QUERIES, None)
    first, second = (ra.parse(f"textbook@{k}").replace(ties="worst").lower(binding) for k in (1, 2))
    assert first.ranking == second.ranking
    assert first.columns["gains"] is second.columns["gains"]
    assert first.ranking != ra.parse("textbook@1").replace(ties="best").lower(binding).ranking
