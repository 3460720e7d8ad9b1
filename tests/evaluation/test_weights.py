"""Query weights: bad ones are refused, tiny ones count, and a weighted mean above its values warns."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels

CONV = ra.presets.textbook(3)
LABELS, SCORES, QID = [1, 0, 2, 0], [0.1, 0.4, 0.3, 0.2], ["a", "a", "b", "b"]
WEIGHTED = CONV.replace(average="query")


def test_the_smallest_normal_weights_count():
    """The queries have the values 1 and 1 / log2(3), and their weights are as 1 to 3."""
    weights = np.array([1, 3]) * float(np.finfo(np.float64).tiny)
    score = ra.evaluate([0, 1, 0, 1], SCORES, WEIGHTED, qid=QID, query_weight=weights)
    assert score.value == pytest.approx((1 + 3 / math.log2(3)) / 4, abs=2.0**-53)


def test_weights_that_a_convention_ignores_are_refused():
    hint = r"Hint: convention.replace\(average='query'\) where the measure has it, or drop query_weight\."
    with pytest.raises(ra.InputError, match=rf"average='uniform', which would ignore it.\n{hint}"):
        ra.evaluate(LABELS, SCORES, CONV, qid=QID, query_weight=[1, 2])
    disagree = "which would ignore it, while ndcg.* says 'query.* and uses it"
    with pytest.raises(ra.InputError, match=rf"{disagree}.\nHint: .*; evaluate them separately, the first on queries"):
        ra.evaluate(LABELS, SCORES, [CONV, WEIGHTED], qid=QID, query_weight=[1, 2])


def test_weights_that_leave_nothing_to_average_are_refused():
    convention = WEIGHTED.replace(empty="skip")
    with pytest.raises(ra.InputError, match="the scored queries have weight 0"):
        ra.evaluate([0, 0, 1, 0], SCORES, convention, qid=QID, query_weight=[1, 0])
    with pytest.raises(ra.InputError, match="every query was skipped"):
        ra.evaluate([0, 0, 0, 0], SCORES, convention, qid=QID)


@pytest.mark.parametrize("choice", [NOW, NEVER])
def test_a_weighted_value_that_overflows_is_refused(choice):
    convention = ra.parse("sklearn.dcg@3")
    with kernels(choice), pytest.raises(ra.InputError, match="overflows float64"):
        ra.evaluate([1e300, 0], [1, 0], convention, group_sizes=[2], query_weight=[1e10])


EXCEPT_EMPTY = ra.presets.lightgbm(3)  # average="query-except-empty", empty=1


def test_a_weighted_mean_that_overflows_is_refused():
    """Five empty queries of weight 0 count 1 each, over a weight of 2^-1022."""
    weights = [0] * 5 + [2.0**-1022]
    with pytest.raises(ra.InputError, match=r"add up to 2\.22507e-308: the value overflows float64\.\nHint: divide"):
        ra.evaluate([0, 0, 0, 0, 0, 1], np.arange(6.0), EXCEPT_EMPTY, group_sizes=[1] * 6, query_weight=weights)
